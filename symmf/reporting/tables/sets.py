"""The framework on data: the proposed method with every constraint set.

The paper's third contribution is that H may be in any closed set (its Examples I to V).
Each set was run as released, 20 iterations without a safeguard, and to rest.
"""

from __future__ import annotations

import numpy as np

from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import cells
from symmf.reporting.selection.traces import rises
from symmf.reporting.tables.model import PlainTable, record_table, words

COLUMNS = (
    ("Dataset", "l", "{data_title}"),
    ("Set for H", "l", "{label}"),
    *((title, "r", f"{{{metric}:.3f}}") for metric, title in METRIC_TITLES.items()),
    ("error", "r", "{error:.3f}"),
    ("rises", "r", "{rises:.1%}"),
)


def sets_table(results: Results) -> PlainTable:
    """Return one line per data set and entry: means over K and draws."""
    order = list(DATASET_TITLES)
    found = [e for e in results.of(Role.SETS) if len(e.trials)]
    # Other data than the paper's come last.
    found.sort(key=lambda e: [*order, e.dataset].index(e.dataset))
    return record_table(
        results,
        [record for experiment in found for record in _records(experiment)],
        COLUMNS,
        **words("sets", *(f"{e.name}: {e.note}" for e in found if e.note)),
    )


def _records(experiment: Experiment) -> list[dict[str, object]]:
    good = experiment.trials[experiment.trials["status"] == "ok"]
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
            **{m: _mean(scores.get((name, m), [])) for m in METRIC_TITLES},
            "error": _mean(good.loc[good["method"] == name, "error"].tolist()),
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


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
