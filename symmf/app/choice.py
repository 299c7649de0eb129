"""How many clusters: the evidence of :func:`symmf.select`, for any kind of data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symmf.app.task import Task, merged, refusals_of
from symmf.clustering.symmf.communities import count_communities
from symmf.clustering.symmf.select import Selection, select
from symmf.clustering.symmf.structure import LARGEST, NONE
from symmf.errors import InputError

#: of fewer samples no number of clusters is chosen
FEWEST = 4
# What of the parameters of SymMF says which similarity is looked at.
_OF_SIMILARITY = ("similarity", "similarity_options")


def select_for(
    task: Task,
    *,
    parameters: Mapping[str, Any] | None = None,
    n_clusters: Sequence[int] | None = None,
    laplacian_weight: Sequence[float] | None = None,
    n_subsamples: int = 5,
    seed: int = 0,
) -> Selection:
    """Call :func:`symmf.select` on what a task holds.

    Raises
    ------
    InputError
        If there are fewer than four samples, or nothing to compare.
    """
    n = task.X.shape[0]
    if n < FEWEST:
        raise InputError(f"{n} samples are too few to choose a number of clusters.")
    given = merged(task.parameters, parameters or {})
    given = {name: v for name, v in given.items() if name in _OF_SIMILARITY}
    numbers = range(2, LARGEST + 1) if n_clusters is None else n_clusters
    with warnings.catch_warnings(), np.errstate(all="ignore"), refusals_of("select"):
        warnings.simplefilter("ignore")
        found = select(
            task.X,
            numbers,
            laplacian_weight,
            n_subsamples=n_subsamples,
            random_state=seed,
            **given,
        )
    return _of_graph(task, found) if task.data.kind == "graph" else found


def _of_graph(task: Task, found: Selection) -> Selection:
    """Let the Bethe-Hessian matrix count the communities of a given graph."""
    k = count_communities(task.data.X)
    rules = {"bethe_hessian": k, "eigengap": found.by_rule["eigengap"]}
    return replace(
        found,
        n_clusters=k,
        structure=NONE if k == 1 else None,
        stability=found.stability if k == found.n_clusters else None,
        best=k,
        runner_up=None,
        by_rule=rules,
    )
