"""How far the verdicts rest on choices, and what a cell can show at all.

The verdicts on published values depend on the kind of interval and on the luck of the
draws; those on claims on whether settings are merged. What a mean is worth depends on
what chance alone gives in its cell, and on the smallest difference that so many draws
would show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from symmf.common.files import csv_text, write_text
from symmf.common.seeds import generator
from symmf.paper.values import METRIC_TITLES
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import Cell, Row, collect, published_by_cell
from symmf.reporting.statistics.intervals import LEVEL, bootstrap_interval
from symmf.reporting.statistics.tests import ALPHA, POWER, pairwise
from symmf.reporting.tables.formats import to_markdown
from symmf.reporting.tables.model import PlainTable, record_table
from symmf.reporting.verdicts.claims import ledger
from symmf.reporting.verdicts.decision import ClaimVerdict, combined
from symmf.reporting.verdicts.values import ValueVerdict, decide

REDRAWS = 200
USUAL_TRIALS = 10  # as many as the paper averages
SHOWN = (
    *(ValueVerdict.CLOSE, ValueVerdict.UNCLEAR),
    *(ValueVerdict.HIGHER, ValueVerdict.LOWER),
)
AS_REPORTED = "percentile bootstrap (as reported)"


def t_interval(values: Sequence[float], samples: int = 1) -> tuple[float, float]:
    """Return the t interval of a mean.

    With two ``samples`` that of a difference of means, if the other sample has the
    same size and spread.

    Examples
    --------
    >>> [round(end, 3) for end in t_interval([0.0, 0.1, 0.2])]
    [-0.148, 0.348]
    """
    n = len(values)
    if n < 2:
        return float("nan"), float("nan")
    error = np.std(values, ddof=1) * np.sqrt(samples / n)
    ends = stats.t.interval(LEVEL, samples * (n - 1), np.mean(values), error)
    return float(ends[0]), float(ends[1])


INTERVALS: dict[str, Callable[[Sequence[float]], tuple[float, float]]] = {
    AS_REPORTED: bootstrap_interval,
    "t interval": t_interval,
    "t interval, published means as uncertain": lambda values: t_interval(values, 2),
}


def value_sensitivity(results: Results) -> PlainTable:
    """Return how many published values get each verdict, by kind of interval."""
    pairs = [(v, c.values) for v, c in _published_cells(results)]
    counted: dict[str, Sequence[Any]] = {}
    for name, interval in INTERVALS.items():
        counted[name] = _counts(pairs, interval)
    if any(len(scores) > USUAL_TRIALS for _, scores in pairs):
        few = [(v, scores[:USUAL_TRIALS]) for v, scores in pairs]
        name = f"as reported, the first {USUAL_TRIALS} trials of each cell"
        counted[name] = _counts(few, bootstrap_interval)
    redrawn = f"as reported, trials resampled ({REDRAWS} times)"
    counted[redrawn] = [f"{low} to {high}" for low, high in _redrawn(pairs)]
    records = [
        {"interval": name, **dict(zip(map(str, SHOWN), n, strict=True))}
        for name, n in counted.items()
        if pairs
    ]
    return record_table(results, "sensitivity", records)


def _counts(
    pairs: Sequence[tuple[float, tuple[float, ...]]],
    interval: Callable[[Sequence[float]], tuple[float, float]],
) -> list[int]:
    found = Counter(decide(v, float(np.mean(x)), *interval(x)) for v, x in pairs)
    return [found[verdict] for verdict in SHOWN]


def _published_cells(results: Results) -> list[tuple[float, Cell]]:
    """Return every published value with the cell that stands beside it."""
    found = {
        (metric, row.key.paper_row, key): cell
        for metric in METRIC_TITLES
        for row in collect(results, metric)
        for key, cell in row.cells.items()
        if row.primary and cell.enough
    }
    published = published_by_cell().items()
    return [(value, found[place]) for place, value in published if place in found]


def _redrawn(
    pairs: Sequence[tuple[float, tuple[float, ...]]],
) -> list[tuple[int, int]]:
    """Return, by verdict, the middle 90 % of its counts over resampled trials.

    Means are those of resampled trials; every interval keeps its width.
    """
    rng = generator("sensitivity", REDRAWS)
    counts = np.zeros((REDRAWS, len(SHOWN)))
    for value, scores in pairs:
        low, high = bootstrap_interval(scores)
        means = rng.choice(scores, size=(REDRAWS, len(scores))).mean(axis=1)
        mean = float(np.mean(scores))
        for count, shift in zip(counts, means - mean, strict=True):
            verdict = decide(value, mean + shift, low + shift, high + shift)
            count[SHOWN.index(verdict)] += 1
    ends = np.quantile(counts, [0.05, 0.95], axis=0).round().astype(int)
    return list(zip(*ends.tolist(), strict=True))


def claim_sensitivity(results: Results) -> PlainTable:
    """Return how many claims have each verdict: by setting, and if they were merged."""
    decisions = [each.decision for each in ledger(results) if not each.claim.proved]
    by_setting: dict[str, list[ClaimVerdict | None]] = {
        "the paper's own setting": [d.verdict for d in decisions],
        "equal terms": [d.equal_terms for d in decisions if d.equal_terms],
        "both merged (not reported)": [
            combined([v for v in (d.verdict, d.equal_terms) if v]) for d in decisions
        ],
    }
    kinds = [v for v in ClaimVerdict if any(v in f for f in by_setting.values())]
    records = [
        {"Verdicts": name, **{str(kind): found.count(kind) for kind in kinds}}
        for name, found in by_setting.items()
    ]
    columns = [
        (head, "r" if n else "l", f"{{{head}}}") for n, head in enumerate(records[0])
    ]
    return record_table(results, "claim_sensitivity", records, columns=columns)


def cell_levels(results: Results) -> PlainTable:
    """Return, for every cell, what chance gives and what its trials can show."""
    rows = {m: [r for r in collect(results, m) if r.primary] for m in METRIC_TITLES}
    proposed = [row for row in rows["ac"] if row.proposed]
    experiments = {e.name: e for e in results.experiments}
    seen = {metric: _floors(found, metric) for metric, found in rows.items()}
    records = []
    for key, cell in proposed[0].cells.items() if proposed else ():
        experiment = experiments[cell.reading.experiment]
        record = {
            **key._asdict(),
            "trials": cell.n_good,
            "largest_class": _largest_class(experiment, key.n_clusters),
            "chance_nmi": _chance_nmi(experiment, cell),
        }
        for metric, floors in seen.items():
            record[f"smallest_{metric}"] = floors.get(key, float("nan"))
        records.append(record)
    return record_table(results, "levels", records, alpha=ALPHA, power=POWER)


def _floors(rows: Sequence[Row], metric: str) -> pd.Series[float]:
    """Return, by cell, the median of the smallest differences that would be seen."""
    tests = pairwise(rows, metric)
    tested = tests[tests["refused"] == ""].astype({"floor": float})
    return tested.groupby(["dataset", "n_clusters"])["floor"].median()


def _largest_class(experiment: Experiment, k: int) -> float:
    """Return the mean share of the largest class in the draws of K classes."""
    sizes = np.array(experiment.facts.get("class_sizes", ()), dtype=float)
    trials = experiment.trials[experiment.trials["n_clusters"] == k]
    drawn = trials.drop_duplicates("trial")["classes"].astype(str)
    chosen = [sizes[[int(c) for c in text.split()]] for text in drawn if len(sizes)]
    shares = [float(found.max() / found.sum()) for found in chosen if len(found)]
    return float(np.mean(shares)) if shares else float("nan")


def _chance_nmi(experiment: Experiment, cell: Cell) -> float:
    """Return the mean of E[NMI], from NMI and AMI of the same labels.

    With the same (arithmetic) normaliser, AMI = (NMI - E) / (1 - E).
    """
    good = experiment.trials[experiment.trials["key"].isin(cell.keys)]
    expected = (good["nmi"] - good["ami"]) / (1 - good["ami"])
    return float(expected[good["ami"] < 1].mean())


def write_sensitivity(results: Results, folder: Path) -> list[Path]:
    """Write the three tables as one page, and each as CSV; return the paths."""
    makers = value_sensitivity, claim_sensitivity, cell_levels
    tables = [table for make in makers if (table := make(results)).rows]
    page = ["# How far the verdicts rest on choices", *map(to_markdown, tables)]
    return [
        write_text(folder / "sensitivity.md", "\n\n".join(page)),
        *(write_text(folder / f"{t.name}.csv", csv_text(t.frame)) for t in tables),
    ]
