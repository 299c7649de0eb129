"""Tables II and III in the paper's shape, as values that every format renders.

A table knows its columns (data sets over K), its rows (the paper's nine, a rule,
then further entries), which cells are best and second, and the notes below it. The
other modules of this room only write it down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from symmf.metrics import METRICS
from symmf.paper.roles import STUDY_ROLES
from symmf.paper.values import DATASET_TITLES, PROPOSED, ROWS, published_values
from symmf.reporting.results import Experiment, Missing, Results, run_command
from symmf.reporting.selection.cells import (
    Cell,
    CellKey,
    Row,
    RowKey,
    cell_keys,
    cells,
    collect,
    combine,
    dataset_title,
    without_primaries,
)
from symmf.reporting.selection.studies import Study
from symmf.reporting.tables.notes import table_notes

# Tables II and III, and what a metric's title stands for.
PAPER_METRICS = ("nmi", "ac")
CAPTIONS = {
    "nmi": "Normalized mutual information (NMI)",
    "ac": "Clustering accuracy (AC)",
    "ari": "Adjusted Rand index (ARI)",
    "ami": "Adjusted mutual information (AMI)",
    "nca": "Normalized clustering accuracy (NCA)",
}
DIGITS = 3
ABSENT = "–"


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A cell as it is printed; None where the row has none in this column."""

    cell: Cell | None = None
    best: bool = False
    second: bool = False

    @property
    def n_good(self) -> int:
        """Number of trials that count."""
        return self.cell.n_good if self.cell else 0

    @property
    def text(self) -> str:
        """The mean with the digits of the paper, or a dash."""
        return f"{self.cell.mean:.{DIGITS}f}" if self.cell and self.n_good else ABSENT

    @property
    def spread(self) -> str:
        """The standard deviation with the same digits; empty if undefined."""
        known = self.cell and self.n_good > 1
        return f"{self.cell.std:.{DIGITS}f}" if self.cell and known else ""

    @property
    def share(self) -> str:
        """Good out of planned trials, said only where some are missing."""
        whole = self.cell is None or self.n_good >= self.cell.n_total
        return "" if whole or not self.cell else f"{self.n_good}/{self.cell.n_total}"

    @property
    def mark(self) -> str:
        """``best``, ``second`` or nothing."""
        return "best" if self.best else "second" if self.second else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of cells with one printed cell per column.

    ``below`` rows stand under a rule and do not compete for best and second.
    """

    row: Row
    cells: tuple[PrintedCell, ...]
    below: bool = False

    @property
    def title(self) -> str:
        """What stands at its head."""
        return self.row.title

    @property
    def emphasis(self) -> bool:
        """Whether it is the proposed method's."""
        return self.row.key.paper_row == PROPOSED or self.row.proposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Means over trials: columns are (data set, K)."""

    name: str
    metric: str
    caption: str
    columns: tuple[CellKey, ...]
    titles: dict[str, str]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...]

    @property
    def n_good(self) -> int:
        """Number of cells that have a mean."""
        return sum(shown.n_good > 0 for row in self.rows for shown in row.cells)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Data set titles with the number of columns each spans."""
        out: list[tuple[str, int]] = []
        for name, _ in self.columns:
            title = self.titles[name]
            if out and out[-1][0] == title:
                out[-1] = (title, out[-1][1] + 1)
            else:
                out.append((title, 1))
        return out


@dataclass(frozen=True, kw_only=True)
class PlainTable:
    """A table of texts: what is printed, and the frame behind it."""

    name: str
    title: str
    caption: str
    label: str
    heads: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


def score_table(
    rows: Sequence[Row], results: Results, metric: str, *, all_nine: bool = False
) -> Table:
    """Lay out rows of cells as one table.

    With ``all_nine`` the paper's rows are all shown, run or not, as soon as one of
    its data sets is there. Without rows of the paper all compete, except those that
    peek at labels.
    """
    columns = tuple(cell_keys(rows))
    top = {row.key.paper_row: row for row in rows if row.primary}
    if all_nine and any(name in DATASET_TITLES for name, _ in columns):
        top = {key: top.get(key) or Row.absent(key) for key in ROWS}
    rest = [row for row in rows if not row.primary]
    compete = list(top.values()) or [row for row in rest if not row.oracle]
    marks: dict[RowKey, list[tuple[bool, bool]]] = {row.key: [] for row in compete}
    for key in columns:
        found = _marks([row.cells.get(key) for row in compete], metric)
        for row, mark in zip(compete, found, strict=True):
            marks[row.key].append(mark)
    laid = []
    for row in (*top.values(), *rest):
        given = marks.get(row.key) or [(False, False)] * len(columns)
        cells = (row.cells.get(key) for key in columns)
        printed = tuple(
            PrintedCell(cell, *mark) for cell, mark in zip(cells, given, strict=True)
        )
        below = bool(top) and not row.primary
        laid.append(TableRow(row=row, cells=printed, below=below))
    title = CAPTIONS.get(metric, METRICS[metric].title)
    return Table(
        name=metric,
        metric=metric,
        caption=f"{title}, mean over trials",
        columns=columns,
        titles={name: dataset_title(name, results) for name, _ in columns},
        rows=tuple(laid),
        notes=tuple(table_notes(rows, results, has_rule=bool(top and rest))),
    )


def _has_cells(row: TableRow) -> bool:
    return any(shown.cell and shown.cell.n_total for shown in row.cells)


def _marks(column: Sequence[Cell | None], metric: str) -> list[tuple[bool, bool]]:
    """Tell of each cell if it is best or second; equal printed values share it."""
    texts = [PrintedCell(cell).text for cell in column]
    run = sorted({*texts} - {ABSENT}, reverse=METRICS[metric].higher_is_better)
    if sum(text != ABSENT for text in texts) < 2:
        run = []
    best, second = [*run, None, None][:2]
    return [(text == best, text == second) for text in texts]


def study_table(study: Study, results: Results, metric: str) -> Table:
    """Return the table of a study of one's own: all entries compete."""
    return score_table(study.rows(metric), results, metric)


def combined_table(results: Results, metric: str) -> Table:
    """Return Table II (``nmi``) or III (``ac``) over all table experiments."""
    rows = collect(results, metric)
    return score_table(rows, results, metric, all_nine=True)


def parts(table: Table, results: Results) -> tuple[Table, ...]:
    """Return a table as a document prints it: the paper's rows, the rest an appendix.

    The appendix has the same columns; nothing in it is best or second.
    """
    out = []
    for below, name in ((False, ""), (True, "_appendix")):
        lines = [line for line in table.rows if line.below == below]
        if not lines:
            continue
        rows = [line.row for line in lines]
        part = replace(
            table,
            name=f"{table.name}{name}",
            caption=table.caption + (": further entries" if below else ""),
            rows=tuple(replace(line, below=False) for line in lines),
            notes=tuple(table_notes(rows, results, has_rule=False)),
        )
        out.append(part)
    return tuple(out)


def experiment_table(experiment: Experiment, results: Results, metric: str) -> Table:
    """Return the table of one experiment alone.

    A study of one method has no rows of the paper: its readings are all alike.
    """
    found = cells(experiment, metric)
    if experiment.role in STUDY_ROLES:
        found = without_primaries(found)
    return score_table(combine(found), results, metric)


def missing_tables(results: Results) -> list[Missing]:
    """Say which of the paper's cells were not run and the command that runs them."""
    rows = collect(results, "ac")
    if not results.in_tables:
        return []  # nobody asked for the paper's
    run = {key for row in rows for key, cell in row.cells.items() if cell.n_good}
    wanted = published_values()[["dataset", "n_clusters"]].drop_duplicates()
    out = []
    for name, title in DATASET_TITLES.items():
        ks = [int(k) for k in wanted[wanted["dataset"] == name]["n_clusters"]]
        lacking = ", ".join(str(k) for k in ks if (name, k) not in run)
        if lacking:
            reason = f"{title}, K = {lacking}, was not run"
            out.append(Missing(name="tables", reason=reason, command=run_command(name)))
    return out


def split_by_dataset(table: Table) -> list[Table]:
    """Return one table per data set, with the rows that have something to show."""
    out = []
    for name in dict.fromkeys(name for name, _ in table.columns):
        chosen = [i for i, (other, _) in enumerate(table.columns) if other == name]
        rows = [
            replace(row, cells=tuple(row.cells[i] for i in chosen))
            for row in table.rows
        ]
        shown = tuple(row for row in rows if _has_cells(row))
        columns = tuple(table.columns[i] for i in chosen)
        out.append(replace(table, columns=columns, rows=shown))
    return out
