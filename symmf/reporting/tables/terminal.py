"""Tables for the terminal: all numbers whole, at any width."""

from __future__ import annotations

from rich.table import Table as RichTable
from rich.text import Text

from symmf.common.texts import plain_text
from symmf.reporting.tables.model import Style, Table, split_by_dataset

TITLE_WIDTH = 24  # the column of names may be broken into lines of this width
FRAME = 3  # a border and a space on both sides
TERMINAL = Style(text=plain_text)
MARKS = {"best": "bold", "second": "underline"}


def to_rich(table: Table, *, std: bool = False) -> RichTable:
    """Return a table for the terminal; texts from outside are not read as markup."""
    out = RichTable(title=Text(table.title), title_justify="left", title_style="bold")
    out.add_column("Method", overflow="fold")
    for name, k in table.columns:
        head = Text(f"{plain_text(table.titles[name])}\nK = {k}")
        out.add_column(head, justify="right", no_wrap=True)
    last = sum(not row.below for row in table.rows) - 1
    for index, (row, texts) in enumerate(
        zip(table.rows, table.lines(TERMINAL, std), strict=True)
    ):
        styles = ["bold" if row.emphasis else ""]
        styles += [MARKS.get(cell.mark, "") for cell in row.cells]
        out.add_row(*map(Text, texts, styles), end_section=index == last)
    return out


def fitted(table: Table, width: int, *, std: bool = False) -> list[RichTable]:
    """Return the table whole if it fits, else one per data set, or smaller ones.

    Numbers are never cut: where the columns of one data set do not fit side by side,
    they follow in further tables.
    """
    longest = max((len(row.title) for row in table.rows), default=0)
    if longest + 2 * FRAME + sum(_widths(table, std)) <= width:
        return [to_rich(table, std=std)]
    out = []
    for part in split_by_dataset(table):
        widths, start = _widths(part, std), 0
        while start < len(widths):
            end = start + 1
            while sum(widths[start : end + 1]) <= width - TITLE_WIDTH:
                if end == len(widths):
                    break
                end += 1
            out.append(to_rich(part.only(range(start, end)), std=std))
            start = end
    return out


def _widths(table: Table, std: bool) -> list[int]:
    """Return the width of every column of numbers."""
    heads = [(plain_text(table.titles[name]), f"K = {k}") for name, k in table.columns]
    lines = table.lines(TERMINAL, std)
    return [
        FRAME + max(len(text) for text in (*head, *(line[place] for line in lines)))
        for place, head in enumerate(heads, start=1)
    ]
