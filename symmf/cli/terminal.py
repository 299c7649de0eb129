"""The one way to a terminal: sentences, tables fitted to its width, a bar.

Names of files, cells and messages of others are shown as texts: nothing in them steers
the terminal or counts as markup.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from symmf.common.texts import plain_text, terminal_text

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.progress import ProgressColumn

    from symmf.app.stages import Stages

PIPE_WIDTH = 200  # a file or a pipe has no width of its own
NARROWEST = 24  # a column of prose needs this much to be read
GAP = 2


def say(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text; characters that would steer the terminal are shown as escapes."""
    click.echo(terminal_text(text), err=err, nl=nl)


def say_prose(text: str, *, err: bool = False) -> None:
    """Print sentences, broken between words on a terminal and whole in a pipe."""
    from rich.console import Console

    plain, shown = plain_text(text), Console(stderr=err)
    if shown.is_terminal:
        plain = click.wrap_text(plain, width=shown.width)
    say(plain, err=err)


def show_frame(frame: pd.DataFrame, **style: Any) -> None:
    """Print a table of values as :func:`show_table` does, the first column to the left.

    Values are shown as ``str`` writes them.
    """
    header = [str(name) for name in frame.columns]
    rows = [[str(value) for value in line] for line in frame.itertuples(index=False)]
    show_table(header, rows, **{"right": header[1:]} | style)


def show_notes(notes: Sequence[str], warnings: Sequence[str]) -> None:
    """Print on the error stream what was decided and what may be wrong."""
    for text in notes:
        say_prose(f"Note: {text}", err=True)
    for text in warnings:
        say_prose(f"Warning: {text}", err=True)


def console() -> Console:
    """Return where tables are printed; outside texts are never read as markup."""
    from rich.console import Console

    shown = Console(highlight=False, markup=False, emoji=False)
    if not shown.is_terminal:
        shown.width = PIPE_WIDTH
    return shown


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
    texts = [[plain_text(cell) for cell in row] for row in (header, *rows)]
    if not sys.stdout.isatty():
        for row in texts:
            click.echo("\t".join(row))
        return
    from rich.cells import cell_len
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    shown = console()
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    prose = [index for index, name in enumerate(header) if name in wide]
    least = [min(w, NARROWEST) if i in prose else w for i, w in enumerate(widths)]
    below = prose if sum(least) + GAP * len(least) > shown.width else []
    table = Table(box=None, pad_edge=False, header_style="bold")
    side_by_side = [index for index in range(len(header)) if index not in below]
    for index in side_by_side:
        table.add_column(
            Text(texts[0][index]),
            no_wrap=index not in prose,
            min_width=least[index],
            justify="right" if header[index] in right else "left",
        )
    for row in texts[1:]:
        table.add_row(*(Text(row[index]) for index in side_by_side))
    if title:
        shown.print(Text(title, style="bold"))
    if not below:
        shown.print(table)
        return
    # Each row is one line, however long, and its prose follows it.
    whole = shown.options.update_width(sum(widths) + GAP * len(widths))
    for row, line in zip(texts, shown.render_lines(table, whole), strict=True):
        style = "bold" if row is texts[0] else ""
        text = "".join(segment.text for segment in line).rstrip()
        shown.print(Text(text, style=style), overflow="fold")
        for index in below if row is not texts[0] else ():
            if row[index]:
                shown.print(Padding(Text(row[index]), (0, 0, 0, 2 * GAP)))


def drawing_console() -> Console | None:
    """Return the error stream if bars can be drawn there."""
    from rich.console import Console

    errors = Console(stderr=True)
    return errors if errors.is_terminal and not errors.is_dumb_terminal else None


@contextmanager
def progress_bar(
    title: str = "", *columns: str | ProgressColumn, total: float | None = None
) -> Iterator[Callable[..., None] | None]:
    """Draw a bar where one can be drawn, and yield what changes it; else yield None."""
    from rich.progress import Progress

    errors = drawing_console()
    if errors is None:
        yield None
        return
    with Progress(*columns, console=errors, transient=True) as progress:
        yield partial(progress.update, progress.add_task(title, total=total))


def show_times(stages: Stages) -> None:
    """Print how long each stage took, and all of them."""
    seconds = stages.seconds
    parts = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())
    if seconds:
        say(f"seconds: {sum(seconds.values()):.1f} ({parts})")


@contextmanager
def stages_on_terminal() -> Iterator[Stages]:
    """Yield stages whose names stand beside a moving bar, if there is a terminal."""
    from rich.progress import BarColumn, SpinnerColumn, TimeElapsedColumn

    from symmf.app.stages import Stages

    columns = (SpinnerColumn(), "{task.description}", BarColumn(), TimeElapsedColumn())
    with progress_bar("", *columns) as change:
        yield Stages(change and (lambda name: change(description=name)))
