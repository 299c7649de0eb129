"""Seeing how a text is laid out: separator, decimal sign, a line of names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import islice, pairwise
from statistics import mode

from symmf.errors import DataError, InputError
from symmf.io.columns import is_missing, is_number, mostly_numbers, number
from symmf.io.source import lines_of

#: what the two columns of a list of edges are called
EDGE_WORDS = {
    *("source", "target", "from", "to", "src", "dst", "node1", "node2"),
    *("start", "end"),
}
# Lines that decide what the columns are, and what separates them.
LOOK = 1000
_LOOK_FOR_SEPARATOR = 100
_SEPARATORS = ("\t", ";", ",", "|")
# A first line by which spreadsheets say it.
_SAID = re.compile(r"sep=([,;|\t])\s*")
# 3,14 and 1.234,50 EUR: digits with points and commas, perhaps a power of ten; but not
# x.1 and v1.2, which are names.
_DIGITS = re.compile(
    r"(?:\D{0,4}?(?<![^\W\d_])|EUR|USD|GBP)"
    r"(\d[\d.,]*\d|\.\d+)([eE][+-]?\d+)?\s*\D{0,4}"
)
# 1,234 and 1,234,567: the sign may group thousands, or must.
_ONE_GROUP = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_GROUPS = re.compile(r"\d{1,3}([.,])\d{3}(\1\d{3})+")

#: (line number, cells)
Row = tuple[int, list[str]]


def find_separator(text: str) -> str | None:
    r"""See what separates values: what cuts several lines alike; None is white space.

    Examples
    --------
    >>> find_separator('id,"height; cm",weight\n1,2,3\n'), find_separator("1 2\n")
    (',', None)
    """
    lines = [
        line
        for line in islice(lines_of(text), LOOK)
        if line.strip() and not line.lstrip().startswith("#")
    ][:_LOOK_FOR_SEPARATOR]
    if lines and (said := _SAID.fullmatch(lines[0])):
        return said[1]
    widths = {sign: _widths(lines, sign) for sign in _SEPARATORS}
    for sign, found in widths.items():
        if found and found[0] > 1 and len(set(found)) == 1:
            return sign
    # Not all lines are alike, which will be said: the sign that cuts most of them.
    cut = {sign: sum(n > 1 for n in found) for sign, found in widths.items()}
    best = max(cut, key=lambda sign: cut[sign])
    if cut[best] and (best != "|" or 2 * cut[best] > len(lines)):
        return best
    return None if lines and " " in lines[0].strip() else ","


def _widths(lines: list[str], sign: str) -> list[int]:
    """Return how many cells each line has; a quoted cell may go over several lines."""
    try:
        rows = list(csv.reader(lines, delimiter=sign, skipinitialspace=True))
    except csv.Error:
        return []
    if len(lines) == _LOOK_FOR_SEPARATOR and len(rows) < len(lines):
        # The last cell may have been cut in two.
        rows.pop()
    return [len(row) for row in rows]


def without_titles(rows: list[Row], unit: str, notes: list[str]) -> list[Row]:
    """Leave out rows of one text, in the first cell, above a wider table: titles."""
    width = mode(len(cells) for _, cells in rows) if rows else 0
    for i, (line, cells) in enumerate(rows):
        title = cells[0].strip()
        if width < 2 or not title or any(map(str.strip, cells[1:])) or is_number(title):
            return rows[i:]
        notes.append(f"{unit.title()} {line} ({title[:40]!r}) was left out as a title.")
    return rows


def with_corner(rows: list[Row]) -> list[Row]:
    """Complete a first line that is one cell shorter than all others.

    Such a line, as R writes it, has no name above the names of the rows; or all other
    lines end with a separator.
    """
    (line, head), body = rows[0], [cells for _, cells in rows[1:]]
    if not body or {len(cells) for cells in body} != {len(head) + 1}:
        return rows
    if not any(cells[-1].strip() for cells in body):
        return [(line, [*head, ""]), *rows[1:]]
    named = len({cells[0] for cells in body}) == len(body)
    named &= not all(map(is_number, head))
    return [(line, ["", *head]), *rows[1:]] if named else rows


def has_decimal_comma(
    rows: list[Row], separator: str | None, asked: str | None, notes: list[str]
) -> bool:
    """Tell whether the decimal sign is a comma: as asked, or as first lines show."""
    if asked is not None:
        if asked not in (".", ","):
            raise InputError(f"--decimal is '.' or ',', not {asked!r}.")
        return asked == ","
    cells = [cell for _, row in rows[:200] for cell in row]
    shown = Counter(map(_decimal_sign, cells))
    if shown["."]:
        return False
    # Between commas a cell such as "1,234" has thousands, and so has "$1,234".
    perhaps = separator != "," and not shown["1.234"]
    perhaps &= any(_decimal_sign(c) == "1,234" and "$" not in c for c in cells)
    if shown[","] or perhaps:
        notes.append(
            "The decimal sign was taken to be a comma; use --decimal . if it is not."
        )
        return True
    if shown["1.234"] and separator == ";":
        cell = next(cell for cell in cells if _decimal_sign(cell) == "1.234")
        notes.append(
            f"{cell.strip()!r} was read with a decimal point; use --decimal , if the "
            "point groups thousands."
        )
    return False


def _decimal_sign(cell: str) -> str:
    """Return the decimal sign of a number, or 1,234 or 1.234 if it may group digits.

    Examples
    --------
    >>> [_decimal_sign(cell) for cell in ("1.234,5 EUR", "$1,234", "1.234.567", "x")]
    [',', '1,234', ',', '']
    """
    found = _DIGITS.fullmatch(cell.strip())
    signs = re.sub(r"\d", "", found[1]) if found else ""
    if found is None or not signs:
        return ""
    last, other = signs[-1], "." if signs[-1] == "," else ","
    if len(signs) > 1 and signs.count(last) > 1:
        return other if _GROUPS.fullmatch(found[1]) else ""
    alone = len(signs) == 1 and not found[2] and _ONE_GROUP.fullmatch(found[1])
    return f"1{last}234" if alone else last


def has_names(rows: list[Row], source: str, comma: bool, notes: list[str]) -> bool:
    """Decide whether the first line of a table holds names."""
    line, cells = rows[0][0], [cell.strip() for cell in rows[0][1]]
    body = [row for _, row in rows[1:] if len(row) == len(cells)]
    words = [j for j, cell in enumerate(cells) if not is_number(cell, comma=comma)]
    named = [j for j in words if not is_missing(cells[j])]
    if not body:
        return len(words) == len(cells)
    counts = _counts_up(cells)
    others = [j for j in range(len(cells)) if j not in words]
    years = _are_years(cells, others, body, comma)
    if years and not words and not counts:
        shown = ", ".join(cells[:4])
        raise DataError(
            f"{source}, line {line}: {shown}, ... may be names of columns (years, "
            "numbers) or data. Say which: --header or --no-header."
        )
    index = words == [0] and not cells[0] and all(row[0].strip() for row in body)
    if index or years or counts:
        names = ", ".join(cells[:4]) + ", ..."
        notes.append(
            f"Line {line} ({names}) was read as names of the columns; use "
            "--no-header if it is data."
        )
        return True
    # A word above a column of numbers is a name, and so is nothing beside a name.
    unnamed = [j for j in words if not cells[j]]
    if named and any(_is_over_numbers(body, j, comma) for j in (*named, *unnamed)):
        return True
    # What a separator at the end of lines makes has no name.
    there = [
        j for j, cell in enumerate(cells) if cell or any(row[j].strip() for row in body)
    ]
    return len(named) == len(there) and not all(
        cells[j] in {row[j].strip() for row in body} for j in there
    )


def has_names_of_edges(rows: list[Row], comma: bool, notes: list[str]) -> bool:
    """Decide whether the first line of a list of edges holds names.

    It does if it has the usual words, a word above weights or above numbered nodes, or
    two words that are no node of any edge.
    """
    cells = [cell.strip() for cell in rows[0][1]]
    body = [row for _, row in rows[1:] if len(row) == len(cells)]
    if len(cells) < 2 or not body:
        return False
    words = {j for j, cell in enumerate(cells) if not is_number(cell, comma=comma)}
    nodes = {cell.strip() for row in body for cell in row[:2]}
    named = (
        {cell.lower() for cell in cells[:2]} <= EDGE_WORDS
        or any(_is_over_numbers(body, j, comma) for j in words & {0, 2})
        or (len(body) > 2 and {0, 1} <= words and not nodes & set(cells[:2]))
    )
    if named:
        notes.append(
            f"Line {rows[0][0]} was read as names of the columns; use --no-header if "
            "it is an edge."
        )
    return named


def _is_over_numbers(body: list[list[str]], j: int, comma: bool) -> bool:
    return j < len(body[0]) and mostly_numbers((row[j] for row in body), comma=comma)


def _counts_up(cells: list[str]) -> bool:
    """Whether the cells count from 0 or 1; an unnamed index may come before."""
    if not cells[0]:
        cells = cells[1:]
    numbers = [str(j) for j in range(len(cells) + 1)]
    return len(cells) >= 2 and cells in (numbers[:-1], numbers[1:])


def _are_years(
    cells: list[str], places: list[int], body: list[list[str]], comma: bool
) -> bool:
    """Whether years, or numbers of equal steps, lie outside most of their columns."""
    if len(places) < 2 or not all(re.fullmatch(r"\d{1,9}", cells[j]) for j in places):
        return False
    values = [int(cells[j]) for j in places]
    steps = {b - a for a, b in pairwise(values)}
    years = all(1800 <= value <= 2100 for value in values) and min(steps) > 0
    even = len(places) >= 3 and len(steps) == 1 and steps != {0}
    outside = 0
    for j in places:
        column = [row[j] for row in body if is_number(row[j], comma=comma)]
        found = [number(text, comma=comma) for text in column]
        outside += bool(found) and not min(found) <= float(cells[j]) <= max(found)
    return (years or even) and 2 * outside > len(places)
