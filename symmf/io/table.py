"""A table of text cells: what separates them, which line has names, which are numbers.

The first lines decide: a column whose cells are numbers there must hold numbers
throughout, another one is kept as text.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from symmf.errors import DataError, InputError
from symmf.notation import FloatArray

MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-", "."}
#: what the two columns of a list of edges are called
EDGE_WORDS = {
    *("source", "target", "from", "to", "src", "dst", "node1", "node2"),
    *("start", "end"),
}
# Lines that decide what the columns are.
_LOOK = 1000
_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")

#: (line number, cells)
Row = tuple[int, list[str]]


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
        from symmf.validation import did_you_mean

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
    delimiter = _delimiter(text)
    rows = _rows(text, source, delimiter)
    first = list(islice(rows, _LOOK))
    if not first:
        raise DataError(f"{source} is empty.")
    notes: list[str] = []
    comma = _decimal_comma(first, delimiter, decimal, notes)
    named = _has_names(first, source, comma, header, notes, any_header)
    head = first[0][1]
    names = head if named else [str(j + 1) for j in range(len(head))]
    names = [name.strip() or f"column {j}" for j, name in enumerate(names, start=1)]
    body = first[1:] if named else first
    if not body:
        raise DataError(f"{source} has a line of names and no data.")
    table = Table(source=source, names=names, named=named, columns=[], lines=None)
    forced = {j for name in as_text if (j := _find(table, name)) is not None}
    numeric = [
        j not in forced and _looks_numeric(body, j, comma) for j in range(len(names))
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


def number(cell: str, *, comma: bool = False) -> float:
    """Return the number that a cell holds, or raise ValueError."""
    if "_" in cell:
        raise ValueError("an underscore is no digit")
    if comma:
        cell = cell.strip()
        if _GROUPED.fullmatch(cell):
            cell = cell.replace(".", "")
        cell = cell.replace(",", ".")
    return float(cell)


def is_number(cell: str, *, comma: bool = False) -> bool:
    """Tell whether a cell holds a number."""
    try:
        number(cell, comma=comma)
    except ValueError:
        return False
    return True


def quoted(name: str) -> str:
    """Return a name as a shell takes it."""
    import shlex

    return shlex.quote(name)


def _rows(text: str, source: str, delimiter: str | None) -> Iterator[Row]:
    """Yield line numbers and cells of the lines that hold something."""
    lines = text.splitlines(keepends=True)
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


def _delimiter(text: str) -> str | None:
    """See what separates the first line's values; None is white space."""
    for line in islice(text.splitlines(), _LOOK):
        if line.strip() and not line.lstrip().startswith("#"):
            found = [sign for sign in ("\t", ";", ",") if sign in line]
            return found[0] if found else (None if " " in line.strip() else ",")
    return ","


def _decimal_comma(
    rows: list[Row], delimiter: str | None, asked: str | None, notes: list[str]
) -> bool:
    if asked is not None:
        if asked not in (".", ","):
            raise InputError(f"--decimal is '.' or ',', not {asked!r}.")
        if asked == "," and delimiter == ",":
            raise InputError(
                "The cells are separated by commas, so the comma cannot be the decimal "
                "sign too. Write the table with ';' or tabs between cells."
            )
        return asked == ","
    if delimiter == ",":
        return False
    cells = [cell for _, row in rows[:200] for cell in row]
    commas = sum(bool(_WITH_COMMA.fullmatch(cell)) for cell in cells)
    points = sum(bool(_WITH_POINT.fullmatch(cell)) for cell in cells)
    if commas and not points:
        notes.append(
            "The decimal sign was taken to be a comma; use --decimal . if it is not."
        )
        return True
    return False


def _has_names(
    rows: list[Row],
    source: str,
    comma: bool,
    asked: bool | None,
    notes: list[str],
    any_header: bool,
) -> bool:
    """Decide whether the first line holds names."""
    if asked is not None:
        return asked
    cells = [cell.strip() for cell in rows[0][1]]
    body = [row for _, row in rows[1:] if len(row) == len(cells)]
    if not body:
        return not any(is_number(cell, comma=comma) for cell in cells)
    if _counts_up(cells, 0) or _counts_up(cells, 1):
        names = ", ".join(cells[:4]) + ", ..."
        notes.append(
            f"Line {rows[0][0]} ({names}) was read as names of the columns; use "
            "--no-header if it is data."
        )
        return True
    words = [j for j, c in enumerate(cells) if not is_number(c, comma=comma)]
    named = [j for j in words if cells[j].lower() not in MISSING]
    if any_header:
        weights = len(cells) > 2 and 2 in words and _looks_numeric(rows[1:], 2, comma)
        numbers = 0 in named and _looks_numeric(rows[1:], 0, comma)
        return weights or numbers or {c.lower() for c in cells[:2]} <= EDGE_WORDS
    # A word above a column of numbers is a name; an unnamed index stands above counts.
    over_numbers = [
        j
        for j in words
        if cells[j].lower() not in MISSING - {""} and _looks_numeric(rows[1:], j, comma)
    ]
    if over_numbers and (named or words == [0]):
        return True
    if not words and _looks_like_years(cells, body, comma):
        shown = ", ".join(cells[:4])
        raise DataError(
            f"{source}, line {rows[0][0]}: {shown}, ... may be names of columns "
            "(years, "
            "numbers) or data. Say which: --header or --no-header."
        )
    return len(named) == len(cells) and not _repeats(cells, body)


def _repeats(cells: list[str], body: list[list[str]]) -> bool:
    """Whether the first line's cells come again below: then they are data."""
    return all(
        any(row[j].strip() == cell for row in body) for j, cell in enumerate(cells)
    )


def _counts_up(cells: list[str], start: int) -> bool:
    """Whether the cells are start, start + 1, ...; an unnamed index may come before."""
    if cells and not cells[0]:
        cells = cells[1:]
    return len(cells) >= 2 and cells == [str(start + j) for j in range(len(cells))]


def _looks_like_years(cells: list[str], body: list[list[str]], comma: bool) -> bool:
    if len(cells) < 3 or not all(re.fullmatch(r"\d{1,9}", cell) for cell in cells):
        return False
    steps = {int(b) - int(a) for a, b in pairwise(cells)}
    if len(steps) != 1 or steps == {0}:
        return False
    outside = 0
    for j, cell in enumerate(cells):
        values = [
            number(r[j], comma=comma) for r in body if is_number(r[j], comma=comma)
        ]
        outside += bool(values) and not min(values) <= float(cell) <= max(values)
    return 2 * outside > len(cells)


def _looks_numeric(rows: list[Row], j: int, comma: bool) -> bool:
    """Whether most of what stands in a column are numbers; gaps do not count."""
    found = [cells[j] for _, cells in rows if j < len(cells)]
    found = [cell for cell in found if cell.strip().lower() not in MISSING]
    if not found:
        return False
    right = sum(is_number(cell, comma=comma) for cell in found)
    return 2 * right > len(found)


def _find(table: Table, name: str) -> int | None:
    try:
        return table.position(name, "")
    except InputError:
        return None
