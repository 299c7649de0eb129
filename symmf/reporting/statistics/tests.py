"""Paired tests, ranks over cells, intervals and effect sizes, with their limits.

Tests come from scipy; what is written here is the bookkeeping around them: which
scores are paired, which family a correction covers, and what can be said at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from symmf.common.notation import FloatArray
from symmf.metrics import METRICS
from symmf.paper.values import DATASET_TITLES
from symmf.reporting.results import Results, stacked
from symmf.reporting.selection.arms import arms
from symmf.reporting.selection.cells import CellKey, Row, RowKey, cell_keys, collect
from symmf.reporting.statistics.intervals import paired_difference, paired_values

ALPHA = 0.05
ENUMERATED = 13  # pairs
PAIRWISE_COLUMNS = (
    *("metric", "input", "dataset", "n_clusters", "row", "title", "n_pairs"),
    *("difference", "low", "high", "rank_biserial", "dominance", "p", "p_holm"),
    *("family", "floor", "refused"),
)
POWER = 0.8
REFUSED = "copies of one number: the same classes and the same score in every trial"
FURTHER = "further entries"


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values, in the given order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One paired comparison: proposed minus other, over the trials both have."""

    n_pairs: int
    difference: float
    p: float
    rank_biserial: float
    dominance: float


def paired_test(proposed: Sequence[float], other: Sequence[float]) -> PairedTest:
    """Compare two paired samples by Wilcoxon's signed-rank test (two-sided).

    ``rank_biserial`` is the signed share of the rank sum (+1: the first is better in
    every pair); ``dominance`` is the share of pairs won minus the share lost.

    Examples
    --------
    >>> test = paired_test([3.0, 5.0, 9.0], [2.0, 3.0, 5.0])
    >>> test.p, test.rank_biserial, test.dominance
    (0.25, 1.0, 1.0)
    """
    d = np.asarray(proposed, dtype=float) - np.asarray(other, dtype=float)
    if not len(d):
        return PairedTest(0, *[float("nan")] * 4)
    moved = d[d != 0]
    ranks = stats.rankdata(np.abs(moved))
    signed = np.sum(np.sign(moved) * ranks) / np.sum(ranks) if len(moved) else 0.0
    return PairedTest(
        n_pairs=len(d),
        difference=float(d.mean()),
        p=_signed_rank_p(moved, ranks),
        rank_biserial=float(signed),
        dominance=float(np.sign(d).mean()),
    )


def _signed_rank_p(moved: FloatArray, ranks: FloatArray) -> float:
    """Return the two-sided p-value of the signed-rank sum.

    Exact by counting sign patterns for as many pairs as scipy enumerates with ties,
    where its enumeration takes most of the time of a report; scipy's value beyond.
    """
    if len(moved) > ENUMERATED:
        return float(stats.wilcoxon(moved).pvalue)
    doubled = np.rint(2 * ranks).astype(int)  # ranks of ties are halves
    counts = np.ones(1)
    for rank in doubled:
        counts = np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))
    rank_sum = int(doubled[moved > 0].sum())
    tails = counts[: rank_sum + 1].sum(), counts[rank_sum:].sum()
    return float(min(1.0, 2 * min(tails) / 2.0 ** len(moved)))


def smallest_seen(differences: Sequence[float] | FloatArray) -> float:
    """Return the smallest mean difference that such pairs would show.

    A t-test at 0.05, uncorrected, would find it with a power of 80 %, given the spread
    of the differences there are; NaN for fewer than two.

    Examples
    --------
    >>> round(smallest_seen([0.0, 0.1, 0.2, 0.3]), 3)
    0.269
    """
    n = len(differences)
    if n < 2:
        return float("nan")
    quantiles = stats.t.ppf([1 - ALPHA / 2, POWER], n - 1)
    return float(quantiles.sum() * np.std(differences, ddof=1) / np.sqrt(n))


def pairwise(rows: Sequence[Row], metric: str) -> pd.DataFrame:
    """Test every row against the proposed one in every cell.

    Holm's correction covers the comparisons of one cell (one K of one data set) with
    the paper's rows; further readings and controls form a family of their own.
    """
    proposed = next((row for row in rows if row.proposed), None)
    others = [(proposed, row) for row in rows if proposed and row is not proposed]
    records: list[dict[str, Any]] = []
    for key in cell_keys(rows):
        for primary in (True, False):
            group = [pair for pair in others if pair[1].primary == primary]
            found = (_comparison(*pair, key, metric) for pair in group)
            family = [record for record in found if record]
            tested = [record for record in family if not record["refused"]]
            adjusted = holm([record["p"] for record in tested])
            for record, p in zip(tested, adjusted, strict=True):
                record |= {"p_holm": p, "family": len(tested)}
            records += family
    return pd.DataFrame(records, columns=list(PAIRWISE_COLUMNS))


def pairwise_by_input(results: Results, metric: str) -> pd.DataFrame:
    """Test the proposed row against the others of every input, then further entries.

    Rows on different inputs are not tested against each other. Further entries are
    those beside the paper's rows in its own comparison, as its other readings are.
    """
    frames = [
        pairwise(arm.rows[metric], metric).assign(input=arm.title)
        for arm in arms(results)
    ]
    rows = collect(results, metric)
    own = [row for row in rows if row.proposed]
    beside = [row for row in rows if not row.primary and not row.key.apart]
    frames.append(pairwise([*own, *beside], metric).assign(input=FURTHER))
    return stacked(frames)


def _comparison(proposed: Row, row: Row, key: CellKey, metric: str) -> dict[str, Any]:
    """Return the line of two rows in a cell; empty without trials that both have."""
    ours, other = (each.cells.get(key) for each in (proposed, row))
    if ours is None or other is None or row.oracle:
        return {}
    left, right = paired_values(ours, other)
    if not left:
        return {}
    head = {"metric": metric, **key._asdict(), "row": str(row.key), "title": row.title}
    record = {**head, **asdict(paired_test(left, right)), "family": 0, "refused": ""}
    if ours.copies or other.copies:
        return record | {"refused": REFUSED, "p": float("nan")}
    apart = paired_difference(ours, other)
    floor = smallest_seen(np.subtract(left, right))
    return record | {"low": apart.low, "high": apart.high, "floor": floor}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Average ranks with the Friedman test and Nemenyi's critical difference.

    Over cells, or over data sets: then a method has one score per data set, its mean
    over the K that all methods share, and the blocks are independent.
    """

    metric: str
    titles: tuple[str, ...]
    keys: tuple[RowKey, ...]
    ranks: tuple[float, ...]
    cell_keys: tuple[CellKey, ...]
    blocks: str
    left_out: tuple[str, ...]
    statistic: float
    p_value: float
    critical_difference: float

    @property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """Maximal runs (first, last) of methods closer than the critical difference."""
        runs: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            reach = rank + self.critical_difference
            last = max(j for j, other in enumerate(self.ranks) if other <= reach)
            if last > first and (not runs or last > runs[-1][1]):
                runs.append((first, last))
        return tuple(runs)


def nemenyi_difference(n_methods: int, n_cells: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of average ranks.

    Examples
    --------
    >>> round(nemenyi_difference(5, 30), 3)
    1.114
    """
    q = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_cells)))


def rank_rows(
    rows: Sequence[Row], metric: str, *, by_dataset: bool = False
) -> Ranking | None:
    """Rank the primary rows (all rows if none is) over the cells they share.

    Every method is ranked in the same cells. Where some methods lack some cells, the
    choice of methods that keeps the most (method, cell) pairs is taken; the proposed
    method is always in it. The paper's data sets come first: others count only if
    none of those was run. None with fewer than three methods or two cells.
    """
    compete = [row for row in rows if row.primary] or [r for r in rows if not r.oracle]
    filled = {r.key: {p for p, cell in r.cells.items() if cell.n_good} for r in compete}
    known = {p for p in set().union(*filled.values()) if p.dataset in DATASET_TITLES}
    if known and any(row.primary for row in compete):
        filled = {key: found & known for key, found in filled.items()}
    compete = [row for row in compete if filled[row.key]]
    kept, columns = _largest_block(compete, filled)
    if len(kept) < 3 or len(columns) < 2:
        return None
    table = np.array([[row.cells[p].mean for p in columns] for row in kept])
    blocks = f"{len(columns)} cells"
    names = list(dict.fromkeys(key.dataset for key in columns))
    if by_dataset and len(names) > 1:
        of_set = [[p.dataset == name for p in columns] for name in names]
        table = np.column_stack([table[:, own].mean(axis=1) for own in of_set])
        blocks = f"{len(names)} data sets"
    sign = -1 if METRICS[metric].higher_is_better else 1
    average = np.vstack([stats.rankdata(sign * c) for c in table.T]).mean(axis=0)
    if np.ptp(table, axis=0).max() == 0:
        statistic, p_value = 0.0, 1.0
    else:
        test = stats.friedmanchisquare(*table)
        statistic, p_value = float(test.statistic), float(test.pvalue)
    order = np.argsort(average, kind="stable")
    return Ranking(
        metric=metric,
        titles=tuple(kept[i].title for i in order),
        keys=tuple(kept[i].key for i in order),
        ranks=tuple(float(average[i]) for i in order),
        cell_keys=tuple(columns),
        blocks=blocks,
        left_out=tuple(row.title for row in compete if row not in kept),
        statistic=statistic,
        p_value=p_value,
        critical_difference=nemenyi_difference(len(kept), table.shape[1]),
    )


def _largest_block(
    rows: Sequence[Row], filled: dict[RowKey, set[CellKey]]
) -> tuple[list[Row], list[CellKey]]:
    """Choose rows, fullest first, so that rows times common cells is largest."""
    fullest = sorted(rows, key=lambda row: (not row.proposed, -len(filled[row.key])))
    best: tuple[list[Row], set[CellKey]] = ([], set())
    for count in range(1, len(fullest) + 1):
        chosen = fullest[:count]
        common = set.intersection(*(filled[row.key] for row in chosen))
        enough = count >= 3 and len(common) >= 2
        if enough and count * len(common) >= len(best[0]) * len(best[1]):
            best = (chosen, common)
    kept = [row for row in rows if row in best[0]]
    return kept, [key for key in cell_keys(kept) if key in best[1]]
