"""What the article says and shows: facts for its text, and its tables and figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from symmf import __version__
from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, ROWS
from symmf.reporting.plots.base import Drawing
from symmf.reporting.plots.registry import draw
from symmf.reporting.results import Results
from symmf.reporting.selection.arms import arms
from symmf.reporting.statistics.intervals import INTERVAL_METHOD
from symmf.reporting.tables.model import PlainTable, Table
from symmf.reporting.tables.write import make_tables
from symmf.reporting.verdicts import claims, inputs, sensitivity
from symmf.reporting.verdicts.findings import arm_sentence, audit_sentences, findings
from symmf.reporting.verdicts.values import RULE, compare, counts

FIGURES = ("published", "envelope", "regularization", "lambda", "convergence")


@dataclass(frozen=True, kw_only=True)
class Article:
    """The facts of the text, and the items that stand in it, by name."""

    facts: dict[str, Any]
    tables: dict[str, Table | PlainTable]
    figures: dict[str, Drawing]


def gather(results: Results) -> Article:
    """Read everything that the article says off the results."""
    made = make_tables(results)
    # The notes of these tables are the departures in the text.
    tables: dict[str, Table | PlainTable] = {
        t.name: replace(t, notes=()) for t in made.printed
    }
    tables |= {t.name: t for t in made.plain}
    makers = sensitivity.value_sensitivity, sensitivity.cell_levels
    tables |= {t.name: t for make in makers if (t := make(results)).rows}
    figures = {
        drawing.name: drawing
        for name in FIGURES
        for drawing in draw(name, results).drawings
        if not drawing.experiment or drawing.experiment == name
    }
    return Article(facts=_facts(results), tables=tables, figures=figures)


def _facts(results: Results) -> dict[str, Any]:
    of_paper = results.of_paper
    trials = sum(len(e.trials) for e in of_paper)
    ledger = claims.ledger(results)
    return {
        "version": __version__,
        "methods": list(ROWS.values()),
        "datasets": list(DATASET_TITLES.values()),
        "metrics": list(METRIC_TITLES.values()),
        "n_experiments": len(of_paper),
        "n_trials": trials,
        "hours": sum(e.trials["seconds"].sum() for e in of_paper) / 3600,
        "environment": _environment(results),
        "findings": findings(results),
        "arms": [arm_sentence(arm) for arm in arms(results)],
        "counts": counts(compare(results)),
        "rule": RULE,
        "interval": INTERVAL_METHOD,
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
    for experiment in results.of_paper:
        found = experiment.provenance.get("environment", {})
        versions = {"Python": found.get("python", ""), **found.get("libraries", {})}
        return ", ".join(f"{name} {versions[name]}" for name in versions)
    return ""


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): v for k, v in line.items()} for line in frame.to_dict("records")]


def _impossible(folder: Path) -> list[dict[str, Any]]:
    """Return the published pairs that no runs can have, for the authors to see."""
    from symmf.audit.published import load_audit

    frame = load_audit(folder)
    if frame is None:
        return []
    by_pair = frame.groupby(["dataset", "n_clusters", "row"], sort=False)
    lost = by_pair.filter(lambda pair: (pair["verdict"] == "impossible").all())
    once = lost.drop_duplicates(["dataset", "n_clusters", "row"])
    named = once.assign(
        dataset=once["dataset"].map(DATASET_TITLES), row=once["row"].map(ROWS)
    )
    return _records(named)
