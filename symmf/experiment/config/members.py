"""Experiments over a collection of data sets: which of them, each a draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symmf.common.yaml import Document, YamlPath, shown
from symmf.errors import ConfigError
from symmf.experiment.config.messages import Problems, hint
from symmf.experiment.config.model import CLASSES, ExperimentConfig
from symmf.experiment.data import MEMBERS
from symmf.experiment.values import canonical_json

if TYPE_CHECKING:
    from symmf.datasets import Dataset

#: option of a collection's members that tells labellings of the same samples apart
LABELS = "labels"
_PLACE: YamlPath = ("dataset", MEMBERS)


def with_members(
    config: ExperimentConfig, spec: Any, problems: Problems
) -> ExperimentConfig:
    """Return the config with its members listed, ``all`` spelled out.

    ``spec`` is the data set's, or None for a user's file.
    """
    wanted = config.dataset.members
    if wanted is None:
        return config
    if config.n_clusters:
        problems.add(
            ("n_clusters",),
            f"the members of a collection have classes of their own: write "
            f"`n_clusters: {CLASSES}`.",
        )
    if isinstance(wanted, list):
        _check_listed(config, wanted, spec, problems)
        return config
    known = _first_labellings(spec)
    if not known:
        problems.add(
            _PLACE,
            f'"{config.dataset.name}" is no collection; leave members out, or list the '
            "options of each member: `members: [{...}, {...}]`.",
        )
        return config
    if isinstance(wanted, dict):
        most = wanted["most_samples"]
        if not spec.member_sizes:
            problems.add(_PLACE, "the sizes of its members are not known; write `all`.")
            return config
        known = [pair for pair in known if pair[1] <= most]
        if not known:
            problems.add(_PLACE, f"no member has at most {most} samples.")
    return _listed(config, [options for options, _ in known])


def with_classes(
    config: ExperimentConfig, datasets: Sequence[Dataset], document: Document
) -> ExperimentConfig:
    """Return the config with ``classes`` of a single data set as a number.

    Raises
    ------
    ConfigError
        If a data set has a single class: there is nothing to find.
    """
    if config.n_clusters:
        return config
    listed = config.dataset.members
    for i, data in enumerate(datasets):
        if data.n_classes < 2:
            place: YamlPath = ("n_clusters",) if listed is None else (*_PLACE, i)
            member = "" if listed is None else f" {canonical_json(listed[i])}"
            raise ConfigError(
                f"{document.source}, {document.where(place)}: {config.dataset.name}"
                f"{member} has one class, so there is nothing to find. Leave it out."
            )
    if listed is not None:
        return config
    return config.model_copy(update={"n_clusters": [datasets[0].n_classes]})


def _listed(
    config: ExperimentConfig, members: Sequence[Mapping[str, Any]]
) -> ExperimentConfig:
    listed = {MEMBERS: [dict(member) for member in members]}
    return config.model_copy(
        update={"dataset": config.dataset.model_copy(update=listed)}
    )


def _first_labellings(spec: Any) -> list[tuple[Mapping[str, Any], int]]:
    """List the members of a collection with their sizes, each data set once."""
    found: dict[str, tuple[Mapping[str, Any], int]] = {}
    members = () if spec is None else spec.members
    sizes = (spec.member_sizes if members else ()) or [0] * len(members)
    for options, size in zip(members, sizes, strict=True):
        rest = {name: value for name, value in options.items() if name != LABELS}
        found.setdefault(canonical_json(rest), (options, size))
    return list(found.values())


def _check_listed(
    config: ExperimentConfig, members: list[Any], spec: Any, problems: Problems
) -> None:
    """Refuse options that the loader does not have, and a member listed twice."""
    if spec is None:
        problems.add(_PLACE, "a file is one data set; leave members out.")
        return
    first: dict[str, int] = {}
    for i, member in enumerate(members):
        name = canonical_json(member)
        if name in first:
            problems.add(
                (*_PLACE, i),
                f"this is member {first[name] + 1} again; keep one.",
            )
        first.setdefault(name, i)
        for option, value in member.items():
            place = (*_PLACE, i, option)
            if option in config.dataset.options:
                problems.add(
                    place, f'"{option}" stands beside members, too; keep one of them.'
                )
            if option not in spec.options:
                near = hint(option, spec.options) if spec.options else "it has none."
                problems.add(
                    place,
                    f'the data set "{config.dataset.name}" has no option "{option}"; '
                    f"{near}",
                )
            elif isinstance(value, (list, dict)) or value is None:
                problems.add(
                    place, f"{option} must be a single value, not {shown(value)}."
                )
