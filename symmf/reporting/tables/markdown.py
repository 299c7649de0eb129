"""Tables as Markdown, as GitHub reads it."""

from __future__ import annotations

from symmf.common.texts import markdown_table, markdown_text
from symmf.reporting.tables.model import PlainTable, PrintedCell, Table


def to_markdown(table: Table, *, std: bool = False) -> str:
    """Render as a GitHub table: one header line, data set and K in each column."""
    heads = [f"{table.titles[name]}, K = {k}" for name, k in table.columns]
    rows = []
    for row in table.rows:
        title = markdown_text(row.title)
        title = f"**{title}**" if row.emphasis else title
        title = f"*{title}*" if row.below else title
        rows.append([title, *(_markdown_cell(cell, std) for cell in row.cells)])
    lines = [
        f"### {markdown_text(table.caption)}",
        "",
        markdown_table(
            ["Method", *map(markdown_text, heads)], rows, "l" + "r" * len(heads)
        ),
        "",
        *(f"- {markdown_text(note)}" for note in table.notes),
    ]
    if any(row.below for row in table.rows):
        lines.append("- In this format the rows below the rule are set in italics.")
    return "\n".join(lines) + "\n"


def _markdown_cell(cell: PrintedCell, std: bool) -> str:
    text = cell.text
    if cell.best:
        text = f"**{text}**"
    elif cell.second:
        text = f"<ins>{text}</ins>"
    if std and cell.spread and cell.n_good:
        text += f" ± {cell.spread}"
    return f"{text} ({cell.share})" if cell.share else text


def plain_to_markdown(table: PlainTable) -> str:
    """Render a table of texts."""
    cells = [[markdown_text(text) for text in row] for row in table.rows]
    shown = markdown_table(table.heads, cells, table.align)
    lines = [f"### {markdown_text(table.title)}", "", shown]
    if table.notes:
        lines += ["", *(f"- {markdown_text(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"
