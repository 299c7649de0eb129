"""The parts of the report page, each made from the results alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from symmf.paper import ROWS
from symmf.reporting.page.grid import Column, Grid, grid
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import dataset_title
from symmf.reporting.statistics.words import Evidence
from symmf.reporting.tables.sizes import dataset_table

Section = dict[str, Any]

TEST_COLUMNS = (
    Column(title="Metric", key="metric"),
    Column(title="Input", key="input"),
    Column(title="Data set", key="dataset"),
    Column(title="K", key="n_clusters", digits=0),
    Column(title="Against", key="title"),
    Column(title="Pairs", key="n_pairs", digits=0),
    Column(title="Difference", key="difference", digits=3, signed=True),
    Column(title="Low", key="low", digits=3, signed=True),
    Column(title="High", key="high", digits=3, signed=True),
    Column(title="Rank-biserial", key="rank_biserial", digits=2, signed=True),
    Column(title="Won − lost", key="dominance", digits=2, signed=True),
    Column(title="p", key="p", digits=4),
    Column(title="p (Holm)", key="p_holm", digits=4),
    Column(title="Seen from", key="floor", digits=3),
    Column(title="At 0.05", key="outcome"),
)
FAILURE_COLUMNS = (
    Column(title="Experiment", key="experiment"),
    Column(title="Method", key="label"),
    Column(title="K", key="n_clusters", digits=0),
    Column(title="Trial", key="trial", digits=0),
    Column(title="λ", key="lambda", digits=2),
    Column(title="Status", key="status"),
    Column(title="Message", key="message"),
    Column(title="See it in full", key="command", code=True),
)
SIZE_COLUMNS = (
    Column(title="Data set", key="title"),
    Column(title="Clusters", key="clusters", digits=0),
    Column(title="Samples", key="samples", digits=0),
    Column(title="Dimensions", key="dimensions", digits=0),
    Column(title="Beside the paper", key="verdict"),
)


def said_once(said: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return texts about several things, each once; one thing's own with its name.

    Examples
    --------
    >>> said_once([("NMI", ["12 cells", "p = 0.1"]), ("AC", ["12 cells", "p = 0.2"])])
    ['12 cells', 'NMI: p = 0.1', 'AC: p = 0.2']
    """
    found: dict[str, list[str]] = {}
    for title, texts in said:
        for text in texts:
            found.setdefault(text, []).append(title)
    return [
        text if len(titles) == len(said) else f"{', '.join(titles)}: {text}"
        for text, titles in found.items()
    ]


def sizes_grid(results: Results) -> Grid | None:
    """Return Table I, if any data set is known."""
    frame = dataset_table(results)
    if not len(frame):
        return None
    return grid("sizes", "Data sets, sizes as loaded", frame, SIZE_COLUMNS)


def statistics_section(
    evidence: Sequence[Evidence], results: Results, name: str = "tests"
) -> Section:
    """Return the paired tests of all metrics and what they can show."""
    frame = pd.concat(
        [each.tests.assign(metric=each.title) for each in evidence], ignore_index=True
    )
    frame["outcome"] = [
        "not tested"
        if refused
        else "not distinguishable"
        if p >= 0.05
        else "higher"
        if d > 0
        else "lower"
        for p, d, refused in zip(
            frame["p_holm"], frame["difference"], frame["refused"], strict=True
        )
    ]
    frame["dataset"] = [dataset_title(str(d), results) for d in frame["dataset"]]
    table = grid(
        name,
        "Paired Wilcoxon tests of the proposed method, per cell",
        frame,
        TEST_COLUMNS,
        filters=("metric", "input", "dataset", "outcome"),
    )
    said = said_once([(each.title, each.words) for each in evidence])
    return {"grid": table if len(frame) else None, "words": said}


def failures_grid(results: Results) -> Grid | None:
    """Return the trials that did not finish well, or None."""
    trials = results.trials
    bad = trials[trials["status"] != "ok"].copy()
    if not len(bad):
        return None
    bad["command"] = [f"symmf info {str(key)[:12]}" for key in bad["key"]]
    bad["label"] = [
        label or method
        for label, method in zip(bad["label"], bad["method"], strict=True)
    ]
    return grid(
        "failures",
        "Trials that did not finish well",
        bad,
        FAILURE_COLUMNS,
        filters=("experiment", "status"),
        limit=500,
    )


def experiment_sections(results: Results) -> list[Section]:
    """Describe every experiment: counts, command, provenance, configuration."""
    return [_experiment(experiment) for experiment in results.experiments]


def _experiment(experiment: Experiment) -> Section:
    status = experiment.trials["status"].value_counts().to_dict()
    provenance = {k: v for k, v in experiment.provenance.items() if k != "facts"}
    return {
        "name": experiment.name,
        "title": experiment.config.title or "",
        "note": experiment.config.note or "",
        "command": str(experiment.provenance.get("command") or experiment.command),
        "n_good": int(status.get("ok", 0)),
        "n_bad": int(sum(n for name, n in status.items() if name != "ok")),
        "n_missing": experiment.missing,
        "provenance": flatten(provenance),
        "config": experiment.config.as_yaml(),
    }


def flatten(value: object, prefix: str = "") -> list[tuple[str, str]]:
    """Return nested data as (dotted name, text) lines.

    Examples
    --------
    >>> flatten({"git": {"commit": "abc", "dirty": False}, "threads": [1, 2]})
    [('git.commit', 'abc'), ('git.dirty', 'False'), ('threads', '1, 2')]
    """
    if isinstance(value, dict):
        return [
            line
            for key, inner in value.items()
            for line in flatten(inner, f"{prefix}.{key}" if prefix else str(key))
        ]
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [
            line
            for index, inner in enumerate(value)
            for line in flatten(inner, f"{prefix}.{index}")
        ]
    if isinstance(value, list):
        return [(prefix, ", ".join(str(item) for item in value))]
    return [(prefix, str(value))]


def audit_section(folder: Path, results: Results) -> Section | None:
    """Return the stored audit of the published pairs, or None if there is none."""
    from symmf.audit.published import cell_summary, load_audit
    from symmf.audit.words import (
        DEFINITIONS,
        EXPLANATIONS,
        counts_sentence,
        sentence,
    )

    # The audit is of the paper: that of the reference study serves any results.
    frame = load_audit(folder)
    frame = load_audit(folder / "reference") if frame is None else frame
    if frame is None:
        return None
    summary = cell_summary(frame)
    totals = {kind: int(summary[kind].sum()) for kind in summary.columns[3:]}
    summary["dataset"] = [dataset_title(str(d), results) for d in summary["dataset"]]
    detail = frame.copy()
    detail["sentence"] = [sentence(line) for line in frame.to_dict("records")]
    detail["dataset"] = [dataset_title(str(d), results) for d in detail["dataset"]]
    detail["row"] = detail["row"].map(ROWS)
    columns = (
        Column(title="Data set", key="dataset"),
        Column(title="K", key="n_clusters", digits=0),
        Column(title="Method", key="row"),
        Column(title="AC", key="ac", digits=3),
        Column(title="NMI", key="nmi", digits=3),
        Column(title="NMI divided by", key="average"),
        Column(title="Verdict", key="verdict", verdict=True),
        Column(title="Bound on NMI", key="nmi_bound", digits=4),
        Column(title="Margin", key="margin", digits=4, signed=True),
        Column(title="In words", key="sentence"),
    )
    counts = (
        Column(title="Data set", key="dataset"),
        Column(title="K", key="n_clusters", digits=0),
        Column(title="Pairs", key="pairs", digits=0),
        *(Column(title=kind, key=kind, digits=0) for kind in totals),
    )
    return {
        "sentence": counts_sentence(frame),
        "totals": totals,
        "assumptions": DEFINITIONS,
        "explanations": EXPLANATIONS,
        "summary": grid("audit-cells", "Pairs by cell", summary, counts),
        "grid": grid(
            "audit-pairs",
            "Every published pair",
            detail,
            columns,
            filters=("dataset", "row", "average", "verdict"),
        ),
    }
