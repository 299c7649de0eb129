"""Decisions on claims about convergence and cost, from traces and seconds."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from symmf.reporting.plots.convergence import traces_of
from symmf.reporting.plots.style import family
from symmf.reporting.results import Experiment, Results, run_command
from symmf.reporting.selection.cells import dataset_title
from symmf.reporting.selection.readings import Line, lines
from symmf.reporting.selection.traces import Trace, first_below, trials_of
from symmf.reporting.verdicts.decision import (
    Decision,
    by_share,
    undecided,
)

LEVELS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
SHARE = 0.75
PROPOSED_SOLVERS = ("columnwise", "projected_gradient")
RISE = 1e-9
FLOOR = 1e-14  # below this, rises are rounding
X_UNITS = {"iteration": "iterations", "seconds": "s"}
CONVERGENCE = run_command("convergence")


def parameters_of(line: Line) -> dict[str, Any]:
    """Return the parameters of an entry with the solver's options among them."""
    try:
        given = json.loads(line.parameters or "{}")
    except ValueError:
        return {}
    options = given.get("solver_options")
    return {**given, **options} if isinstance(options, dict) else dict(given)


def solver_of(line: Line) -> str:
    """Return the solver of an entry; the proposed method chooses one if not told.

    Without a constraint it takes the closed form, unless the published code is
    followed; otherwise Algorithm 2.
    """
    name = family(line)
    if name != "symmf":
        return name
    given = parameters_of(line)
    free = str(given.get("constraint") or "none") == "none"
    return "eigen" if free and not given.get("published") else "projected_gradient"


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """An entry with traces at one K."""

    experiment: Experiment
    line: Line
    n_clusters: int

    @property
    def solver(self) -> str:
        """The solver that ran."""
        return solver_of(self.line)

    @property
    def parameters(self) -> dict[str, Any]:
        """The estimator's parameters with the solver's options among them."""
        return parameters_of(self.line)

    @property
    def nonnegative(self) -> bool:
        """Whether the entry keeps H nonnegative."""
        given = self.parameters
        if given.get("nonnegative") is not None:
            return bool(given["nonnegative"])
        return "nonnegative" in str(given.get("constraint"))

    @property
    def accelerated(self) -> bool:
        """Whether the entry adds what the paper's algorithms do not have."""
        return str(self.parameters.get("acceleration") or "none") != "none"

    @property
    def traces(self) -> pd.DataFrame:
        """The traces at this K and the reference lambda."""
        return traces_of(self.experiment, self.line.method, self.n_clusters)


def traced(results: Results, *, convergence_only: bool = False) -> list[Traced]:
    """Return the entries with traces; only of convergence studies if asked for.

    A convergence study is an experiment on synthetic matrices, or one whose
    configuration describes the convergence figure.
    """
    out: list[Traced] = []
    for experiment in results.experiments:
        study = experiment.dataset == "synthetic" or (
            "convergence" in experiment.figures
        )
        if convergence_only and not study:
            continue
        seen: set[str] = set()
        for line in lines(experiment):
            here = experiment.traces[experiment.traces["method"] == line.method]
            if line.method in seen or not len(here):
                continue
            seen.add(line.method)
            k = int(here["n_clusters"].max())
            out.append(Traced(experiment=experiment, line=line, n_clusters=k))
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Two entries compared on one axis at one level of the error."""

    won: bool
    text: str


def faster(first: Traced, second: Traced, x: str, y: str) -> Race:
    """Tell whether ``first`` reaches a low error sooner than ``second``.

    The level is the smallest at which the comparison is fair: both get there in
    half of the trials, or one does and the other was run at least as long.
    """
    left, right = _values(first, x, y), _values(second, x, y)
    common = sorted(left.keys() & right.keys())
    unit = X_UNITS[x]
    for level in sorted(LEVELS) if common else ():
        a = [first_below(left[t], level) for t in common]
        b = [first_below(right[t], level) for t in common]
        hit = min(np.median(a), np.median(b))
        ends = [min(left[t][0][-1], right[t][0][-1]) for t in common]
        both = np.median(a) < np.inf and np.median(b) < np.inf
        if not both and not hit <= np.median(ends):
            continue
        wins = float(np.mean([p < q for p, q in zip(a, b, strict=True)]))
        text = (
            f"below {level:g} after a median of {_amount(np.median(a))} against "
            f"{_amount(np.median(b))} {unit}, first in {wins:.0%} of {len(a)} trials"
        )
        won = bool(np.median(a) < np.median(b) and wins >= SHARE)
        return Race(won=won, text=text)
    return Race(won=False, text=f"no level reached that allows a comparison in {unit}")


def _values(entry: Traced, x: str, y: str) -> dict[int, Trace]:
    found = entry.traces
    if len(found) and not found[y].notna().any():
        y = "error"
    return trials_of(found, x, y)


def _pair(first: Traced, second: Traced) -> str:
    return f"{first.line.label} against {second.line.label}"


def _amount(value: float) -> str:
    return "never" if not np.isfinite(value) else f"{value:.3g}"


def _pick(
    entries: Sequence[Traced], solver: str, *, nonnegative: bool | None = None
) -> list[Traced]:
    return [
        e
        for e in entries
        if e.solver == solver
        and not e.accelerated
        and (nonnegative is None or e.nonnegative == nonnegative)
    ]


def algorithm1_faster(results: Results) -> Decision:
    """Compare Algorithm 1 with SymANLS and ADMM, mixed and fair."""
    entries = traced(results, convergence_only=True)
    rivals = _pick(entries, "sym_anls") + _pick(entries, "admm")
    wins, parts = [], []
    for nonnegative, kind in ((False, "as in the paper"), (True, "fair")):
        for ours in _pick(entries, "columnwise", nonnegative=nonnegative):
            for rival in rivals:
                if rival.experiment is not ours.experiment:
                    continue
                race = faster(ours, rival, "iteration", "split_error")
                wins.append(race.won)
                parts.append(f"{_pair(ours, rival)} ({kind}): {race.text}")
    if not wins:
        return undecided(
            "No traces of Algorithm 1 beside SymANLS or ADMM.", CONVERGENCE
        )
    return Decision(
        verdict=by_share(sum(wins), len(wins), partly_from=0.5),
        evidence=f"Faster in {sum(wins)} of {len(wins)} comparisons.",
        details=tuple(parts),
    )


def adaptive_faster(results: Results) -> Decision:
    """Compare the adaptive step with Newton and with fixed steps."""
    entries = traced(results, convergence_only=True)
    rivals = _pick(entries, "newton") + _pick(entries, "fixed_step")
    wins, parts = [], []
    for ours in _pick(entries, "projected_gradient"):
        for rival in rivals:
            if rival.experiment is not ours.experiment:
                continue
            races = [faster(ours, rival, x, "error") for x in X_UNITS]
            wins += [race.won for race in races]
            texts = " and ".join(race.text for race in races)
            parts.append(f"{_pair(ours, rival)}: {texts}")
    if not wins:
        return undecided(
            "No traces of Algorithm 2 beside Newton or fixed steps.", CONVERGENCE
        )
    return Decision(
        verdict=by_share(sum(wins), len(wins), partly_from=0.5),
        evidence=f"Faster in {sum(wins)} of {len(wins)} comparisons, iterations and "
        "seconds counted separately.",
        details=tuple(parts),
    )


def monotone(results: Results) -> Decision:
    """Count rises of the recorded error of Algorithms 1 and 2."""
    clean: list[bool] = []
    parts: list[str] = []
    for entry in traced(results):
        if entry.solver not in PROPOSED_SOLVERS or entry.accelerated:
            continue
        y = "split_error" if entry.solver == "columnwise" else "error"
        trials = _values(entry, "iteration", y)
        steps = sum(len(ys) - 1 for _, ys in trials.values())
        if steps <= 0:
            continue
        rises = sum(
            int(np.sum(ys[1:] > ys[:-1] * (1 + RISE) + FLOOR))
            for _, ys in trials.values()
        )
        clean.append(rises == 0)
        parts.append(
            f"{entry.line.label} ({entry.experiment.name}): {rises} rises in "
            f"{steps} recorded steps of {len(trials)} trials"
        )
    if not clean:
        return undecided("No traces of Algorithm 1 or 2.", CONVERGENCE)
    verdict = by_share(sum(clean), len(clean), partly_from=0.5)
    evidence = f"No rise in {sum(clean)} of {len(clean)} entries."
    return Decision(verdict=verdict, evidence=evidence, details=tuple(parts))


def eigen_expensive(results: Results) -> Decision:
    """Compare the seconds of the closed form with those of the iterative runs."""
    ratios: list[float] = []
    parts: list[str] = []
    for experiment in results.experiments:
        named = {line.method: line for line in lines(experiment)}
        closed = [m for m, line in named.items() if solver_of(line) == "eigen"]
        iterative = [
            m for m, line in named.items() if solver_of(line) == "projected_gradient"
        ]
        good = experiment.trials[experiment.trials["status"] == "ok"]
        for k in experiment.cluster_counts if closed else ():
            here = good[good["n_clusters"] == k]
            middle = here.groupby("method")["seconds"].median().to_dict()
            for eigen, method in itertools.product(closed, iterative):
                if eigen not in middle or method not in middle:
                    continue
                slow, fast = float(middle[eigen]), float(middle[method])
                ratios.append(slow / max(fast, 1e-9))
                parts.append(
                    f"{dataset_title(experiment.dataset)} K = {k}: {slow:.3g} s "
                    f"against {fast:.3g} s ({named[method].label})"
                )
    if not ratios:
        return undecided(
            "The closed form was not run beside the iterative method.",
            run_command("coil20"),
        )
    slower = sum(ratio > 1 for ratio in ratios)
    evidence = (
        f"The closed form takes {np.median(ratios):.2g} times the seconds of the "
        f"iterative run (median of {len(ratios)} comparisons) and is slower in "
        f"{slower}."
    )
    return Decision(
        verdict=by_share(slower, len(ratios), partly_from=0.5),
        evidence=evidence,
        details=tuple(parts),
    )
