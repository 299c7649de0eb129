"""Tables for a page: columns that can be sorted, values that can be filtered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from symmf.audit import Possibility
from symmf.common.shipped import packaged
from symmf.reporting.tables.model import ABSENT, PlainTable
from symmf.reporting.verdicts.decision import ClaimVerdict
from symmf.reporting.verdicts.values import ValueVerdict

TEXTS: dict[str, Any] = packaged("symmf.reporting.page", "words.yaml")
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
STAR = " *"  # after a value that reaches the published one


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its title, and whether it holds numbers or verdicts.

    ``tone`` names another column whose verdict gives the text its colour; ``cell``
    one that holds the identifier of the trials behind a value.
    """

    key: str | int
    title: str
    digits: int | None = None
    right: bool = False
    signed: bool = False
    verdict: bool = False
    code: bool = False
    tone: str = ""
    cell: str = ""

    @property
    def numeric(self) -> bool:
        """Whether it is aligned and sorted as numbers."""
        return self.right or self.digits is not None


def columns(name: str) -> list[Column]:
    """Return the columns that ``words.yaml`` lists under a name."""
    return [
        Column(key=key, **(given if isinstance(given, dict) else {"title": given}))
        for key, given in TEXTS["columns"][name].items()
    ]


@dataclass(frozen=True, slots=True)
class GridCell:
    """What is shown, and how it looks."""

    text: str
    kind: str = ""
    tone: str = ""
    cell: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A sortable table with optional filters on some of its columns."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: list[list[GridCell]]
    filters: list[tuple[int, str, list[str]]]
    note: str


def grid(
    name: str,
    caption: str,
    frame: pd.DataFrame,
    columns: Sequence[Column],
    *,
    filters: Sequence[object] = (),
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
    chosen = [
        (index, column.title, values)
        for index, column in enumerate(columns)
        if column.key in filters
        and len(values := list(dict.fromkeys(row[index].text for row in rows))) > 1
    ]
    return Grid(name, caption, columns, rows, chosen, note.strip())


def auto_columns(frame: pd.DataFrame) -> list[Column]:
    """Describe the columns of any frame."""
    digits = {"f": 4, "i": 0, "u": 0}
    return [
        Column(key=key, title=key.replace("_", " "), digits=digits.get(kind.kind))
        for key, kind in zip(map(str, frame.columns), frame.dtypes, strict=True)
    ]


def plain_grid(table: PlainTable) -> Grid:
    """Return a table of texts; those with a star get a colour too."""
    shown = [
        Column(key=index, title=head, right=side == "r")
        for index, (head, side) in enumerate(zip(table.heads, table.align, strict=True))
    ]
    return grid(f"plain-{table.name}", table.title, pd.DataFrame(table.rows), shown)


def _cell(record: Mapping[Any, Any], column: Column) -> GridCell:
    value = record.get(column.key)
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return GridCell(ABSENT)
    text = str(value)
    if column.digits is not None:
        number = float(text)
        text = f"{number:{'+' if column.signed else ''}.{column.digits}f}"
        if column.digits and 0 < abs(number) < 0.5 * 10.0**-column.digits:
            text = f"{number:.2g}"
    kind = KINDS.get(text, "none") if column.verdict else ""
    tone = "good" if text.endswith(STAR) else ""
    tone = KINDS.get(str(record[column.tone]), "") if column.tone else tone
    return GridCell(text, kind, tone, str(record[column.cell]) if column.cell else "")
