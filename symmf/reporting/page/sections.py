"""The parts of the report page, each made from the results alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symmf.common.files import read_text
from symmf.paper import METRIC_TITLES, ROWS
from symmf.reporting.page.grid import (
    TEXTS,
    Grid,
    auto_columns,
    columns,
    grid,
    plain_grid,
)
from symmf.reporting.results import Experiment, Results, stacked
from symmf.reporting.selection.cells import dataset_title
from symmf.reporting.statistics.words import Evidence
from symmf.reporting.tables.model import ABSENT, PlainTable
from symmf.reporting.verdicts import inputs

Section = dict[str, Any]

BENCHMARKS: dict[str, str] = TEXTS["benchmarks"]
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
    kinds = {kind: f"{kind[0].upper()}{kind[1:]}" for kind in inputs.KINDS}
    lines = [
        {"Change": change.title, "Metric": METRIC_TITLES[change.metric]}
        | {head: str(change.effects.get(k, ABSENT)) for k, head in kinds.items()}
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
    frame = stacked([each.tests.assign(metric=each.title) for each in evidence])
    cases = {
        "not tested": frame["refused"].astype(bool),
        "not distinguishable": frame["p_holm"] >= 0.05,
        "higher": frame["difference"] > 0,
    }
    frame["outcome"] = np.select([*cases.values()], [*cases], "lower")
    frame["dataset"] = [dataset_title(str(d), results) for d in frame["dataset"]]
    caption = "Paired Wilcoxon tests of the proposed method, per cell"
    filters = ("metric", "input", "dataset", "outcome")
    table = grid(name, caption, frame, columns("tests"), filters=filters)
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
    caption, filters = "Failed trials", ("experiment", "status")
    shown = columns("failures")
    return grid("failures", caption, bad, shown, filters=filters, limit=500)


def experiment_section(experiment: Experiment) -> Section:
    """Describe an experiment: counts, command, provenance, configuration."""
    good = experiment.trials["status"] == "ok"
    provenance = {k: v for k, v in experiment.provenance.items() if k != "facts"}
    return {
        "name": experiment.name,
        "title": experiment.config.title or "",
        "note": experiment.config.note or "",
        "command": str(experiment.provenance.get("command") or experiment.command),
        "n_good": int(good.sum()),
        "n_bad": int((~good).sum()),
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
    if isinstance(value, list):
        if not any(isinstance(item, dict) for item in value):
            return [(prefix, ", ".join(map(str, value)))]
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return [(prefix, str(value))]
    start = f"{prefix}." if prefix else ""
    return [
        line for key, each in value.items() for line in flatten(each, f"{start}{key}")
    ]


def audit_section(folder: Path, results: Results) -> Section | None:
    """Return the stored audit of the published pairs, or None if there is none."""
    from symmf.audit import words
    from symmf.audit.published import cell_summary, load_audit

    # The audit is of the paper: that of the reference study serves any results.
    frame = load_audit(folder)
    frame = load_audit(folder / "reference") if frame is None else frame
    if frame is None:
        return None

    def title(name: object) -> str:
        return dataset_title(str(name), results)

    summary = cell_summary(frame).assign(
        dataset=lambda pairs: pairs["dataset"].map(title)
    )
    detail = frame.assign(
        dataset=frame["dataset"].map(title),
        sentence=[words.sentence(line) for line in frame.to_dict("records")],
        row=frame["row"].map(ROWS),
    )
    cells = columns("audit_cells")
    return {
        "sentence": words.counts_sentence(frame),
        "totals": summary[[str(c.key) for c in cells[3:]]].sum().to_dict(),
        "assumptions": words.DEFINITIONS,
        "explanations": words.EXPLANATIONS,
        "summary": grid("audit-cells", "Pairs by cell", summary, cells),
        "grid": grid(
            *("audit-pairs", "Every published pair", detail, columns("audit")),
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
        about, machine = paths[name].with_suffix(".json"), ""
        try:
            frame = pd.read_csv(paths[name])
            if about.exists():
                told = json.loads(read_text(about)).get("machine", {})
                machine = str(told.get("cpu", ""))  # the processor that it ran on
        except ValueError:
            continue
        number, caption = f"speed-{len(parts)}", f"benchmarks/{name}.csv"
        table = grid(number, caption, frame, auto_columns(frame), limit=MOST_ROWS)
        title = BENCHMARKS.get(name, name)
        parts.append({"title": title, "machine": machine, "grid": table})
    return parts
