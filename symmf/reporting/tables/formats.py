"""Tables as LaTeX, Markdown and CSV.

LaTeX is for documents with the packages ``booktabs`` and ``graphicx``; Markdown is as
GitHub reads it.
"""

from __future__ import annotations

from symmf.common.files import csv_text
from symmf.common.texts import latex_text, markdown_table, markdown_text
from symmf.reporting.tables.model import PlainTable, Style, Table

FORMATS = {"latex": "tex", "markdown": "md", "csv": "csv"}
NEEDS = r"% needs \usepackage{booktabs,graphicx}"
# A table wider than the line is made smaller; others stay as they are.
FIT = r"\resizebox{\ifdim\width>\linewidth \linewidth\else \width\fi}{!}{%"
# With more than these, notes do not fit on one page with their table.
MOST_ROWS, MOST_LETTERS = 12, 1000


def _text(text: object) -> str:
    return "$K$-means" if text == "K-means" else latex_text(text)


LATEX = Style(
    text=_text,
    best=r"\textbf{%s}",
    second=r"\underline{%s}",
    spread=r"{\scriptsize$\,\pm\,$%s}",
    share="$^{%s}$",
)
MARKDOWN = Style(
    text=markdown_text, best="**%s**", second="<ins>%s</ins>", below="*%s*"
)


def render(table: Table | PlainTable, kind: str, *, std: bool = False) -> str:
    """Render in one of :data:`FORMATS`."""
    if kind == "csv":
        return csv_text(table.frame)
    return (to_latex if kind == "latex" else to_markdown)(table, std=std)


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


def to_latex(table: Table | PlainTable, *, std: bool = False) -> str:
    """Render for a document with the packages ``booktabs`` and ``graphicx``."""
    body = [_line(line) for line in table.lines(LATEX, std)]
    if isinstance(table, Table):
        place, size, heads = "table*}[t!]", r"\small\centering", _two_lines(table)
        top = sum(not row.below for row in table.rows)
        if top < len(body):
            body.insert(top, r"\midrule")
    else:
        place, size = "table}[h!]", r"\centering"
        heads = [_line([*map(latex_text, table.heads)])]
    lines = [
        NEEDS,
        rf"\begin{{{place}",
        rf"\caption{{{latex_text(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        size,
        FIT,
        rf"\begin{{tabular}}{{l*{{{len(table.align) - 1}}}{{c}}}}",
        r"\toprule",
        *heads,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    end = rf"\end{{{place.partition('}')[0]}}}"
    notes = [latex_text(note) for note in table.notes]
    long = len(table.rows) > MOST_ROWS or sum(map(len, notes)) > MOST_LETTERS
    if long and isinstance(table, Table):
        # Longer than a page with its notes: these follow in the text.
        lines += [end, r"\noindent{\footnotesize", *notes, r"\par}"]
    elif notes:
        minipage = r"\begin{minipage}{\linewidth}\footnotesize"
        lines += [r"\par\smallskip", minipage, *notes, r"\end{minipage}", end]
    else:
        lines.append(end)
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _two_lines(table: Table) -> list[str]:
    """Return the heads as in the paper: data sets over their numbers of clusters."""
    heads, rules, start = [r"\multicolumn{1}{c}{}"], [r"\cmidrule(r){1-1}"], 2
    for title, span in table.groups:
        heads.append(rf"\multicolumn{{{span}}}{{c}}{{{latex_text(title)}}}")
        rules.append(rf"\cmidrule(r){{{start}-{start + span - 1}}}")
        start += span
    ks = [f"{{{k}}}" for _, k in table.columns]
    return [_line(heads), "".join(rules), _line(["{Method}", *ks])]
