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

import numpy as np
import pandas as pd
from scipy import stats

from symmf.common.files import csv_text, write_text
from symmf.common.seeds import generator
from symmf.paper.values import METRIC_TITLES, published_values
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import Cell, CellKey, collect, dataset_title
from symmf.reporting.statistics.intervals import (
    LEVEL,
    bootstrap_interval,
    paired_values,
)
from symmf.reporting.statistics.tests import ALPHA, POWER, smallest_seen
from symmf.reporting.tables.markdown import plain_to_markdown
from symmf.reporting.tables.model import ABSENT, DIGITS, PlainTable
from symmf.reporting.verdicts.claims import ledger
from symmf.reporting.verdicts.decision import ClaimVerdict, combined
from symmf.reporting.verdicts.values import ValueVerdict, decide

REDRAWS = 200
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
    reach = float(stats.t.ppf((1 + LEVEL) / 2, samples * (n - 1)) * error)
    mean = float(np.mean(values))
    return mean - reach, mean + reach


INTERVALS: dict[str, Callable[[Sequence[float]], tuple[float, float]]] = {
    AS_REPORTED: bootstrap_interval,
    "t interval": t_interval,
    "t interval, published means as uncertain": lambda values: t_interval(values, 2),
}


def value_sensitivity(results: Results) -> PlainTable:
    """Return how many published values get each verdict, by kind of interval."""
    pairs = _published_cells(results)
    counted: dict[str, Sequence[object]] = {}
    for name, interval in INTERVALS.items():
        found = Counter(decide(v, c.mean, *interval(c.values)) for v, c in pairs)
        counted[name] = [found[verdict] for verdict in SHOWN]
    redrawn = f"as reported, trials drawn again ({REDRAWS} times)"
    counted[redrawn] = [f"{low} to {high}" for low, high in _redrawn(pairs)]
    return PlainTable(
        name="sensitivity",
        title="Verdicts on published values, by interval",
        caption="How the verdicts depend on the interval and on the draws",
        label="sensitivity",
        heads=("Interval", *map(str, SHOWN)),
        align="l" + "r" * len(SHOWN),
        rows=tuple((name, *map(str, n)) for name, n in counted.items() if pairs),
        frame=pd.DataFrame.from_dict(
            counted, orient="index", columns=list(map(str, SHOWN))
        ).reset_index(names="interval"),
        notes=(
            "A bootstrap of ten values is narrower than its level says; a published "
            "mean is that of ten runs too, and has an error of its own. Drawn again: "
            "the middle 90 % of the counts when the mean of every cell is that of its "
            "trials drawn with replacement.",
        ),
    )


def _published_cells(results: Results) -> list[tuple[float, Cell]]:
    """Return every published value with the cell that stands beside it."""
    rows = {
        (metric, row.key.paper_row): row
        for metric in METRIC_TITLES
        for row in collect(results, metric)
        if row.primary
    }
    out = []
    for metric, name, dataset, k, value in published_values().itertuples(index=False):
        row = rows.get((str(metric), str(name)))
        cell = row.cells.get(CellKey(str(dataset), int(k))) if row else None
        if cell is not None and cell.enough:
            out.append((float(value), cell))
    return out


def _redrawn(pairs: Sequence[tuple[float, Cell]]) -> list[tuple[int, int]]:
    """Return, by verdict, the middle 90 % of its counts over resampled trials.

    Means are those of resampled trials; every interval keeps its width.
    """
    rng = generator("sensitivity", REDRAWS)
    counts = np.zeros((REDRAWS, len(SHOWN)))
    for value, cell in pairs:
        low, high = bootstrap_interval(cell.values)
        means = rng.choice(cell.values, size=(REDRAWS, cell.n_good)).mean(axis=1)
        for count, shift in zip(counts, means - cell.mean, strict=True):
            verdict = decide(value, cell.mean + shift, low + shift, high + shift)
            count[SHOWN.index(verdict)] += 1
    ends = np.quantile(counts, [0.05, 0.95], axis=0).round().astype(int)
    return list(zip(*ends.tolist(), strict=True))


def claim_sensitivity(results: Results) -> PlainTable:
    """Return how many claims have each verdict: by setting, and if they were merged."""
    decisions = [each.decision for each in ledger(results)]
    by_setting: dict[str, list[ClaimVerdict | None]] = {
        "the paper's own setting": [d.verdict for d in decisions],
        "equal terms": [d.equal_terms for d in decisions if d.equal_terms],
        "both merged (not reported)": [
            combined([v for v in (d.verdict, d.equal_terms) if v]) for d in decisions
        ],
    }
    kinds = [v for v in ClaimVerdict if any(v in f for f in by_setting.values())]
    rows = [
        (name, *(str(found.count(kind)) for kind in kinds))
        for name, found in by_setting.items()
    ]
    heads = ("Verdicts", *map(str, kinds))
    return PlainTable(
        name="claim_sensitivity",
        title="Verdicts on claims, by setting",
        caption="How the count of verdicts on claims depends on the setting",
        label="claim_sensitivity",
        heads=heads,
        align="l" + "r" * len(kinds),
        rows=tuple(rows),
        frame=pd.DataFrame(rows, columns=list(heads)),
        notes=("Merged: where the two differ, a claim counts as holding partly.",),
    )


def cell_levels(results: Results) -> PlainTable:
    """Return, for every cell, what chance gives and what its trials can show."""
    proposed = {
        metric: next(row for row in collect(results, metric) if row.proposed)
        for metric in METRIC_TITLES
        if any(row.proposed for row in collect(results, metric))
    }
    keys = [key for row in list(proposed.values())[:1] for key in row.cells]
    records: list[dict[str, object]] = []
    for key in keys:
        cell = proposed["ac"].cells[key]
        experiment = next(
            e for e in results.experiments if e.name == cell.reading.experiment
        )
        records.append(
            {
                "dataset": key.dataset,
                "n_clusters": key.n_clusters,
                "trials": cell.n_good,
                "largest_class": _largest_class(experiment, key.n_clusters),
                "chance_nmi": _chance_nmi(experiment, cell),
                **{
                    f"smallest_{metric}": _smallest(results, metric, key)
                    for metric in METRIC_TITLES
                },
            }
        )
    frame = pd.DataFrame(records)
    rows = [
        (
            dataset_title(str(r["dataset"]), results),
            *(str(r["n_clusters"]), str(r["trials"])),
            *map(_text, list(r.values())[3:]),
        )
        for r in records
    ]
    smallest = (f"smallest {title}" for title in METRIC_TITLES.values())
    return PlainTable(
        name="levels",
        title="What a cell can show",
        caption="Scores without information, and differences that would be seen",
        label="levels",
        heads=("Dataset", "K", "trials", "one cluster AC", "chance NMI", *smallest),
        align="lrr" + "r" * (2 + len(METRIC_TITLES)),
        rows=tuple(rows),
        frame=frame,
        notes=(
            "One cluster AC: share of the largest class, the accuracy of one cluster "
            "for all. Chance NMI: the expected NMI of a random partition with the "
            "cluster sizes of the proposed method (hypergeometric model, as in AMI). "
            "Smallest: the mean paired difference to another row of the paper that a "
            f"t-test at {ALPHA:g} would find with a power of {POWER:.0%}; median over "
            "the rows. All are means over trials.",
        ),
    )


def _text(value: object) -> str:
    known = isinstance(value, float) and np.isfinite(value)
    return f"{value:.{DIGITS}f}" if known else ABSENT


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
    trials = experiment.trials
    good = trials[trials["key"].isin(cell.keys)]
    expected = (good["nmi"] - good["ami"]) / (1 - good["ami"])
    return float(expected[good["ami"] < 1].mean())


def _smallest(results: Results, metric: str, key: CellKey) -> float:
    """Return the median smallest difference that would be seen, over the rows."""
    rows = [row for row in collect(results, metric) if row.primary]
    proposed = next(row.cells[key] for row in rows if row.proposed)
    others = [row.cells[key] for row in rows if not row.proposed and key in row.cells]
    found = [
        smallest_seen(np.subtract(*paired_values(proposed, other)))
        for other in others
        if not other.copies
    ]
    known = [value for value in found if np.isfinite(value)]
    return float(np.median(known)) if known else float("nan")


def write_sensitivity(results: Results, folder: Path) -> list[Path]:
    """Write the three tables as one page, and each as CSV; return the paths."""
    makers = value_sensitivity, claim_sensitivity, cell_levels
    tables = [table for make in makers if (table := make(results)).rows]
    page = ["# How far the verdicts rest on choices", *map(plain_to_markdown, tables)]
    return [
        write_text(folder / "sensitivity.md", "\n\n".join(page)),
        *(write_text(folder / f"{t.name}.csv", csv_text(t.frame)) for t in tables),
    ]
