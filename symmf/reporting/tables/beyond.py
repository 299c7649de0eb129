"""What it takes to reach the published values of the proposed method: five columns.

Published; as released; on the common graph; used well; and what classifiers with labels
reach. The columns come from the roles of experiments, their entries from ``primary``:
nothing is chosen by its score.
"""

from __future__ import annotations

import math

import pandas as pd

from symmf.paper.roles import Role
from symmf.paper.values import METRIC_TITLES, PROPOSED, published_values
from symmf.reporting.results import Results
from symmf.reporting.selection.arms import cells_of_role, proposed_cells
from symmf.reporting.selection.cells import Cell, CellKey, dataset_title
from symmf.reporting.tables.model import ABSENT, DIGITS, PlainTable

COLUMNS = {
    Role.COMPARISON: "as released",
    Role.EQUAL_TERMS: "common graph",
    Role.USED_WELL: "used well",
    Role.CEILING: "with labels",
}
FRAME_COLUMNS = (
    *("dataset", "n_clusters", "metric", "published", "column", "mean", "n_good"),
    *("n_total", "met", "experiment", "entry", "label"),
)


def meets(cell: Cell, published: float) -> bool:
    """Tell whether a mean of enough trials, as printed, reaches a published value."""
    return cell.enough and round(cell.mean, DIGITS) >= published


def beyond_table(results: Results) -> PlainTable:
    """Return the table for its 24 published values; no rows without further roles."""
    lines, records = [], []
    met = dict.fromkeys(COLUMNS, 0)
    run = dict.fromkeys(COLUMNS, 0)
    hindsight = 0
    for metric, row, dataset, k, value in published_values().itertuples(index=False):
        if row != PROPOSED:
            continue
        key = CellKey(str(dataset), int(k))
        shown = {role: _cell(results, role, metric, key) for role in COLUMNS}
        for role, cell in shown.items():
            if cell is not None:
                run[role] += 1
                met[role] += meets(cell, value)
                record = cell_record(key, metric, value, COLUMNS[role], cell)
                records.append(record)
        pipelines = cells_of_role(results, Role.USED_WELL, metric).get(key, [])
        hindsight += any(meets(cell, value) for cell in pipelines)
        lines.append(
            (
                dataset_title(key.dataset, results),
                str(k),
                METRIC_TITLES[metric],
                f"{value:.{DIGITS}f}",
                *(cell_text(cell, value) for cell in shown.values()),
            )
        )
    beyond = any(run[role] for role in COLUMNS if role is not Role.COMPARISON)
    return PlainTable(
        name="beyond",
        title="What it takes to reach the published values of the proposed method",
        caption="Published values beside what the framework gives",
        label="beyond",
        heads=("Dataset", "K", "Metric", "published", *COLUMNS.values()),
        align="lrlrrrrr",
        rows=tuple(lines) if beyond else (),
        frame=pd.DataFrame(records, columns=list(FRAME_COLUMNS)),
        notes=tuple(_notes(results, met, run, hindsight)) if beyond else (),
    )


def _cell(results: Results, role: Role, metric: str, key: CellKey) -> Cell | None:
    if role is Role.CEILING:
        found = cells_of_role(results, role, metric).get(key, [])
        return max(found, key=lambda cell: (cell.enough, cell.mean), default=None)
    return proposed_cells(results, role, metric).get(key)


def cell_text(cell: Cell | None, published: float) -> str:
    """Return the mean as printed, with a star where it reaches the published value."""
    if cell is None:
        return ABSENT
    text = f"{cell.mean:.{DIGITS}f}"
    if cell.n_good < cell.n_total:
        text += f" ({cell.n_good}/{cell.n_total})"
    return f"{text} *" if meets(cell, published) else text


def cell_record(
    key: CellKey, metric: str, published: float, column: str, cell: Cell
) -> dict[str, object]:
    """Return one line of the frame behind the table."""
    return {
        "dataset": key.dataset,
        "n_clusters": key.n_clusters,
        "metric": metric,
        "published": published,
        "column": column,
        "mean": cell.mean if cell.n_good else math.nan,
        "n_good": cell.n_good,
        "n_total": cell.n_total,
        "met": "yes" if meets(cell, published) else "no",
        "experiment": cell.reading.experiment,
        "entry": cell.reading.name,
        "label": cell.reading.label,
    }


def _notes(
    results: Results, met: dict[Role, int], run: dict[Role, int], hindsight: int
) -> list[str]:
    counts = [
        f"{title} {met[role]} of {run[role]}"
        for role, title in COLUMNS.items()
        if run[role]
    ]
    notes = [
        "A star marks a mean that, as printed, reaches the published value. Reached: "
        f"{', '.join(counts)}.",
        "Common graph: on the graph that all symmetric methods share. Used well: the "
        "entry its file calls primary; all ways that were run have a table of their "
        "own. "
        "With labels: the best of the classifiers that see them, cross-validated and "
        "scored like a clustering; no clusterer could be run that way, and another "
        "classifier might reach more, so it is evidence and not a bound.",
    ]
    for role, title in COLUMNS.items():
        entries: dict[str, dict[str, None]] = {}
        for metric in METRIC_TITLES:
            for cell in proposed_cells(results, role, metric).values():
                named = f"{cell.reading.label}, entry {cell.reading.name} of"
                entries.setdefault(named, {})[cell.reading.experiment] = None
        said = [f"{named} {', '.join(places)}" for named, places in entries.items()]
        if said:
            notes.append(f"{title.capitalize()}: {'; '.join(said)}.")
    if hindsight > met[Role.USED_WELL]:
        notes.append(
            "With hindsight, taking for each value the best of all used-well entries, "
            f"{hindsight} would be reached; no method could be run that way."
        )
    return notes
