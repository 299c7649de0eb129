"""``symmf report``: everything on one page that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from symmf import __version__
from symmf.common.files import write_text
from symmf.common.html import render_page
from symmf.reporting.page.grid import KINDS, auto_columns, grid
from symmf.reporting.page.plain import collection_sections, takes_section
from symmf.reporting.page.scores import (
    comparison_grid,
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
from symmf.reporting.tables.model import missing_tables
from symmf.reporting.verdicts import claims
from symmf.reporting.verdicts import values as verdicts

FIGURE_ROWS = 150
REPORT_COMMANDS = (
    ("symmf tables", "the tables as LaTeX, Markdown and CSV"),
    ("symmf plot all", "the figures as PDF, PNG and CSV"),
    ("symmf compare", "values beside the paper's, claims and statistics"),
    ("symmf audit", "which published pairs are possible"),
    ("symmf report", "this page"),
)


def render_report(results: Results) -> str:
    """Return the page as text; the same results give the same bytes."""
    return render_page("symmf.reporting.page", "report.html.j2", context(results))


def write_report(results: Results, path: Path) -> Path:
    """Write the page; return its path."""
    return write_text(path, render_report(results))


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
        "trials": Markup(trials_data(results)),
        "comparison": comparison_grid(comparison, results),
        "speed": speed_section(results.folder),
        "rule": verdicts.RULE,
        "figures": figures,
        "statistics": statistics_section(results),
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
        ("Claims of the paper", "#claims", claims.counts(decided)),
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
