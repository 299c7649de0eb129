"""How many clusters: the evidence of :func:`symmf.select`, for any kind of data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symmf.app.answer import fit
from symmf.app.task import Task, merged
from symmf.clustering.symmf.select import Selection, select
from symmf.clustering.symmf.structure import LARGEST
from symmf.errors import InputError, SymmfError

#: of fewer samples no number of clusters is chosen
FEWEST = 4
# What of the parameters of SymMF says which similarity is looked at.
_OF_SIMILARITY = ("similarity", "similarity_options")


def choose_k(task: Task, seed: int) -> int:
    """Return the number of clusters that SymMF chooses for a task of any method."""
    given = {k: v for k, v in task.parameters.items() if k in _OF_SIMILARITY}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = fit("symmf", task.X, "auto", given, seed)
    return int(model.n_clusters_)


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
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return select(
                task.X,
                range(2, LARGEST + 1) if n_clusters is None else n_clusters,
                laplacian_weight,
                n_subsamples=n_subsamples,
                random_state=seed,
                **given,
            )
        except SymmfError:
            raise
        except (ValueError, TypeError, ArithmeticError) as error:
            raise InputError(f"select: {error}") from error
