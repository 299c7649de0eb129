"""``symmf report``: everything on one page that needs no network."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from symmf import __version__
from symmf.common.files import write_text
from symmf.common.html import render_page
from symmf.reporting.page.grid import KINDS, auto_columns, grid
from symmf.reporting.page.plain import collection_sections, takes_section
from symmf.reporting.page.scores import (
    STUDY_COLUMNS,
    comparison_grid,
    score_section,
    score_tables,
    trials_data,
)
from symmf.reporting.page.sections import (
    audit_section,
    experiment_sections,
    failures_grid,
    said_once,
    sizes_grid,
    statistics_section,
)
from symmf.reporting.page.speed import speed_section
from symmf.reporting.plots.base import Drawing
from symmf.reporting.plots.registry import FIGURES, draw
from symmf.reporting.results import Missing, Results
from symmf.reporting.selection.cells import collect
from symmf.reporting.selection.studies import Study, own_studies
from symmf.reporting.statistics.words import paper_evidence, study_evidence
from symmf.reporting.tables.model import missing_tables, study_table
from symmf.reporting.verdicts import claims
from symmf.reporting.verdicts import values as verdicts
from symmf.reporting.verdicts.values import compare_study

FIGURE_ROWS = 150
REPORT_COMMANDS = (
    ("symmf tables", "the tables as LaTeX, Markdown and CSV"),
    ("symmf plot all", "the figures as PDF, PNG and CSV"),
    ("symmf compare", "means beside published values, claims and statistics"),
    ("symmf audit", "which published pairs are possible"),
    ("symmf report", "this page"),
)


STUDY_COMMANDS = tuple((c, text) for c, text in REPORT_COMMANDS if "audit" not in c)


def render_report(results: Results) -> str:
    """Return the page as text; the same results give the same bytes.

    Where no experiment concerns the paper, the page is that of one's own studies.
    """
    if not results.about_paper:
        page, shown = "study.html.j2", study_context(results)
    else:
        page, shown = "report.html.j2", context(results)
    return render_page("symmf.reporting.page", page, shown)


def write_report(results: Results, path: Path) -> Path:
    """Write the page; return its path."""
    return write_text(path, render_report(results))


def study_context(results: Results) -> dict[str, Any]:
    """Return what the page of one's own studies shows."""
    studies = own_studies(results)
    figures, _ = _figures(results)
    return {
        "version": __version__,
        "kinds": KINDS,
        "title": "; ".join(study.title for study in studies),
        "studies": [_study(study, results) for study in studies],
        "collections": collection_sections(results),
        "problems": results.problems,
        "trials": Markup(trials_data([study.rows for study in studies])),
        "figures": figures,
        "failures": failures_grid(results),
        "experiments": experiment_sections(results),
        "commands": STUDY_COMMANDS,
    }


def _study(study: Study, results: Results) -> dict[str, Any]:
    tables = (study_table(study, results, metric) for metric in study.metrics)
    scores = [score_section(t, {}, name=f"{study.name}-{t.metric}") for t in tables]
    beside, caption = compare_study(study), "Beside published values"
    name, evidence = f"{study.name}-tests", study_evidence(study)
    shown = grid(f"{study.name}-published", caption, beside, STUDY_COLUMNS)
    return {
        "title": study.title,
        "scores": scores,
        "notes": said_once([(table["title"], table["notes"]) for table in scores]),
        "beside": shown if len(beside) else None,
        "statistics": statistics_section(evidence, results, name) if evidence else None,
    }


def context(results: Results) -> dict[str, Any]:
    """Return what the page shows."""
    comparison = verdicts.compare(results)
    decided = claims.ledger(results)
    figures, missing = _figures(results)
    lacking = [*missing_tables(results), *missing]
    audit = audit_section(results.folder, results)
    if audit is None:
        reason = "the audit of the published pairs was not run"
        lacking.append(Missing(name="audit", reason=reason, command="symmf audit"))
    experiments = experiment_sections(results)
    scores = score_tables(results, comparison)
    return {
        "version": __version__,
        "kinds": KINDS,
        "tiles": _tiles(comparison, decided, audit, experiments),
        "claims_note": claims.NOTE,
        "claims": [
            {**each.as_record(), "details": each.decision.details} for each in decided
        ],
        "takes": takes_section(results),
        "collections": collection_sections(results),
        "missing": lacking,
        "problems": results.problems,
        "sizes": sizes_grid(results),
        "scores": scores,
        "notes": said_once([(table["title"], table["notes"]) for table in scores]),
        "trials": Markup(trials_data([partial(collect, results)])),
        "comparison": comparison_grid(comparison, results),
        "speed": speed_section(results.folder),
        "rule": verdicts.RULE,
        "figures": figures,
        "statistics": statistics_section(paper_evidence(results), results),
        "audit": audit,
        "failures": failures_grid(results),
        "experiments": experiments,
        "commands": REPORT_COMMANDS,
    }


def _tiles(
    comparison: Any, decided: Any, audit: dict[str, Any] | None, experiments: Any
) -> list[dict[str, Any]]:
    """Return the numbers at the top: each a title and counts by kind."""
    trials = {
        "good": sum(e["n_good"] for e in experiments),
        "not good": sum(e["n_bad"] for e in experiments),
        "not run yet": sum(e["n_missing"] for e in experiments),
    }
    kinds = {"good": "good", "not good": "bad", "not run yet": "none"}
    tiles = [
        ("Claims, in the paper's own setting", "#claims", claims.counts(decided)),
        ("Claims, on equal terms", "#claims", claims.equal_counts(decided)),
        ("Published values", "#comparison", verdicts.counts(comparison)),
        ("Published (AC, NMI) pairs", "#audit", audit["totals"] if audit else {}),
        ("Trials", "#experiments", trials),
    ]
    return [
        {
            "title": title,
            "link": link,
            "total": sum(counts.values()),
            "counts": [
                (name, n, KINDS.get(name) or kinds.get(name, "none"))
                for name, n in counts.items()
            ],
        }
        for title, link, counts in tiles
    ]


def _figures(results: Results) -> tuple[list[dict[str, Any]], list[Missing]]:
    shown: list[dict[str, Any]] = []
    missing: list[Missing] = []
    for name in FIGURES:
        gallery = draw(name, results)
        missing += gallery.missing
        for drawing in gallery.drawings:
            shown.append(_figure(drawing, f"figure-{len(shown) + 1}"))
    return shown, missing


def _figure(drawing: Drawing, name: str) -> dict[str, Any]:
    data = drawing.data
    return {
        "name": name,
        "key": drawing.name,
        "title": drawing.title,
        "caption": drawing.caption,
        "files": drawing.stem,
        "command": f"symmf plot {drawing.name}",
        "svg": drawing.svg(name),
        "grid": grid(
            f"{name}-data",
            f"Numbers behind: {drawing.title}",
            data,
            auto_columns(data),
            limit=FIGURE_ROWS,
        ),
    }
