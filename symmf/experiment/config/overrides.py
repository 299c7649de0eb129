"""Changes to an experiment file from the command line: ``--set key=value``."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from symmf.common.yaml import Document, YamlPath, parse_value
from symmf.errors import ConfigError
from symmf.experiment.config.messages import hint

# The deepest key there is: figures.convergence.panels.0.methods.0
MAX_NAMES = 12


def apply_settings(document: Document, settings: Sequence[str]) -> Document:
    """Return the document with each ``key=value`` applied in order.

    A key is a path of names joined by dots; an item of a list is named by its number
    from 0 or, among methods, by its name: ``methods.symmf.parameters.max_iter=50``.
    Values are YAML, so ``1e-3`` is a number and ``[2, 10]`` a list.
    """
    data = deepcopy(document.data)
    lines, words = dict(document.lines), dict(document.words)
    for setting in settings:
        path, sign, text = setting.partition("=")
        if not sign or not path.strip():
            raise ConfigError(
                f'--set needs key=value, such as --set trials=2, not "{setting}".'
            )
        names = path.strip().split(".")
        if len(names) > MAX_NAMES:
            raise ConfigError(
                f"--set {setting[:60]}...: a key has at most {MAX_NAMES} names."
            )
        value = parse_value(text, source=f"--set {setting}")
        place = _put(data, names, value)
        for known in [p for p in lines if p[: len(place)] == place]:
            del lines[known]
            words.pop(known, None)
        lines[place], words[place] = f"--set {setting}", text.strip()
    return replace(document, data=data, lines=lines, words=words)


def _put(data: dict[str, Any], names: list[str], value: Any) -> YamlPath:
    here: Any = data
    place: YamlPath = ()
    for depth, name in enumerate(names):
        last = depth == len(names) - 1
        key: str | int = name
        if isinstance(here, list):
            key = _index(here, name, ".".join(names))
            if isinstance(here[key], str) and not last and place == ("methods",):
                here[key] = {"method": here[key]}
        elif not isinstance(here, dict):
            raise ConfigError(
                f'--set {".".join(names)}: "{names[depth - 1]}" holds a single value, '
                f'so it has no "{name}".'
            )
        elif not last and here.get(name) is None:
            here[name] = {}
        elif not last and name == "dataset" and isinstance(here[name], str):
            here[name] = {"name": here[name]}
        place = (*place, key)
        if last:
            here[key] = value
        here = here[key]
    return place


def _index(items: list[Any], name: str, path: str) -> int:
    if name.isdecimal():
        if len(name) < 10 and int(name) < len(items):
            return int(name)
        raise ConfigError(
            f"--set {path}: there is no item {name}; the last one is {len(items) - 1}."
        )
    titles = [
        (item.get("name") or item.get("method")) if isinstance(item, dict) else item
        for item in items
    ]
    if name in titles:
        return titles.index(name)
    near = hint(name, [title for title in titles if isinstance(title, str)])
    raise ConfigError(f'--set {path}: there is no item "{name}"; {near}')
