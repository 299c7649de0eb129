"""Tables for the terminal: all numbers whole, at any width."""

from __future__ import annotations

from dataclasses import replace

from rich.table import Table as RichTable
from rich.text import Text

from symmf.common.texts import plain_text
from symmf.reporting.tables.model import PrintedCell, Table, split_by_dataset

TITLE_WIDTH = 24  # the column of names may be broken into lines of this width
FRAME = 3  # a border and a space on both sides


def to_rich(table: Table, *, std: bool = False) -> RichTable:
    """Return a table for the terminal; texts from outside are not read as markup."""
    out = RichTable(title=Text(table.caption), title_justify="left", title_style="bold")
    out.add_column("Method", overflow="fold")
    for name, k in table.columns:
        head = Text(f"{plain_text(table.titles[name])}\nK = {k}")
        out.add_column(head, justify="right", no_wrap=True)
    for index, row in enumerate(table.rows):
        following = table.rows[index + 1 : index + 2]
        out.add_row(
            Text(plain_text(row.title), style="bold" if row.emphasis else ""),
            *(_styled(cell, std) for cell in row.cells),
            end_section=bool(following and following[0].below and not row.below),
        )
    return out


def fitted(table: Table, width: int, *, std: bool = False) -> list[RichTable]:
    """Return the table whole if it fits, else one per data set, or smaller ones.

    Numbers are never cut: where the columns of one data set do not fit side by side,
    they follow in further tables.
    """
    longest = max((len(row.title) for row in table.rows), default=0)
    if longest + 2 * FRAME + _numbers_width(table, std) <= width:
        return [to_rich(table, std=std)]
    out = []
    for part in split_by_dataset(table):
        count, start = len(part.columns), 0
        while start < count:
            fits = (
                end
                for end in range(count, start + 1, -1)
                if TITLE_WIDTH + _numbers_width(_columns(part, start, end), std)
                <= width
            )
            end = next(fits, start + 1)
            out.append(to_rich(_columns(part, start, end), std=std))
            start = end
    return out


def _columns(table: Table, start: int, end: int) -> Table:
    rows = tuple(replace(row, cells=row.cells[start:end]) for row in table.rows)
    return replace(table, columns=table.columns[start:end], rows=rows)


def _numbers_width(table: Table, std: bool) -> int:
    total = 0
    for index, (name, k) in enumerate(table.columns):
        heads = [len(plain_text(table.titles[name])), len(f"K = {k}")]
        cells = [len(_text(row.cells[index], std)) for row in table.rows]
        total += max([*heads, *cells]) + FRAME
    return total


def _text(cell: PrintedCell, std: bool) -> str:
    text = cell.text
    if std and cell.spread and cell.n_good:
        text += f" ± {cell.spread}"
    return f"{text} ({cell.share})" if cell.share else text


def _styled(cell: PrintedCell, std: bool) -> Text:
    style = "bold" if cell.best else "underline" if cell.second else ""
    return Text(_text(cell, std), style=style)
