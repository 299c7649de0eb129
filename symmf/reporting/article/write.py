"""Write the article: LaTeX with its figures, HTML, PDF where LaTeX is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from symmf.common.files import write_text
from symmf.common.html import render_page, render_text
from symmf.common.texts import latex_text
from symmf.reporting.article.content import Article, gather
from symmf.reporting.article.markup import items, to_html, to_latex
from symmf.reporting.plots.base import save
from symmf.reporting.results import Results
from symmf.reporting.tables.latex import plain_to_latex
from symmf.reporting.tables.latex import to_latex as table_to_latex
from symmf.reporting.tables.model import PlainTable, Table

PACKAGE = "symmf.reporting.article"
PAPER = (
    "Rethinking Symmetric Matrix Factorization: A More General and Better Clustering "
    "Perspective"
)
# People are not invented.
AUTHORS = "Authors: to be filled in"
LATEX_SECONDS = 120
# Tables that stand in the folder of verdicts.
OF_VERDICTS = ("sensitivity", "levels")


def write_article(
    results: Results, folder: Path, *, summary: bool = False
) -> list[Path]:
    """Write the article, or its summary of one page, below ``folder``."""
    article = gather(results)
    name = "summary" if summary else "article"
    text = render_text(PACKAGE, f"{name}.md.j2", article.facts)
    written = [path for each in article.figures.values() for path in save(each, folder)]
    title = f"[Re] {PAPER}"
    written.append(write_text(folder / f"{name}.html", _html(text, article, title)))
    written.append(write_text(folder / f"{name}.tex", _tex(text, article, title)))
    if not summary:
        written += _beside(text, article, folder)
    pdf = _typeset(folder / f"{name}.tex")
    return [*written, pdf] if pdf else written


def _html(text: str, article: Article, title: str) -> str:
    def show(kind: str, name: str) -> str:
        if kind == "figure":
            return _html_figure(article, name)
        table = article.tables.get(name)
        return _html_table(table) if table is not None else ""

    body = Markup(to_html(text, show))
    facts = {"title": title, "authors": AUTHORS, "body": body}
    return render_page(PACKAGE, "article.html.j2", facts)


def _html_figure(article: Article, name: str) -> str:
    drawing = article.figures.get(name)
    if drawing is None:
        return ""
    command = Markup('<p class="command">Made by <code>symmf plot {}</code></p>')
    caption = Markup("<figcaption>{}. {}</figcaption>").format(
        drawing.title, drawing.caption
    )
    svg = drawing.svg(f"article-{name}")
    return Markup("<figure>{}{}{}</figure>\n").format(
        svg, caption, command.format(name)
    )


def _html_table(table: Table | PlainTable) -> str:
    if isinstance(table, PlainTable):
        align = ["" if side == "l" else "r" for side in table.align]
        heads = list(zip(table.heads, align, strict=True))
        rows = [
            [(text, side, "") for text, side in zip(row, align, strict=True)]
            for row in table.rows
        ]
    else:
        columns = [f"{table.titles[name]}, {k}" for name, k in table.columns]
        heads = [("Method", ""), *((head, "r") for head in columns)]
        rows = [
            [(row.title, "", ""), *((c.text, "r", c.mark) for c in row.cells)]
            for row in table.rows
        ]
    facts = {
        "caption": table.caption,
        "heads": heads,
        "rows": rows,
        "notes": table.notes,
        "command": _command("table", table.name),
    }
    return render_page(PACKAGE, "table.html.j2", facts)


def _command(kind: str, name: str) -> str:
    """Return the command that makes an item of the article."""
    if kind == "figure":
        return f"symmf plot {name}"
    return "symmf compare" if name in OF_VERDICTS else "symmf tables"


def _tex(text: str, article: Article, title: str) -> str:
    def show(kind: str, name: str) -> str:
        return "".join(_latex_item(kind, name, article))

    environment = Environment(
        loader=PackageLoader(PACKAGE),
        variable_start_string="<<",
        variable_end_string=">>",
        undefined=StrictUndefined,
        autoescape=False,
    )
    return environment.get_template("article.tex.j2").render(
        title=latex_text(title), authors=AUTHORS, body=to_latex(text, show)
    )


def _latex_item(kind: str, name: str, article: Article) -> Iterator[str]:
    table, drawing = article.tables.get(name), article.figures.get(name)
    if isinstance(table, PlainTable):
        yield plain_to_latex(table)
    elif table is not None:
        yield table_to_latex(table)
    elif kind == "figure" and drawing is not None:
        caption = latex_text(f"{drawing.title}. {drawing.caption}")
        made = rf"Made by \texttt{{{latex_text(_command(kind, name))}}}."
        size = r"width=\linewidth,height=.7\textheight,keepaspectratio"
        yield "\\begin{figure}[t]\\centering\n"
        yield rf"\includegraphics[{size}]{{{drawing.stem}}}"
        yield f"\n\\caption{{{caption} {made}}}\\end{{figure}}\n\n"


def _beside(text: str, article: Article, folder: Path) -> list[Path]:
    """Write what an editor asks for: metadata, a manifest, questions to the authors."""
    manifest = [("article.html", "symmf article")]
    for kind, name in items(text):
        if kind == "figure" and name in article.figures:
            path = f"{article.figures[name].stem}.pdf"
        elif kind == "table" and name in article.tables:
            path = f"{'verdicts' if name in OF_VERDICTS else 'tables'}/{name}.csv"
        else:
            continue
        manifest.append((path, _command(kind, name)))
    facts = {
        **article.facts,
        "paper": PAPER,
        "manifest": manifest,
        "abstract": " ".join(article.facts["findings"]),
    }
    names = ("metadata.yaml", "codecheck.yml", "questions.md")
    return [
        write_text(folder / name, render_text(PACKAGE, f"{name}.j2", facts))
        for name in names
    ]


def _typeset(path: Path) -> Path | None:
    """Run LaTeX, twice for its references; None where it is not installed."""
    latex = shutil.which("pdflatex")
    if latex is None:
        return None
    command = [latex, "-interaction=nonstopmode", "-halt-on-error", path.name]
    for _ in range(2):
        run = subprocess.run(
            command, cwd=path.parent, capture_output=True, timeout=LATEX_SECONDS
        )
        if run.returncode:
            return None
    for suffix in (".aux", ".log", ".out"):
        path.with_suffix(suffix).unlink(missing_ok=True)
    return path.with_suffix(".pdf")
