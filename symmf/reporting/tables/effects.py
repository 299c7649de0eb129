"""What decides: the effect of each factor of the factorial experiments.

The proposed method was run with every combination of step, iterations, starts, input
and lambda. The effect of a change of one factor is the mean difference between runs
that differ in nothing else: same data set, K, draw of classes and other factors. A
converged run stands for both steps and any number of starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from symmf.paper.roles import Role
from symmf.paper.values import METRIC_TITLES
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import cells
from symmf.reporting.selection.readings import Reading
from symmf.reporting.statistics.intervals import INTERVAL_METHOD, bootstrap_interval
from symmf.reporting.tables.model import PlainTable, words

# What is shown of each metric; its name is the head of the first of these columns.
SHOWN = {
    "": "{effect:+.3f}",
    "interval": "{low:+.3f} to {high:+.3f}",
    "cells higher": "{cells_higher} of {cells}",
}
FACTORS = ("input", "iterations", "step", "starts", "lambda")
CONVERGED = "converged"
INNER_PRODUCTS, GRAPH = "inner products", "common graph"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one factor from one level to another, other factors as ``given``."""

    factor: str
    before: Any
    after: Any
    given: tuple[tuple[str, Any], ...] = ()

    @property
    def title(self) -> str:
        """The change in words."""
        return f"{self.factor}: {self.before} → {self.after}"

    @property
    def condition(self) -> str:
        """What was held fixed, in words; empty where all else varied."""
        return ", ".join(
            f"{level} iterations" if isinstance(level, int) else str(level)
            for _, level in self.given
        )


ON_INNER, ON_GRAPH = ("input", INNER_PRODUCTS), ("input", GRAPH)
AFTER_20, AT_REST = ("iterations", 20), ("iterations", CONVERGED)
CHANGES = (
    Change("iterations", 20, CONVERGED, (ON_INNER,)),
    Change("iterations", 20, CONVERGED, (ON_GRAPH,)),
    Change("iterations", 20, 100, (ON_INNER,)),
    Change("iterations", 20, 100, (ON_GRAPH,)),
    Change("input", INNER_PRODUCTS, GRAPH, (AFTER_20,)),
    Change("input", INNER_PRODUCTS, GRAPH, (AT_REST,)),
    Change("step", "1/(2L)", "1/L", (AFTER_20,)),
    Change("step", "1/(2L)", "1/L", (("iterations", 100),)),
    Change("starts", 1, 5, (AFTER_20,)),
    Change("starts", 1, 5, (("iterations", 100),)),
    Change("lambda", 0.0, 0.5, (ON_INNER, AFTER_20)),
    Change("lambda", 0.0, 0.5, (ON_GRAPH, AFTER_20)),
    Change("lambda", 0.0, 0.5, (ON_INNER, AT_REST)),
    Change("lambda", 0.0, 0.5, (ON_GRAPH, AT_REST)),
)


def effects_table(results: Results) -> PlainTable:
    """Return the effect of every change on both metrics, with intervals."""
    scores = {metric: _scores(results, metric) for metric in METRIC_TITLES}
    lines, records = [], []
    for change in CHANGES:
        found = [_effect(scores[metric], metric, change) for metric in METRIC_TITLES]
        if all(found):
            texts = (form.format_map(each) for each in found for form in SHOWN.values())
            lines.append((change.title, change.condition, *texts))
            records += found
    heads = [head or title for title in METRIC_TITLES.values() for head in SHOWN]
    experiments = ", ".join(e.name for e in results.of(Role.FACTORIAL))
    return PlainTable(
        **words("effects", interval=INTERVAL_METHOD, experiments=experiments),
        heads=("Change", "With", *heads),
        align="ll" + "r" * len(heads),
        rows=tuple(lines),
        frame=pd.DataFrame(records),
    )


def _levels(reading: Reading) -> dict[str, Any]:
    """Return the level of every factor of a reading."""
    given = reading.settings
    at_rest = bool(given.get("tol", 1))
    inner = given.get("similarity") == "centred_cosine"
    return {
        "input": INNER_PRODUCTS if inner else GRAPH,
        "iterations": CONVERGED if at_rest else int(given["max_iter"]),
        "step": "1/L" if given.get("step_scale", 1.0) == 1 else "1/(2L)",
        "starts": int(given.get("n_starts", 1)),
        "lambda": reading.weight,
    }


def _scores(results: Results, metric: str) -> pd.DataFrame:
    """Return one line per run: its factors, where it was made, and its score."""
    lines = [
        {**levels, "cell": cell.key, "trial": trial, "score": score}
        for experiment in results.of(Role.FACTORIAL)
        for cell in cells(experiment, metric)
        if cell.reading.choice is None
        for levels in _stands_for(_levels(cell.reading))
        for trial, score in cell.scores
    ]
    return pd.DataFrame(lines, columns=[*FACTORS, "cell", "trial", "score"])


def _stands_for(levels: dict[str, Any]) -> list[dict[str, Any]]:
    if levels["iterations"] != CONVERGED:
        return [levels]
    both = product(("1/(2L)", "1/L"), (1, 5))
    return [{**levels, "step": step, "starts": starts} for step, starts in both]


def _effect(scores: pd.DataFrame, metric: str, change: Change) -> dict[str, Any]:
    """Return the mean paired difference of a change; empty if no pair was run."""
    chosen = scores
    for factor, level in change.given:
        chosen = chosen[chosen[factor] == level]
    same = [f for f in FACTORS if f != change.factor] + ["cell", "trial"]
    before, after = (
        chosen[chosen[change.factor] == level].set_index(same)["score"]
        for level in (change.before, change.after)
    )
    difference = (after - before).dropna()
    if difference.empty:
        return {}
    draws = difference.groupby(level=["cell", "trial"]).mean()
    by_cell = draws.groupby(level="cell").mean()
    low, high = bootstrap_interval(draws.tolist())
    return {
        "metric": metric,
        "factor": change.factor,
        "before": change.before,
        "after": change.after,
        "condition": change.condition,
        "effect": float(np.mean(draws)),
        "low": low,
        "high": high,
        "draws": len(draws),
        "cells": len(by_cell),
        "cells_higher": int((by_cell > 0).sum()),
    }
