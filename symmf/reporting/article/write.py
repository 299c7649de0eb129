"""Write the article: LaTeX with its figures, HTML, PDF where LaTeX is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from markupsafe import Markup

from symmf.common.files import write_text
from symmf.common.html import render_page, render_text, visible
from symmf.common.texts import latex_text
from symmf.reporting.article.content import Article, Item, gather
from symmf.reporting.article.markup import items, to_html, to_latex
from symmf.reporting.plots.base import Drawing, save
from symmf.reporting.results import Results
from symmf.reporting.tables.formats import to_latex as table_to_latex
from symmf.reporting.tables.model import Style

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
HTML = Style(
    text=lambda text: Markup("{}").format(visible(text)),
    best=Markup("<strong>%s</strong>"),
    second=Markup("<u>%s</u>"),
    below=Markup("%s"),
)


def write_article(
    results: Results, folder: Path, *, summary: bool = False
) -> list[Path]:
    """Write the article, or its summary of one page, below ``folder``."""
    article = gather(results)
    name = "summary" if summary else "article"
    text = render_text(PACKAGE, f"{name}.md.j2", article.facts)
    written = [
        path
        for each in article.items.values()
        if isinstance(each, Drawing)
        for path in save(each, folder)
    ]

    def shown(kind: str, item: str) -> str:
        found = article.items.get((kind, item))
        return _html(found, _command(kind, item)) if found else ""

    def typeset(kind: str, item: str) -> str:
        found = article.items.get((kind, item))
        return _latex(found, _command(kind, item)) if found else ""

    title = f"[Re] {PAPER}"
    facts = {"title": title, "authors": AUTHORS, "body": Markup(to_html(text, shown))}
    page = render_page(PACKAGE, "article.html.j2", facts)
    written.append(write_text(folder / f"{name}.html", page))
    facts = {**facts, "title": latex_text(title), "body": to_latex(text, typeset)}
    signs = {"variable_start_string": "<<", "variable_end_string": ">>"}
    tex = render_text(PACKAGE, "article.tex.j2", facts, **signs)
    written.append(write_text(folder / f"{name}.tex", tex))
    if not summary:
        written += _beside(text, article, folder)
    pdf = _typeset(folder / f"{name}.tex")
    return [*written, pdf] if pdf else written


def _html(item: Item, command: str) -> str:
    if isinstance(item, Drawing):
        svg = item.svg(f"article-{item.name}")
        facts: dict[str, Any] = {"drawing": item, "svg": svg, "command": command}
        return render_page(PACKAGE, "figure.html.j2", facts)
    sides = ["r" if side == "r" else "" for side in item.align]
    facts = {"table": item, "rows": item.lines(HTML), "sides": sides}
    return render_page(PACKAGE, "table.html.j2", {**facts, "command": command})


def _latex(item: Item, command: str) -> str:
    if not isinstance(item, Drawing):
        return table_to_latex(item)
    caption = latex_text(f"{item.title}. {item.caption}")
    made = rf"Made by \texttt{{{latex_text(command)}}}."
    size = r"width=\linewidth,height=.7\textheight,keepaspectratio"
    return (
        "\\begin{figure}[t]\\centering\n"
        rf"\includegraphics[{size}]{{{item.stem}}}"
        f"\n\\caption{{{caption} {made}}}\\end{{figure}}\n\n"
    )


def _command(kind: str, name: str) -> str:
    """Return the command that makes an item of the article."""
    if kind == "figure":
        return f"symmf plot {name}"
    return "symmf compare" if name in OF_VERDICTS else "symmf tables"


def _beside(text: str, article: Article, folder: Path) -> list[Path]:
    """Write what an editor asks for: metadata, a manifest, questions to the authors."""
    manifest = [("article.html", "symmf article")]
    for kind, name in items(text):
        item = article.items.get((kind, name))
        if item is None:
            continue
        place = "verdicts" if name in OF_VERDICTS else "tables"
        path = f"{place}/{name}.csv"
        if isinstance(item, Drawing):
            path = f"{item.stem}.pdf"
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
