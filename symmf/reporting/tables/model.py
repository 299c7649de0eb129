"""Tables II and III in the paper's shape, as values that every format renders.

A table knows its columns (data sets over K), its rows (the paper's nine, a rule,
then further entries), which cells are best and second, and the notes below it. The
other modules of this room only write it down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from symmf.paper.roles import STUDY_ROLES
from symmf.paper.values import DATASET_TITLES, ROWS, published_values
from symmf.reporting.results import Experiment, Missing, Results, run_command
from symmf.reporting.selection.cells import (
    Cell,
    CellKey,
    Row,
    cell_keys,
    cells,
    collect,
    combine,
    dataset_title,
    without_primaries,
)
from symmf.reporting.tables.notes import table_notes

METRICS = {
    "nmi": ("nmi", "Normalized mutual information (NMI)"),
    "ac": ("ac", "Clustering accuracy (AC)"),
}
DIGITS = 3
ABSENT = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCell:
    """One cell as it is printed."""

    mean: float = math.nan
    std: float = math.nan
    n_good: int = 0
    n_total: int = 0
    best: bool = False
    second: bool = False
    # Whose scores these are, so that the trials behind them can be found.
    experiment: str = ""
    entry: str = ""
    values: tuple[float, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The mean with the digits of the paper, or a dash."""
        return f"{self.mean:.{DIGITS}f}" if self.n_good else ABSENT

    @property
    def spread(self) -> str:
        """The standard deviation with the same digits; empty if undefined."""
        return "" if math.isnan(self.std) else f"{self.std:.{DIGITS}f}"

    @property
    def share(self) -> str:
        """Good out of planned trials, said only where some are missing."""
        complete = self.n_good >= self.n_total
        return "" if complete else f"{self.n_good}/{self.n_total}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A title and one cell per column; ``below`` rows stand under a rule."""

    title: str
    cells: tuple[PrintedCell, ...]
    below: bool = False
    emphasis: bool = False


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
    its data sets is there.
    """
    columns = tuple(cell_keys(rows))
    laid = [_lay(row, columns) for row in rows]
    named = {
        row.paper_row: table_row
        for row, table_row in zip(rows, laid, strict=True)
        if row.primary and row.paper_row
    }
    if all_nine and any(name in DATASET_TITLES for name, _ in columns):
        nothing = tuple(PrintedCell() for _ in columns)
        for key, title in ROWS.items():
            named.setdefault(key, TableRow(title=title, cells=nothing))
    top = [replace(named[key], emphasis=key == "ours") for key in ROWS if key in named]
    below = [
        replace(table_row, below=bool(top))
        for row, table_row in zip(rows, laid, strict=True)
        if not (row.primary and row.paper_row)
    ]
    if top:
        body = [*_mark(top), *below]
    else:
        # Without rows of the paper all compete, except those that peek at labels.
        oracles = [row.oracle for row in rows]
        marked = iter(_mark([r for r, o in zip(below, oracles, strict=True) if not o]))
        body = [
            row if oracle else next(marked)
            for row, oracle in zip(below, oracles, strict=True)
        ]
    short, title = METRICS[metric]
    return Table(
        name=short,
        metric=metric,
        caption=f"{title}, mean over trials",
        columns=columns,
        titles={name: dataset_title(name, results) for name, _ in columns},
        rows=tuple(body),
        notes=tuple(table_notes(rows, results, has_rule=bool(top and below))),
    )


def combined_table(results: Results, metric: str) -> Table:
    """Return Table II (``nmi``) or III (``ac``) over all table experiments."""
    rows = collect(results, metric)
    return score_table(rows, results, metric, all_nine=True)


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
        shown = tuple(r for r in rows if any(e.n_good or e.n_total for e in r.cells))
        columns = tuple(table.columns[i] for i in chosen)
        out.append(replace(table, columns=columns, rows=shown))
    return out


def _lay(row: Row, columns: Sequence[CellKey]) -> TableRow:
    def printed(cell: Cell | None) -> PrintedCell:
        if cell is None:
            return PrintedCell()
        return PrintedCell(
            mean=cell.mean,
            std=cell.std,
            n_good=cell.n_good,
            n_total=cell.n_total,
            experiment=cell.reading.experiment,
            entry=cell.reading.name,
            values=cell.values,
            keys=cell.keys,
        )

    return TableRow(
        title=row.title, cells=tuple(printed(row.cells.get(key)) for key in columns)
    )


def _mark(rows: Sequence[TableRow]) -> list[TableRow]:
    """Mark best and second of every column; equal printed values share the mark."""
    columns = [_marked(column) for column in zip(*(r.cells for r in rows), strict=True)]
    return [
        replace(row, cells=tuple(column[index] for column in columns))
        for index, row in enumerate(rows)
    ]


def _marked(column: Sequence[PrintedCell]) -> list[PrintedCell]:
    run = [cell.text for cell in column if cell.n_good]
    if len(run) < 2:
        return list(column)
    best, second = [*sorted(set(run), reverse=True), None][:2]
    return [
        replace(
            cell,
            best=cell.n_good > 0 and cell.text == best,
            second=cell.n_good > 0 and cell.text == second,
        )
        for cell in column
    ]
