"""Decisions on claims about convergence and cost, from traces and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symmf.paper.roles import TABLE_ROLES, Role
from symmf.reporting.results import Results, run_command
from symmf.reporting.selection.cells import ENOUGH_TRIALS
from symmf.reporting.selection.readings import readings
from symmf.reporting.selection.traces import Traced, first_below, traced
from symmf.reporting.verdicts.decision import (
    ClaimVerdict,
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
FREE, SAME = "without constraint", "on the same problem"


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
        wins = sum(p < q for p, q in zip(a, b, strict=True))
        text = (
            f"below {level:g} after {_amount(np.median(a), unit)} against "
            f"{_amount(np.median(b), unit)}, first in {wins} of {len(a)} trials"
        )
        won = bool(np.median(a) < np.median(b) and wins >= SHARE * len(a))
        return Race(won=won, text=text)
    return Race(won=False, text=f"no level reached that allows a comparison in {unit}")


def _pair(first: Traced, second: Traced) -> str:
    return f"{first.reading.label} against {second.reading.label}"


def _amount(value: float, unit: str) -> str:
    return "not at all" if not np.isfinite(value) else f"{value:.3g} {unit}"


def _by_kind(wins: dict[str, list[bool]], parts: list[str], own: str) -> Decision:
    """Decide by the races of each kind; ``own`` is the kind of the paper's figure."""
    verdicts = {
        kind: by_share(sum(found), len(found), partly_from=0.5) if found else None
        for kind, found in wins.items()
    }
    said = "; ".join(
        f"{kind} {sum(found)} of {len(found)}" for kind, found in wins.items() if found
    )
    return Decision(
        verdict=verdicts[own] or ClaimVerdict.CANNOT,
        equal_terms=verdicts[SAME],
        evidence=f"Comparisons in which it is faster: {said}.",
        details=tuple(parts),
    )


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
    wins: dict[str, list[bool]] = {FREE: [], SAME: []}
    parts = []
    for nonnegative, kind in ((False, FREE), (True, SAME)):
        for ours in _pick(entries, "columnwise", nonnegative=nonnegative):
            for rival in rivals:
                if rival.experiment is not ours.experiment:
                    continue
                race = faster(ours, rival, "iteration", "split_error")
                wins[kind].append(race.won)
                parts.append(f"{kind}, {_pair(ours, rival)}: {race.text}")
    if not parts:
        return undecided(
            "No traces of Algorithm 1 beside SymANLS or ADMM.", CONVERGENCE
        )
    return _by_kind(wins, parts, FREE)


def adaptive_faster(results: Results) -> Decision:
    """Compare the adaptive step with Newton and with fixed steps."""
    entries = traced(results, convergence_only=True)
    rivals = _pick(entries, "newton") + _pick(entries, "fixed_step")
    wins: dict[str, list[bool]] = {FREE: [], SAME: []}
    parts = []
    for nonnegative, kind in ((False, FREE), (True, SAME)):
        for ours in _pick(entries, "projected_gradient", nonnegative=nonnegative):
            for rival in rivals:
                if rival.experiment is not ours.experiment:
                    continue
                races = [faster(ours, rival, x, "error") for x in X_UNITS]
                wins[kind] += [race.won for race in races]
                texts = "; ".join(race.text for race in races)
                parts.append(f"{kind}, {_pair(ours, rival)}: {texts}")
    if not parts:
        return undecided(
            "No traces of Algorithm 2 beside Newton or fixed steps.", CONVERGENCE
        )
    return _by_kind(wins, parts, SAME)


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
    for experiment in results.of(*TABLE_ROLES, Role.SENSITIVITY, Role.SETS):
        # The same problem for both: the proposed method without a constraint, its
        # rows read as they are.
        named = {
            r.method: r
            for r in readings(experiment)
            if r.estimator == "symmf"
            and str(r.settings.get("constraint") or "none") == "none"
            and not r.settings.get("unit_rows")
        }
        closed = [m for m, r in named.items() if r.solver == "eigen"]
        iterative = [m for m, r in named.items() if r.solver == "projected_gradient"]
        good = experiment.trials[experiment.trials["status"] == "ok"]
        for k in experiment.cluster_counts if closed else ():
            here = good[good["n_clusters"] == k]
            own = here[here["method"].isin(closed)]["seconds"].median()
            middle = here.groupby("method")["seconds"].median().to_dict()
            found = {m: float(middle[m]) for m in iterative if m in middle}
            if not found or not np.isfinite(own):
                continue
            ratios += [float(own) / max(seconds, 1e-9) for seconds in found.values()]
            others = ", ".join(
                f"{named[method].label} {seconds:.3g} s"
                for method, seconds in found.items()
            )
            parts.append(
                f"{experiment.name}, K = {k}: closed form {own:.3g} s, {others}"
            )
    if not ratios:
        return undecided(
            "The closed form was not run beside the iterative method.",
            run_command("coil20"),
        )
    slower = sum(ratio > 1 for ratio in ratios)
    evidence = (
        f"The closed form takes longer in {slower} of {len(ratios)} comparisons; the "
        f"median ratio of its seconds to those of the iterative entry is "
        f"{np.median(ratios):.2g}."
    )
    return Decision(
        verdict=by_share(slower, len(ratios), partly_from=0.5),
        evidence=evidence,
        details=tuple(parts),
    )
