"""Clusterers over a collection of data sets: one line per method, over all sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from symmf.reporting.results import Experiment, Results, is_good
from symmf.reporting.selection.readings import readings
from symmf.reporting.tables.model import PlainTable, record_table, words

# Two scores that differ by less are equal: sums of the same numbers in another order.
EQUAL = 1e-9


def collection_tables(results: Results) -> list[PlainTable]:
    """Return one table for every experiment over the data sets of a collection."""
    collections = [e for e in results.experiments if e.facts.get("members")]
    found = [(e, _records(e)) for e in collections]
    return [_table(results, e, records) for e, records in found if records]


def _table(
    results: Results, experiment: Experiment, records: list[dict[str, Any]]
) -> PlainTable:
    first = records[0]["label"]

    def won_lost(record: Mapping[str, Any]) -> str:
        other = record["label"] != first
        return f"{record['lost']} – {record['won']}" if other else ""

    notes = filter(None, [experiment.note])
    table = record_table(
        results,
        sorted(records, key=lambda record: -record["ari"]),
        (
            ("Method", "l", "{label}"),
            ("Sets", "r", "{sets}"),
            ("Mean ARI", "r", "{ari:.3f}"),
            ("Median ARI", "r", "{ari_median:.3f}"),
            ("Mean NMI", "r", "{nmi:.3f}"),
            ("Mean AC", "r", "{ac:.3f}"),
            ("Best in", "r", "{best}"),
            ("Won – lost", "r", won_lost),
            ("Median s", "r", "{seconds_median:.3g}"),
        ),
        **words("collection", *notes, title=experiment.title, first=first),
    )
    # In the order of the file.
    return replace(table, name=experiment.name, frame=pd.DataFrame(records))


def _records(experiment: Experiment) -> list[dict[str, Any]]:
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
        records.append(
            {
                "experiment": experiment.name,
                "method": name,
                "label": labels.get(name, name),
                "sets": len(here),
                "ari": float(np.mean(here["ari"])),
                "ari_median": float(np.median(here["ari"])),
                "nmi": float(np.mean(here["nmi"])),
                "ac": float(np.mean(here["ac"])),
                "best": int((own >= top - EQUAL).sum()),
                "won": int((own > first + EQUAL).sum()),
                "lost": int((own < first - EQUAL).sum()),
                "seconds_median": float(np.median(here["seconds"])),
            }
        )
    return records
