"""Write the article: LaTeX with its figures, HTML, PDF where LaTeX is installed.

Its facts, tables and figures are read off the results; the text is a template.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from symmf import __version__
from symmf.common.files import write_text
from symmf.common.html import render_page, render_text, visible
from symmf.common.texts import latex_text
from symmf.experiment.store.trials_table import time_spent
from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, ROWS
from symmf.reporting.article.markup import Show, items, to_html, to_latex
from symmf.reporting.plots.base import Drawing, save
from symmf.reporting.plots.registry import draw
from symmf.reporting.results import Results
from symmf.reporting.tables.formats import to_latex as table_to_latex
from symmf.reporting.tables.model import PlainTable, Style, Table
from symmf.reporting.tables.write import make_tables
from symmf.reporting.verdicts import claims, inputs, sensitivity
from symmf.reporting.verdicts.findings import audit_sentences, findings

Item = Table | PlainTable | Drawing
PACKAGE = "symmf.reporting.article"
FIGURES = ("published", "envelope", "regularization", "lambda", "convergence")
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
    there, facts = _items(results), _facts(results)
    name = "summary" if summary else "article"
    text = render_text(PACKAGE, f"{name}.md.j2", facts)
    drawings = [each for each in there.values() if isinstance(each, Drawing)]
    written = [path for each in drawings for path in save(each, folder)]

    def shown(how: Callable[[Item, str], str]) -> Show:
        def show(kind: str, item: str) -> str:
            found = there.get((kind, item))
            return how(found, _command(kind, item)) if found else ""

        return show

    title, body = f"[Re] {PAPER}", Markup(to_html(text, shown(_html)))
    page_facts = {"title": title, "authors": AUTHORS, "body": body}
    page = render_page(PACKAGE, "article.html.j2", page_facts)
    written.append(write_text(folder / f"{name}.html", page))
    page_facts |= {"title": latex_text(title), "body": to_latex(text, shown(_latex))}
    signs = {"variable_start_string": "<<", "variable_end_string": ">>"}
    tex = render_text(PACKAGE, "article.tex.j2", page_facts, **signs)
    written.append(write_text(folder / f"{name}.tex", tex))
    if not summary:
        written += _beside(text, there, facts, folder)
    pdf = _typeset(folder / f"{name}.tex")
    return [*written, pdf] if pdf else written


def _items(results: Results) -> dict[tuple[str, str], Item]:
    """Return what the text may show, by kind (``table`` or ``figure``) and name."""
    made = make_tables(results)
    # The notes of these tables are the departures in the text.
    tables: list[Item] = [replace(table, notes=()) for table in made.printed]
    makers = sensitivity.value_sensitivity, sensitivity.cell_levels
    tables += [*made.plain, *(t for make in makers if (t := make(results)).rows)]
    items: dict[tuple[str, str], Item] = {("table", t.name): t for t in tables}
    for name in FIGURES:
        for drawing in draw(name, results).drawings:
            if drawing.experiment in ("", name):
                items["figure", name] = drawing
    return items


def _facts(results: Results) -> dict[str, Any]:
    of_paper, ledger = results.of_paper, claims.ledger(results)
    return {
        "version": __version__,
        "methods": list(ROWS.values()),
        "datasets": list(DATASET_TITLES.values()),
        "metrics": list(METRIC_TITLES.values()),
        "n_experiments": len(of_paper),
        "n_trials": sum(len(e.trials) for e in of_paper),
        "hours": sum(time_spent(e.trials) for e in of_paper) / 3600,
        "environment": _environment(results),
        "findings": findings(results),
        "claims": [each.as_record() for each in ledger if not each.claim.proved],
        "claims_note": claims.NOTE,
        "theory": [each.as_record() for each in ledger if each.claim.proved],
        "inputs": inputs.input_words(results),
        "audit": audit_sentences(results.folder),
        "impossible": _impossible(results.folder),
        "departures": [
            (e.title, e.note) for e in results.of(Role.COMPARISON) if e.note
        ],
    }


def _environment(results: Results) -> str:
    """Return the versions that the first experiment ran with."""
    for experiment in results.of_paper[:1]:
        found = experiment.provenance.get("environment", {})
        versions = {"Python": found.get("python", ""), **found.get("libraries", {})}
        return ", ".join(f"{name} {version}" for name, version in versions.items())
    return ""


def _impossible(folder: Path) -> list[dict[Any, Any]]:
    """Return the published pairs that no runs can have, for the authors to see."""
    from symmf.audit.published import load_audit

    frame = load_audit(folder)
    if frame is None:
        return []
    pair = ["dataset", "n_clusters", "row"]
    excluded = (frame["verdict"] == "impossible").groupby([frame[c] for c in pair])
    once = frame[excluded.transform("all")].drop_duplicates(pair)
    titles = once.assign(
        dataset=once["dataset"].map(DATASET_TITLES), row=once["row"].map(ROWS)
    )
    return titles.to_dict("records")


def _html(item: Item, command: str) -> str:
    facts: dict[str, Any] = {"item": item, "command": command}
    if isinstance(item, Drawing):
        facts["svg"] = item.svg(f"article-{item.name}")
        return render_page(PACKAGE, "figure.html.j2", facts)
    return render_page(PACKAGE, "table.html.j2", {**facts, "rows": item.lines(HTML)})


def _latex(item: Item, command: str) -> str:
    if not isinstance(item, Drawing):
        return table_to_latex(item)
    caption = latex_text(f"{item.title}. {item.caption}")
    made = rf"Made by \texttt{{{latex_text(command)}}}."
    size = r"width=\linewidth,height=.45\textheight,keepaspectratio"
    return (
        "\\begin{figure}[tbp]\\centering\n"
        rf"\includegraphics[{size}]{{{item.stem}}}"
        f"\n\\caption{{{caption} {made}}}\\end{{figure}}\n\n"
    )


def _command(kind: str, name: str) -> str:
    """Return the command that makes an item of the article."""
    if kind == "figure":
        return f"symmf plot {name}"
    return "symmf compare" if name in OF_VERDICTS else "symmf tables"


def _beside(
    text: str, there: dict[tuple[str, str], Item], facts: dict[str, Any], folder: Path
) -> list[Path]:
    """Write what an editor asks for: metadata, a manifest, questions to the authors."""
    manifest = [("article.html", "symmf article")]
    for place in items(text):
        if item := there.get(place):
            at = "verdicts" if item.name in OF_VERDICTS else "tables"
            path = f"{at}/{item.name}.csv"
            path = f"{item.stem}.pdf" if isinstance(item, Drawing) else path
            manifest.append((path, _command(*place)))
    abstract = " ".join(facts["findings"])
    facts = {**facts, "paper": PAPER, "manifest": manifest, "abstract": abstract}
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
