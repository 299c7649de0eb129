"""Tables with a line per record: sizes, constraint sets, repeats, collections.

Each is a list of columns over what the experiments of some roles give.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, published_datasets
from symmf.reporting.results import Experiment, Results, is_good
from symmf.reporting.selection.arms import cells_of_role
from symmf.reporting.selection.cells import Cell, cells, dataset_title
from symmf.reporting.selection.readings import readings
from symmf.reporting.selection.traces import rises
from symmf.reporting.statistics.intervals import (
    INTERVAL_METHOD,
    bounds,
    paired_difference,
    signed,
)
from symmf.reporting.tables.model import PlainTable, record_table
from symmf.reporting.tables.notes import notes_of

SIZES = {"clusters": "n_classes", "samples": "n_samples", "dimensions": "n_features"}
# What is repeated, and the role of the experiments that it repeats.
REPEATED = {Role.HELD_OUT: Role.USED_WELL, Role.AS_PUBLISHED: Role.COMPARISON}
# Two scores that differ by less are equal: sums of the same numbers in another order.
EQUAL = 1e-9


def sizes_table(results: Results) -> PlainTable:
    """Return Table I: sizes of the loaded data beside those in the paper.

    The sizes come from each experiment's provenance.
    """
    published = published_datasets().set_index("dataset").to_dict("index")
    records: dict[str, dict[str, Any]] = {}
    # Other roles may load the data with features of their own.
    for experiment in sorted(
        results.of_paper, key=lambda e: e.role is not Role.COMPARISON
    ):
        block = experiment.sizes
        name = str(block["name"])
        found = {size: block.get(key) for size, key in SIZES.items()}
        if name == "synthetic" or name in records or None in found.values():
            continue
        paper = {size: published.get(name, {}).get(size, "") for size in SIZES}
        verdict = "as published" if paper == found else "differs"
        records[name] = {
            "dataset": name,
            "title": dataset_title(name, results),
            **found,
            **{f"paper_{size}": value for size, value in paper.items()},
            "verdict": verdict if name in published else "not in the paper",
        }
    order = [*DATASET_TITLES, *sorted(set(records) - set(DATASET_TITLES))]
    lines = [records[name] for name in order if name in records]
    return record_table(results, "datasets", lines)


def sets_table(results: Results) -> PlainTable:
    """Return one line per data set and constraint set: means over K and draws.

    The paper's third contribution is that H may be in any closed set (its Examples I
    to V). Each was run as released, 20 iterations without a safeguard, and to rest.
    """
    order = list(DATASET_TITLES)
    found = [e for e in results.of(Role.SETS) if len(e.trials)]
    # Other data than the paper's come last.
    found.sort(key=lambda e: [*order, e.dataset].index(e.dataset))
    records = [record for experiment in found for record in _set_records(experiment)]
    return record_table(results, "sets", records, notes_of(found))


def _set_records(experiment: Experiment) -> list[dict[str, Any]]:
    good = experiment.trials[experiment.trials["status"] == "ok"]
    errors = good.groupby("method")["error"].mean()
    scores: dict[tuple[str, str], list[float]] = {}
    for metric in METRIC_TITLES:
        for cell in cells(experiment, metric):
            scores.setdefault((cell.reading.method, metric), []).extend(cell.values)
    return [
        {
            "dataset": experiment.dataset,
            "label": (entry.label or name).replace(">=", "≥"),
            "entry": name,
            "experiment": experiment.name,
            **{
                metric: float(np.mean(scores.get((name, metric)) or [np.nan]))
                for metric in METRIC_TITLES
            },
            "error": float(errors.get(name, np.nan)),
            "rises": share_of_rises(experiment, name),
        }
        for name, entry in experiment.entries.items()
    ]


def share_of_rises(experiment: Experiment, method: str) -> float:
    """Return the share of recorded steps of an entry in which the error rose.

    The error is the root of f divided by the norm of M, so both rise together.
    """
    rose, steps, _ = rises(experiment, method, "error")
    return rose / steps if steps else float("nan")


def again_table(results: Results) -> PlainTable:
    """Return one line per cell that was run again, beside that of the main study.

    Entries run again are those on held-out data, and the algorithms as published.
    """
    records = [
        _repeat_record(cell, before, same_draws=role is Role.AS_PUBLISHED)
        for role, repeated in REPEATED.items()
        for experiment in results.of(role)
        for metric in METRIC_TITLES
        for cell in cells(experiment, metric)
        if cell.n_good and (before := _repeats(results, repeated, cell)) is not None
    ]
    notes = notes_of(results.of(*REPEATED))
    return record_table(results, "again", records, notes, interval=INTERVAL_METHOD)


def _repeats(results: Results, role: Role, cell: Cell) -> Cell | None:
    """Return the cell of the main study with the same entry, or the same method."""
    candidates = [
        other
        for other in cells_of_role(results, role, cell.metric).get(cell.key, ())
        if other.reading.estimator == cell.reading.estimator
        and other.reading.choice is None
    ]

    def distance(other: Cell) -> tuple[bool, bool]:
        return other.reading.method != cell.reading.method, not other.reading.primary

    return min(candidates, key=distance, default=None)


def _repeat_record(cell: Cell, before: Cell, *, same_draws: bool) -> dict[str, Any]:
    difference = cell.mean - before.mean
    low = high = float("nan")
    if same_draws:
        paired = paired_difference(cell, before)
        difference, low, high = paired.mean, paired.low, paired.high
    # Fewer than two pairs have no interval.
    interval = "" if np.isnan(low) else f" ({bounds(low, high)})"
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
        "shown": f"{signed(difference)}{interval}",
    }


def collection_tables(results: Results) -> list[PlainTable]:
    """Return one table per experiment over a collection, with a line per method."""
    tables = []
    for e in results.experiments:
        records = _collection_records(e) if e.facts.get("members") else []
        if records:
            note = [e.note] if e.note else []
            facts = {"title": e.title, "first": records[0]["label"]}
            table = record_table(results, "collection", records, note, **facts)
            order = sorted(range(len(records)), key=lambda i: -records[i]["ari"])
            rows = tuple(table.rows[i] for i in order)  # the files keep the order
            tables.append(replace(table, name=e.name, rows=rows))
    return tables


def _collection_records(experiment: Experiment) -> list[dict[str, Any]]:
    """Return the scores of every method over all sets, in the order of the file."""
    trials = experiment.trials[is_good(experiment.trials, "ari")]
    # A set is known by its number of classes and its trial: the same for all methods.
    scores = trials.pivot_table(
        index=["n_clusters", "trial"], columns="method", values="ari"
    )
    order = [name for name in experiment.entries if name in scores.columns]
    labels = {reading.method: reading.label for reading in readings(experiment)}
    records = []
    for name in order:
        here, own = trials[trials["method"] == name], scores[name]
        top, first = scores.max(axis=1), scores[order[0]]
        won, lost = (own > first + EQUAL).sum(), (own < first - EQUAL).sum()
        records.append(
            {
                "experiment": experiment.name,
                "method": name,
                "label": labels[name],
                "sets": len(here),
                "ari": float(np.mean(here["ari"])),
                "ari_median": float(np.median(here["ari"])),
                "nmi": float(np.mean(here["nmi"])),
                "ac": float(np.mean(here["ac"])),
                "best": int((own >= top - EQUAL).sum()),
                "won": int(won),
                "lost": int(lost),
                "seconds_median": float(np.median(here["seconds"])),
                "shown": f"{lost} – {won}" if name != order[0] else "",
            }
        )
    return records
