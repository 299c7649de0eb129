"""Tables as values that every format renders.

A table knows its columns, its rows and the notes below it; the other modules of this
package only write it down. Tables II and III in the paper's shape have columns (data
set, K), and know their rows (the paper's nine, a rule, then further entries) and which
cells are best and second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pandas as pd

from symmf.metrics import METRICS
from symmf.paper.roles import STUDY_ROLES
from symmf.paper.values import (
    DATASET_TITLES,
    METRIC_TITLES,
    PROPOSED,
    ROWS,
)
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
    published_cells,
    without_primaries,
)
from symmf.reporting.selection.studies import Study
from symmf.reporting.tables.notes import TEXTS, table_notes

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
class Style:
    """How a format writes a text, and what it does with marked cells and titles."""

    text: Callable[[object], str]
    best: str = "%s"
    second: str = "%s"
    spread: str = " ± %s"
    share: str = " (%s)"
    below: str = "%s"  # a title under the rule


PLAIN = Style(text=str)


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A cell as it is printed, ``best``, ``second`` or neither; None where it is not.

    ``mark`` is ``best``, ``second`` or empty.
    """

    cell: Cell | None = None
    mark: str = ""

    @property
    def n_good(self) -> int:
        """Number of trials that count."""
        return self.cell.n_good if self.cell else 0

    @property
    def n_total(self) -> int:
        """Number of trials that were planned."""
        return self.cell.n_total if self.cell else 0

    @property
    def text(self) -> str:
        """The mean with the digits of the paper, or a dash."""
        return f"{self.cell.mean:.{DIGITS}f}" if self.cell and self.n_good else ABSENT

    @property
    def spread(self) -> str:
        """The standard deviation with the same digits; empty if undefined."""
        return f"{self.cell.std:.{DIGITS}f}" if self.cell and self.n_good > 1 else ""

    @property
    def share(self) -> str:
        """Good out of planned trials, said only where some are missing."""
        lacks = self.n_good < self.n_total
        return f"{self.n_good}/{self.n_total}" if lacks else ""

    def written(self, style: Style, std: bool = False) -> str:
        """Return the cell in a format, its mark and what is missing included."""
        text = style.text(self.text)
        if self.mark:
            text = (style.best if self.mark == "best" else style.second) % text
        if std and self.spread:
            text += style.spread % self.spread
        return text + style.share % self.share if self.share else text


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
    title: str
    columns: tuple[CellKey, ...]
    titles: dict[str, str]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...]

    @property
    def metric_title(self) -> str:
        """The metric's name, for what is said of several."""
        return METRICS[self.metric].title

    @property
    def n_good(self) -> int:
        """Number of cells that have a mean."""
        return sum(shown.n_good > 0 for row in self.rows for shown in row.cells)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Data set titles with the number of columns each spans."""
        titles = (self.titles[name] for name, _ in self.columns)
        return [(title, len([*same])) for title, same in groupby(titles)]

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads of the columns on one line."""
        return "Method", *(f"{self.titles[name]}, K = {k}" for name, k in self.columns)

    @property
    def align(self) -> str:
        """One letter per column: ``l`` or ``r``."""
        return "l" + "r" * len(self.columns)

    def lines(self, style: Style, std: bool = False) -> list[list[str]]:
        """Return every row as texts of a format."""
        out = []
        for row in self.rows:
            title = style.text(row.title)
            title = style.best % title if row.emphasis else title
            title = style.below % title if row.below else title
            out.append([title, *(cell.written(style, std) for cell in row.cells)])
        return out

    @property
    def frame(self) -> pd.DataFrame:
        """One line per cell with the printed digits."""
        return pd.DataFrame(
            {
                "metric": self.metric,
                "method": row.title,
                "place": "below the rule" if row.below else "paper",
                "dataset": name,
                "n_clusters": k,
                "mean": shown.text if shown.n_good else "",
                "std": shown.spread,
                "n_good": shown.n_good,
                "n_total": shown.n_total,
                "mark": shown.mark,
                "experiment": shown.cell.reading.experiment if shown.cell else "",
                "entry": shown.cell.reading.name if shown.cell else "",
            }
            for row in self.rows
            for (name, k), shown in zip(self.columns, row.cells, strict=True)
        )

    def only(self, places: Iterable[int]) -> Table:
        """Return the table with the columns at these places alone."""
        chosen = [*places]
        rows = tuple(
            replace(row, cells=tuple(row.cells[i] for i in chosen)) for row in self.rows
        )
        return replace(self, columns=tuple(self.columns[i] for i in chosen), rows=rows)


@dataclass(frozen=True, kw_only=True)
class PlainTable:
    """A table of texts: what is printed, and the frame behind it."""

    name: str
    title: str
    heads: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()

    def lines(self, style: Style, _std: bool = False) -> list[list[str]]:
        """Return every row as texts of a format."""
        return [[*map(style.text, row)] for row in self.rows]


def words(name: str, *more: str, **facts: object) -> dict[str, Any]:
    """Return name, title and notes of a table, with its numbers and ``more`` notes."""
    texts = TEXTS[name]
    notes = (note.format(**facts) for note in texts.get("notes", ()))
    title = texts["title"].format(**facts)
    return {"name": name, "title": title, "notes": (*notes, *more)}


# Head of a column, its side, and the format of a record's text.
TextColumn = Sequence[str]


def record_table(
    results: Results,
    name: str,
    records: Sequence[Mapping[Any, Any]],
    notes: Sequence[str] = (),
    columns: Sequence[TextColumn] = (),
    **facts: object,
) -> PlainTable:
    """Return a table with one line per record; see :func:`words`.

    The columns are those in ``words.yaml``, or ``columns``. In their formats
    ``{data_title}`` and ``{metric_title}`` name the record's data set and metric, and
    ``{shown}`` is a text that stands in no file; an undefined number is a dash.
    """
    columns = columns or TEXTS[name]["columns"]
    rows = []
    for record in records:
        titles = {
            "data_title": dataset_title(str(record.get("dataset")), results),
            "metric_title": METRIC_TITLES.get(str(record.get("metric"))),
        }
        texts = [form.format_map({**record, **titles}) for *_, form in columns]
        rows.append(tuple(ABSENT if t in ("nan", "nan%") else t for t in texts))
    return PlainTable(
        **words(name, *notes, **facts),
        heads=tuple(head for head, _, _ in columns),
        align="".join(side for _, side, _ in columns),
        rows=tuple(rows),
        frame=pd.DataFrame(records).drop(columns="shown", errors="ignore"),
    )


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
    competing = {row.key for row in compete}
    marks = {
        key: _marks([row.cells.get(key) for row in compete], metric) for key in columns
    }

    def printed(row: Row, key: CellKey) -> PrintedCell:
        cell = PrintedCell(row.cells.get(key))
        mark = marks[key].get(cell.text, "") if row.key in competing else ""
        return replace(cell, mark=mark)

    laid = [
        TableRow(
            row=row,
            cells=tuple(printed(row, key) for key in columns),
            below=bool(top) and not row.primary,
        )
        for row in (*top.values(), *rest)
    ]
    title = CAPTIONS.get(metric, METRICS[metric].title)
    return Table(
        name=metric,
        metric=metric,
        title=f"{title}, mean over trials",
        columns=columns,
        titles={name: dataset_title(name, results) for name, _ in columns},
        rows=tuple(laid),
        notes=tuple(table_notes(rows, results, ruled=bool(top and rest))),
    )


def _marks(column: Sequence[Cell | None], metric: str) -> dict[str, str]:
    """Return the marks of the printed values of a column; equal values share them."""
    texts = [text for c in column if (text := PrintedCell(c).text) != ABSENT]
    order = sorted({*map(float, texts)}, reverse=METRICS[metric].higher_is_better)
    marks = dict(zip(order, ("best", "second"), strict=False))
    return {t: marks.get(float(t), "") for t in texts} if len(texts) > 1 else {}


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
    appendix = replace(
        table, name=f"{table.name}_appendix", title=f"{table.title}: further entries"
    )
    out = []
    for part, below in ((table, False), (appendix, True)):
        rows = tuple(replace(r, below=False) for r in table.rows if r.below == below)
        notes = tuple(table_notes([line.row for line in rows], results))
        out += [replace(part, rows=rows, notes=notes)] if rows else []
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
    if not results.in_tables:
        return []  # nobody asked for the paper's
    rows = collect(results, "ac")
    run = {key for row in rows for key, cell in row.cells.items() if cell.n_good}
    lacking: dict[str, list[str]] = {}
    for key in published_cells():
        if key not in run:
            lacking.setdefault(key.dataset, []).append(str(key.n_clusters))
    return [
        Missing(
            name="tables",
            reason=f"{DATASET_TITLES[name]}, K = {', '.join(ks)}, was not run",
            command=run_command(name),
        )
        for name, ks in lacking.items()
    ]


def split_by_dataset(table: Table) -> list[Table]:
    """Return one table per data set, with the rows that have something to show."""
    out = []
    for name in dict.fromkeys(name for name, _ in table.columns):
        part = table.only(i for i, key in enumerate(table.columns) if key[0] == name)
        shown = (row for row in part.rows if any(c.n_total for c in row.cells))
        out.append(replace(part, rows=tuple(shown)))
    return out
