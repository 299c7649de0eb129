"""A table of text cells: what separates them, which line has names, which are numbers.

The first lines decide: a column whose cells are numbers there must hold numbers
throughout, another one is kept as text.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.errors import DataError, InputError
from symmf.io.sniff import (
    LOOK,
    MISSING,
    Row,
    find_delimiter,
    has_decimal_comma,
    has_names,
    is_number,
    looks_numeric,
    number,
)


@dataclass(slots=True, kw_only=True)
class Table:
    """Columns by position: numbers as an array, everything else as texts.

    ``lines[i]`` is the line of row i in the file, for messages; ``rows`` holds all
    cells as they are written if they were asked for.
    """

    source: str
    names: list[str]
    named: bool
    columns: list[FloatArray | list[str]]
    lines: Any
    rows: list[list[str]] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.lines)

    def is_number(self, j: int) -> bool:
        """Tell whether column j holds numbers."""
        return isinstance(self.columns[j], np.ndarray)

    def texts(self, j: int) -> list[str]:
        """Return column j as texts."""
        column = self.columns[j]
        if isinstance(column, list):
            return column
        return [f"{value:.15g}" for value in column]

    def position(self, name: str, option: str) -> int:
        """Return where a column is, by name or by number counted from 1."""
        names = [known.strip() for known in self.names]
        if self.named and name.strip() in names:
            return names.index(name.strip())
        if re.fullmatch(r"-?[0-9]{1,9}", name.strip()):
            number = int(name)
            if 1 <= abs(number) <= len(names):
                return number - 1 if number > 0 else len(names) + number
            raise InputError(
                f"{self.source} has {len(names)} columns; {option} {name} is none of "
                "them (columns are counted from 1, and -1 is the last)."
            )
        if not self.named:
            raise InputError(
                f"{self.source} has no line of names: give {option} the number of the "
                "column, counted from 1, or use --header if line 1 has names."
            )
        from symmf.common.validation import did_you_mean

        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise InputError(
            f"{self.source} has no column {name!r} ({option})."
            f"{did_you_mean(name, names)} Its columns are: {shown}."
        )


def read_table(
    text: str,
    source: str,
    *,
    header: bool | None = None,
    decimal: str | None = None,
    as_text: Collection[str] = (),
    keep: bool = False,
    any_header: bool = False,
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
    as_text : collection of str
        Columns that are texts whatever they look like (ids, labels), by name or number.
    keep : bool
        Keep all cells as they are written.
    any_header : bool
        Take a first line of names even if all columns hold texts (edge lists).

    Raises
    ------
    DataError
        If it is empty or ragged, or a column of numbers has something else in it.
    """
    delimiter = find_delimiter(text)
    rows = _rows(text, source, delimiter)
    first = list(islice(rows, LOOK))
    if not first:
        raise DataError(f"{source} is empty.")
    notes: list[str] = []
    comma = has_decimal_comma(first, delimiter, decimal, notes)
    named = has_names(first, source, comma, header, notes, any_header)
    head = first[0][1]
    names = head if named else [str(j + 1) for j in range(len(head))]
    names = [name.strip() or f"column {j}" for j, name in enumerate(names, start=1)]
    body = first[1:] if named else first
    if not body:
        raise DataError(f"{source} has a line of names and no data.")
    table = Table(source=source, names=names, named=named, columns=[], lines=None)
    forced = {j for name in as_text if (j := _find(table, name)) is not None}
    numeric = [
        j not in forced and looks_numeric(body, j, comma) for j in range(len(names))
    ]
    collect = _Columns(source, names, numeric, comma, first[0][0])
    kept: list[list[str]] | None = [] if keep else None
    for line, cells in chain(body, rows):
        collect.add(line, cells)
        if kept is not None:
            kept.append(cells)
    table.columns, table.lines = collect.finish(), collect.lines
    table.rows, table.notes = kept, notes
    return table


class _Columns:
    """Collects rows of equal length, numbers apart from texts."""

    def __init__(
        self, source: str, names: list[str], numeric: list[bool], comma: bool, line: int
    ) -> None:
        self.source, self.names, self.comma, self.first_line = (
            source,
            names,
            comma,
            line,
        )
        self.numbers = [j for j, is_number in enumerate(numeric) if is_number]
        self.texts: dict[int, list[str]] = {
            j: [] for j, is_number in enumerate(numeric) if not is_number
        }
        self.values, self.lines = array("d"), array("l")

    def add(self, line: int, cells: list[str]) -> None:
        if len(cells) != len(self.names):
            values = "1 value" if len(cells) == 1 else f"{len(cells)} values"
            raise DataError(
                f"{self.source}, line {line}: {values}, but line {self.first_line} has "
                f"{len(self.names)}. Every line needs the same number of values; for "
                "documents, one in each line, use --format text."
            )
        try:
            if self.comma:
                self.values.extend(number(cells[j], comma=True) for j in self.numbers)
            else:
                self.values.extend([float(cells[j]) for j in self.numbers])
        except ValueError:
            raise self._not_a_number(line, cells) from None
        for j, column in self.texts.items():
            column.append(cells[j].strip())
        self.lines.append(line)

    def finish(self) -> list[FloatArray | list[str]]:
        n, width = len(self.lines), len(self.numbers)
        X = np.frombuffer(self.values, dtype=np.float64).reshape(n, width)
        wrong = np.argwhere(~np.isfinite(X))
        if wrong.size:
            i, j = wrong[0]
            raise DataError(
                f"{self.source}, line {self.lines[i]}, column "
                f"{self.names[self.numbers[j]]!r}: the value is {X[i, j]}. Fill in or "
                f"leave out such lines first, or leave out the column: --drop "
                f"{quoted(self.names[self.numbers[j]])}"
            )
        at = {j: i for i, j in enumerate(self.numbers)}
        return [
            X[:, at[j]].copy() if j in at else self.texts[j]
            for j in range(len(self.names))
        ]

    def _not_a_number(self, line: int, cells: list[str]) -> DataError:
        j = next(j for j in self.numbers if not is_number(cells[j], comma=self.comma))
        where = f"{self.source}, line {line}, column {self.names[j]!r}"
        name = quoted(self.names[j])
        if cells[j].strip().lower() in MISSING:
            return DataError(
                f"{where}: the value is missing. Fill in or leave out such lines "
                "first, "
                f"or leave out the column: --drop {name}"
            )
        return DataError(
            f"{where}: {cells[j].strip()[:60]!r} is not a number. Leave the column out "
            f"(--drop {name}), or take it as names of the rows (--id {name}) or as "
            "known "
            f"classes (--labels {name})."
        )


def quoted(name: str) -> str:
    """Return a name as a shell takes it."""
    import shlex

    return shlex.quote(name)


def _rows(text: str, source: str, delimiter: str | None) -> Iterator[Row]:
    """Yield line numbers and cells of the lines that hold something."""
    lines = io.StringIO(text, newline="")
    if delimiter is None:
        for line, content in enumerate(lines, start=1):
            if content.strip() and not content.lstrip().startswith("#"):
                yield line, content.split()
        return
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for cells in reader:
            comment = bool(cells) and cells[0].lstrip().startswith("#")
            if any(cell.strip() for cell in cells) and not comment:
                yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(
            f"{source}, line {reader.line_num}: not readable as a table ({error})."
        ) from error


def _find(table: Table, name: str) -> int | None:
    try:
        return table.position(name, "")
    except InputError:
        return None
