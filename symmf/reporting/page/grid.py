"""Tables for a page: columns that can be sorted, values that can be filtered."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from symmf.audit import Possibility
from symmf.reporting.verdicts.decision import ClaimVerdict
from symmf.reporting.verdicts.values import ValueVerdict

# Kind of a verdict, for its mark; the words are always shown as well.
KINDS: dict[str, str] = {
    ValueVerdict.CLOSE: "good",
    ValueVerdict.UNCLEAR: "half",
    ValueVerdict.HIGHER: "up",
    ValueVerdict.LOWER: "down",
    ValueVerdict.TOO_FEW: "none",
    ValueVerdict.NOT_RUN: "none",
    ClaimVerdict.HOLDS: "good",
    ClaimVerdict.PARTLY: "half",
    ClaimVerdict.DOES_NOT_HOLD: "bad",
    Possibility.POSSIBLE: "good",
    Possibility.IMPOSSIBLE: "bad",
    Possibility.MIXED: "half",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its title, and whether it holds numbers or verdicts.

    ``tone`` names another column whose verdict gives the text its colour; ``cell``
    one that holds the identifier of the trials behind a value.
    """

    title: str
    key: str
    digits: int | None = None
    signed: bool = False
    verdict: bool = False
    code: bool = False
    tone: str = ""
    cell: str = ""

    @property
    def numeric(self) -> bool:
        """Whether the column is aligned and sorted as numbers."""
        return self.digits is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """What is shown and what it is sorted by."""

    text: str
    value: str
    kind: str = ""
    tone: str = ""
    cell: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A sortable table with optional filters on some of its columns."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: list[list[GridCell]]
    filters: list[tuple[int, str, list[str]]] = field(default_factory=list)
    note: str = ""


def grid(
    name: str,
    caption: str,
    frame: pd.DataFrame,
    columns: Sequence[Column],
    *,
    filters: Iterable[str] = (),
    limit: int | None = None,
    note: str = "",
) -> Grid:
    """Turn a frame into a grid; a longer one is thinned to ``limit`` rows."""
    shown = frame
    if limit is not None and len(frame) > limit:
        step = math.ceil(len(frame) / limit)
        shown = frame.iloc[::step]
        note = f"Every {step}th of {len(frame)} lines; all are in the CSV. {note}"
    rows = [[_cell(record, c) for c in columns] for record in shown.to_dict("records")]
    keys = [c.key for c in columns]
    chosen = [
        (keys.index(key), columns[keys.index(key)].title, _distinct(rows, keys, key))
        for key in filters
    ]
    return Grid(
        name=name,
        caption=caption,
        columns=columns,
        rows=rows,
        filters=[item for item in chosen if len(item[2]) > 1],
        note=note.strip(),
    )


def auto_columns(frame: pd.DataFrame) -> list[Column]:
    """Describe the columns of any frame."""
    out = []
    for key in frame.columns:
        whole = pd.api.types.is_integer_dtype(frame[key])
        number = pd.api.types.is_float_dtype(frame[key])
        digits = 0 if whole else 4 if number else None
        out.append(
            Column(title=str(key).replace("_", " "), key=str(key), digits=digits)
        )
    return out


def _distinct(rows: list[list[GridCell]], keys: list[str], key: str) -> list[str]:
    return list(dict.fromkeys(row[keys.index(key)].text for row in rows))


def _cell(record: Mapping[Any, Any], column: Column) -> GridCell:
    value = record.get(column.key)
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return GridCell(text="–", value="")
    tone = KINDS.get(str(record[column.tone]), "") if column.tone else ""
    cell = str(record[column.cell]) if column.cell else ""
    if column.digits is not None:
        number = float(str(value))
        sign = "+" if column.signed else ""
        text = f"{number:{sign}.{column.digits}f}"
        if column.digits and 0 < abs(number) < 0.5 * 10.0**-column.digits:
            text = f"{number:.2g}"
        return GridCell(text=text, value=f"{number:.7g}", tone=tone, cell=cell)
    text = str(value)
    kind = KINDS.get(text, "none") if column.verdict else ""
    return GridCell(
        text=text, value=text, kind=kind, tone=tone, cell=cell, code=column.code
    )
