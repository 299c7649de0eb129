"""What one column of a table holds: numbers, dates or words; and what is no feature.

One set of rules for cells of text files, sheets and data frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from symmf.common.notation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

#: cells that stand for a missing value
MISSING = {
    *("", "na", "n/a", "#n/a", "n.a.", "nan", "null", "none", "missing"),
    *("?", "-", ".", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"),
}
#: numbers, NaN where they are missing; or words, "" where they are missing
Column: TypeAlias = "FloatArray | list[str]"

_ID_WORDS = re.compile(
    r"(^|[\s_.-])(id|ids|index|idx|key|uuid|guid|no|nr|rownames?|row|record)$|^unnamed"
    r"|^column 1$|^__index_level_\d+__$",
)
# Fewer rows than this cannot tell a counter from data.
_FEW = 5
# A column of so many different texts of so many words on average is prose.
_PROSE_TEXTS, _PROSE_WORDS = 20, 4
#: up to so many different texts are levels, however few rows there are
SURELY_LEVELS = 10
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")
_CURRENCY = r"[$\u20ac\u00a3\u00a5\u20b9]|USD|EUR|GBP"
# An amount: a currency, groups of thousands, decimals, a sign or short unit; by the
# decimal sign. In brackets it is negative, as accountants write.
_AMOUNTS = {
    comma: re.compile(
        rf"(?P<bracket>\()?\s*(?P<sign>[+\u2212-]?)\s*(?P<currency>{_CURRENCY})?\s*"
        r"(?P<minus>[\u2212-]?)"
        rf"(?P<digits>\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d+)"
        rf"(?:{point}(?P<decimals>\d+))?\s*"
        rf"(?P<unit>%|{_CURRENCY}|[^\W\d_]{{1,3}})?(?(bracket)\))"
    )
    for comma, group, point in (
        (False, r"[,'\u2019\s]", r"\."),
        (True, r"[.'\u2019\s]", ","),
    )
}
_DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y-%m", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y"),
    *("%d-%b-%Y", "%d %b %Y", "%b %d %Y", "%b %d, %Y", "%B %d, %Y", "%d %B %Y"),
    *("%b %Y", "%B %Y", "%d.%m.%y"),
)
_TIMES = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
_INSTANTS = (*_TIMES, "ISO8601", *(f"{day} {time}" for time in _TIMES for day in _DAYS))
_LIKE_A_DATE = re.compile(
    r"\d{1,4}[-/.:]\d{1,2}([-/.:]\d{1,4})?.*|.*[A-Za-z]{3}.*\d{4}(\s+\d{1,2}:\d\d.*)?"
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


def is_missing(cell: str) -> bool:
    """Tell whether a cell holds nothing, or a word for nothing."""
    return cell.strip().lower() in MISSING


def to_numbers(cells: Sequence[str], *, comma: bool = False) -> FloatArray | None:
    """Return numbers, NaN where a cell is missing; None if a cell is something else.

    Examples
    --------
    >>> to_numbers(["1", " 2.5", "n/a"])
    array([1. , 2.5, nan])
    >>> to_numbers(["1", "two"]) is None
    True
    """
    plain = not comma and not any("_" in cell for cell in cells)
    parse = float if plain else partial(number, comma=comma)
    try:
        return np.array([parse(cell) for cell in cells])
    except ValueError:
        pass
    try:
        return np.array([np.nan if is_missing(cell) else parse(cell) for cell in cells])
    except ValueError:
        return None


def mostly_numbers(cells: Iterable[str], *, comma: bool = False) -> bool:
    """Tell whether most of what stands in a column are numbers; gaps do not count."""
    found = [cell for cell in cells if not is_missing(cell)]
    return 2 * sum(is_number(cell, comma=comma) for cell in found) > len(found)


def amounts(cells: Sequence[str], *, comma: bool = False) -> FloatArray | None:
    """Return amounts such as $1,234.50 or 12 %; None if a cell is something else.

    One currency or unit stands at the numbers: 3 kg and 50 g are no numbers alike.

    Examples
    --------
    >>> amounts(["$1,234.50", "-$3", "", "($12)"])
    array([1234.5,   -3. ,    nan,  -12. ])
    >>> amounts(["3 kg", "2.5 kg"]), amounts(["3 kg", "50 g"])
    (array([3. , 2.5]), None)
    """
    values = np.full(len(cells), np.nan)
    units: set[str] = set()
    for i, cell in enumerate(cells):
        if is_missing(cell):
            continue
        match = _AMOUNTS[comma].fullmatch(cell.strip())
        if match is None:
            return None
        units.add(match["currency"] or match["unit"] or "")
        digits = re.sub(r"\D", "", match["digits"])
        value = float(f"{digits}.{match['decimals'] or 0}")
        signs = {match["sign"], match["minus"]}
        negative = signs & {"-", "\u2212"} or match["bracket"]
        values[i] = -value if negative else value
    named = {unit for unit in units if unit}
    # A letter at some of the numbers is a mistake: 3O.
    alike = len(named) <= 1 and not ("" in units and any(map(str.isalpha, named)))
    return values if alike else None


def dates(cells: Sequence[str], order: str | None = None) -> FloatArray | None:
    """Return days since 1970, NaN where a cell is missing; None if they are no dates.

    Of times without a date: the part of the day. Day and month are told apart by
    :func:`date_order`, or in the ``order`` given.

    Examples
    --------
    >>> dates(["1970-01-03", "", "1971-01-01"])
    array([  2.,  nan, 365.])
    >>> dates(["31.01.1970", "1.2.1970"]), dates(["May", "June"])
    (array([30., 31.]), None)
    >>> dates(["1969-12-31", "9999-12-31"])
    array([-1.000000e+00,  2.932896e+06])
    """
    order = order or date_order(cells)
    texts = _date_texts(cells)
    found = None if order is None else _instants(texts, order)
    if found is None or found.isna().sum() > texts.isna().sum():
        return None
    # Nanoseconds, in which pandas computes, end in the year 2262.
    instants = found.dt.tz_convert(None).to_numpy("datetime64[us]")
    days: FloatArray = (instants - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return days % 1 if order in _TIMES else days


def date_order(cells: Sequence[str]) -> str | None:
    """Return the first of the usual ways to write a date that fits all cells.

    Examples
    --------
    >>> date_order(["3/4/2020", "31/12/2020"]), date_order(["3/4/2020"])
    ('%d/%m/%Y', '%m/%d/%Y')
    """
    known = _date_texts(cells).dropna().drop_duplicates()
    if known.empty or not _LIKE_A_DATE.fullmatch(known.iloc[0]):
        return None
    for order in _INSTANTS if ":" in known.iloc[0] else (*_DAYS, "ISO8601"):
        # Most orders fail at once.
        if all(_instants(k, order).notna().all() for k in (known.iloc[:50], known)):
            return order
    return None


def _date_texts(cells: Sequence[str]) -> pd.Series:
    import pandas as pd

    return pd.Series([None if is_missing(c) else c.strip() for c in cells], dtype=str)


def _instants(texts: pd.Series, order: str) -> pd.Series:
    import pandas as pd

    return pd.to_datetime(texts, format=order, errors="coerce", utc=True)


def are_compact_dates(values: FloatArray) -> bool:
    """Tell whether numbers are dates such as 20201231, which are no distances.

    Examples
    --------
    >>> are_compact_dates(np.array([20201231.0, np.nan] + [19990101] * 4))
    True
    """
    import pandas as pd

    known = values[~np.isnan(values)]
    if len(known) < _FEW or not (1900_01_01 <= known.min() <= known.max() < 2100_01_01):
        return False
    texts = [f"{value:.15g}" for value in known]
    found = pd.to_datetime(texts, format="%Y%m%d", errors="coerce")
    return bool(found.notna().all())


def is_counter(values: Any) -> bool:
    """Tell whether a column counts the rows: whole numbers, each one more than before.

    Examples
    --------
    >>> is_counter(np.arange(7.0)), is_counter(np.array([1.0, 2, 2, 3, 4, 5]))
    (True, False)
    """
    return len(values) >= _FEW and bool(np.all(np.diff(values) == 1))


def is_called_id(name: str) -> bool:
    """Tell whether a column is called like one that names things."""
    return bool(_ID_WORDS.search(name.lower()) or re.search(r"[a-z]I[dD]$", name))


def is_named_id(name: str, values: FloatArray) -> bool:
    """Tell whether numbers only name rows: an id by name, whole, never twice."""
    whole = len(values) >= _FEW and np.all(values == np.floor(values))
    if not (whole and is_called_id(name)):
        return False
    # Beyond 2**53 numbers that differ may be the same float.
    long = np.abs(values).min() > 2**53
    return bool(long or len(np.unique(values)) == len(values))


def from_series(column: pd.Series) -> Column:
    """Return a column of a frame: numbers as float64, NaN for gaps; else texts.

    Truth values are texts, and so are dates, as ISO writes them, and numbers that are
    objects of Python.
    """
    from pandas.api import types

    gaps = column.isna().to_numpy()
    if types.is_timedelta64_dtype(column):
        days = column.to_numpy() / np.timedelta64(1, "D")
        return np.asarray(days, dtype=np.float64)
    if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        # Whole numbers above 2**53 round, as in every other format.
        values = column.where(~gaps, 0).astype(np.float64).to_numpy()
        return np.where(gaps, np.nan, values)
    return [
        "" if gap else str(value).strip()
        for value, gap in zip(column, gaps, strict=True)
    ]


def as_feature(values: Column, *, comma: bool = False) -> tuple[Column, str]:
    """Return a column as a feature, and what it holds; ``comma`` is the decimal sign.

    Returns
    -------
    values : array or list of str
        Numbers, with NaN for what is missing; words, with "" for what is missing.
    kind : {"numbers", "amounts", "dates", "words"}
        Amounts have lost their signs, dates are days since 1970.
    """
    if not isinstance(values, list):
        return values, "numbers"
    for kind, parse in (
        ("numbers", partial(to_numbers, comma=comma)),
        ("amounts", partial(amounts, comma=comma)),
        ("dates", dates),
    ):
        found = parse(values)
        if found is not None and not np.isnan(found).all():
            return found, kind
    return as_texts(values), "words"


def as_texts(values: Column) -> list[str]:
    """Return a column as words, "" for what is missing."""
    if isinstance(values, list):
        return ["" if is_missing(text) else text for text in values]
    return ["" if np.isnan(value) else f"{value:.15g}" for value in values]


def why_no_feature(values: Column) -> str:
    """Say why a column cannot be a feature; an empty text if it can.

    Examples
    --------
    >>> why_no_feature(["a", "b", "a", "b"]), why_no_feature(["x", "x"])
    ('', 'the same in every row')
    """
    if not isinstance(values, list):
        return "no value at all" if np.isnan(values).all() else ""
    known = [text for text in values if text]
    kinds = set(known)
    if not known:
        return "no value at all"
    if len(kinds) == 1 and len(known) == len(values):
        return "the same in every row"
    words = sum(len(text.split()) for text in kinds) / len(kinds)
    if len(kinds) >= _PROSE_TEXTS and words >= _PROSE_WORDS:
        return "free text"
    all_differ = len(kinds) == len(known) >= _FEW
    if all_differ or (len(kinds) > SURELY_LEVELS and 2 * len(kinds) > len(known)):
        return "a different text in nearly every row"
    return ""
