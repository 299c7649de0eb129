"""Tables as Markdown, as GitHub reads it."""

from __future__ import annotations

from symmf.common.texts import markdown_table, markdown_text
from symmf.reporting.tables.model import PlainTable, Style, Table

MARKDOWN = Style(
    text=markdown_text, best="**%s**", second="<ins>%s</ins>", below="*%s*"
)


def to_markdown(table: Table | PlainTable, *, std: bool = False) -> str:
    """Render as a GitHub table with one header line, and the notes below it."""
    heads = [markdown_text(head) for head in table.heads]
    lines = [
        f"### {markdown_text(table.title)}",
        "",
        markdown_table(heads, table.lines(MARKDOWN, std), table.align),
    ]
    if table.notes:
        lines += ["", *(f"- {markdown_text(note)}" for note in table.notes)]
    if isinstance(table, Table) and any(row.below for row in table.rows):
        lines.append("- In this format the rows below the rule are set in italics.")
    return "\n".join(lines) + "\n"
