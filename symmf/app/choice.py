"""How many clusters: the evidence of :func:`symmf.select`, for any kind of data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symmf.app.evidence import of_graph
from symmf.app.task import Task, merged, refusals_of
from symmf.clustering.symmf.select import Selection, select
from symmf.clustering.symmf.structure import LARGEST
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
    if task.data.kind != "graph":
        return found
    counted = of_graph(task, found)
    same = counted.best == found.n_clusters
    stability = found.stability if same else None
    return replace(counted, n_clusters=counted.best, stability=stability)
