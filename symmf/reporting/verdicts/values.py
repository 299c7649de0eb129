"""Our values beside the 216 published ones, with a verdict for each.

A published value is *reproduced* if it lies in the 95 % bootstrap interval of our
mean, or if our mean is within the stated tolerance of it. Otherwise ours is *higher*
or *lower*. A cell without good trials is *not run*.
"""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd

from symmf.files import csv_text, write_text
from symmf.paper.values import (
    DATASET_TITLES,
    METRIC_TITLES,
    ROWS,
    published_values,
)
from symmf.reporting.results import Results, remembered, run_command
from symmf.reporting.selection.cells import Cell, collect
from symmf.reporting.statistics.tests import INTERVAL_METHOD, bootstrap_interval
from symmf.texts import markdown_table, markdown_text

TOLERANCE = 0.02
ROUNDING = 0.0005  # the paper prints three decimals


class ValueVerdict(StrEnum):
    """Our mean beside a published value."""

    REPRODUCED = "reproduced"
    HIGHER = "higher"
    LOWER = "lower"
    NOT_RUN = "not run"


RULE = (
    "Reproduced: the published value lies in our interval "
    f"({INTERVAL_METHOD}; {ROUNDING:g} added for rounding) or our mean is within "
    f"{TOLERANCE:g} of it. Higher, lower: ours is. The paper gives no spread, so its "
    "own uncertainty is not in the interval."
)
COLUMNS = (
    *("metric", "row", "dataset", "n_clusters", "published", "reading", "method"),
    *("label", "lambda", "experiment", "mean", "std", "low", "high", "difference"),
    *("n_good", "n_total", "verdict", "reason", "command"),
)


def decide(published: float, mean: float, low: float, high: float) -> ValueVerdict:
    """Return the verdict on one published value.

    Examples
    --------
    >>> str(decide(0.80, 0.79, 0.75, 0.785)), str(decide(0.80, 0.70, 0.65, 0.75))
    ('reproduced', 'lower')
    >>> str(decide(0.80, float("nan"), float("nan"), float("nan")))
    'not run'
    """
    if math.isnan(mean):
        return ValueVerdict.NOT_RUN
    inside = low - ROUNDING <= published <= high + ROUNDING
    if inside or abs(mean - published) <= TOLERANCE + 1e-12:
        return ValueVerdict.REPRODUCED
    return ValueVerdict.HIGHER if mean > published else ValueVerdict.LOWER


def interval(cell: Cell) -> tuple[float, float]:
    """Return the bootstrap interval of a cell, the same wherever it is shown."""
    reading = cell.reading
    where = (reading.experiment, reading.dataset, cell.n_clusters, reading.name)
    return bootstrap_interval(
        cell.values,
        *where,
        cell.metric,
    )


@remembered
def compare(results: Results) -> pd.DataFrame:
    """Return one line per published value and reading of it.

    Each of the 216 values has exactly one line whose ``reading`` is ``primary``;
    further entries that stand for the same row of the paper follow as ``further``.
    """
    found: dict[tuple[str, str, str, int], list[Cell]] = {}
    for metric in METRIC_TITLES:
        # Primary rows come first, so the first cell is the primary reading.
        for row in collect(results, metric):
            for (dataset, k), cell in row.cells.items():
                if row.paper_row:
                    key = (metric, row.paper_row, dataset, k)
                    found.setdefault(key, []).append(cell)
    records: list[dict[str, object]] = []
    for line in published_values().to_dict("records"):
        key = (line["metric"], line["row"], line["dataset"], line["n_clusters"])
        head = dict(zip(COLUMNS[:5], [*key, line["value"]], strict=True))
        cells = found.get(key, [])
        run = [cell for cell in cells if cell.n_good]
        if not run:
            lost = cells[0].lost if cells else ""
            records.append(
                head
                | {
                    "reading": "primary",
                    "n_good": 0,
                    "n_total": cells[0].n_total if cells else 0,
                    "verdict": ValueVerdict.NOT_RUN,
                    "reason": lost,
                    "command": run_command(
                        cells[0].reading.experiment if cells else line["dataset"]
                    ),
                }
            )
        for index, cell in enumerate(run):
            reading = "further" if index else "primary"
            records.append(head | {"reading": reading} | _ours(cell, line["value"]))
    return pd.DataFrame(records, columns=list(COLUMNS))


def _ours(cell: Cell, published: float) -> dict[str, object]:
    low, high = interval(cell)
    reading = cell.reading
    label = reading.title if reading.choice else reading.label
    return {
        "method": reading.name,
        "label": label,
        "lambda": reading.weight if reading.weight is not None else "",
        "experiment": reading.experiment,
        "mean": cell.mean,
        "std": cell.std,
        "low": low,
        "high": high,
        "difference": cell.mean - published,
        "n_good": cell.n_good,
        "n_total": cell.n_total,
        "verdict": decide(published, cell.mean, low, high),
        "reason": cell.lost,
        "command": run_command(reading.experiment),
    }


def primary(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the 216 lines of the primary reading."""
    return comparison[comparison["reading"] == "primary"]


def counts(comparison: pd.DataFrame) -> dict[str, int]:
    """Count the verdicts of the primary reading, in a fixed order."""
    found = primary(comparison)["verdict"].value_counts()
    return {str(verdict): int(found.get(verdict, 0)) for verdict in ValueVerdict}


def by_row(comparison: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of the primary reading for every row of the paper."""
    table = pd.crosstab(primary(comparison)["row"], primary(comparison)["verdict"])
    table = table.reindex(index=list(ROWS), columns=[*ValueVerdict], fill_value=0)
    table.insert(0, "method", [ROWS[str(key)] for key in table.index])
    return table.reset_index(drop=True)


def write_comparison(comparison: pd.DataFrame, folder: Path) -> list[Path]:
    """Write ``compare.csv`` and ``compare.md``; return the paths."""
    return [
        write_text(folder / "compare.csv", csv_text(comparison)),
        write_text(folder / "compare.md", _markdown(comparison)),
    ]


def _markdown(comparison: pd.DataFrame) -> str:
    total = counts(comparison)
    lines = [
        "# Ours beside the published values",
        "",
        f"Of {sum(total.values())} published values: "
        + ", ".join(f"{n} {verdict}" for verdict, n in total.items())
        + ".",
        "",
        RULE,
        "",
    ]
    for metric, title in METRIC_TITLES.items():
        for dataset, name in DATASET_TITLES.items():
            here = comparison[
                (comparison["metric"] == metric) & (comparison["dataset"] == dataset)
            ]
            lines += [f"## {title}, {name}", "", _markdown_table(here), ""]
    return "\n".join(lines)


HEADS = "K, method, published, ours, 95 % interval, difference, trials, verdict"


def _markdown_table(lines: pd.DataFrame) -> str:
    ordered = lines.sort_values("n_clusters", kind="stable").to_dict("records")
    return markdown_table(HEADS.split(", "), map(_cells, ordered), "rlrrlrrl")


def _cells(line: dict[Any, Any]) -> list[str]:
    name = ROWS[str(line["row"])]
    if line["reading"] != "primary":
        name += f": {line['label']}"
        if line["lambda"] != "":
            name += f", λ = {float(str(line['lambda'])):g}"
    head = [str(line["n_clusters"]), markdown_text(name), f"{line['published']:.3f}"]
    if line["verdict"] == ValueVerdict.NOT_RUN:
        reason = f"not run ({line['reason']}): `{line['command']}`"
        return [*head, *("–" for _ in range(4)), reason]
    spread = "" if math.isnan(line["std"]) else f" ± {line['std']:.3f}"
    bounds = "–"
    if not math.isnan(line["low"]):
        bounds = f"{line['low']:.3f} to {line['high']:.3f}"
    return [
        *head,
        f"{line['mean']:.3f}{spread}",
        bounds,
        f"{line['difference']:+.3f}",
        f"{int(line['n_good'])}/{int(line['n_total'])}",
        str(line["verdict"]),
    ]
