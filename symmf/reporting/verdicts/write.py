"""Write verdicts on values and claims as Markdown and CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from symmf.common.files import csv_text, write_text
from symmf.common.html import render_text
from symmf.metrics import METRICS
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, ROWS
from symmf.reporting.results import Results
from symmf.reporting.selection.studies import Study
from symmf.reporting.statistics.words import (
    paper_evidence,
    study_evidence,
    write_statistics,
)
from symmf.reporting.verdicts import inputs
from symmf.reporting.verdicts.claims import NOTE, Decided, ledger
from symmf.reporting.verdicts.sensitivity import write_sensitivity
from symmf.reporting.verdicts.values import (
    CEILING_RULE,
    RULE,
    Reach,
    compare,
    compare_study,
    counts,
    listed,
    primary,
)

_page = partial(render_text, "symmf.reporting.verdicts")


def write_paper(results: Results, folder: Path) -> list[Path]:
    """Write values, claims and statistics of the paper's study; return the paths."""
    return [
        *write_comparison(compare(results), results, folder),
        *write_ledger(ledger(results), folder),
        *write_statistics(paper_evidence(results), folder),
        *write_sensitivity(results, folder),
    ]


def write_study(study: Study, folder: Path) -> tuple[list[str], list[Path]]:
    """Write what a study of one's own shows; return it in sentences, and the paths."""
    evidence, folder = study_evidence(study), folder / study.name
    written = write_statistics(evidence, folder) if evidence else []
    words = [f"{each.title}: {text}" for each in evidence[:2] for text in each.words]
    beside = compare_study(study)
    if len(beside):
        facts = {
            "title": study.title,
            "rule": RULE,
            "values": beside.to_dict("records"),
            "metrics": METRICS,
            "sources": [
                (e.name, p) for e in study.experiments if (p := e.config.published)
            ],
        }
        written += _write(folder, "compare", beside, _page("study.md.j2", facts))
        said = Counter(map(str, beside["verdict"]))
        words.append(f"Published values: {listed(dict(said.most_common()))}.")
    return words, written


def _write(folder: Path, name: str, table: pd.DataFrame, page: str) -> list[Path]:
    return [
        write_text(folder / f"{name}.csv", csv_text(table)),
        write_text(folder / f"{name}.md", page),
    ]


def write_comparison(
    comparison: pd.DataFrame, results: Results, folder: Path
) -> list[Path]:
    """Write ``compare.csv`` and ``compare.md``; return the paths."""
    ordered = comparison.sort_values("n_clusters", kind="stable")
    known = primary(ordered)
    known = known[known["beside_ceiling"] != ""]
    above = known[known["beside_ceiling"] != Reach.WITHIN]
    facts = {
        "rule": RULE,
        "counts": counts(comparison),
        "changes": inputs.changes(results),
        "input_rule": inputs.RULE,
        "input_words": inputs.input_words(results),
        "kinds": list(inputs.KINDS),
        "ceiling_rule": CEILING_RULE,
        "n_known": len(known),
        "n_clear": int((above["beside_ceiling"] == Reach.CLEARLY_ABOVE).sum()),
        "above": above.to_dict("records"),
        "values": ordered.to_dict("records"),
        "metrics": METRIC_TITLES,
        "datasets": DATASET_TITLES,
        "rows": ROWS,
    }
    return _write(folder, "compare", comparison, _page("compare.md.j2", facts))


def write_ledger(decided: Sequence[Decided], folder: Path) -> list[Path]:
    """Write ``claims.csv`` and ``claims.md``; return the paths."""
    table = pd.DataFrame([each.as_record() for each in decided])
    page = _page("claims.md.j2", {"note": NOTE, "ledger": decided})
    return _write(folder, "claims", table, page)
