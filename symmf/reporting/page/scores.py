"""Tables II and III and the published values on the page, down to single trials."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from symmf.metrics import METRICS
from symmf.paper import METRIC_TITLES, ROWS
from symmf.reporting.page.grid import KINDS, Grid, columns, grid
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import Cell, Row, dataset_title
from symmf.reporting.tables.model import ABSENT, PrintedCell, Table
from symmf.reporting.verdicts.values import KEY_LENGTH, judge

Section = dict[str, Any]


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
    """Return the published values beside the study's, filterable."""

    def texts(form: str, known: pd.Series[bool]) -> list[str]:
        lines = zip(comparison.to_dict("records"), known, strict=True)
        return [form.format_map(line) if there else "" for line, there in lines]

    frame = comparison.assign(
        cell=texts("{experiment}|{method}|{n_clusters}", comparison["n_good"] > 0),
        metric=comparison["metric"].map(METRIC_TITLES),
        dataset=[dataset_title(str(d), results) for d in comparison["dataset"]],
        row=comparison["row"].map(ROWS),
        interval=texts("{low:.3f} to {high:.3f}", comparison["low"].notna()),
        trials=texts("{n_good:.0f}/{n_total:.0f}", comparison["n_total"] > 0),
    )
    return grid(
        *("comparison", "This study beside the published values"),
        *(frame, columns("comparison")),
        filters=("metric", "dataset", "row", "experiment", "verdict"),
    )


def score_tables(tables: Sequence[Table], comparison: pd.DataFrame) -> list[Section]:
    """Return Tables II and III with means, the published values and differences."""
    keys = ["metric", "row", "dataset", "n_clusters"]
    once = comparison.drop_duplicates(keys).set_index(keys)
    published: dict[Any, float] = once["published"].to_dict()
    return [score_section(table, published) for table in tables]


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
        "title": METRICS[table.metric].title,
        "published": bool(published),
        "table": table,
        "bodies": [body for body in bodies if body],
    }


def _score_cell(shown: PrintedCell, paper: float | None) -> Section:
    cell = shown.cell if shown.n_good else None
    difference, kind = ABSENT, ""
    if cell and paper is not None:
        difference = f"{cell.mean - paper:+.3f}"
        kind = KINDS[judge(cell, paper)]
    return {
        "shown": shown,
        "paper": ABSENT if paper is None else f"{paper:.3f}",
        "difference": difference,
        "kind": kind,
        "cell": cell_name(cell) if cell else "",
        "value": f"{cell.mean:.7g}" if cell else "",
    }
