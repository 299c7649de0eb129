"""The same table as LaTeX, Markdown, CSV and terminal text."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from rich.table import Table as RichTable
from rich.text import Text

from symmf.files import csv_text, write_text
from symmf.reporting.results import Results
from symmf.reporting.selection.readings import is_study
from symmf.reporting.tables.model import (
    PrintedCell,
    Table,
    combined_table,
    dataset_table,
    experiment_table,
    table_folder,
)
from symmf.texts import latex_text, markdown_table, markdown_text, plain_text

FORMATS = {"latex": "tex", "markdown": "md", "csv": "csv"}
METRICS = ("nmi", "ac")
# A table wider than the line is made smaller; others stay as they are.
FIT = r"\resizebox{\ifdim\width>\linewidth \linewidth\else \width\fi}{!}{%"


def _latex_title(title: str) -> str:
    return "$K$-means" if title == "K-means" else latex_text(title)


def _latex_entry(entry: PrintedCell, std: bool) -> str:
    if not entry.n_good:
        share = f"$^{{{entry.share}}}$" if entry.share else ""
        return f"--{share}"
    text = entry.text
    if entry.best:
        text = rf"\textbf{{{text}}}"
    elif entry.second:
        text = rf"\underline{{{text}}}"
    if std and entry.spread:
        text += rf"{{\scriptsize$\,\pm\,${entry.spread}}}"
    if entry.share:
        text += f"$^{{{entry.share}}}$"
    return text


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
        cells = [_latex_entry(entry, std) for entry in row.cells]
        body.append(" & ".join([title, *cells]) + r" \\")
    ks = [f"{{{k}}}" for _, k in table.columns]
    lines = [
        r"% needs \usepackage{booktabs,graphicx}",
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
        r"\par\smallskip",
        r"\begin{minipage}{\linewidth}\footnotesize",
        *(latex_text(note) for note in table.notes),
        r"\end{minipage}",
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _markdown_entry(entry: PrintedCell, std: bool) -> str:
    text = entry.text
    if entry.best:
        text = f"**{text}**"
    elif entry.second:
        text = f"<ins>{text}</ins>"
    if std and entry.spread and entry.n_good:
        text += f" ± {entry.spread}"
    return f"{text} ({entry.share})" if entry.share else text


def to_markdown(table: Table, *, std: bool = False) -> str:
    """Render as a GitHub table: one header line, data set and K in each column."""
    heads = [f"{table.titles[name]}, K = {k}" for name, k in table.columns]
    rows = []
    for row in table.rows:
        title = markdown_text(row.title)
        title = f"**{title}**" if row.emphasis else title
        title = f"*{title}*" if row.below else title
        rows.append([title, *(_markdown_entry(entry, std) for entry in row.cells)])
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


def to_frame(table: Table) -> pd.DataFrame:
    """Return one line per cell with the printed digits."""
    records = []
    for row in table.rows:
        for (name, k), entry in zip(table.columns, row.cells, strict=True):
            mark = "best" if entry.best else "second" if entry.second else ""
            records.append(
                {
                    "metric": table.metric,
                    "method": row.title,
                    "place": "below the rule" if row.below else "paper",
                    "dataset": name,
                    "n_clusters": k,
                    "mean": entry.text if entry.n_good else "",
                    "std": entry.spread,
                    "n_good": entry.n_good,
                    "n_total": entry.n_total,
                    "mark": mark,
                }
            )
    return pd.DataFrame(records)


def to_rich(table: Table, *, std: bool = False) -> RichTable:
    """Return a table for the terminal; texts from outside are not read as markup."""
    out = RichTable(title=Text(table.caption), title_justify="left", title_style="bold")
    out.add_column("Method", no_wrap=True)
    for name, k in table.columns:
        head = Text(f"{plain_text(table.titles[name])}\nK = {k}")
        out.add_column(head, justify="right")
    for index, row in enumerate(table.rows):
        cells = []
        for entry in row.cells:
            text = entry.text
            if std and entry.spread and entry.n_good:
                text += f" ± {entry.spread}"
            text += f" ({entry.share})" if entry.share else ""
            style = "bold" if entry.best else "underline" if entry.second else ""
            cells.append(Text(text, style=style))
        following = table.rows[index + 1 : index + 2]
        out.add_row(
            Text(plain_text(row.title), style="bold" if row.emphasis else ""),
            *cells,
            end_section=bool(following and following[0].below and not row.below),
        )
    return out


def render(table: Table, kind: str, *, std: bool = False) -> str:
    """Render in one of :data:`FORMATS`."""
    if kind == "latex":
        return to_latex(table, std=std)
    if kind == "markdown":
        return to_markdown(table, std=std)
    return csv_text(to_frame(table))


def render_datasets(frame: pd.DataFrame, kind: str) -> str:
    """Render Table I in one of :data:`FORMATS`."""
    heads = ["Dataset", "#Clusters", "#Samples", "Dimensionality", "Paper"]
    rows = [
        [str(v) for v in (r.title, r.clusters, r.samples, r.dimensions, r.verdict)]
        for r in frame.itertuples()
    ]
    if kind == "csv":
        return csv_text(frame)
    if kind == "markdown":
        cells = [[markdown_text(text) for text in row] for row in rows]
        return f"### Data sets\n\n{markdown_table(heads, cells, 'lrrrl')}\n"
    lines = [
        r"% needs \usepackage{booktabs,graphicx}",
        r"\begin{table}[h!]",
        r"\caption{Data sets, sizes as loaded}",
        r"\label{tab:data}",
        r"\centering",
        FIT,
        r"\begin{tabular}{l*{4}{c}}",
        r"\toprule",
        " & ".join(map(latex_text, heads)) + r" \\",
        r"\midrule",
        *(" & ".join(map(latex_text, row)) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def write_tables(
    results: Results,
    folder: Path,
    *,
    kinds: tuple[str, ...],
    std: bool = False,
    combined: bool = True,
) -> list[Path]:
    """Write Tables I to III, combined and per experiment; return the paths."""
    written: list[Path] = []
    suffix = "_std" if std else ""

    def put(place: Path, table: Table) -> None:
        if any(entry.n_good for row in table.rows for entry in row.cells):
            for kind in kinds:
                path = place / f"{table.name}{suffix}.{FORMATS[kind]}"
                written.append(write_text(path, render(table, kind, std=std)))

    if combined:
        sizes = dataset_table(results)
        for kind in kinds if len(sizes) else ():
            path = table_folder(folder) / f"datasets.{FORMATS[kind]}"
            written.append(write_text(path, render_datasets(sizes, kind)))
        for metric in METRICS:
            put(table_folder(folder), combined_table(results, metric))
    for experiment in results.experiments:
        if is_study(experiment) and "convergence" in experiment.figures:
            continue  # a study of errors, not of scores
        place = table_folder(folder, experiment.name)
        for metric in METRICS:
            put(place, experiment_table(experiment, results, metric))
    return written
