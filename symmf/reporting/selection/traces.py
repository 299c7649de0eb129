"""Traces: whose they are, what they measure, and their median on a common axis.

A trace is the error of the matrix that its method factors, relative to that matrix.
Different similarities, preprocessing or weights of the regulariser give different
matrices, and some methods factor the data or train a network instead: only errors of
one problem belong on one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from symmf.common.notation import FloatArray
from symmf.paper.roles import Role
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.readings import Reading, readings, reference_weight

FLOOR = 1e-32  # zero cannot be shown on a logarithmic axis
RISE, ROUNDING = 1e-9, 1e-14  # relative and absolute rises below are rounding
MOST_POINTS = 240
QUARTILES = (0.25, 0.5, 0.75)

SYMMETRIC = "‖M − HHᵀ‖² / ‖M‖²"
# The sign of the error, by what stands before the colon of a stored matrix.
SYMBOLS = {
    "M": SYMMETRIC,
    "X": "‖X − UVᵀ‖² / ‖X‖²",
    "X and a graph": "objective / ‖X‖²",
    "C": "loss / ‖X‖²",
}

Trace = tuple[FloatArray, FloatArray]


def traces_of(experiment: Experiment, method: str, n_clusters: int) -> pd.DataFrame:
    """Return the traces of an entry at one K and at its reference lambda."""
    traces = experiment.traces
    found = traces[(traces["method"] == method) & (traces["n_clusters"] == n_clusters)]
    return at_reference(found)


def at_reference(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the lines at the reference lambda of those there are."""
    grid = [float(value) for value in lines["lambda"].dropna().unique()]
    return lines[lines["lambda"] == reference_weight(grid)] if grid else lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """An entry with traces at one K."""

    experiment: Experiment
    reading: Reading
    n_clusters: int

    @property
    def nonnegative(self) -> bool:
        """Whether the entry keeps H nonnegative."""
        given = self.reading.settings
        if given.get("nonnegative") is not None:
            return bool(given["nonnegative"])
        return "nonnegative" in str(given.get("constraint"))

    @property
    def accelerated(self) -> bool:
        """Whether the entry adds, or may add, what the paper's algorithms do not have.

        Where the solver was left to choose, so was its acceleration.
        """
        given = self.reading.settings
        chosen = str(given.get("solver") or "auto") == "auto"
        added = str(given.get("acceleration") or "none") != "none"
        return added or (chosen and not given.get("published"))

    def trials(self, x: str, y: str) -> dict[int, Trace]:
        """Return the (x, y) arrays of every trial; the error where y is not kept."""
        found = traces_of(self.experiment, self.reading.method, self.n_clusters)
        return trials_of(found, x, measured(found, y))


def measured(traces: pd.DataFrame, y: str) -> str:
    """Return the column to show for ``y``: the error where ``y`` is not kept."""
    return y if traces[y].notna().any() else "error"


def traced(results: Results, *, convergence_only: bool = False) -> list[Traced]:
    """Return the entries with traces; only of convergence studies if asked for."""
    out: list[Traced] = []
    for experiment in results.subjects:
        if convergence_only and experiment.role is not Role.CONVERGENCE:
            continue
        largest = experiment.traces.groupby("method")["n_clusters"].max()
        firsts = {r.method: r for r in reversed(readings(experiment))}
        for method in experiment.entries:
            if method in largest:
                k, reading = int(largest[method]), firsts[method]
                out.append(Traced(experiment=experiment, reading=reading, n_clusters=k))
    return out


def rises(experiment: Experiment, method: str, y: str) -> tuple[int, int, int]:
    """Return how often ``y`` rises, of how many recorded steps of how many trials.

    All K and lambda of an entry count; a rise is relative, and more than rounding.
    """
    traces = experiment.traces
    own = traces[traces["method"] == method]
    own = own.assign(y=own[measured(own, y)].astype(float))
    own = own[np.isfinite(own["y"])].sort_values("iteration", kind="stable")
    runs = own.groupby(["n_clusters", "trial", "lambda"], dropna=False)["y"]
    before = runs.shift()
    rose = own["y"] > before * (1 + RISE) + ROUNDING
    return int(rose.sum()), int(before.notna().sum()), runs.ngroups


def trials_of(traces: pd.DataFrame, x: str, y: str) -> dict[int, Trace]:
    """Return the (x, y) arrays of every trial, finite values only."""
    out: dict[int, Trace] = {}
    known = traces[np.isfinite(traces[x].astype(float) + traces[y].astype(float))]
    for trial, group in known.sort_values("iteration").groupby("trial"):
        xs, ys = (group[name].to_numpy(dtype=float) for name in (x, y))
        out[int(str(trial))] = xs, np.maximum(ys, FLOOR)
    return out


def common_axis(trials: Sequence[Trace], *, spread: bool) -> FloatArray:
    """Return the points at which trials are compared.

    Recorded points where the trials share them (iterations); otherwise, for
    ``spread``, points evenly spaced in the logarithm (seconds).
    """
    if spread:
        end = max(float(xs[-1]) for xs, _ in trials)
        steps = [float(xs[xs > 0][0]) for xs, _ in trials if (xs > 0).any()]
        if not steps or end <= 0:
            return np.array([0.0])
        start = min(min(steps), end)
        inner = np.geomspace(start, end, MOST_POINTS // 2)
        return np.concatenate([[0.0], inner])
    axis = np.unique(np.concatenate([xs for xs, _ in trials]))
    if len(axis) > MOST_POINTS:
        picks = np.unique(np.linspace(0, len(axis) - 1, MOST_POINTS).round())
        axis = axis[picks.astype(int)]
    return axis


def band(trials: Sequence[Trace], *, spread: bool = False) -> pd.DataFrame:
    """Return median and quartiles over trials at common points.

    Between recorded points a trace is interpolated in the logarithm; a run that has
    stopped keeps its last value.

    Examples
    --------
    >>> x = np.array([0.0, 1.0])
    >>> trace = x, np.array([1.0, 0.1])
    >>> band([trace, trace])["median"].round(12).tolist()
    [1.0, 0.1]
    """
    axis = common_axis(trials, spread=spread)
    logs = np.vstack([np.interp(axis, xs, np.log10(ys)) for xs, ys in trials])
    low, median, high = 10.0 ** np.quantile(logs, QUARTILES, axis=0)
    return pd.DataFrame(
        {"x": axis, "median": median, "low": low, "high": high, "n_trials": len(trials)}
    )


def first_below(trace: Trace, level: float) -> float:
    """Return the first recorded x with y at or below ``level``; infinity if never.

    Examples
    --------
    >>> first_below((np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.1, 0.01])), 0.1)
    1.0
    """
    there = np.flatnonzero(trace[1] <= level)
    return float(trace[0][there[0]]) if len(there) else float("inf")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is minimised; entries with equal problems can be compared."""

    title: str
    symbol: str = SYMMETRIC
    preprocess: str = ""


def problem_of(experiment: Experiment, reading: Reading) -> Problem:
    """Return the problem of an entry at its reference lambda, as its trials tell."""
    trials = experiment.trials[experiment.trials["method"] == reading.method]
    preprocess = str(trials["preprocess"].iloc[0]) if len(trials) else ""
    told = sorted({str(words) for words in at_reference(trials)["matrix"]} - {""})
    if not told:
        # An estimator of another package that does not say: a problem of its own.
        return Problem(f"what {reading.label} minimises", "error", preprocess)
    kind = told[0].partition(":")[0]
    title = " or ".join(told).replace("_", " ").replace("lambda ", "λ = ")
    return Problem(title, SYMBOLS.get(kind, "error"), preprocess)


def by_problem(
    experiment: Experiment, methods: Sequence[str]
) -> dict[Problem, list[str]]:
    """Group entries by what they minimise, in the order given.

    Problems that differ in the preprocessing alone get it into their titles.
    """
    known = {reading.method: reading for reading in readings(experiment)}
    groups: dict[Problem, list[str]] = {}
    for method in methods:
        reading = known.get(method)
        problem = problem_of(experiment, reading) if reading else Problem("")
        groups.setdefault(problem, []).append(method)
    titles = [problem.title for problem in groups]
    return {
        Problem(f"{p.title} ({p.preprocess or 'as loaded'})", p.symbol, p.preprocess)
        if titles.count(p.title) > 1
        else p: names
        for p, names in groups.items()
    }
