"""Reading numbers, and perhaps a column of labels, from CSV and TSV files."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from symmf.errors import DataError, InputError
from symmf.notation import FloatArray

_MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-"}

#: (line number, cells)
_Row = tuple[int, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """Numbers (n, m), and the labels column as text where one was named."""

    X: FloatArray
    labels: list[str] | None


def read_text_table(
    path: Path, *, header: bool | None, labels: str | None
) -> TextTable:
    """Read a table of numbers with one sample per line.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.tsv`` or another text; the delimiter is seen in the first line.
        Blank lines and lines that begin with ``#`` are skipped.
    header : bool or None
        Whether the first line holds names; None looks whether it has a word.
    labels : str or None
        Column of labels: its name, or its number counted from 1 (-1 is the last).

    Raises
    ------
    DataError
        If the file is empty, ragged, not numeric or has gaps.
    InputError
        If there is no such column.
    """
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{path} is empty.")
    line, cells = first
    column = _label_column(path, cells, labels)
    if header is None:
        header = _looks_like_header(cells, labels, column)
    names = cells if header else [str(j + 1) for j in range(len(cells))]
    if not header and labels is not None and not _is_integer(labels):
        raise InputError(
            f"{path} has no header, so its columns have no names: give --labels the "
            "number of the column, counted from 1."
        )
    table = _Numbers(path, names, column, line)
    for row in rows if header else chain([first], rows):
        table.add(row)
    return table.finish()


def read_labels(path: Path, n: int) -> list[str]:
    """Read n labels from the last column of a text file, with or without a header."""
    found = [cells[-1].strip() for _, cells in _rows(path)]
    if len(found) == n + 1:
        found = found[1:]
    if len(found) != n:
        raise DataError(f"{path} has {len(found)} labels for {n} samples.")
    return found


class _Numbers:
    """Collects rows of equal length."""

    def __init__(self, path: Path, names: list[str], column: int | None, line: int):
        self.path, self.names, self.column, self.first_line = path, names, column, line
        self.values, self.lines = array("d"), array("l")
        self.labels: list[str] = []

    def add(self, row: _Row) -> None:
        line, cells = row
        if len(cells) != len(self.names):
            raise DataError(
                f"{self.path}, line {line}: {_count(len(cells))}, but line "
                f"{self.first_line} has {len(self.names)}. Every line needs the same "
                "number of values."
            )
        if self.column is not None:
            self.labels.append(cells[self.column].strip())
            if not self.labels[-1]:
                raise DataError(f"{self.path}, line {line}: the label is missing.")
            cells = cells[: self.column] + cells[self.column + 1 :]
        try:
            self.values.extend(map(float, cells))
        except ValueError:
            raise self._not_a_number(line, cells) from None
        self.lines.append(line)

    def finish(self) -> TextTable:
        n = len(self.lines)
        width = len(self.names) - (self.column is not None)
        if n == 0:
            raise DataError(f"{self.path} has a header and no data.")
        if width == 0:
            raise DataError(f"{self.path} has no column but the labels.")
        X = np.array(self.values).reshape(n, width)
        wrong = np.argwhere(~np.isfinite(X))
        if wrong.size:
            i, j = wrong[0]
            raise DataError(
                f"{self.path}, line {self.lines[i]}, column {self._name(j)}: the value "
                f"is {X[i, j]}. Fill in or leave out such lines first."
            )
        return TextTable(X=X, labels=None if self.column is None else self.labels)

    def _not_a_number(self, line: int, cells: list[str]) -> DataError:
        j = next(j for j, cell in enumerate(cells) if not _is_number(cell))
        where = f"{self.path}, line {line}, column {self._name(j)}"
        if cells[j].strip().lower() in _MISSING:
            return DataError(
                f"{where}: the value is missing. Fill in or leave out such lines first."
            )
        return DataError(
            f"{where}: {cells[j].strip()!r} is not a number. If the column holds "
            "labels, name it with --labels; if the line holds names, use --header."
        )

    def _name(self, j: int) -> str:
        """Name of the j-th column of numbers."""
        if self.column is not None and j >= self.column:
            j += 1
        return repr(self.names[j].strip())


def _rows(path: Path) -> Iterator[_Row]:
    """Yield line numbers and cells of the lines that hold something."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            delimiter = _delimiter(path, file)
            if delimiter is None:
                for line, text in enumerate(file, start=1):
                    if text.strip() and not text.lstrip().startswith("#"):
                        yield line, text.split()
                return
            reader = csv.reader(file, delimiter=delimiter)
            for cells in reader:
                comment = bool(cells) and cells[0].lstrip().startswith("#")
                if any(cell.strip() for cell in cells) and not comment:
                    yield reader.line_num, cells
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not a text file in UTF-8 ({error}).") from error
    except csv.Error as error:
        raise DataError(f"{path} cannot be read as a table ({error}).") from error


def _delimiter(path: Path, file: Iterator[str]) -> str | None:
    """See what separates the first line's values; None is white space."""
    first = next((t for t in file if t.strip() and not t.lstrip().startswith("#")), "")
    file.seek(0)  # type: ignore[attr-defined]  # a text file
    for candidate in ("\t", ";", ","):
        if candidate in first:
            return candidate
    return "," if path.suffix.lower() in (".csv", ".tsv") else None


def _label_column(path: Path, cells: list[str], labels: str | None) -> int | None:
    """Index of the labels in the first line, by name or by number."""
    if labels is None:
        return None
    names = [cell.strip() for cell in cells]
    if labels in names:
        return names.index(labels)
    if _is_integer(labels):
        number = int(labels)
        if 1 <= number <= len(cells):
            return number - 1
        if -len(cells) <= number <= -1:
            return len(cells) + number
        raise InputError(
            f"{path} has {len(cells)} columns; --labels {labels} is none of them "
            "(columns are counted from 1, and -1 is the last)."
        )
    raise InputError(
        f"{path} has no column {labels!r}, and there is no file of that name. "
        f"Its first line is: {', '.join(names[:10])}."
    )


def _looks_like_header(
    cells: list[str], labels: str | None, column: int | None
) -> bool:
    if labels is not None and not _is_integer(labels):
        return True
    others = [cell for j, cell in enumerate(cells) if j != column]
    words = [
        c for c in others if not _is_number(c) and c.strip().lower() not in _MISSING
    ]
    return bool(words)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_integer(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _count(number: int) -> str:
    return "1 value" if number == 1 else f"{number} values"
