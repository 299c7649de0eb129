"""Read the tidy files of a results folder: the only input of every report.

An experiment is a folder with ``trials.csv`` and, where they exist, ``traces.csv``,
``experiment.yaml``, ``provenance.json`` and ``illustration.npz``; the contract is
:mod:`symmf.experiment.store.layout`. Nothing is written, no solver is run and no data
set is loaded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
import pandas as pd

from symmf.common.files import own_file, read_text
from symmf.common.validation import did_you_mean, is_whole
from symmf.common.yaml import read_yaml
from symmf.errors import InputError, SymmfError
from symmf.experiment.store import layout
from symmf.experiment.store.trials_table import read_tables, trial_columns
from symmf.experiment.values import is_reserved
from symmf.paper.roles import TABLE_ROLES, Role


class _Remembering(Protocol):
    @property
    def memory(self) -> dict[Hashable, Any]: ...


_Owner = TypeVar("_Owner", bound=_Remembering)
_Rest = ParamSpec("_Rest")
_Made = TypeVar("_Made")


def remembered(
    make: Callable[Concatenate[_Owner, _Rest], _Made],
) -> Callable[Concatenate[_Owner, _Rest], _Made]:
    """Compute once per object and arguments; what was made dies with the object."""

    @wraps(make)
    def once(owner: _Owner, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _Made:
        key = (make, args, tuple(sorted(kwargs.items())))
        if key not in owner.memory:
            owner.memory[key] = make(owner, *args, **kwargs)
        made: _Made = owner.memory[key]
        return made

    return once


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Something that cannot be shown yet: why, and the command that makes it."""

    name: str
    reason: str
    command: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """One folder of results: what was asked for, what came out, and where."""

    name: str
    folder: Path
    trials: pd.DataFrame
    traces: pd.DataFrame
    config: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    memory: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def dataset(self) -> str:
        """Key of the data set, from the trials or else from the configuration."""
        if len(self.trials):
            return str(self.trials["dataset"].iloc[0])
        given = self.config.get("dataset", "")
        return str(given.get("name", "") if isinstance(given, dict) else given)

    @cached_property
    def role(self) -> Role:
        """What the experiment is for; an unknown word keeps it out of the paper."""
        said = self.config.get("role")
        if said is None:
            return Role.COMPARISON
        return Role(said) if said in list(Role) else Role.EXAMPLE

    @property
    def figures(self) -> dict[str, Any]:
        """The ``figures`` mapping of the configuration, empty where absent."""
        given = self.config.get("figures")
        return given if isinstance(given, dict) else {}

    @property
    def sizes(self) -> dict[str, Any]:
        """Name, title and sizes of the loaded data, as far as provenance tells.

        Read from the block ``dataset`` (``name``, ``title``, ``n_samples``,
        ``n_features``, ``n_classes``) or else from ``facts``.
        """
        found: dict[str, Any] = {"name": self.dataset}
        facts = self.provenance.get("facts")
        if isinstance(facts, dict):
            found |= {key: facts.get(key) for key in ("n_samples", "n_features")}
            found["n_classes"] = len(facts.get("class_sizes") or ()) or None
        block = self.provenance.get("dataset")
        if isinstance(block, dict):
            found |= {key: value for key, value in block.items() if value is not None}
        return found

    @property
    def command(self) -> str:
        """The command that makes, or completes, this experiment."""
        return run_command(self.name)

    @cached_property
    def entries(self) -> dict[str, Mapping[str, Any]]:
        """The methods as the configuration lists them, by name."""
        listed = self.config.get("methods")
        found = [
            entry if isinstance(entry, dict) else {"method": entry}
            for entry in (listed if isinstance(listed, list) else ())
        ]
        return {str(e.get("name") or e.get("method")): e for e in found}

    @cached_property
    def method_order(self) -> tuple[str, ...]:
        """Entry names in the order of the configuration, then of the trials."""
        names = [*self.entries, *(str(name) for name in self.trials["method"].unique())]
        return tuple(dict.fromkeys(names))

    @cached_property
    def cluster_counts(self) -> tuple[int, ...]:
        """The values of K asked for or found, in increasing order."""
        given = self.config.get("n_clusters") or []
        asked = given if isinstance(given, list) else [given]
        found = self.trials["n_clusters"]
        whole = {k for k in asked if is_whole(k)}
        return tuple(sorted(whole | set(self._members) | set(found)))

    def planned(self, n_clusters: int) -> int:
        """Return how many trials a cell should have."""
        found = self._found.get(n_clusters, 0)
        asked = self.config.get("trials")
        members = self._members.get(n_clusters, 1)
        return max(found, asked * members) if is_whole(asked) else found

    @cached_property
    def _members(self) -> dict[int, int]:
        """Of a collection: how many of its data sets have each number of classes."""
        facts = self.provenance.get("facts")
        listed = facts.get("members") if isinstance(facts, dict) else None
        found = [
            member.get("n_classes")
            for member in (listed if isinstance(listed, list) else ())
            if isinstance(member, dict)
        ]
        return Counter(k for k in found if is_whole(k))

    @cached_property
    def _found(self) -> dict[int, int]:
        by_k = self.trials.groupby("n_clusters")["trial"].nunique()
        return {int(str(k)): int(n) for k, n in by_k.items()}

    @property
    def missing(self) -> int:
        """Number of planned trials that have no row in ``trials.csv`` yet."""
        groups = self.trials.groupby(["n_clusters", "method", "lambda"], dropna=False)
        started = sum(
            max(0, self.planned(int(group["n_clusters"].iloc[0])) - len(group))
            for _, group in groups
        )
        return started + sum(
            self.planned(k)
            for k in self.cluster_counts
            for name in self.method_order
            if not (
                (self.trials["n_clusters"] == k) & (self.trials["method"] == name)
            ).any()
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """All experiments of a results folder, in the order of their names."""

    folder: Path
    experiments: tuple[Experiment, ...] = ()
    memory: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The trials of all experiments in one frame."""
        filled = [e.trials for e in self.experiments if len(e.trials)]
        empty = pd.DataFrame(columns=list(trial_columns()))
        return pd.concat(filled or [empty], ignore_index=True)

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, as sentences."""
        return tuple(text for e in self.experiments for text in e.problems)

    @property
    def study(self) -> tuple[Experiment, ...]:
        """The experiments that concern the paper: all but first looks."""
        return tuple(e for e in self.experiments if e.role is not Role.EXAMPLE)

    def of(self, *roles: Role) -> tuple[Experiment, ...]:
        """Return the experiments with one of these roles."""
        return tuple(e for e in self.experiments if e.role in roles)

    @property
    def in_tables(self) -> tuple[Experiment, ...]:
        """The experiments of the combined tables: roles in order, main ones first."""
        found = self.of(*TABLE_ROLES)
        order = list(TABLE_ROLES)
        return tuple(
            sorted(
                found, key=lambda e: (order.index(e.role), e.name != e.dataset, e.name)
            )
        )

    def get(self, name: str) -> Experiment | None:
        """Return the experiment of this name, or None."""
        return next((e for e in self.experiments if e.name == name), None)


def run_command(name: str) -> str:
    """Return the command line that runs the shipped configuration ``name``.

    Examples
    --------
    >>> run_command("coil20")
    'symmf run coil20'
    """
    return f"symmf run {name}"


def load_results(folder: str | Path, names: Sequence[str] = ()) -> Results:
    """Read a results folder; a missing or partial one gives a partial answer.

    Parameters
    ----------
    folder : path
        The folder that holds one folder per experiment.
    names : sequence of str
        Read only these experiments. An unknown name is an error that lists the
        experiments there are.
    """
    folder = Path(folder)
    found = sorted(
        path.name
        for path in (folder.iterdir() if folder.is_dir() else ())
        if not is_reserved(path.name) and _is_experiment(path)
    )
    for name in names:
        if name not in found:
            there = ", ".join(found) or "none yet"
            raise InputError(
                f"There is no experiment {name!r} in {folder}."
                f"{did_you_mean(name, found)} Experiments there: {there}."
            )
    chosen = [name for name in found if not names or name in names]
    return Results(
        folder=folder,
        experiments=tuple(load_experiment(folder / name) for name in chosen),
    )


def _is_experiment(path: Path) -> bool:
    marks = (layout.TRIALS_FILE, layout.EXPERIMENT_FILE)
    return any((path / mark).is_file() for mark in marks)


def _mapping(path: Path, problems: list[str]) -> dict[str, Any]:
    """Return a YAML or JSON file that holds a mapping; empty where there is none."""
    if not path.is_file():
        return {}
    try:
        with own_file(path):
            if path.suffix == ".json":
                return {**json.loads(read_text(path))}
            return {**read_yaml(path).data}
    except SymmfError as error:
        problems.append(str(error))
        return {}


def load_experiment(folder: Path) -> Experiment:
    """Read one experiment; what cannot be read is noted and left out."""
    problems: list[str] = []
    trials, traces = read_tables(folder, problems)
    for frame in (trials, traces):
        frame["experiment"] = folder.name
    config = _mapping(folder / layout.EXPERIMENT_FILE, problems)
    if config.get("role") is not None and config["role"] not in list(Role):
        problems.append(
            f"{folder.name}/{layout.EXPERIMENT_FILE} gives the role "
            f"{str(config['role'])[:40]!r}, which is none of {', '.join(Role)}; the "
            "experiment enters nothing that concerns the paper."
        )
    return Experiment(
        name=folder.name,
        folder=folder,
        trials=trials,
        traces=traces,
        config=config,
        provenance=_mapping(folder / layout.PROVENANCE_FILE, problems),
        problems=tuple(problems),
    )


def is_good(trials: pd.DataFrame, metric: str) -> pd.Series[bool]:
    """Tell which rows count: status ``ok`` and a finite score."""
    finite = pd.Series(np.isfinite(trials[metric]), index=trials.index, dtype=bool)
    return (trials["status"] == "ok") & finite
