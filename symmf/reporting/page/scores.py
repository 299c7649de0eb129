"""Tables II and III and the published values on the page, down to single trials."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from symmf.paper import METRIC_TITLES, ROWS
from symmf.reporting.page.grid import KINDS, Column, Grid, grid
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import Cell, Row, collect, dataset_title
from symmf.reporting.tables.model import PrintedCell, Table, combined_table
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
    Column(title="Ours", key="mean", digits=3, cell="cell"),
    Column(title="Std", key="std", digits=3),
    Column(title="Interval", key="interval"),
    Column(title="Difference", key="difference", digits=3, signed=True, tone="verdict"),
    Column(title="Verdict", key="verdict", verdict=True),
    Column(title="Trials", key="trials", cell="cell"),
)


def cell_name(experiment: str, method: str, n_clusters: int) -> str:
    """Return the identifier of the trials behind a value, the same for all metrics."""
    return f"{experiment}|{method}|{n_clusters}"


def trials_data(results: Results) -> str:
    """Return every cell's trials as JSON: (trial, key, NMI, AC) by cell.

    A value that a metric lacks is null. The text can stand inside a script element.
    """
    found: dict[str, dict[int, list[Any]]] = {}
    for position, metric in enumerate(METRIC_TITLES):
        for cell in _cells(results, metric):
            reading = cell.reading
            name = cell_name(reading.experiment, reading.name, cell.n_clusters)
            lines = found.setdefault(name, {})
            for (trial, value), key in zip(cell.scores, cell.keys, strict=True):
                line = lines.setdefault(trial, [trial, key[:KEY_LENGTH], None, None])
                line[2 + position] = round(value, 4)
    plain = {name: list(lines.values()) for name, lines in found.items()}
    return json.dumps(plain, separators=(",", ":")).replace("<", "\\u003c")


def _cells(results: Results, metric: str) -> Iterator[Cell]:
    for row in collect(results, metric):
        yield from (cell for cell in row.cells.values() if cell.n_good)


def comparison_grid(comparison: pd.DataFrame, results: Results) -> Grid:
    """Return the published values beside ours, filterable."""
    frame = comparison.copy()
    frame["cell"] = [
        cell_name(line["experiment"], line["method"], line["n_clusters"])
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
        "Ours beside the published values",
        frame,
        COMPARE_COLUMNS,
        filters=("metric", "dataset", "row", "experiment", "verdict"),
    )


def score_tables(results: Results, comparison: pd.DataFrame) -> list[Section]:
    """Return Tables II and III with ours, the published values and differences."""
    published = {
        (line["metric"], line["row"], line["dataset"], line["n_clusters"]): line[
            "published"
        ]
        for line in comparison.to_dict("records")
    }
    out = []
    for metric, title in METRIC_TITLES.items():
        table = combined_table(results, metric)
        if table.columns:
            sources = _sources(table, collect(results, metric))
            out.append(_score_section(table, title, sources, published))
    return out


def _sources(table: Table, rows: tuple[Row, ...]) -> list[Row | None]:
    """Return the row of cells behind every printed row."""
    primary = {ROWS[row.key.paper_row]: row for row in rows if row.primary}
    further = iter([row for row in rows if not row.primary])
    top = len(table.rows) - sum(not row.primary for row in rows)
    return [
        primary.get(printed.title) if index < top else next(further)
        for index, printed in enumerate(table.rows)
    ]


def _score_section(
    table: Table,
    title: str,
    sources: list[Row | None],
    published: dict[tuple[str, str | None, str, int], float],
) -> Section:
    bodies: list[list[Section]] = [[], []]
    for printed, source in zip(table.rows, sources, strict=True):
        paper_row = source.paper_row if source else None
        if source is None:
            paper_row = {label: key for key, label in ROWS.items()}.get(printed.title)
        known = source.cells if source else {}
        cells = [
            _score_cell(
                shown, known.get(key), published.get((table.metric, paper_row, *key))
            )
            for shown, key in zip(printed.cells, table.columns, strict=True)
        ]
        names = dict.fromkeys(cell.reading.experiment for cell in known.values())
        bodies[printed.below].append(
            {
                "title": printed.title,
                "emphasis": printed.emphasis,
                "experiments": list(names),
                "cells": cells,
            }
        )
    return {
        "name": f"scores-{table.metric}",
        "metric": table.metric,
        "title": title,
        "caption": table.caption,
        "groups": table.groups,
        "columns": [k for _, k in table.columns],
        "bodies": [body for body in bodies if body],
        "notes": table.notes,
    }


def _score_cell(shown: PrintedCell, cell: Cell | None, paper: float | None) -> Section:
    run = shown.n_good > 0
    verdict = name = ""
    if cell and run:
        name = cell_name(cell.reading.experiment, cell.reading.name, cell.n_clusters)
        verdict = "" if paper is None else str(judge(cell, paper))
    return {
        "ours": shown.text,
        "spread": shown.spread if run else "",
        "share": shown.share,
        "best": shown.best,
        "second": shown.second,
        "paper": "–" if paper is None else f"{paper:.3f}",
        "difference": "–" if paper is None or not run else f"{shown.mean - paper:+.3f}",
        "kind": KINDS.get(verdict, ""),
        "cell": name,
        "value": f"{shown.mean:.7g}" if run else "",
    }
