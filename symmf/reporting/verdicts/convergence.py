"""Decisions on claims about convergence and cost, from traces and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from symmf.paper.roles import TABLE_ROLES, Role
from symmf.reporting.results import Results, run_command
from symmf.reporting.selection.cells import ENOUGH_TRIALS
from symmf.reporting.selection.readings import readings
from symmf.reporting.selection.traces import Traced, first_below, rises, traced
from symmf.reporting.verdicts.decision import (
    COMMAND,
    ClaimVerdict,
    Decision,
    by_share,
    check_text,
    checks_of,
    undecided,
)

LEVELS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
SHARE = 0.75
X_UNITS = {"iteration": "iterations", "seconds": "s"}
CONVERGENCE = run_command("convergence")
FREE, SAME = "without constraint", "on the same problem"
# The error that the solvers of the paper's two algorithms lower.
LOWERED = {"columnwise": "split_error", "projected_gradient": "error"}


def faster(first: Traced, second: Traced, x: str, y: str) -> tuple[bool, str]:
    """Tell whether ``first`` reaches a low error sooner than ``second``, and how.

    The level is the smallest at which the comparison is fair: both get there in
    half of the trials, or one does and the other was run at least as long.
    """
    left, right = first.trials(x, y), second.trials(x, y)
    common = sorted(left.keys() & right.keys())
    unit = X_UNITS[x]
    if len(common) < ENOUGH_TRIALS:
        return False, f"too few trials ({len(common)}) to compare"
    ends = np.median([min(left[t][0][-1], right[t][0][-1]) for t in common])
    for level in sorted(LEVELS):
        a, b = ([first_below(s[t], level) for t in common] for s in (left, right))
        mine, theirs = np.median(a), np.median(b)
        if max(mine, theirs) == np.inf and not min(mine, theirs) <= ends:
            continue
        wins = sum(p < q for p, q in zip(a, b, strict=True))
        text = (
            f"below {level:g} after {_amount(mine, unit)} against "
            f"{_amount(theirs, unit)}, first in {wins} of {len(a)} trials"
        )
        return bool(mine < theirs and wins >= SHARE * len(a)), text
    return False, f"no level reached that allows a comparison in {unit}"


def _amount(value: float, unit: str) -> str:
    return "not at all" if not np.isfinite(value) else f"{value:.3g} {unit}"


def _races(
    results: Results,
    *,
    solver: str,
    rivals: Sequence[str],
    axes: Sequence[str],
    own: str,
    lack: str,
) -> Decision:
    """Race an algorithm of the paper, free and nonnegative, with its rivals.

    ``own`` is the kind of race that the paper's figure shows.
    """
    plain = [e for e in traced(results, convergence_only=True) if not e.accelerated]
    pairs = [
        (SAME if ours.nonnegative else FREE, ours, rival)
        for ours in sorted(plain, key=lambda e: e.nonnegative)
        for name in rivals
        for rival in plain
        if (ours.reading.solver, rival.reading.solver) == (solver, name)
        and ours.experiment is rival.experiment
    ]
    if not pairs:
        return undecided(lack, CONVERGENCE)
    ran: dict[str, list[bool]] = {}
    parts = []
    for kind, ours, rival in pairs:
        races = [faster(ours, rival, x, LOWERED[solver]) for x in axes]
        ran.setdefault(kind, []).extend(won for won, _ in races)
        texts = "; ".join(text for _, text in races)
        pair = f"{ours.reading.label} against {rival.reading.label}"
        parts.append(f"{kind}, {pair}: {texts}")
    verdicts = {kind: by_share(sum(found), len(found)) for kind, found in ran.items()}
    said = "; ".join(f"{kind} {sum(w)} of {len(w)}" for kind, w in ran.items())
    return Decision(
        verdict=verdicts.get(own, ClaimVerdict.CANNOT),
        equal_terms=verdicts.get(SAME),
        evidence=f"Comparisons in which it is faster: {said}.",
        details=tuple(parts),
    )


algorithm1_faster = partial(
    _races,
    solver="columnwise",
    rivals=("sym_anls", "admm"),
    axes=("iteration",),
    own=FREE,
    lack="No traces of Algorithm 1 beside SymANLS or ADMM.",
)
adaptive_faster = partial(
    _races,
    solver="projected_gradient",
    rivals=("newton", "fixed_step"),
    axes=tuple(X_UNITS),
    own=SAME,
    lack="No traces of Algorithm 2 beside Newton or fixed steps.",
)


def monotone(results: Results) -> Decision:
    """Count rises of the error of Algorithms 1 and 2, and of F in stored checks."""
    clean: list[bool] = []
    parts: list[str] = []
    for entry in traced(results):
        proposed = entry.reading.estimator == "symmf"
        if not proposed or entry.reading.solver not in LOWERED or entry.accelerated:
            continue
        y = LOWERED[entry.reading.solver]
        rose, steps, trials = rises(entry.experiment, entry.reading.method, y)
        if not steps:
            continue
        clean.append(rose == 0)
        parts.append(
            f"{entry.reading.label} ({entry.experiment.name}): {rose} rises in "
            f"{steps} recorded steps of {trials} trials"
        )
    checks = checks_of(results, ("Algorithm 1 ", "Monotone, "), ("signed_max",))
    if not clean and not len(checks):
        return undecided("No traces of Algorithm 1 or 2.", CONVERGENCE)
    evidence = f"No rise in {sum(clean)} of {len(clean)} entries."
    if len(checks):
        fine = int((checks["failures"] == 0).sum())
        evidence += f" The objective never rises in {fine} of {len(checks)} checks."
        clean += (checks["failures"] == 0).tolist()
        parts += map(check_text, checks.to_dict("records"))
    return Decision(
        verdict=by_share(sum(clean), len(clean)),
        evidence=evidence,
        details=tuple(parts),
        command="" if len(checks) else COMMAND,
    )


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
            middle = here.groupby("method")["seconds"].median()
            found = middle.reindex(iterative).dropna()
            if found.empty or not np.isfinite(own):
                continue
            ratios += (own / found.clip(lower=1e-9)).tolist()
            others = (f"{named[str(m)].label} {s:.3g} s" for m, s in found.items())
            place = f"{experiment.name}, K = {k}"
            parts.append(f"{place}: closed form {own:.3g} s, {', '.join(others)}")
    if not ratios:
        lack = "The closed form was not run beside the iterative method."
        return undecided(lack, run_command("coil20"))
    slower = sum(ratio > 1 for ratio in ratios)
    return Decision(
        verdict=by_share(slower, len(ratios)),
        evidence=(
            f"The closed form takes longer in {slower} of {len(ratios)} comparisons; "
            "the median ratio of its seconds to those of the iterative entry is "
            f"{np.median(ratios):.2g}."
        ),
        details=tuple(parts),
    )
