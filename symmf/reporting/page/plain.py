"""Tables of texts on the page, and what the sections around them say."""

from __future__ import annotations

import re
from typing import Any

from symmf.paper.values import METRIC_TITLES
from symmf.reporting.page.grid import Column, Grid, GridCell
from symmf.reporting.results import Results
from symmf.reporting.tables.again import again_table
from symmf.reporting.tables.beyond import beyond_table
from symmf.reporting.tables.collection import collection_tables
from symmf.reporting.tables.effects import effects_table
from symmf.reporting.tables.model import ABSENT, PlainTable
from symmf.reporting.tables.sets import sets_table
from symmf.reporting.tables.used_well import used_well_table
from symmf.reporting.verdicts import inputs

STAR = " *"
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e-?\d+)?")


def plain_grid(table: PlainTable) -> Grid:
    """Return a table of texts that can be sorted; starred values get a colour too."""
    columns = [
        Column(title=head, key=head, digits=0 if side == "r" else None)
        for head, side in zip(table.heads, table.align, strict=True)
    ]
    rows = [
        [
            GridCell(
                text=text or ABSENT,
                value=_value(text) if column.numeric else text,
                tone="good" if text.endswith(STAR) else "",
            )
            for text, column in zip(row, columns, strict=True)
        ]
        for row in table.rows
    ]
    return Grid(
        name=f"plain-{table.label}", caption=table.title, columns=columns, rows=rows
    )


def _value(text: str) -> str:
    found = _NUMBER.match(text)
    return found.group() if found else ""


def takes_section(results: Results) -> dict[str, Any] | None:
    """Return what it takes to reach the published values, and what the input does."""
    makers = beyond_table, used_well_table, effects_table, sets_table, again_table
    tables = [table for make in makers if (table := make(results)).rows]
    changes = inputs.changes(results)
    if not tables and not changes:
        return None
    return {
        "tables": [{"grid": plain_grid(t), "notes": t.notes} for t in tables],
        "words": inputs.input_words(results),
        "rule": inputs.RULE,
        "changes": _changes_grid(changes) if changes else None,
    }


def _changes_grid(changes: list[inputs.Change]) -> Grid:
    kinds = list(inputs.KINDS)
    columns = [
        Column(title=title, key=title)
        for title in ("Change", "Metric", *(f"{k[0].upper()}{k[1:]}" for k in kinds))
    ]
    rows = []
    for change in changes:
        shown = [change.title, METRIC_TITLES[change.metric]]
        shown += [str(change.effects.get(kind, ABSENT)) for kind in kinds]
        rows.append([GridCell(text=text, value=text) for text in shown])
    caption = "Mean paired change of the proposed method, with its interval"
    return Grid(name="changes", caption=caption, columns=columns, rows=rows)


def collection_sections(results: Results) -> list[dict[str, Any]]:
    """Return the tables of clusterers over collections of data sets."""
    return [
        {"grid": plain_grid(table), "notes": table.notes}
        for table in collection_tables(results)
    ]
