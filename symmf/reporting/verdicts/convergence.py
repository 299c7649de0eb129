"""Decisions on claims about convergence and cost, from traces and seconds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symmf.paper.roles import TABLE_ROLES, Role
from symmf.reporting.results import Results, run_command
from symmf.reporting.selection.cells import ENOUGH_TRIALS, dataset_title
from symmf.reporting.selection.readings import readings
from symmf.reporting.selection.traces import Traced, first_below, traced
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
    left, right = first.trials(x, y), second.trials(x, y)
    common = sorted(left.keys() & right.keys())
    unit = X_UNITS[x]
    if len(common) < ENOUGH_TRIALS:
        return Race(won=False, text=f"too few trials ({len(common)}) to compare")
    for level in sorted(LEVELS):
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


def _pair(first: Traced, second: Traced) -> str:
    return f"{first.reading.label} against {second.reading.label}"


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
        proposed = entry.reading.estimator == "symmf"
        if not proposed or entry.solver not in PROPOSED_SOLVERS or entry.accelerated:
            continue
        y = "split_error" if entry.solver == "columnwise" else "error"
        trials = entry.trials("iteration", y)
        steps = sum(len(ys) - 1 for _, ys in trials.values())
        if steps <= 0:
            continue
        rises = sum(
            int(np.sum(ys[1:] > ys[:-1] * (1 + RISE) + FLOOR))
            for _, ys in trials.values()
        )
        clean.append(rises == 0)
        parts.append(
            f"{entry.reading.label} ({entry.experiment.name}): {rises} rises in "
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
    for experiment in results.of(*TABLE_ROLES, Role.SENSITIVITY):
        # The same problem for both: the proposed method without a constraint.
        named = {
            r.method: r
            for r in readings(experiment)
            if r.estimator == "symmf"
            and str(r.settings.get("constraint") or "none") == "none"
        }
        closed = [m for m, r in named.items() if r.solver == "eigen"]
        iterative = [m for m, r in named.items() if r.solver == "projected_gradient"]
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
