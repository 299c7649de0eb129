"""Read the tidy files of a results folder: the only input of every report.

An experiment is a folder with ``trials.csv`` and, where they exist, ``traces.csv``,
``experiment.yaml``, ``provenance.json`` and ``illustration.npz``. Nothing else is
read, no solver is run and no data set is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from symmf.errors import InputError

TEXT_COLUMNS = frozenset(
    {"experiment", "dataset", "method", "estimator", "label", "paper_row", "status"}
    | {"stop", "classes", "preprocess", "parameters", "message", "key"}
)
TRIAL_COLUMNS = (
    *("experiment", "dataset", "n_clusters", "trial", "method", "estimator", "label"),
    *("paper_row", "lambda", "status", "ac", "nmi", "nmi_max", "ari"),
    *("silhouette", "seconds", "n_iter", "stop", "error", "n_samples", "classes"),
    *("preprocess", "parameters", "peak_memory_mb", "message", "key"),
)
OPTIONAL_COLUMNS = frozenset({"silhouette"})
TRACE_COLUMNS = (
    *("experiment", "dataset", "n_clusters", "trial", "method", "lambda"),
    *("iteration", "error", "split_error", "seconds"),
)
# Written beside the experiments by the reporting commands themselves.
NOT_EXPERIMENTS = frozenset({"tables", "figures", "verdicts", "audit", "benchmarks"})


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

    @property
    def dataset(self) -> str:
        """Key of the data set, from the trials or else from the configuration."""
        if len(self.trials):
            return str(self.trials["dataset"].iloc[0])
        given = self.config.get("dataset", "")
        return str(given.get("name", "") if isinstance(given, dict) else given)

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
    def method_order(self) -> tuple[str, ...]:
        """Entry names in the order of the configuration, then of the trials."""
        names = [
            str(entry.get("name") or entry.get("method"))
            if isinstance(entry, dict)
            else str(entry)
            for entry in self.config.get("methods") or []
        ]
        names += [str(name) for name in self.trials["method"].unique()]
        return tuple(dict.fromkeys(names))

    @cached_property
    def cluster_counts(self) -> tuple[int, ...]:
        """The values of K asked for or found, in increasing order."""
        asked = self.config.get("n_clusters") or []
        asked = asked if isinstance(asked, list) else [asked]
        found = self.trials["n_clusters"].dropna().astype(int)
        return tuple(sorted({int(k) for k in asked} | set(found)))

    def planned(self, n_clusters: int) -> int:
        """Return how many trials a cell should have."""
        found = self._found.get(n_clusters, 0)
        asked = self.config.get("trials")
        return max(found, asked) if isinstance(asked, int) else found

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

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The trials of all experiments in one frame."""
        return _stack((e.trials for e in self.experiments), TRIAL_COLUMNS)

    @cached_property
    def traces(self) -> pd.DataFrame:
        """The traces of all experiments in one frame."""
        return _stack((e.traces for e in self.experiments), TRACE_COLUMNS)

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, as sentences."""
        return tuple(text for e in self.experiments for text in e.problems)

    def get(self, name: str) -> Experiment | None:
        """Return the experiment of this name, or None."""
        return next((e for e in self.experiments if e.name == name), None)


def run_command(name: str) -> str:
    """Return the command line that runs the shipped configuration ``name``.

    Examples
    --------
    >>> run_command("coil20")
    'symmf run configs/coil20.yaml'
    """
    return f"symmf run configs/{name}.yaml"


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
        if path.name not in NOT_EXPERIMENTS
        and ((path / "trials.csv").is_file() or (path / "experiment.yaml").is_file())
    )
    for name in names:
        if name not in found:
            there = ", ".join(found) or "none yet"
            raise InputError(
                f"There is no experiment {name!r} in {folder}. Experiments there: "
                f"{there}. To make it: {run_command(name)}"
            )
    chosen = [name for name in found if not names or name in names]
    return Results(
        folder=folder,
        experiments=tuple(load_experiment(folder / name) for name in chosen),
    )


def load_experiment(folder: Path) -> Experiment:
    """Read one experiment; what cannot be read is noted and left out."""
    problems: list[str] = []
    trials = _read_csv(folder / "trials.csv", TRIAL_COLUMNS, problems)
    traces = _read_csv(folder / "traces.csv", TRACE_COLUMNS, problems)
    if trials["n_clusters"].isna().any():
        problems.append(
            f"{folder.name}/trials.csv has rows without a number of clusters; "
            "they are left out."
        )
        trials = trials[trials["n_clusters"].notna()].reset_index(drop=True)
    trials["n_clusters"] = trials["n_clusters"].astype(int)
    for frame in (trials, traces):
        frame["experiment"] = folder.name
    return Experiment(
        name=folder.name,
        folder=folder,
        trials=trials,
        traces=traces,
        config=_read_mapping(folder / "experiment.yaml", problems),
        provenance=_read_mapping(folder / "provenance.json", problems),
        problems=tuple(problems),
    )


def is_good(trials: pd.DataFrame, metric: str) -> pd.Series[bool]:
    """Tell which rows count: status ``ok`` and a finite score."""
    finite = pd.Series(np.isfinite(trials[metric]), index=trials.index, dtype=bool)
    return (trials["status"] == "ok") & finite


def _stack(frames: Iterable[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    if not filled:
        return _empty(columns)
    return pd.concat(filled, ignore_index=True)


def _empty(columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {c: pd.Series(dtype=object if c in TEXT_COLUMNS else float) for c in columns}
    )


def _read_csv(path: Path, columns: Sequence[str], problems: list[str]) -> pd.DataFrame:
    where = f"{path.parent.name}/{path.name}"
    if not path.is_file():
        return _empty(columns)
    try:
        raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:  # pandas' parser errors are ValueErrors
        reason = str(error).splitlines()[0] if str(error) else "it is not a table"
        problems.append(f"{where} could not be read and is left out: {reason}.")
        return _empty(columns)
    absent = [c for c in columns if c not in raw.columns and c not in OPTIONAL_COLUMNS]
    if absent:
        problems.append(f"{where} lacks the columns {', '.join(absent)}.")
    out: dict[str, Any] = {}
    for name in columns:
        text = raw[name] if name in raw else pd.Series([""] * len(raw))
        if name in TEXT_COLUMNS:
            out[name] = text.astype(object)
        else:
            out[name] = [_number(value) for value in text]
    return pd.DataFrame(out, columns=list(columns))


def _number(text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        return float("nan")


def _read_mapping(path: Path, problems: list[str]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        value = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError):
        value = None
    if isinstance(value, dict):
        return value
    problems.append(f"{path.parent.name}/{path.name} could not be read; left out.")
    return {}
