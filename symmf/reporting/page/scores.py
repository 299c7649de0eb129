"""Tables II and III and the published values on the page, down to single trials."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from symmf.metrics import METRICS
from symmf.paper import METRIC_TITLES, ROWS
from symmf.reporting.page.grid import KINDS, Column, Grid, grid
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import Cell, Row, dataset_title
from symmf.reporting.tables.model import ABSENT, PrintedCell, Table, combined_table
from symmf.reporting.verdicts.values import KEY_LENGTH, judge

Section = dict[str, Any]

COMPARE_COLUMNS = (
    Column(title="Metric", key="metric"),
    Column(title="Data set", key="dataset"),
    Column(title="K", key="n_clusters", digits=0),
    Column(title="Method", key="row"),
    Column(title="Reading", key="label"),
    Column(title="Experiment", key="experiment"),
    Column(title="Published", key="published", digits=3),
    Column(title="This study", key="mean", digits=3, cell="cell"),
    Column(title="Std", key="std", digits=3),
    Column(title="Interval", key="interval"),
    Column(title="Difference", key="difference", digits=3, signed=True, tone="verdict"),
    Column(title="Verdict", key="verdict", verdict=True),
    Column(title="Trials", key="trials", cell="cell"),
)


STUDY_COLUMNS = (
    Column(title="Data set", key="dataset"),
    Column(title="K", key="n_clusters", digits=0),
    Column(title="Metric", key="metric"),
    Column(title="Published for", key="published_for"),
    Column(title="Published", key="published", digits=3),
    Column(title="Entry", key="label"),
    Column(title="Mean", key="mean", digits=3),
    Column(title="Difference", key="difference", digits=3, signed=True, tone="verdict"),
    Column(title="Verdict", key="verdict", verdict=True),
)


def cell_name(cell: Cell) -> str:
    """Return the identifier of the trials behind a value, the same for all metrics."""
    reading = cell.reading
    return f"{reading.experiment}|{reading.name}|{cell.n_clusters}"


def trials_data(sources: Sequence[Callable[[str], Sequence[Row]]]) -> str:
    """Return every cell's trials as JSON: (trial, key, NMI, AC) by cell.

    A source gives rows for a metric.

    A value that a metric lacks is null. The text can stand inside a script element.
    """
    found: dict[str, dict[int, list[Any]]] = {}
    for position, metric in enumerate(METRIC_TITLES):
        rows = [row for source in sources for row in source(metric)]
        for cell in (c for row in rows for c in row.cells.values() if c.n_good):
            lines = found.setdefault(cell_name(cell), {})
            for (trial, value), key in zip(cell.scores, cell.keys, strict=True):
                line = lines.setdefault(trial, [trial, key[:KEY_LENGTH], None, None])
                line[2 + position] = round(value, 4)
    plain = {name: list(lines.values()) for name, lines in found.items()}
    return json.dumps(plain, separators=(",", ":")).replace("<", "\\u003c")


def comparison_grid(comparison: pd.DataFrame, results: Results) -> Grid:
    """Return the published values beside ours, filterable."""
    frame = comparison.copy()
    frame["cell"] = [
        f"{line['experiment']}|{line['method']}|{line['n_clusters']}"
        if line["n_good"]
        else ""
        for line in frame.to_dict("records")
    ]
    frame["metric"] = frame["metric"].map(METRIC_TITLES)
    frame["dataset"] = [dataset_title(str(d), results) for d in frame["dataset"]]
    frame["row"] = frame["row"].map(ROWS)
    frame["interval"] = [
        f"{low:.3f} to {high:.3f}" if low == low else ""
        for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    frame["trials"] = [
        f"{int(good)}/{int(total)}" if total else ""
        for good, total in zip(frame["n_good"], frame["n_total"], strict=True)
    ]
    return grid(
        "comparison",
        "This study beside the published values",
        frame,
        COMPARE_COLUMNS,
        filters=("metric", "dataset", "row", "experiment", "verdict"),
    )


def score_tables(results: Results, comparison: pd.DataFrame) -> list[Section]:
    """Return Tables II and III with means, the published values and differences."""
    keys = ["metric", "row", "dataset", "n_clusters"]
    published: dict[Any, float] = (
        comparison.drop_duplicates(keys).set_index(keys)["published"].to_dict()
    )
    tables = [combined_table(results, metric) for metric in METRIC_TITLES]
    return [score_section(table, published) for table in tables if table.columns]


def score_section(table: Table, published: dict[Any, float], name: str = "") -> Section:
    """Return a table of scores; with published values, those and the differences."""
    bodies: list[list[Section]] = [[], []]
    for line in table.rows:
        values = [
            published.get((table.metric, line.row.paper_row, *key))
            for key in table.columns
        ]
        found = (cell.reading.experiment for cell in line.row.cells.values())
        bodies[line.below].append(
            {
                "title": line.title,
                "emphasis": line.emphasis,
                "experiments": list(dict.fromkeys(found)),
                "cells": list(map(_score_cell, line.cells, values)),
            }
        )
    return {
        "name": name or f"scores-{table.metric}",
        "metric": table.metric,
        "published": bool(published),
        "title": METRICS[table.metric].title,
        "caption": table.caption,
        "groups": table.groups,
        "columns": [k for _, k in table.columns],
        "bodies": [body for body in bodies if body],
        "notes": table.notes,
    }


def _score_cell(shown: PrintedCell, paper: float | None) -> Section:
    cell = shown.cell if shown.n_good else None
    verdict = judge(cell, paper) if cell and paper is not None else ""
    difference = cell.mean - paper if cell and paper is not None else None
    return {
        "ours": shown.text,
        "spread": shown.spread,
        "share": shown.share,
        "best": shown.best,
        "second": shown.second,
        "paper": ABSENT if paper is None else f"{paper:.3f}",
        "difference": ABSENT if difference is None else f"{difference:+.3f}",
        "kind": KINDS.get(verdict, ""),
        "cell": cell_name(cell) if cell else "",
        "value": f"{cell.mean:.7g}" if cell else "",
    }
