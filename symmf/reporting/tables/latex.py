"""Tables as LaTeX, for documents with the packages ``booktabs`` and ``graphicx``."""

from __future__ import annotations

from symmf.common.texts import latex_text
from symmf.reporting.tables.model import PlainTable, PrintedCell, Table

NEEDS = r"% needs \usepackage{booktabs,graphicx}"
# A table wider than the line is made smaller; others stay as they are.
# With more than these, notes do not fit on one page with their table.
MOST_ROWS, MOST_LETTERS = 12, 1000
FIT = r"\resizebox{\ifdim\width>\linewidth \linewidth\else \width\fi}{!}{%"


def to_latex(table: Table, *, std: bool = False) -> str:
    """Render for a document with the packages ``booktabs`` and ``graphicx``."""
    n = len(table.columns)
    heads, rules, start = [r"\multicolumn{1}{c}{}"], [r"\cmidrule(r){1-1}"], 2
    for title, span in table.groups:
        heads.append(rf"\multicolumn{{{span}}}{{c}}{{{latex_text(title)}}}")
        rules.append(rf"\cmidrule(r){{{start}-{start + span - 1}}}")
        start += span
    body = []
    ruled = False
    for row in table.rows:
        if row.below and not ruled:
            body.append(r"\midrule")
            ruled = True
        title = _latex_title(row.title)
        title = rf"\textbf{{{title}}}" if row.emphasis else title
        cells = [_latex_cell(cell, std) for cell in row.cells]
        body.append(" & ".join([title, *cells]) + r" \\")
    ks = [f"{{{k}}}" for _, k in table.columns]
    lines = [
        NEEDS,
        r"\begin{table*}[t!]",
        rf"\caption{{{latex_text(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        r"\small\centering",
        FIT,
        rf"\begin{{tabular}}{{l*{{{n}}}{{c}}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        "".join(rules),
        " & ".join(["{Method}", *ks]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    notes = [latex_text(note) for note in table.notes]
    if len(table.rows) > MOST_ROWS or sum(map(len, notes)) > MOST_LETTERS:
        # Longer than a page with its notes: these follow in the text.
        lines += [r"\end{table*}", r"\noindent{\footnotesize", *notes, r"\par}"]
        return "\n".join(lines) + "\n"
    lines += [
        r"\par\smallskip",
        r"\begin{minipage}{\linewidth}\footnotesize",
        *notes,
        r"\end{minipage}",
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _latex_title(title: str) -> str:
    return "$K$-means" if title == "K-means" else latex_text(title)


def _latex_cell(cell: PrintedCell, std: bool) -> str:
    if not cell.n_good:
        share = f"$^{{{cell.share}}}$" if cell.share else ""
        return f"--{share}"
    text = cell.text
    if cell.best:
        text = rf"\textbf{{{text}}}"
    elif cell.second:
        text = rf"\underline{{{text}}}"
    if std and cell.spread:
        text += rf"{{\scriptsize$\,\pm\,${cell.spread}}}"
    if cell.share:
        text += f"$^{{{cell.share}}}$"
    return text


def plain_to_latex(table: PlainTable) -> str:
    """Render a table of texts."""
    n = len(table.heads) - 1
    lines = [
        NEEDS,
        r"\begin{table}[h!]",
        rf"\caption{{{latex_text(table.caption)}}}",
        rf"\label{{tab:{table.label}}}",
        r"\centering",
        FIT,
        rf"\begin{{tabular}}{{l*{{{n}}}{{c}}}}",
        r"\toprule",
        " & ".join(map(latex_text, table.heads)) + r" \\",
        r"\midrule",
        *(" & ".join(map(latex_text, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    if table.notes:
        lines += [
            r"\par\smallskip",
            r"\begin{minipage}{\linewidth}\footnotesize",
            *(latex_text(note) for note in table.notes),
            r"\end{minipage}",
        ]
    return "\n".join([*lines, r"\end{table}"]) + "\n"
