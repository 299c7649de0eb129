"""A table of cells: which line has names, which columns hold numbers.

Lines are cut by the ``csv`` module and not by pandas: comments, empty lines and lines
of another length are known by their number here. The first lines decide what a column
is; if they hold numbers and a later cell does not, all of it is kept as text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from symmf.common.validation import did_you_mean
from symmf.errors import DataError, InputError
from symmf.io.columns import Column, as_texts, mostly_numbers, to_numbers
from symmf.io.sniff import (
    LOOK,
    Row,
    find_separator,
    has_decimal_comma,
    has_names,
    has_names_of_edges,
    without_titles,
)

# Lines whose cells are turned into numbers at a time.
_CHUNK = 20_000


@dataclass(slots=True, kw_only=True)
class Table:
    """Columns by position: numbers as an array, everything else as texts.

    ``lines[i]`` is the line of row i in the file, for messages; ``rows`` holds all
    cells as they are written if they were asked for, ``index`` what a pandas index
    called the rows. ``comma``: a text has decimal commas.
    """

    source: str
    names: list[str]
    named: bool
    columns: list[Column] = field(default_factory=list)
    lines: Sequence[int] = ()
    unit: str = "line"
    rows: list[list[str]] | None = None
    index: tuple[str, list[str]] | None = None
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

    def kept(self, rows: Iterable[int] | None) -> list[list[str]] | None:
        """Return all cells of some rows as they are written, the names first."""
        if self.rows is None:
            return None
        chosen = range(self.n) if rows is None else rows
        if self.index is None:
            return [self.names, *(self.rows[i] for i in chosen)]
        name, ids = self.index
        cells = ([ids[i], *self.rows[i]] for i in chosen)
        return [[name, *self.names], *cells]

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
    text: str,
    source: str,
    *,
    header: bool | None = None,
    decimal: str | None = None,
    separator: str | None = None,
    as_text: Collection[str] = (),
    keep: bool = False,
    edges: bool = False,
) -> Table:
    """Read a text of cells.

    Parameters
    ----------
    text, source : str
        The content, and what messages call it.
    header : bool or None
        Whether the first line holds names; None looks.
    decimal : {".", ","} or None
        Decimal sign; None looks.
    separator : str or None
        What stands between cells, a single character or "space"; None looks.
    as_text : collection of str
        Columns that are texts whatever they look like (ids, labels), by name or number.
    keep : bool
        Keep all cells as they are written.
    edges : bool
        The lines are edges: whether the first holds names is decided by its words.

    Raises
    ------
    DataError
        If it is empty or ragged.
    """
    sign = find_separator(text) if separator is None else _separator(separator)
    rows = _rows(text, source, sign)
    notes: list[str] = []
    found = list(islice(rows, LOOK))
    first = without_titles(found, notes)
    if not first:
        raise DataError(f"{source} is empty.")
    comma = has_decimal_comma(first, sign, decimal, notes)
    if header is not None:
        named = header
    elif edges:
        named = has_names_of_edges(first, comma, notes)
    else:
        named = has_names(first, source, comma, notes)
    line, head = first[0]
    body = first[named:]
    if not body:
        raise DataError(f"{source} has a line of names and no data.")
    if not named:
        head = [str(j) for j in range(1, len(head) + 1)]
    table = Table(
        source=source,
        names=[name.strip() or f"column {j}" for j, name in enumerate(head, start=1)],
        named=named,
        rows=[] if keep else None,
        comma=comma,
        notes=notes,
    )
    texts = {j for name in as_text if (j := _find(table, name)) is not None}
    for j in range(len(head)):
        if not mostly_numbers((row[j] for _, row in body if j < len(row)), comma=comma):
            texts.add(j)
    if wrong := _fill(table, chain(body, rows), texts, line):
        # Numbers at first and something else below: again, now as texts.
        again = islice(_rows(text, source, sign), len(found) - len(first) + named, None)
        _fill(table, again, texts | wrong, line)
    return table


def _fill(table: Table, rows: Iterator[Row], texts: set[int], line: int) -> set[int]:
    """Put the cells into columns; return which have a cell that is no number.

    Columns of ``texts`` stay as they are. ``line`` is that of the first row of all.
    """
    width = len(table.names)
    lines: list[int] = []
    kept: list[list[str]] = []
    parts: list[list[Any]] = [[] for _ in range(width)]
    wrong: set[int] = set()
    while chunk := list(islice(rows, _CHUNK)):
        for at, cells in chunk:
            if len(cells) != width:
                raise _ragged(table, at, len(cells), line)
        lines += [at for at, _ in chunk]
        if table.rows is not None:
            kept += [cells for _, cells in chunk]
        for j, column in enumerate(zip(*(cells for _, cells in chunk), strict=True)):
            if j in texts:
                parts[j] += [cell.strip() for cell in column]
            elif (numbers := to_numbers(column, comma=table.comma)) is not None:
                parts[j].append(numbers)
            else:
                wrong.add(j)
    if not wrong:
        table.lines = lines
        table.rows = None if table.rows is None else kept
        table.columns = [
            parts[j] if j in texts else np.concatenate(parts[j]) for j in range(width)
        ]
    return wrong


def _ragged(table: Table, line: int, found: int, first: int) -> DataError:
    values = "1 value" if found == 1 else f"{found} values"
    return DataError(
        f"{table.source}, line {line}: {values}, but line {first} has "
        f"{len(table.names)}. Every line needs the same number of values. If they are "
        "separated by something else, use --separator; for documents, one in each "
        "line, --format text."
    )


def _rows(text: str, source: str, separator: str | None) -> Iterator[Row]:
    """Yield line numbers and cells of the lines that hold something.

    A line that begins with # is a comment above the table, and below only if a space
    follows: #N/A is a cell.
    """
    lines = io.StringIO(text, newline="")
    rows: Iterable[Row]
    if separator is None:
        rows = enumerate(map(str.split, lines), start=1)
    else:
        rows = _cells(lines, source, separator)
    comment = "#"
    for line, cells in rows:
        begin = cells[0].strip() if cells else ""
        skipped = begin == "#" or begin.startswith(comment)
        # Spreadsheets may say in line 1 what separates the cells.
        skipped |= line == 1 and begin.startswith("sep=")
        if not skipped and any(cell.strip() for cell in cells):
            comment = "# "
            yield line, cells


def _cells(lines: io.StringIO, source: str, separator: str) -> Iterator[Row]:
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


def _find(table: Table, name: str) -> int | None:
    try:
        return table.position(name, "")
    except InputError:
        return None
