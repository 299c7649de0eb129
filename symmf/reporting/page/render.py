"""``symmf report``: everything on one page that needs no network."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from symmf import __version__
from symmf.common.files import write_text
from symmf.common.html import render_page
from symmf.reporting.page.grid import KINDS, auto_columns, columns, grid, plain_grid
from symmf.reporting.page.scores import (
    comparison_grid,
    score_section,
    score_tables,
    trials_data,
)
from symmf.reporting.page.sections import (
    audit_section,
    experiment_section,
    failures_grid,
    plain_section,
    said_once,
    speed_section,
    statistics_section,
    takes_section,
)
from symmf.reporting.plots.base import Drawing
from symmf.reporting.plots.registry import FIGURES, draw
from symmf.reporting.results import Missing, Results
from symmf.reporting.selection.cells import collect
from symmf.reporting.selection.studies import Study, own_studies
from symmf.reporting.statistics.words import paper_evidence, study_evidence
from symmf.reporting.tables.model import missing_tables, study_table
from symmf.reporting.tables.records import collection_tables
from symmf.reporting.tables.write import combined_tables, paper_tables
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
TRIAL_KINDS = {"successful": "good", "failed": "bad", "not run yet": "none"}


def write_report(results: Results, path: Path) -> Path:
    """Write the page; return its path."""
    return write_text(path, render_report(results))


def render_report(results: Results) -> str:
    """Return the page as text; the same results give the same bytes.

    Where no experiment concerns the paper, the page is that of one's own studies.
    """
    figures, missing = _figures(results)
    shared = {
        "version": __version__,
        "kinds": KINDS,
        "collections": [plain_section(table) for table in collection_tables(results)],
        "problems": results.problems,
        "figures": figures,
        "failures": failures_grid(results),
        "experiments": [experiment_section(e) for e in results.experiments],
    }
    if results.about_paper:
        page, shown = "report.html.j2", _of_paper(results, shared, missing)
    else:
        page, shown = "study.html.j2", _of_studies(results)
    return render_page("symmf.reporting.page", page, {**shared, **shown})


def _of_studies(results: Results) -> dict[str, Any]:
    """Return what only the page of one's own studies shows."""
    studies = own_studies(results)
    return {
        "title": "; ".join(study.title for study in studies),
        "studies": [_study(study, results) for study in studies],
        "trials": Markup(trials_data([study.rows for study in studies])),
        "commands": STUDY_COMMANDS,
    }


def _study(study: Study, results: Results) -> dict[str, Any]:
    tables = [study_table(study, results, metric) for metric in study.metrics]
    beside, caption = compare_study(study), "Comparison with published values"
    name, evidence = f"{study.name}-tests", study_evidence(study)
    shown = grid(f"{study.name}-published", caption, beside, columns("published"))
    return {
        "title": study.title,
        "scores": [score_section(t, {}, f"{study.name}-{t.metric}") for t in tables],
        "notes": said_once([(t.metric_title, t.notes) for t in tables]),
        "beside": shown if len(beside) else None,
        "statistics": statistics_section(evidence, results, name) if evidence else None,
    }


def _of_paper(
    results: Results, shared: dict[str, Any], missing: list[Missing]
) -> dict[str, Any]:
    """Return what only the page on the paper shows."""
    comparison = verdicts.compare(results)
    decided = claims.ledger(results)
    lacking = [*missing_tables(results), *missing]
    audit = audit_section(results.folder, results)
    if audit is None:
        reason = "the audit of the published pairs was not run"
        lacking.append(Missing(name="audit", reason=reason, command="symmf audit"))
    sizes, *takes = paper_tables(results)
    tables = combined_tables(results)
    return {
        "tiles": _tiles(comparison, decided, audit, shared["experiments"]),
        "claims_note": claims.NOTE,
        "claims": [
            {**each.as_record(), "details": each.decision.details} for each in decided
        ],
        "takes": takes_section(results, [table for table in takes if table.rows]),
        "missing": lacking,
        "sizes": plain_grid(sizes) if sizes.rows else None,
        "scores": score_tables(tables, comparison),
        "notes": said_once([(t.metric_title, t.notes) for t in tables]),
        "trials": Markup(trials_data([partial(collect, results)])),
        "comparison": comparison_grid(comparison, results),
        "speed": speed_section(results.folder),
        "rule": verdicts.RULE,
        "statistics": statistics_section(paper_evidence(results), results),
        "audit": audit,
        "commands": REPORT_COMMANDS,
    }


def _tiles(
    comparison: Any, decided: Any, audit: dict[str, Any] | None, experiments: Any
) -> list[dict[str, Any]]:
    """Return the numbers at the top: each a title and counts by kind."""
    counted = zip(TRIAL_KINDS, ("n_good", "n_bad", "n_missing"), strict=True)
    trials = {name: sum(e[count] for e in experiments) for name, count in counted}
    tiles = [
        ("Claims, in the paper's own setting", "#claims", claims.counts(decided)),
        ("Claims, on equal terms", "#claims", claims.equal_counts(decided)),
        ("Theorems and remarks", "#claims", claims.counts(decided, proved=True)),
        ("Published values", "#comparison", verdicts.counts(comparison)),
        ("Published (AC, NMI) pairs", "#audit", audit["totals"] if audit else {}),
        ("Trials", "#experiments", trials),
    ]
    kinds = {**TRIAL_KINDS, **KINDS}
    return [
        {
            "title": title,
            "link": link,
            "total": sum(counts.values()),
            "counts": [(k, n, kinds.get(k, "none")) for k, n in counts.items()],
        }
        for title, link, counts in tiles
    ]


def _figures(results: Results) -> tuple[list[dict[str, Any]], list[Missing]]:
    galleries = [draw(name, results) for name in FIGURES]
    drawings = [drawing for gallery in galleries for drawing in gallery.drawings]
    shown = [_figure(each, f"figure-{n}") for n, each in enumerate(drawings, start=1)]
    return shown, [gap for gallery in galleries for gap in gallery.missing]


def _figure(drawing: Drawing, name: str) -> dict[str, Any]:
    data, caption = drawing.data, f"Data of the figure: {drawing.title}"
    shown = grid(f"{name}-data", caption, data, auto_columns(data), limit=FIGURE_ROWS)
    return {"name": name, "drawing": drawing, "svg": drawing.svg(name), "grid": shown}
