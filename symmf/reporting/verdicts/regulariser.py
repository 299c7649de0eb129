"""Decisions on claims about lambda: does it help, grow with K, or matter at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from symmf.paper.values import PAPER_PANELS
from symmf.reporting.results import Results, run_command
from symmf.reporting.selection.cells import Cell, CellKey, dataset_title
from symmf.reporting.selection.regulariser import (
    Pairing,
    graph_pairings,
    grid_panels,
    on_graph,
    pairings,
)
from symmf.reporting.statistics.intervals import (
    INTERVAL_METHOD,
    bootstrap_interval,
    paired_difference,
    paired_values,
)
from symmf.reporting.statistics.tests import (
    ALPHA,
    paired_test,
)
from symmf.reporting.verdicts.decision import (
    COMBINED,
    ClaimVerdict,
    Decision,
    by_share,
    combined,
    so_far,
    undecided,
)
from symmf.reporting.verdicts.inputs import signed

GROWTH_ALPHA = 0.05
LAMBDA_RANGE = (0.1, 1.0)
LAMBDA_LIMIT = 0.05
REGULARISER_RULE = (
    "Decided for each entry on each input: lambda > 0 (0.5 or the nearest) against "
    "lambda = 0, with the same classes and start. Holds: the mean gain in AC is "
    "positive at every K, and the paired Wilcoxon test over all trials gives p < 0.05 "
    "with a positive median. Holds partly: only the latter. Does not hold: the mean "
    "gain is zero or negative. Otherwise it cannot be decided."
    f"{COMBINED} Intervals are the {INTERVAL_METHOD}."
)
GROWTH_RULE = (
    "Decided for each entry on each input: Spearman's correlation of K and the gain in "
    f"AC over all trials. Holds: positive with p < {GROWTH_ALPHA:g}. Does not hold: "
    f"zero or negative. Otherwise it cannot be decided.{COMBINED}"
)
RANGE_RULE = (
    "A curve is an entry at one K of a data set on one input. The paper names no "
    f"range; here it is {LAMBDA_RANGE[0]:g} to {LAMBDA_RANGE[1]:g}, around the 0.5 of "
    "the authors' code. Holds: within it the largest and smallest mean AC differ by at "
    f"most {LAMBDA_LIMIT:g} in every curve. Holds partly: in at least half. Not part "
    "of the rule, but told: how often the paired difference to lambda = 0 has an "
    "interval that leaves out zero."
)


def _judged(pairs: list[Pairing]) -> list[Pairing]:
    """Keep the pairs with enough trials in every cell."""
    return [
        pair
        for pair in pairs
        if all(cell.enough for cell in (*pair.with_cells, *pair.without_cells))
    ]


def _gains(pair: Pairing) -> tuple[list[int], list[float]]:
    ks: list[int] = []
    gains: list[float] = []
    for first, second in zip(pair.with_cells, pair.without_cells, strict=True):
        left, right = paired_values(first, second)
        gains += [a - b for a, b in zip(left, right, strict=True)]
        ks += [first.n_clusters] * len(left)
    return ks, gains


def _where(pair: Pairing) -> str:
    title = dataset_title(pair.reading.dataset)
    return f"{pair.reading.label} on {title} ({pair.experiment.name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """What one entry on one input says of a claim."""

    pair: Pairing
    verdict: ClaimVerdict
    number: float
    short: str
    detail: str


def _decided(
    results: Results,
    judge: Callable[[Pairing], _Finding],
    *,
    at_least: int,
    what: str,
    lack: str,
) -> Decision:
    """Judge the paper's figure entry by entry, and the shared graph as a whole."""
    figure = [judge(p) for p in _judged(pairings(results, at_least=at_least))]
    graph = [judge(p) for p in _judged(graph_pairings(results, at_least=at_least))]
    if not figure and not graph:
        return undecided(lack, run_command("regularization"))
    parts = [
        f"{each.short} for {each.pair.reading.label} in {each.pair.experiment.name}"
        for each in figure
    ]
    if graph:
        numbers = [each.number for each in graph]
        n_holds = sum(each.verdict is ClaimVerdict.HOLDS for each in graph)
        parts.append(
            f"from {min(numbers):+.2f} to {max(numbers):+.2f} on the graph that all "
            f"methods share, where it holds for {n_holds} of {len(graph)} pairs of "
            "entry and data set"
        )
    own: list[ClaimVerdict] = []
    equal = [each.verdict for each in graph]
    for each in figure:
        (equal if on_graph(each.pair.experiment) else own).append(each.verdict)
    return Decision(
        verdict=combined(own) or ClaimVerdict.CANNOT,
        equal_terms=combined(equal),
        evidence=f"{what}: {'; '.join(parts)}.",
        details=tuple(each.detail for each in (*figure, *graph)),
    )


def regulariser_helps(results: Results) -> Decision:
    """Decide whether lambda > 0 scores higher than lambda = 0."""
    return _decided(
        results,
        _gain,
        at_least=2,
        what="Mean gain in AC, with its interval",
        lack="No entry was run with and without the regulariser over several K, 5 "
        "trials each.",
    )


def _gain(pair: Pairing) -> _Finding:
    ks, gains = _gains(pair)
    test = paired_test(gains, [0.0] * len(gains))
    low, high = bootstrap_interval(gains)
    means = [
        float(np.mean([g for g, k in zip(gains, ks, strict=True) if k == n]))
        for n in sorted(set(ks))
    ]
    n_up = sum(mean > 0 for mean in means)
    return _Finding(
        pair=pair,
        verdict=_helps(test.p_value, gains, all_up=n_up == len(means)),
        number=test.difference,
        short=f"{signed(test.difference)} ({signed(low)} to {signed(high)})",
        detail=(
            f"{_where(pair)}, lambda = {pair.weight:g} against 0: mean gain in AC "
            f"{test.difference:+.3f} over {test.n_pairs} paired trials "
            f"(p = {test.p_value:.2g}), positive at {n_up} of {len(means)} K"
        ),
    )


def _helps(p_value: float, gains: list[float], *, all_up: bool) -> ClaimVerdict:
    if p_value < ALPHA and float(np.median(gains)) > 0:
        return ClaimVerdict.HOLDS if all_up else ClaimVerdict.PARTLY
    positive = float(np.mean(gains)) > 0
    return ClaimVerdict.CANNOT if positive else ClaimVerdict.DOES_NOT_HOLD


def gain_grows(results: Results) -> Decision:
    """Decide whether the gain from the regulariser rises with K."""
    return _decided(
        results,
        _growth,
        at_least=3,
        what="Correlation of K and gain in AC",
        lack="No entry was run with and without the regulariser at three or more K, 5 "
        "trials each.",
    )


def _growth(pair: Pairing) -> _Finding:
    ks, gains = _gains(pair)
    flat = len(set(gains)) < 2
    test = stats.spearmanr(ks, gains) if not flat else None
    rho = 0.0 if test is None else float(test.statistic)
    p = 1.0 if test is None else float(test.pvalue)
    verdict = ClaimVerdict.DOES_NOT_HOLD
    if rho > 0:
        verdict = ClaimVerdict.HOLDS if p < GROWTH_ALPHA else ClaimVerdict.CANNOT
    return _Finding(
        pair=pair,
        verdict=verdict,
        number=rho,
        short=f"{rho:+.2f}",
        detail=(
            f"{_where(pair)}: Spearman correlation of K and gain {rho:+.2f} "
            f"(p = {p:.2g}, {len(gains)} paired trials)"
        ),
    )


def lambda_insensitive(results: Results) -> Decision:
    """Decide whether the mean AC stays within a limit over the range of lambda."""
    calm: list[bool] = []
    graphs: list[bool] = []  # of each curve, whether it stands on a graph
    moving: list[str] = []
    parts: list[str] = []
    gains = losses = pairs = 0
    for panel in grid_panels(results):
        for curve in panel.curves("ac").values():
            inside = _in_range(curve)
            if len(inside) < 2 or not all(cell.enough for cell in curve):
                continue
            spread = _spread(inside)
            calm.append(spread <= LAMBDA_LIMIT)
            graphs.append(on_graph(panel.experiment))
            zero = next((cell for cell in curve if cell.reading.weight == 0), None)
            found = [
                paired_difference(c, zero) for c in curve if zero and c is not zero
            ]
            pairs += len(found)
            gains += sum(each.low > 0 for each in found)
            losses += sum(each.high < 0 for each in found)
            ends = [float(cell.reading.weight or 0) for cell in curve]
            name = (
                f"{curve[0].reading.label} on {dataset_title(panel.key.dataset)}, "
                f"K = {panel.n_clusters} ({panel.experiment.name})"
            )
            if not calm[-1]:
                moving.append(name)
            parts.append(
                f"{name}: mean AC varies by "
                f"{spread:.3f} within the range and by {_spread(curve):.3f} over the "
                f"whole grid ({min(ends):g} to {max(ends):g})"
            )
    if not calm:
        return undecided("No study over lambda has 5 trials.", run_command("lambda"))
    there = {panel.key for panel in grid_panels(results)}
    complete = {CellKey(*key) for key in PAPER_PANELS} <= there
    command = "" if complete else run_command("lambda")
    evidence = (
        f"The mean AC stays within {LAMBDA_LIMIT:g} in {sum(calm)} of {len(calm)} "
        f"curves for lambda from {LAMBDA_RANGE[0]:g} to {LAMBDA_RANGE[1]:g}"
    )
    evidence += f"; not in {', '.join(moving)}." if moving else "."
    if pairs:
        evidence += (
            f" Of {pairs} paired differences to lambda = 0 over the whole grid, "
            f"{gains} have an interval above zero and {losses} one below."
        )
    own, equal = (
        [found for found, graph in zip(calm, graphs, strict=True) if graph == wanted]
        for wanted in (False, True)
    )
    verdict = by_share(sum(own), len(own), partly_from=0.5)
    return Decision(
        verdict=so_far(verdict, command) if own else ClaimVerdict.CANNOT,
        equal_terms=by_share(sum(equal), len(equal), partly_from=0.5)
        if equal
        else None,
        evidence=evidence,
        details=tuple(parts),
        command=command,
    )


def _in_range(curve: list[Cell]) -> list[Cell]:
    low, high = LAMBDA_RANGE
    return [cell for cell in curve if low <= float(cell.reading.weight or 0) <= high]


def _spread(curve: list[Cell]) -> float:
    means = [cell.mean for cell in curve]
    return max(means) - min(means)
