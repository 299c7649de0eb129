"""The framework on data: the proposed method with every constraint set.

The paper's third contribution is that H may be in any closed set (its Examples I to V).
Each set was run as released, 20 iterations without a safeguard, and to rest.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from symmf.paper.roles import Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import cells, dataset_title
from symmf.reporting.tables.model import ABSENT, DIGITS, PlainTable

RISE = 1e-9  # relative; below are rounding errors
COLUMNS = ("dataset", "label", "entry", "experiment", *METRIC_TITLES, "error", "rises")


def sets_table(results: Results) -> PlainTable:
    """Return one line per data set and entry: means over K and draws."""
    frame = pd.DataFrame(
        [line for e in _experiments(results) for line in _lines(e)],
        columns=list(COLUMNS),
    )
    lines = [
        (
            dataset_title(str(line["dataset"]), results),
            str(line["label"]),
            *(_text(line[metric], f".{DIGITS}f") for metric in METRIC_TITLES),
            _text(line["error"], f".{DIGITS}f"),
            _text(line["rises"], ".1%"),
        )
        for line in frame.to_dict("records")
    ]
    return PlainTable(
        name="sets",
        title="The constraint sets of the framework",
        caption="The proposed method with each constraint set",
        label="sets",
        heads=("Dataset", "Set for H", *METRIC_TITLES.values(), "error", "rises"),
        align="llrrrr",
        rows=tuple(lines),
        frame=frame,
        notes=_notes(results) if lines else (),
    )


def _experiments(results: Results) -> list[Experiment]:
    order = list(DATASET_TITLES)
    found = [e for e in results.of(Role.SETS) if len(e.trials)]
    return sorted(found, key=lambda e: order.index(e.dataset))


def _lines(experiment: Experiment) -> list[dict[str, object]]:
    good = experiment.trials[experiment.trials["status"] == "ok"]
    rises = share_of_rises(experiment)
    scores: dict[str, dict[str, list[float]]] = {}
    for metric in METRIC_TITLES:
        for cell in cells(experiment, metric):
            found = scores.setdefault(cell.reading.method, {}).setdefault(metric, [])
            found.extend(cell.values)
    return [
        {
            "dataset": experiment.dataset,
            "label": (entry.label or name).replace(">=", "≥"),
            "entry": name,
            "experiment": experiment.name,
            **{m: _mean(scores.get(name, {}).get(m, [])) for m in METRIC_TITLES},
            "error": _mean(good.loc[good["method"] == name, "error"].tolist()),
            "rises": rises.get(name, float("nan")),
        }
        for name, entry in experiment.entries.items()
    ]


def share_of_rises(experiment: Experiment) -> dict[str, float]:
    """Return, by entry, the share of recorded steps in which the error rose.

    The error is the root of f divided by the norm of M, so both rise together.
    """
    traces = experiment.traces
    if traces.empty:
        return {}
    runs = ["method", "n_clusters", "trial", "lambda"]
    ordered = traces.sort_values([*runs, "iteration"], kind="stable")
    step = ordered.groupby(runs, dropna=False)["error"].diff()
    rose = step > RISE * ordered["error"]
    known = step.notna()
    return {
        str(name): float(rose[group.index].sum() / count)
        for name, group in ordered.groupby("method")
        if (count := int(known[group.index].sum()))
    }


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _text(value: object, form: str) -> str:
    known = isinstance(value, float) and np.isfinite(value)
    return format(value, form) if known else ABSENT


def _notes(results: Results) -> tuple[str, ...]:
    return (
        "Means over K and draws. Error: ‖M − HHᵀ‖ / ‖M‖ of the last iterate. Rises: "
        "share of recorded steps in which the error rose.",
        *(f"{e.name}: {e.note}" for e in _experiments(results) if e.note),
    )
