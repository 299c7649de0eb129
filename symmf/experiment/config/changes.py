"""How one config differs from another, in words for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symmf.experiment.config.model import ExperimentConfig
from symmf.experiment.values import canonical_json

_LENGTH = 40


def changes(old: ExperimentConfig, new: ExperimentConfig) -> list[str]:
    """List what determines results and is not the same in two configs.

    Examples
    --------
    >>> common = {"name": "x", "dataset": "digits", "methods": ["kmeans"]}
    >>> old = ExperimentConfig(n_clusters=[2, 3], trials=10, **common)
    >>> changes(old, ExperimentConfig(n_clusters=[2], trials=10, **common))
    ['n_clusters [2,3] -> [2]']
    """
    return _changes(_named(old.identity()), _named(new.identity()), "")


def _named(data: dict[str, Any]) -> dict[str, Any]:
    """Put entries under their names, so that their order is no difference."""
    names = [entry.get("name", entry["method"]) for entry in data["methods"]]
    return {**data, "methods": dict(zip(names, data["methods"], strict=True))}


def _changes(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> list[str]:
    found = []
    for key in dict.fromkeys([*old, *new]):
        one, two = old.get(key), new.get(key)
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            found += _changes(one, two, f"{path}{key}.")
        elif one != two:
            found.append(f"{path}{key} {_shown(one)} -> {_shown(two)}")
    return found


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= _LENGTH else f"{text[: _LENGTH - 3]}..."
