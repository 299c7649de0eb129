"""What it takes to reach the published values of the proposed method: five columns.

Published; as released; on the common graph; used well; and what classifiers with labels
reach. The columns come from the roles of experiments, their entries from ``primary``:
nothing is chosen by its score. Every other way of using the framework well is shown in
a second table and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd

from symmf.paper.roles import Role
from symmf.paper.values import (
    DATASET_TITLES,
    METRIC_TITLES,
    PROPOSED,
)
from symmf.reporting.results import Results
from symmf.reporting.selection.arms import cells_of_role, proposed_cells
from symmf.reporting.selection.cells import (
    Cell,
    CellKey,
    dataset_title,
    published_by_cell,
)
from symmf.reporting.selection.readings import Reading
from symmf.reporting.tables.model import DIGITS, PLAIN, PlainTable, PrintedCell, words
from symmf.reporting.tables.notes import TEXTS, notes_of

COLUMNS = {
    Role.COMPARISON: "as released",
    Role.EQUAL_TERMS: "common graph",
    Role.USED_WELL: "used well",
    Role.CEILING: "with labels",
}
FRAME = ["dataset", "n_clusters", "metric", "published", "column", "mean", "n_good"]
FRAME += ["n_total", "met", "experiment", "entry", "label"]
PRIMARY = "primary"
PLACES = ("1st K", "2nd K", "3rd K")
Way = dict[tuple[str, CellKey], Cell]  # the cells of an entry by metric and cell


def meets(cell: Cell, published: float) -> bool:
    """Tell whether a mean of enough trials, as printed, reaches a published value."""
    return cell.enough and round(cell.mean, DIGITS) >= published


def proposed_values() -> dict[tuple[str, CellKey], float]:
    """Return the 24 published values of the proposed method by metric and cell."""
    found = published_by_cell().items()
    return {(metric, key): v for (metric, row, key), v in found if row == PROPOSED}


def beyond_table(results: Results) -> PlainTable:
    """Return the table for its 24 published values; no rows without further roles."""
    lines, records, hindsight = [], [], 0
    for (metric, key), value in proposed_values().items():
        shown = {title: _cell(results, r, metric, key) for r, title in COLUMNS.items()}
        records += [_record(cell, value, t) for t, cell in shown.items() if cell]
        pipelines = cells_of_role(results, Role.USED_WELL, metric).get(key, [])
        hindsight += any(meets(cell, value) for cell in pipelines)
        head = (dataset_title(key.dataset, results), str(key.n_clusters))
        texts = (cell_text(cell, value) for cell in shown.values())
        lines.append((*head, METRIC_TITLES[metric], f"{value:.{DIGITS}f}", *texts))
    beyond = {record["column"] for record in records} - {COLUMNS[Role.COMPARISON]}
    return PlainTable(
        **_words(results, records, hindsight),
        heads=("Dataset", "K", "Metric", "published", *COLUMNS.values()),
        align="lrlrrrrr",
        rows=tuple(lines) if beyond else (),
        frame=pd.DataFrame(records, columns=FRAME),
    )


def _cell(results: Results, role: Role, metric: str, key: CellKey) -> Cell | None:
    if role is Role.CEILING:
        found = cells_of_role(results, role, metric).get(key, [])
        return max(found, key=lambda cell: (cell.enough, cell.mean), default=None)
    return proposed_cells(results, role, metric).get(key)


def cell_text(cell: Cell | None, published: float) -> str:
    """Return the mean as printed, with a star where it reaches the published value."""
    text = PrintedCell(cell).written(PLAIN)
    return f"{text} *" if cell and meets(cell, published) else text


def _record(cell: Cell, published: float, column: str) -> dict[str, Any]:
    """Return one line of the frame behind the table."""
    met = "yes" if meets(cell, published) else "no"
    return {**cell.record, "published": published, "column": column, "met": met}


def _words(
    results: Results, records: list[dict[str, Any]], hindsight: int
) -> dict[str, Any]:
    run = Counter(record["column"] for record in records)
    met = Counter(record["column"] for record in records if record["met"] == "yes")
    counts = [f"{t} {met[t]} of {run[t]}" for t in COLUMNS.values() if run[t]]
    more = []
    for role, title in COLUMNS.items():
        entries: dict[str, list[str]] = {}
        for metric in METRIC_TITLES:
            for cell in proposed_cells(results, role, metric).values():
                named = f"{cell.reading.label}, entry {cell.reading.name} of"
                entries.setdefault(named, []).append(cell.reading.experiment)
        said = [f"{name} {', '.join(dict.fromkeys(e))}" for name, e in entries.items()]
        if said:
            more.append(f"{title.capitalize()}: {'; '.join(said)}.")
    if hindsight > met[COLUMNS[Role.USED_WELL]]:
        more.append(TEXTS["beyond"]["hindsight"].format(count=hindsight))
    return words("beyond", *more, counts=", ".join(counts))


def used_well_table(results: Results) -> PlainTable:
    """Return all entries of experiments with the role, the primary one first."""
    lines: list[tuple[str, ...]] = []
    records: list[dict[str, Any]] = []
    for dataset, title in DATASET_TITLES.items():
        values = proposed_values().items()
        published = {place: v for place, v in values if place[1].dataset == dataset}
        ways = _ways(results, dataset)
        if not ways:
            continue
        ks = sorted({key.n_clusters for _, key in published})
        shown = (f"{value:.{DIGITS}f}" for value in published.values())
        name = f"{title}, K = {', '.join(map(str, ks))}"
        lines.append((name, "published", *shown, ""))
        for reading, way in ways.items():
            pairs = [(place, v, way.get(place)) for place, v in published.items()]
            run = sum(cell is not None and cell.enough for *_, cell in pairs)
            met = sum(cell is not None and meets(cell, v) for _, v, cell in pairs)
            texts = (cell_text(cell, value) for _, value, cell in pairs)
            label = f"{reading.title}, {PRIMARY}" if _stands(reading) else reading.title
            reached = f"{met} of {run}" if run else "too few trials"
            lines.append((reading.experiment, label, *texts, reached))
            column = PRIMARY if _stands(reading) else "further"
            records += [
                _record(cell, value, column) for _, value, cell in pairs if cell
            ]
    notes = notes_of(e for e in results.of(Role.USED_WELL) if len(e.trials))
    heads = [f"{metric} {k}" for metric in METRIC_TITLES.values() for k in PLACES]
    return PlainTable(
        **words("used_well", *notes),
        heads=("Experiment", "Entry", *heads, "reached"),
        align="ll" + "r" * (len(heads) + 1),
        rows=tuple(lines),
        frame=pd.DataFrame(records, columns=FRAME),
    )


def _stands(reading: Reading) -> bool:
    """Tell whether an entry stands for its data set in the table of what it takes."""
    return bool(reading.primary) and reading.paper_row == PROPOSED


def _ways(results: Results, dataset: str) -> dict[Reading, Way]:
    found: dict[Reading, Way] = {}
    for metric in METRIC_TITLES:
        for key, group in cells_of_role(results, Role.USED_WELL, metric).items():
            for cell in group if key.dataset == dataset else ():
                found.setdefault(cell.reading, {})[metric, key] = cell
    order = sorted(found, key=lambda r: (not _stands(r), r.experiment))
    return {reading: found[reading] for reading in order}
