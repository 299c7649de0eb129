"""Decisions on claims about lambda: does it help, grow with K, or matter at all."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats

from symmf.paper.values import PAPER_PANELS
from symmf.reporting.results import Results, run_command
from symmf.reporting.selection.cells import Cell, dataset_title
from symmf.reporting.selection.regulariser import (
    Pairing,
    WeightGrid,
    graph_pairings,
    grid_panels,
    on_graph,
    pairings,
)
from symmf.reporting.statistics.intervals import (
    bootstrap_interval,
    bounds,
    paired_difference,
    paired_values,
    signed,
)
from symmf.reporting.statistics.tests import ALPHA, paired_test
from symmf.reporting.verdicts.decision import (
    ClaimVerdict,
    Decision,
    by_share,
    combined,
    so_far,
    undecided,
)

LAMBDA_RANGE = (0.1, 1.0)
LAMBDA_LIMIT = 0.05


@dataclass(frozen=True, slots=True)
class _Finding:
    """What one entry on one input says of a claim."""

    verdict: ClaimVerdict
    number: float
    short: str
    detail: str


def _decided(
    results: Results,
    *,
    judge: Callable[[list[int], list[float]], _Finding],
    at_least: int,
    what: str,
    lack: str,
) -> Decision:
    """Judge the paper's figure entry by entry, and the shared graph as a whole."""
    figure, graph = (
        [
            (pair, judge(*_gains(pair)))
            for pair in find(results, at_least)
            if pair.enough
        ]
        for find in (pairings, graph_pairings)
    )
    if not figure and not graph:
        return undecided(lack, run_command("regularization"))
    parts = [
        f"{found.short} for {pair.reading.label} in {pair.experiment.name}"
        for pair, found in figure
    ]
    if graph:
        numbers = [found.number for _, found in graph]
        n_holds = sum(found.verdict is ClaimVerdict.HOLDS for _, found in graph)
        parts.append(
            f"from {min(numbers):+.2f} to {max(numbers):+.2f} on the common graph, "
            f"where it holds for {n_holds} of {len(graph)} pairs of "
            "entry and data set"
        )
    own = [f.verdict for pair, f in figure if not on_graph(pair.experiment)]
    equal = [f.verdict for pair, f in figure if on_graph(pair.experiment)]
    return Decision(
        verdict=combined(own) or ClaimVerdict.CANNOT,
        equal_terms=combined([*(f.verdict for _, f in graph), *equal]),
        evidence=f"{what}: {'; '.join(parts)}.",
        details=tuple(
            f"{pair.reading.label} on {dataset_title(pair.reading.dataset)} "
            f"({pair.experiment.name}){found.detail.format(weight=pair.weight)}"
            for pair, found in (*figure, *graph)
        ),
    )


def _gains(pair: Pairing) -> tuple[list[int], list[float]]:
    """Return K and the gain of every paired trial."""
    found = [
        (first.n_clusters, gain)
        for first, second in zip(pair.with_cells, pair.without_cells, strict=True)
        for gain in np.subtract(*paired_values(first, second)).tolist()
    ]
    return [k for k, _ in found], [gain for _, gain in found]


def _gain(ks: list[int], gains: list[float]) -> _Finding:
    test = paired_test(gains, [0.0] * len(gains))
    between = bounds(*bootstrap_interval(gains))
    means = [np.mean(np.array(gains)[np.array(ks) == k]) for k in sorted({*ks})]
    n_up = sum(mean > 0 for mean in means)
    verdict = ClaimVerdict.DOES_NOT_HOLD
    if test.p < ALPHA and np.median(gains) > 0:
        verdict = ClaimVerdict.HOLDS if n_up == len(means) else ClaimVerdict.PARTLY
    elif np.mean(gains) > 0:
        verdict = ClaimVerdict.CANNOT
    return _Finding(
        verdict,
        test.difference,
        f"{signed(test.difference)} ({between})",
        f", lambda = {{weight:g}} against 0: mean gain in AC {test.difference:+.3f} "
        f"({between}) over {test.n_pairs} paired trials (p = {test.p:.2g}, "
        f"rank-biserial {test.rank_biserial:+.2f}), positive at {n_up} of "
        f"{len(means)} K",
    )


def _growth(ks: list[int], gains: list[float]) -> _Finding:
    rho, p, low, high = 0.0, 1.0, 0.0, 0.0
    if len(set(gains)) > 1:
        # Spearman's correlation is Pearson's of the ranks, and Fisher's interval its.
        test = stats.spearmanr(ks, gains)
        rho, p = float(test.statistic), float(test.pvalue)
        ranks = stats.rankdata(ks), stats.rankdata(gains)
        low, high = stats.pearsonr(*ranks).confidence_interval()
    verdict = ClaimVerdict.DOES_NOT_HOLD
    if rho > 0:
        verdict = ClaimVerdict.HOLDS if p < ALPHA else ClaimVerdict.CANNOT
    return _Finding(
        verdict,
        rho,
        f"{rho:+.2f}",
        f": Spearman correlation of K and gain {rho:+.2f} ({low:+.2f} to {high:+.2f}; "
        f"p = {p:.2g}, {len(gains)} paired trials)",
    )


regulariser_helps = partial(
    _decided,
    judge=_gain,
    at_least=2,
    what="Mean gain in AC, with its interval",
    lack="No entry was run with and without the regulariser over several K, 5 trials "
    "each.",
)
gain_grows = partial(
    _decided,
    judge=_growth,
    at_least=3,
    what="Correlation of K and gain in AC",
    lack="No entry was run with and without the regulariser at three or more K, 5 "
    "trials each.",
)


@dataclass(frozen=True, slots=True)
class _Curve:
    """The cells of an entry over lambda, each with enough trials."""

    panel: WeightGrid
    method: str
    cells: dict[float, Cell]

    @property
    def name(self) -> str:
        reading = next(iter(self.cells.values())).reading
        place = f"{dataset_title(reading.dataset)}, K = {self.panel.n_clusters}"
        return f"{reading.label} on {place} ({reading.experiment})"

    @property
    def graph(self) -> bool:
        """Whether its entry stands on a graph."""
        return on_graph(self.panel.experiment)

    @property
    def best(self) -> float:
        """The lambda with the highest mean."""
        return max(self.cells, key=lambda weight: self.cells[weight].mean)

    @property
    def inside(self) -> dict[float, Cell]:
        """The cells within the range of the claim."""
        low, high = LAMBDA_RANGE
        return {w: cell for w, cell in self.cells.items() if low <= w <= high}


def _curves(results: Results) -> list[_Curve]:
    found = [
        _Curve(panel, method, cells)
        for panel in grid_panels(results)
        for method, cells in panel.curves("ac").items()
        if all(cell.enough for cell in cells.values())
    ]
    return [curve for curve in found if len(curve.inside) > 1]


def _over_lambda(
    results: Results,
    found: list[tuple[_Curve, bool]],
    evidence: str,
    details: list[str],
    *,
    partly_from: float = 0.5,
) -> Decision:
    """Decide by the curves, or pairs of curves, that say yes; apart on the graph."""
    there = {panel.key for panel in grid_panels(results)}
    command = "" if {*PAPER_PANELS} <= there else run_command("lambda")

    def decide(graph: bool) -> ClaimVerdict | None:
        said = [yes for curve, yes in found if curve.graph == graph]
        return by_share(sum(said), len(said), partly_from=partly_from) if said else None

    return Decision(
        verdict=so_far(decide(graph=False) or ClaimVerdict.CANNOT, command),
        equal_terms=decide(graph=True),
        evidence=evidence,
        details=tuple(details),
        command=command,
    )


def _spread(cells: dict[float, Cell]) -> float:
    return float(np.ptp([cell.mean for cell in cells.values()]))


def lambda_insensitive(results: Results) -> Decision:
    """Decide whether the mean AC stays within a limit over the range of lambda."""
    curves = _curves(results)
    if not curves:
        lack = "No study over lambda has 5 trials."
        return undecided(lack, run_command("lambda"))
    found = [(c, _spread(c.inside) <= LAMBDA_LIMIT) for c in curves]
    differences = [
        paired_difference(cell, curve.cells[0])
        for curve in curves
        for weight, cell in curve.cells.items()
        if weight and 0 in curve.cells
    ]
    moving = [curve.name for curve, calm in found if not calm]
    evidence = (
        f"The mean AC stays within {LAMBDA_LIMIT:g} in {len(curves) - len(moving)} of "
        f"{len(curves)} curves for lambda from {LAMBDA_RANGE[0]:g} to "
        f"{LAMBDA_RANGE[1]:g}{'; not in ' if moving else ''}{', '.join(moving)}."
    )
    if differences:
        evidence += (
            f" Of {len(differences)} paired differences to lambda = 0 over the whole "
            f"grid, {sum(d.low > 0 for d in differences)} have an interval above zero "
            f"and {sum(d.high < 0 for d in differences)} one below."
        )
    details = [
        f"{c.name}: mean AC varies by {_spread(c.inside):.3f} within the range and by "
        f"{_spread(c.cells):.3f} over the whole grid ({min(c.cells):g} to "
        f"{max(c.cells):g})"
        for c in curves
    ]
    return _over_lambda(results, found, evidence, details)


def lambda_depends(results: Results) -> Decision:
    """Decide whether the best lambda of one data set is worse on another."""
    found: list[tuple[_Curve, bool]] = []
    details = []
    for own, other in itertools.permutations(_curves(results), 2):
        apart = own.panel.key.dataset != other.panel.key.dataset
        alike = (own.method, own.graph) == (other.method, other.graph)
        if apart and alike and other.best in own.cells:
            gain = paired_difference(own.cells[own.best], own.cells[other.best])
            found.append((own, gain.low > 0))
            details.append(
                f"{own.name}: best at lambda = {own.best:g}; mean AC against "
                f"{other.best:g}, the best on "
                f"{dataset_title(other.panel.key.dataset)}: {gain}"
            )
    if not found:
        lack = "No entry has a study over lambda with 5 trials on two data sets."
        return undecided(lack, run_command("lambda"))
    evidence = (
        "The best lambda of a data set is better there than that of another, by its "
        f"interval, in {sum(yes for _, yes in found)} of {len(found)} cases."
    )
    return _over_lambda(results, found, evidence, details, partly_from=0)
