"""Every way of using the framework well beside the published values.

One way for each data set stands for "used well" in the table of what it takes: the
entry that its file calls primary. The others are shown here and nowhere else, so that
nothing is chosen by its score.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from symmf.paper.roles import Role
from symmf.paper.values import (
    DATASET_TITLES,
    METRIC_TITLES,
    PROPOSED,
    published_values,
)
from symmf.reporting.results import Results
from symmf.reporting.selection.arms import cells_of_role
from symmf.reporting.selection.cells import Cell, CellKey
from symmf.reporting.tables.beyond import (
    FRAME_COLUMNS,
    cell_record,
    cell_text,
    meets,
)
from symmf.reporting.tables.model import DIGITS, PlainTable

PRIMARY = "primary"
PLACES = ("1st K", "2nd K", "3rd K")


@dataclass(frozen=True, slots=True)
class _Way:
    """An entry of an experiment in which the framework is used well."""

    experiment: str
    entry: str
    label: str
    primary: bool


def used_well_table(results: Results) -> PlainTable:
    """Return all entries of experiments with the role, the primary one first."""
    published = {
        (metric, CellKey(str(dataset), int(k))): float(value)
        for metric, row, dataset, k, value in published_values().itertuples(index=False)
        if row == PROPOSED
    }
    lines: list[tuple[str, ...]] = []
    records: list[dict[str, object]] = []
    for dataset, title in DATASET_TITLES.items():
        places = [place for place in published if place[1].dataset == dataset]
        ways = _ways(results, dataset)
        if not ways:
            continue
        ks = sorted({key.n_clusters for _, key in places})
        shown = (f"{published[place]:.{DIGITS}f}" for place in places)
        name = f"{title}, K = {', '.join(map(str, ks))}"
        lines.append((name, "published", *shown, ""))
        for way, found in ways.items():
            cells = [found.get(place) for place in places]
            values = [published[place] for place in places]
            met = sum(
                cell is not None and meets(cell, value)
                for cell, value in zip(cells, values, strict=True)
            )
            run = sum(cell is not None and cell.enough for cell in cells)
            texts = map(cell_text, cells, values)
            label = f"{way.label}, {PRIMARY}" if way.primary else way.label
            reached = f"{met} of {run}" if run else "too few trials"
            lines.append((way.experiment, label, *texts, reached))
            records += [
                cell_record(key, metric, value, _column(way), cell)
                for (metric, key), value, cell in zip(
                    places, values, cells, strict=True
                )
                if cell is not None
            ]
    heads = [f"{metric} {k}" for metric in METRIC_TITLES.values() for k in PLACES]
    return PlainTable(
        name="used_well",
        title="Every way of using the framework well",
        caption="Used well, in every way that was run, beside the published values",
        label="used_well",
        heads=("Experiment", "Entry", *heads, "reached"),
        align="ll" + "r" * (len(heads) + 1),
        rows=tuple(lines),
        frame=pd.DataFrame(records, columns=list(FRAME_COLUMNS)),
        notes=tuple(_notes(results)) if lines else (),
    )


def _column(way: _Way) -> str:
    return PRIMARY if way.primary else "further"


def _ways(
    results: Results, dataset: str
) -> dict[_Way, dict[tuple[str, CellKey], Cell]]:
    found: dict[_Way, dict[tuple[str, CellKey], Cell]] = {}
    for metric in METRIC_TITLES:
        for key, group in cells_of_role(results, Role.USED_WELL, metric).items():
            for cell in group if key.dataset == dataset else ():
                reading = cell.reading
                stands = reading.primary and reading.paper_row == PROPOSED
                way = _Way(
                    reading.experiment, reading.name, reading.title, bool(stands)
                )
                found.setdefault(way, {})[metric, key] = cell
    order = sorted(found, key=lambda w: (not w.primary, w.experiment))
    return {way: found[way] for way in order}


def _notes(results: Results) -> list[str]:
    notes = [
        "A star marks a mean that, as printed, reaches the published value. The entry "
        "marked primary in its file stands for its data set in the table of what it "
        "takes; that was fixed before the run, and none is chosen by its score."
    ]
    return notes + [
        f"{e.name}: {e.note}"
        for e in results.of(Role.USED_WELL)
        if e.note and len(e.trials)
    ]
