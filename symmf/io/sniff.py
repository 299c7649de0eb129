"""Seeing what a table is: what separates cells, the decimal sign, a line of names."""

from __future__ import annotations

import io
import re
from itertools import islice, pairwise

from symmf.errors import DataError, InputError

MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-", "."}
#: what the two columns of a list of edges are called
EDGE_WORDS = {
    *("source", "target", "from", "to", "src", "dst", "node1", "node2"),
    *("start", "end"),
}
# Lines that decide what the columns are.
LOOK = 1000
_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
_WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")

#: (line number, cells)
Row = tuple[int, list[str]]


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


def find_delimiter(text: str) -> str | None:
    """See what separates the first line's values; None is white space."""
    for line in islice(io.StringIO(text, newline=""), LOOK):
        if line.strip() and not line.lstrip().startswith("#"):
            found = [sign for sign in ("\t", ";", ",") if sign in line]
            return found[0] if found else (None if " " in line.strip() else ",")
    return ","


def has_decimal_comma(
    rows: list[Row], delimiter: str | None, asked: str | None, notes: list[str]
) -> bool:
    """Tell whether the decimal sign is a comma: as asked, or as first lines show."""
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


def has_names(
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
        weights = len(cells) > 2 and 2 in words and looks_numeric(rows[1:], 2, comma)
        numbers = 0 in named and looks_numeric(rows[1:], 0, comma)
        return weights or numbers or {c.lower() for c in cells[:2]} <= EDGE_WORDS
    # A word above a column of numbers is a name; an unnamed index stands above counts.
    over_numbers = [
        j
        for j in words
        if cells[j].lower() not in MISSING - {""} and looks_numeric(rows[1:], j, comma)
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


def looks_numeric(rows: list[Row], j: int, comma: bool) -> bool:
    """Whether most of what stands in a column are numbers; gaps do not count."""
    found = [cells[j] for _, cells in rows if j < len(cells)]
    found = [cell for cell in found if cell.strip().lower() not in MISSING]
    if not found:
        return False
    right = sum(is_number(cell, comma=comma) for cell in found)
    return 2 * right > len(found)
