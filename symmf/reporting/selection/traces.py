"""Traces: whose they are, and their median and band on a common axis."""

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

Trace = tuple[FloatArray, FloatArray]


def traces_of(experiment: Experiment, method: str, n_clusters: int) -> pd.DataFrame:
    """Return the traces of an entry at one K and at its reference lambda."""
    traces = experiment.traces
    found = traces[(traces["method"] == method) & (traces["n_clusters"] == n_clusters)]
    grid = found["lambda"].dropna().unique()
    if len(grid) > 1:
        found = found[found["lambda"] == reference_weight(float(v) for v in grid)]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """An entry with traces at one K."""

    experiment: Experiment
    reading: Reading
    n_clusters: int

    @property
    def solver(self) -> str:
        """The solver that ran; empty if the results do not tell."""
        return self.reading.solver

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
        kept = not len(found) or found[y].notna().any()
        return trials_of(found, x, y if kept else "error")


def traced(results: Results, *, convergence_only: bool = False) -> list[Traced]:
    """Return the entries with traces; only of convergence studies if asked for."""
    out: list[Traced] = []
    for experiment in results.subjects:
        if convergence_only and experiment.role is not Role.CONVERGENCE:
            continue
        seen: set[str] = set()
        for reading in readings(experiment):
            here = experiment.traces[experiment.traces["method"] == reading.method]
            if reading.method in seen or not len(here):
                continue
            seen.add(reading.method)
            k = int(here["n_clusters"].max())
            out.append(Traced(experiment=experiment, reading=reading, n_clusters=k))
    return out


def rises(experiment: Experiment, method: str, y: str) -> tuple[int, int, int]:
    """Return how often ``y`` rises, of how many recorded steps of how many trials.

    All K and lambda of an entry count; a rise is relative, and more than rounding.
    """
    traces = experiment.traces
    own = traces[traces["method"] == method]
    kept = own[y] if own[y].notna().any() else own["error"]
    own = own.assign(y=kept.astype(float))
    own = own[np.isfinite(own["y"])].sort_values("iteration", kind="stable")
    runs = own.groupby(["n_clusters", "trial", "lambda"], dropna=False)["y"]
    before = runs.shift()
    rose = own["y"] > before * (1 + RISE) + ROUNDING
    return int(rose.sum()), int(before.notna().sum()), runs.ngroups


def trials_of(traces: pd.DataFrame, x: str, y: str) -> dict[int, Trace]:
    """Return the (x, y) arrays of every trial, finite values only."""
    out: dict[int, Trace] = {}
    for _, group in traces.groupby("trial", sort=True):
        ordered = group.sort_values("iteration")
        xs = ordered[x].to_numpy(dtype=float)
        ys = ordered[y].to_numpy(dtype=float)
        fine = np.isfinite(xs) & np.isfinite(ys)
        if fine.any():
            trial = int(ordered["trial"].iloc[0])
            out[trial] = (xs[fine], np.maximum(ys[fine], FLOOR))
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
