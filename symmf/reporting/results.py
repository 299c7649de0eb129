"""Read the tidy files of a results folder: the only input of every report.

An experiment is a folder with ``experiment.yaml`` and, where they exist,
``trials.csv``, ``traces.csv``, ``provenance.json`` and ``illustration.npz``; the
contract is :mod:`symmf.experiment.store.layout`. Nothing is written, no solver is run
and no data set is loaded.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symmf.common.validation import did_you_mean
from symmf.errors import InputError, SymmfError
from symmf.experiment.config.model import ExperimentConfig, MethodEntry
from symmf.experiment.store.folder import ExperimentStore, list_experiments
from symmf.experiment.store.layout import PROVENANCE_FILE
from symmf.experiment.store.trials_table import read_tables, trial_columns
from symmf.paper.roles import TABLE_ROLES, Role

#: Decorates what is made from one experiment, or from all, and asked for again.
made_once = lru_cache(maxsize=512)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Something that cannot be shown yet: why, and the command that makes it."""

    name: str
    reason: str
    command: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """One folder of results: what was asked for, what came out, and where."""

    folder: Path
    config: ExperimentConfig
    trials: pd.DataFrame
    traces: pd.DataFrame
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the experiment, which is that of its folder."""
        return self.folder.name

    @property
    def title(self) -> str:
        """What stands above its tables."""
        return self.config.title or self.name

    @property
    def note(self) -> str:
        """What its file says for under its tables, on one line."""
        return " ".join((self.config.note or "").split())

    @property
    def dataset(self) -> str:
        """Key of the data set."""
        return self.config.dataset.name

    @property
    def role(self) -> Role:
        """What the experiment is for."""
        return self.config.role or Role.STUDY

    @property
    def of_paper(self) -> bool:
        """Whether it concerns the paper, and so may be set beside it."""
        return self.role not in (Role.STUDY, Role.EXAMPLE)

    @property
    def facts(self) -> dict[str, Any]:
        """What the run noted about the data; empty before the first run."""
        found: dict[str, Any] = self.provenance.get("facts") or {}
        return found

    @property
    def sizes(self) -> dict[str, Any]:
        """Name, title and sizes of the loaded data, as far as provenance tells."""
        return {"name": self.dataset, **self.provenance.get("dataset", {})}

    @property
    def command(self) -> str:
        """The command that makes, or completes, this experiment."""
        return run_command(self.name)

    @cached_property
    def entries(self) -> dict[str, MethodEntry]:
        """The methods as the configuration lists them, by name."""
        return {entry.entry: entry for entry in self.config.methods}

    @cached_property
    def cluster_counts(self) -> tuple[int, ...]:
        """The values of K asked for or found, in increasing order."""
        found = set(self.trials["n_clusters"])
        return tuple(sorted({*self.config.n_clusters, *self._members, *found}))

    def planned(self, n_clusters: int) -> int:
        """Return how many trials a cell should have."""
        asked = self.config.trials * self._members.get(n_clusters, 1)
        return max(asked, self._found.get(n_clusters, 0))

    @cached_property
    def _members(self) -> Counter[int]:
        """Of a collection: how many of its data sets have each number of classes."""
        return Counter(m["n_classes"] for m in self.facts.get("members", ()))

    @cached_property
    def _found(self) -> dict[Any, int]:
        return self.trials.groupby("n_clusters")["trial"].nunique().to_dict()

    @property
    def missing(self) -> int:
        """Number of planned trials that have no row in ``trials.csv`` yet."""
        named = ["n_clusters", "method", "lambda"]
        counts: dict[Any, int] = (
            self.trials.groupby(named, dropna=False).size().to_dict()
        )
        started = {(k, method) for k, method, _ in counts}
        cells = {(k, name) for k in self.cluster_counts for name in self.entries}
        lacking = [max(0, self.planned(k) - n) for (k, *_), n in counts.items()]
        return sum(lacking) + sum(self.planned(k) for k, _ in cells - started)


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """All experiments of a results folder, in the order of their names.

    ``problems`` says in sentences what could not be read; ``chosen`` whether the
    experiments were named, not just all that are there.
    """

    folder: Path
    experiments: tuple[Experiment, ...] = ()
    chosen: bool = False
    problems: tuple[str, ...] = ()

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The trials of all experiments in one frame."""
        empty = pd.DataFrame(columns=list(trial_columns()))
        return stacked([empty, *(e.trials for e in self.experiments)])

    @property
    def of_paper(self) -> tuple[Experiment, ...]:
        """The experiments that concern the paper."""
        return tuple(e for e in self.experiments if e.of_paper)

    @property
    def about_paper(self) -> bool:
        """Whether the report is on the paper, as it is while nothing was run."""
        return bool(self.of_paper) or not self.experiments

    @property
    def subjects(self) -> tuple[Experiment, ...]:
        """The experiments that figures are about: the paper's, or else one's own."""
        return self.of_paper or self.experiments

    def of(self, *roles: Role) -> tuple[Experiment, ...]:
        """Return the experiments with one of these roles."""
        return tuple(e for e in self.experiments if e.role in roles)

    @property
    def in_tables(self) -> tuple[Experiment, ...]:
        """The experiments of the combined tables: roles in order, main ones first."""

        def place(e: Experiment) -> tuple[int, bool, str]:
            return TABLE_ROLES.index(e.role), e.name != e.dataset, e.name

        return tuple(sorted(self.of(*TABLE_ROLES), key=place))


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
        Read only these experiments: names, or patterns such as ``mine_*``. One that
        fits none is an error that lists the experiments there are.
    """
    stores = {store.name: store for store in list_experiments(folder)}
    for name in names:
        if not fnmatch.filter(stores, name):
            there = ", ".join(stores) or "none yet"
            raise InputError(
                f"There is no experiment {name!r} in {folder}."
                f"{did_you_mean(name, stores)} Experiments there: {there}."
            )
    problems: list[str] = []
    found = [
        load_experiment(store, problems)
        for name, store in stores.items()
        if not names or any(fnmatch.fnmatch(name, pattern) for pattern in names)
    ]
    return Results(
        folder=Path(folder),
        experiments=tuple(e for e in found if e is not None),
        chosen=bool(names),
        problems=tuple(problems),
    )


def load_experiment(store: ExperimentStore, problems: list[str]) -> Experiment | None:
    """Read one experiment; None if its configuration is damaged.

    ``problems`` takes a sentence for whatever cannot be read and is left out.
    """
    provenance: dict[str, Any] = {}
    try:
        config = store.config()
    except SymmfError as error:
        problems.append(str(error))
        return None
    try:
        if (store.folder / PROVENANCE_FILE).is_file():
            provenance = store.provenance()
    except SymmfError as error:
        problems.append(str(error))
    trials, traces = read_tables(store.folder, problems)
    return Experiment(
        folder=store.folder,
        config=config,
        trials=trials.assign(experiment=store.name),
        traces=traces.assign(experiment=store.name),
        provenance=provenance,
    )


def is_good(trials: pd.DataFrame, metric: str) -> pd.Series[bool]:
    """Tell which rows count: status ``ok`` and a finite score."""
    return (trials["status"] == "ok") & np.isfinite(trials[metric].astype(float))


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames below each other; empty ones count only if all are empty."""
    return pd.concat([f for f in frames if len(f)] or frames[:1], ignore_index=True)
