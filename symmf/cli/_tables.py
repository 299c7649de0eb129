"""The one table for the terminal: fitted to its width, or tab-separated for a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import click

from symmf.common.texts import plain_text

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 200  # a file or a pipe has no width of its own
NARROWEST = 24  # a column of prose needs this much to be read
GAP = 2


def console() -> Console:
    """Return where tables are printed; outside texts are never read as markup."""
    from rich.console import Console

    shown = Console(highlight=False, markup=False, emoji=False)
    if shown.is_terminal:
        return shown
    return Console(highlight=False, markup=False, emoji=False, width=PIPE_WIDTH)


def show_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    wide: Collection[str] = (),
    right: Collection[str] = (),
    title: str = "",
) -> None:
    """Print a table on the terminal, or one tab-separated line per row for a pipe.

    Parameters
    ----------
    header, rows
        Texts; control characters in them are shown, markup is not read.
    wide
        Columns of prose, which may be broken into lines. Where the terminal is too
        narrow for them they follow below their row.
    right
        Columns set to the right.
    title
        A line above the table.
    """
    texts = [[plain_text(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in [list(header), *texts]:
            click.echo("\t".join(row))
        return
    width = shutil.get_terminal_size().columns
    if not title and (lines := _single_lines(header, texts, right, width)):
        for number, line in enumerate(lines):
            click.echo(line if number else click.style(line, bold=True))
        return
    from rich.table import Table
    from rich.text import Text

    shown = console()
    kept, below = _columns(header, texts, wide, shown.width)
    table = Table(box=None, pad_edge=False, title=Text(title) if title else None)
    table.title_justify, table.header_style = "left", "bold"
    for index in kept:
        table.add_column(
            Text(header[index]),
            no_wrap=header[index] not in wide,
            justify="right" if header[index] in right else "left",
        )
    if not below:
        for row in texts:
            table.add_row(*(Text(row[index]) for index in kept))
        shown.print(table)
        return
    if title:
        shown.print(Text(title, style="bold"))
    _show_stacked(shown, header, texts, kept, below)


def _single_lines(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[str],
    width: int,
) -> list[str]:
    """Return a table of ASCII texts that needs no broken lines, else nothing.

    What rich would show, without the time to load it.
    """
    cells = [list(header), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if sum(widths) + GAP * (len(widths) - 1) > width:
        return []
    if not all(cell.isascii() for row in cells for cell in row):
        return []
    ends = [str.rjust if name in right else str.ljust for name in header]
    return [
        (" " * GAP).join(
            end(cell, n) for end, cell, n in zip(ends, row, widths, strict=True)
        )
        for row in cells
    ]


def _columns(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    wide: Collection[str],
    width: int,
) -> tuple[list[int], list[int]]:
    """Return the columns side by side and those that follow below each row."""
    from rich.cells import cell_len

    every = list(range(len(header)))
    prose = [index for index in every if header[index] in wide]
    widths = [
        max(cell_len(text) for text in (header[i], *(row[i] for row in rows)))
        for i in every
    ]
    fixed = sum(widths[i] + GAP for i in every if i not in prose)
    wanted = sum(min(widths[i], NARROWEST) + GAP for i in prose)
    if fixed + wanted <= width:
        return every, []
    return [index for index in every if index not in prose], prose


def _show_stacked(
    shown: Console,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    kept: Sequence[int],
    below: Sequence[int],
) -> None:
    from rich.cells import cell_len, set_cell_size
    from rich.padding import Padding
    from rich.text import Text

    cells = [[line[i] for i in kept] for line in [header, *rows]]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    for number, line in enumerate(cells):
        fitted = [set_cell_size(c, w) for c, w in zip(line, widths, strict=True)]
        text = Text((" " * GAP).join(fitted).rstrip(), style="" if number else "bold")
        shown.print(text, overflow="fold")
        for index in below if number else ():
            prose = Text(rows[number - 1][index])
            if prose.plain:
                shown.print(Padding(prose, (0, 0, 0, 2 * GAP)))
