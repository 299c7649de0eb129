"""Entries of the main study run again: on held-out data, by the published algorithms.

Each cell stands beside the cell of the main study that it repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symmf.paper.roles import Role
from symmf.paper.values import METRIC_TITLES
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import Cell, cells
from symmf.reporting.statistics.intervals import INTERVAL_METHOD, paired_difference
from symmf.reporting.tables.model import PlainTable, record_table, words

# What is repeated, and the role of the experiments that it repeats.
REPEATED = {Role.HELD_OUT: Role.USED_WELL, Role.AS_PUBLISHED: Role.COMPARISON}


def _difference(record: Mapping[str, Any]) -> str:
    text = f"{record['difference']:+.3f}"
    if record["low"] != record["low"]:
        return text
    return f"{text} ({record['low']:+.3f} to {record['high']:+.3f})"


COLUMNS = (
    ("Dataset", "l", "{data_title}"),
    ("Entry", "l", "{label} [{experiment}]"),
    ("K", "r", "{n_clusters}"),
    ("Metric", "l", "{metric_title}"),
    ("again", "r", "{mean:.3f}"),
    ("study", "r", "{study_mean:.3f}"),
    ("difference", "r", _difference),
)


def again_table(results: Results) -> PlainTable:
    """Return one line per cell that was run again, beside that of the main study."""
    records = [
        _record(cell, before, same_draws=role is Role.AS_PUBLISHED)
        for role, repeated in REPEATED.items()
        for experiment in results.of(role)
        for metric in METRIC_TITLES
        for cell in cells(experiment, metric)
        if cell.n_good and (before := _repeats(results, repeated, cell)) is not None
    ]
    notes = [f"{e.name}: {e.note}" for e in results.of(*REPEATED) if e.note]
    return record_table(
        results,
        records,
        COLUMNS,
        **words("again", *notes, interval=INTERVAL_METHOD),
    )


def _repeats(results: Results, role: Role, cell: Cell) -> Cell | None:
    """Return the cell of the main study with the same entry, or the same method."""
    candidates = [
        other
        for experiment in results.of(role)
        for other in cells(experiment, cell.metric)
        if other.key == cell.key
        and other.n_good
        and other.reading.estimator == cell.reading.estimator
        and other.reading.choice is None
    ]

    def distance(other: Cell) -> tuple[bool, bool]:
        return other.reading.method != cell.reading.method, not other.reading.primary

    return min(candidates, key=distance, default=None)


def _record(cell: Cell, before: Cell, *, same_draws: bool) -> dict[str, Any]:
    nothing = float("nan")
    difference, low, high = cell.mean - before.mean, nothing, nothing
    if same_draws:
        paired = paired_difference(cell, before)
        difference, low, high = paired.mean, paired.low, paired.high
    return {
        "experiment": cell.reading.experiment,
        "dataset": cell.key.dataset,
        "n_clusters": cell.n_clusters,
        "metric": cell.metric,
        "entry": cell.reading.name,
        "label": cell.reading.title,
        "mean": cell.mean,
        "study_mean": before.mean,
        "difference": difference,
        "low": low,
        "high": high,
        "study_experiment": before.reading.experiment,
    }
