"""How many clusters: the evidence of :func:`symmf.select`, for any kind of data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symmf.explain.answer import fit
from symmf.explain.page import Choice
from symmf.explain.task import Task

MOST = 20


def candidates_for(n: int, asked: Sequence[int] | None = None) -> list[int]:
    """Return the numbers of clusters to try: 2 to 20, fewer than the samples."""
    wanted = range(2, MOST + 1) if asked is None else asked
    return [k for k in wanted if 1 < k < n]


def own_parameters(task: Task, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of SymMF, whatever method will cluster."""
    given = (
        {**task.parameters, **parameters}
        if task.method == "symmf"
        else {**task.parameters}
    )
    return {name: value for name, value in given.items() if name != "n_clusters"}


def choose_k(task: Task, parameters: Mapping[str, Any], seed: int) -> int:
    """Return the number of clusters that SymMF chooses."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = fit("symmf", task.X, "auto", own_parameters(task, parameters), seed)
    return int(model.n_clusters_)


def choice_of_k(
    task: Task, parameters: Mapping[str, Any], *, seed: int, chosen: int
) -> Choice | None:
    """Return the evidence for the page, or None where there is none."""
    del task, parameters, seed, chosen
    return None
