"""Clusterers over a collection of data sets: one line per method, over all sets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from symmf.reporting.results import Experiment, Results, is_good
from symmf.reporting.selection.readings import readings
from symmf.reporting.tables.model import DIGITS, PlainTable

# Two scores that differ by less are equal: sums of the same numbers in another order.
EQUAL = 1e-9
COLUMNS = (
    *("experiment", "method", "label", "sets", "ari", "ari_median", "nmi", "ac"),
    *("best", "won", "lost", "seconds_median"),
)
HEADS = (
    *("Method", "Sets", "Mean ARI", "Median ARI", "Mean NMI", "Mean AC", "Best in"),
    *("Won – lost", "Median s"),
)


def is_collection(experiment: Experiment) -> bool:
    """Tell whether an experiment ran over the data sets of a collection."""
    return bool(experiment.facts.get("members"))


def collection_tables(results: Results) -> list[PlainTable]:
    """Return one table for every experiment over a collection."""
    found = [_table(e) for e in results.experiments if is_collection(e)]
    return [table for table in found if table.rows]


def _table(experiment: Experiment) -> PlainTable:
    frame = collection_frame(experiment)
    first = frame["label"].iloc[0] if len(frame) else ""
    shown = frame.sort_values("ari", ascending=False, kind="stable")
    means = ("ari", "ari_median", "nmi", "ac")
    lines = [
        (
            str(line["label"]),
            str(line["sets"]),
            *(f"{line[name]:.{DIGITS}f}" for name in means),
            str(line["best"]),
            f"{line['lost']} – {line['won']}" if line["label"] != first else "",
            f"{line['seconds_median']:.3g}",
        )
        for line in shown.to_dict("records")
    ]
    title, note = experiment.title, experiment.note
    notes = [
        "ARI: adjusted Rand index. Best in: data sets in which no other method scores "
        f"higher. Won – lost: data sets in which {first} scores higher than the method "
        "– lower. Means of methods with fewer sets are over those alone. Times were "
        "taken while other trials ran."
    ]
    return PlainTable(
        name=experiment.name,
        title=f"{title}: means over all data sets",
        caption=f"{title}, means over all data sets",
        label=experiment.name,
        heads=HEADS,
        align="l" + "r" * (len(HEADS) - 1),
        rows=tuple(lines),
        frame=frame,
        notes=(*notes, note) if note else tuple(notes),
    )


def collection_frame(experiment: Experiment) -> pd.DataFrame:
    """Return the scores of every method over all sets, in the order of the file."""
    trials = experiment.trials[is_good(experiment.trials, "ari")]
    # A set is known by its number of classes and its trial: the same for all methods.
    scores = trials.pivot_table(
        index=["n_clusters", "trial"], columns="method", values="ari"
    )
    order = [name for name in experiment.entries if name in scores.columns]
    if not order:
        return pd.DataFrame(columns=list(COLUMNS))
    top, first = scores.max(axis=1), scores[order[0]]
    labels = {reading.method: reading.label for reading in readings(experiment)}
    records = []
    for name in order:
        here, own = trials[trials["method"] == name], scores[name]
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
    return pd.DataFrame(records, columns=list(COLUMNS))
