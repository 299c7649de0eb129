"""What the article says and shows: facts for its text, and its tables and figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symmf import __version__
from symmf.experiment.store.trials_table import time_spent
from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, ROWS
from symmf.reporting.plots.base import Drawing
from symmf.reporting.plots.registry import draw
from symmf.reporting.results import Results
from symmf.reporting.tables.model import PlainTable, Table
from symmf.reporting.tables.write import make_tables
from symmf.reporting.verdicts import claims, inputs, sensitivity
from symmf.reporting.verdicts.findings import audit_sentences, findings

FIGURES = ("published", "envelope", "regularization", "lambda", "convergence")


Item = Table | PlainTable | Drawing


@dataclass(frozen=True, kw_only=True)
class Article:
    """The facts of the text, and what stands in it: (``table`` or ``figure``, name)."""

    facts: dict[str, Any]
    items: dict[tuple[str, str], Item]


def gather(results: Results) -> Article:
    """Read everything that the article says off the results."""
    made = make_tables(results)
    # The notes of these tables are the departures in the text.
    tables: list[Table | PlainTable] = [replace(t, notes=()) for t in made.printed]
    makers = sensitivity.value_sensitivity, sensitivity.cell_levels
    tables += [*made.plain, *(t for make in makers if (t := make(results)).rows)]
    items: dict[tuple[str, str], Item] = {("table", t.name): t for t in tables}
    for name in FIGURES:
        for drawing in draw(name, results).drawings:
            if drawing.experiment in ("", name):
                items["figure", name] = drawing
    return Article(facts=_facts(results), items=items)


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
