"""Entries of the main study run again: on held-out data, by the published algorithms.

Each cell stands beside the cell of the main study that it repeats.
"""

from __future__ import annotations

import pandas as pd

from symmf.paper.roles import Role
from symmf.paper.values import METRIC_TITLES
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import Cell, cells, dataset_title
from symmf.reporting.statistics.intervals import INTERVAL_METHOD, paired_difference
from symmf.reporting.tables.model import DIGITS, PlainTable

# What is repeated, and the role of the experiments that it repeats.
REPEATED = {Role.HELD_OUT: Role.USED_WELL, Role.AS_PUBLISHED: Role.COMPARISON}
COLUMNS = (
    *("experiment", "dataset", "n_clusters", "metric", "entry", "label", "mean"),
    *("study_mean", "difference", "low", "high", "study_experiment"),
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
    return PlainTable(
        name="again",
        title="On held-out data, and by the published algorithms",
        caption="Entries run again, beside the main study",
        label="again",
        heads=("Dataset", "Entry", "K", "Metric", "again", "study", "difference"),
        align="llrlrrr",
        rows=tuple(_line(record, results) for record in records),
        frame=pd.DataFrame(records, columns=list(COLUMNS)),
        notes=_notes(results) if records else (),
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
    candidates.sort(
        key=lambda other: (
            other.reading.method != cell.reading.method,
            not other.reading.primary,
        )
    )
    return candidates[0] if candidates else None


def _record(cell: Cell, before: Cell, *, same_draws: bool) -> dict[str, object]:
    paired = paired_difference(cell, before) if same_draws else None
    return {
        "experiment": cell.reading.experiment,
        "dataset": cell.key.dataset,
        "n_clusters": cell.n_clusters,
        "metric": cell.metric,
        "entry": cell.reading.name,
        "label": cell.reading.title,
        "mean": cell.mean,
        "study_mean": before.mean,
        "difference": paired.mean if paired else cell.mean - before.mean,
        "low": paired.low if paired else float("nan"),
        "high": paired.high if paired else float("nan"),
        "study_experiment": before.reading.experiment,
    }


def _line(record: dict[str, object], results: Results) -> tuple[str, ...]:
    difference = f"{record['difference']:+.{DIGITS}f}"
    if record["low"] == record["low"]:
        span = f"{record['low']:+.{DIGITS}f} to {record['high']:+.{DIGITS}f}"
        difference = f"{difference} ({span})"
    return (
        dataset_title(str(record["dataset"]), results),
        f"{record['label']} [{record['experiment']}]",
        str(record["n_clusters"]),
        METRIC_TITLES[str(record["metric"])],
        f"{record['mean']:.{DIGITS}f}",
        f"{record['study_mean']:.{DIGITS}f}",
        difference,
    )


def _notes(results: Results) -> tuple[str, ...]:
    return (
        "Held-out data are other draws or other images, so those differences are of "
        "means over unlike trials and have no interval. Published algorithms are run "
        f"on the draws of the study; interval of the paired differences: "
        f"{INTERVAL_METHOD}.",
        *(f"{e.name}: {e.note}" for e in results.of(*REPEATED) if e.note),
    )
