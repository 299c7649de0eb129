"""The parts of the report page, each made from the results alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symmf.common.files import read_text
from symmf.common.shipped import packaged
from symmf.paper import METRIC_TITLES, ROWS
from symmf.reporting.page.grid import Grid, auto_columns, columns, grid, plain_grid
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import dataset_title
from symmf.reporting.statistics.words import Evidence
from symmf.reporting.tables.model import ABSENT, PlainTable
from symmf.reporting.verdicts import inputs

Section = dict[str, Any]

_PLACE = (*columns({"dataset": "Data set"}), *columns({"n_clusters": "K"}, 0))
TEST_COLUMNS = (
    *columns({"metric": "Metric", "input": "Input"}),
    *_PLACE,
    *columns({"title": "Against"}),
    *columns({"n_pairs": "Pairs"}, 0),
    *columns(
        {"difference": "Difference", "low": "Low", "high": "High"}, 3, signed=True
    ),
    *columns(
        {"rank_biserial": "Rank-biserial", "dominance": "Won − lost"}, 2, signed=True
    ),
    *columns({"p": "p", "p_holm": "p (Holm)"}, 4),
    *columns({"floor": "Detectable from"}, 3),
    *columns({"outcome": "At 0.05"}),
)
FAILURE_COLUMNS = (
    *columns({"experiment": "Experiment", "label": "Method"}),
    *columns({"n_clusters": "K", "trial": "Trial"}, 0),
    *columns({"lambda": "λ"}, 2),
    *columns({"status": "Status", "message": "Message"}),
    *columns({"command": "See it in full"}, code=True),
)
AUDIT_COLUMNS = (
    *_PLACE,
    *columns({"row": "Method"}),
    *columns({"ac": "AC", "nmi": "NMI"}, 3),
    *columns({"average": "NMI divided by"}),
    *columns({"verdict": "Verdict"}, verdict=True),
    *columns({"nmi_bound": "Bound on NMI"}, 4),
    *columns({"margin": "Margin"}, 4, signed=True),
    *columns({"sentence": "In words"}),
)
BENCHMARKS: dict[str, str] = packaged("symmf.reporting.page", "words.yaml")[
    "benchmarks"
]
MOST_ROWS = 200  # of a benchmark


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


def plain_section(table: PlainTable) -> Section:
    """Return a table of texts with its notes."""
    return {"grid": plain_grid(table), "notes": table.notes}


def takes_section(results: Results, tables: Sequence[PlainTable]) -> Section | None:
    """Return what it takes to reach the published values, and what the input does."""
    found = inputs.changes(results)
    if not tables and not found:
        return None
    lines = [
        {
            "Change": change.title,
            "Metric": METRIC_TITLES[change.metric],
            **{
                f"{kind[0].upper()}{kind[1:]}": str(change.effects.get(kind, ABSENT))
                for kind in inputs.KINDS
            },
        }
        for change in found
    ]
    caption = "Mean paired change of the proposed method, with its interval"
    frame = pd.DataFrame(lines)
    return {
        "tables": [plain_section(table) for table in tables],
        "words": inputs.input_words(results),
        "rule": inputs.RULE,
        "changes": grid("changes", caption, frame, auto_columns(frame)),
    }


def statistics_section(
    evidence: Sequence[Evidence], results: Results, name: str = "tests"
) -> Section:
    """Return the paired tests of all metrics and what they can show."""
    frame = pd.concat(
        [each.tests.assign(metric=each.title) for each in evidence], ignore_index=True
    )
    cases = {
        "not tested": frame["refused"].astype(bool),
        "not distinguishable": frame["p_holm"] >= 0.05,
        "higher": frame["difference"] > 0,
    }
    frame["outcome"] = np.select([*cases.values()], [*cases], "lower")
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
    bad["label"] = bad["label"].where(bad["label"] != "", bad["method"])
    return grid(
        "failures",
        "Trials that did not finish well",
        bad,
        FAILURE_COLUMNS,
        filters=("experiment", "status"),
        limit=500,
    )


def experiment_section(experiment: Experiment) -> Section:
    """Describe an experiment: counts, command, provenance, configuration."""
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
    inner: dict[object, object] = {}
    if isinstance(value, dict):
        inner = value
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        inner = dict(enumerate(value))
    elif isinstance(value, list):
        return [(prefix, ", ".join(map(str, value)))]
    else:
        return [(prefix, str(value))]
    start = f"{prefix}." if prefix else ""
    return [
        line for key, each in inner.items() for line in flatten(each, f"{start}{key}")
    ]


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

    def titled(pairs: pd.DataFrame) -> pd.DataFrame:
        titles = [dataset_title(str(name), results) for name in pairs["dataset"]]
        return pairs.assign(dataset=titles)

    summary = titled(cell_summary(frame))
    totals = {kind: int(summary[kind].sum()) for kind in summary.columns[3:]}
    detail = titled(frame).assign(
        sentence=[sentence(line) for line in frame.to_dict("records")],
        row=frame["row"].map(ROWS),
    )
    counts = columns({"pairs": "Pairs", **{kind: kind for kind in totals}}, 0)
    return {
        "sentence": counts_sentence(frame),
        "totals": totals,
        "assumptions": DEFINITIONS,
        "explanations": EXPLANATIONS,
        "summary": grid("audit-cells", "Pairs by cell", summary, [*_PLACE, *counts]),
        "grid": grid(
            "audit-pairs",
            "Every published pair",
            detail,
            AUDIT_COLUMNS,
            filters=("dataset", "row", "average", "verdict"),
        ),
    }


def speed_section(folder: Path) -> list[Section]:
    """Return one part per benchmark kept in a results folder.

    Own results without benchmarks show those of the reference study. A file that
    cannot be read is left out.
    """
    for place in (folder / "benchmarks", folder / "reference" / "benchmarks"):
        paths = {path.stem: path for path in sorted(place.glob("*.csv"))}
        if paths:
            break
    parts: list[Section] = []
    for name in sorted(paths, key=lambda n: [*BENCHMARKS, n].index(n)):
        try:
            frame = pd.read_csv(paths[name])
            machine = _machine(paths[name].with_suffix(".json"))
        except ValueError:
            continue
        title, number = BENCHMARKS.get(name, name), f"speed-{len(parts)}"
        caption, shown = f"benchmarks/{name}.csv", auto_columns(frame)
        part = {
            "title": title,
            "machine": machine,
            "grid": grid(number, caption, frame, shown, limit=MOST_ROWS),
        }
        parts.append(part)
    return parts


def _machine(path: Path) -> str:
    """Return the processor a benchmark ran on, as far as its file tells."""
    if not path.exists():
        return ""
    return str(json.loads(read_text(path)).get("machine", {}).get("cpu", ""))
