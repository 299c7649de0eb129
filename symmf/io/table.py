"""A table of cells: which line has names, and what stands in which line.

Lines are cut by the ``csv`` module and not by pandas: comments, empty lines and lines
of another length are known by their number here, and pandas fills short lines up.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from symmf.common.validation import did_you_mean
from symmf.errors import DataError, InputError
from symmf.io.columns import Column, as_texts
from symmf.io.sniff import (
    LOOK,
    Row,
    find_separator,
    has_decimal_comma,
    has_names,
    has_names_of_edges,
    with_corner,
    without_titles,
)
from symmf.io.source import lines_of


@dataclass(slots=True, kw_only=True)
class Table:
    """Columns by position: texts as they are written, or numbers of a sheet.

    ``lines[i]`` is the line of row i in the file, for messages. ``indexed``: the first
    column names the rows, as a pandas index. ``comma``: a text has decimal commas.
    """

    source: str
    names: list[str]
    named: bool
    columns: list[Column] = field(default_factory=list)
    lines: Sequence[int] = ()
    unit: str = "line"
    indexed: bool = False
    comma: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.lines)

    def texts(self, j: int) -> list[str]:
        """Return column j as texts."""
        column = self.columns[j]
        return column if isinstance(column, list) else as_texts(column)

    def kept(self, rows: Iterable[int]) -> list[list[str]]:
        """Return all cells of some rows, the names first."""
        columns = [self.texts(j) for j in range(len(self.names))]
        return [self.names, *([column[i] for column in columns] for i in rows)]

    def where(self, i: int, j: int) -> str:
        """Say where a cell stands."""
        return f"{self.source}, {self.unit} {self.lines[i]}, column {self.names[j]!r}"

    def position(self, name: str, option: str) -> int:
        """Return where a column is, by name or by number counted from 1."""
        names = [known.strip() for known in self.names]
        if self.named and name.strip() in names:
            return names.index(name.strip())
        number = int(name) if re.fullmatch(r"\s*-?[0-9]{1,9}\s*", name) else 0
        if 1 <= abs(number) <= len(names):
            return number - 1 if number > 0 else len(names) + number
        known = "it has no line of names (use --header if line 1 has them)"
        hint = ""
        if self.named:
            known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            hint = did_you_mean(name, names)
        raise InputError(
            f"{self.source} has no column {name!r} ({option}).{hint} Columns are "
            f"counted from 1 to {len(names)}, and -1 is the last: {known}."
        )


def read_table(
    text: str, source: str, *, separator: str | None = None, **options: Any
) -> Table:
    """Read a text of cells.

    Parameters
    ----------
    text, source : str
        The content, and what messages call it.
    separator : str or None
        What stands between cells, a single character or "space"; None looks.
    **options
        Those of :func:`table_of`.
    """
    sign = find_separator(text) if separator is None else _separator(separator)
    return table_of(_rows(text, source, sign), source, separator=sign, **options)


def table_of(
    rows: Iterator[Row],
    source: str,
    *,
    unit: str = "line",
    header: bool | None = None,
    decimal: str | None = None,
    separator: str | None = ",",
    edges: bool = False,
    notes: Sequence[str] = (),
) -> Table:
    """Return a table of cells: decide whether the first row holds names.

    Parameters
    ----------
    rows : iterator of (number, cells)
    source, unit : str
        What messages call it, and a row of it.
    header : bool or None
        Whether the first row holds names; None looks.
    decimal : {".", ","} or None
        Decimal sign; None looks.
    separator : str or None
        What stood between the cells.
    edges : bool
        The rows are edges: whether the first holds names is decided by its words.
    notes : sequence of str
        What was decided before.

    Raises
    ------
    DataError
        If it is empty or ragged.
    """
    notes = list(notes)
    first = without_titles(list(islice(rows, LOOK)), unit, notes)
    if not first:
        raise DataError(f"{source} is empty.")
    # Without names the short line is a mistake.
    first = first if header is False else with_corner(first)
    comma = has_decimal_comma(first, separator, decimal, notes)
    if header is not None:
        named = header
    elif edges:
        named = has_names_of_edges(first, comma, notes)
    else:
        named = has_names(first, source, comma, notes)
    line, head = first[0]
    lines, body = [], []
    for at, cells in chain(first[named:], rows):
        if len(cells) != len(head):
            values = "1 value" if len(cells) == 1 else f"{len(cells)} values"
            raise DataError(
                f"{source}, {unit} {at}: {values}, but {unit} {line} has {len(head)}. "
                "Every line needs the same number of values. If they are separated by "
                "something else, use --separator; for documents, one in each line, "
                "--format text."
            )
        lines.append(at)
        body.append([cell.strip() for cell in cells])
    if not body:
        raise DataError(f"{source} has a line of names and no data.")
    columns = [list(column) for column in zip(*body, strict=True)]
    if not named:
        head = [str(j) for j in range(1, len(head) + 1)]
    # Without a name and a value it is what a separator at the end of lines makes.
    there = [j for j, name in enumerate(head) if name.strip() or any(columns[j])]
    return Table(
        source=source,
        names=[head[j].strip() or f"column {j + 1}" for j in there],
        named=named,
        columns=[columns[j] for j in there],
        lines=lines,
        unit=unit,
        comma=comma,
        notes=notes,
    )


def _rows(text: str, source: str, separator: str | None) -> Iterator[Row]:
    """Yield line numbers and cells of the lines that hold something.

    A line that begins with # is a comment above the table, and below only if a space
    follows: #N/A is a cell.
    """
    lines: Iterable[str] = lines_of(text)
    if separator is None:
        lines = (" ".join(line.split()) for line in lines)
    comment = "#"
    for line, cells in _cells(lines, source, separator or " "):
        begin = cells[0].strip() if cells else ""
        skipped = begin == "#" or begin.startswith(comment)
        # Spreadsheets may say in line 1 what separates the cells.
        skipped |= line == 1 and begin.startswith("sep=")
        if not skipped and any(cell.strip() for cell in cells):
            comment = "# "
            yield line, cells


def _cells(lines: Iterable[str], source: str, separator: str) -> Iterator[Row]:
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(
            f"{source}, line {reader.line_num}: not readable as a table ({error})."
        ) from error


def _separator(asked: str) -> str | None:
    """Return the sign that an option names; None is white space."""
    named = {"tab": "\t", "\\t": "\t", "space": None, " ": None, "comma": ","}
    sign = named.get(asked, asked)
    if sign is not None and (len(sign) != 1 or sign in '"\r\n' or sign.isalnum()):
        raise InputError(
            f"--separator is one sign such as ';', or tab or space, not {asked!r}."
        )
    return sign
