"""A grid of lambda for the price of a few runs: each start is the last result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symmf.constraints import as_constraint
from symmf.distributed.operators import operator_of
from symmf.errors import InputError
from symmf.similarity.operators import regularise
from symmf.solvers.base import Factorization
from symmf.solvers.factorize import factorize

# Options that every solver understands; any other one asks for projected gradient.
_COMMON = {"constraint", "max_iter", "tol", "random_state", "max_seconds", "callback"}


def factorize_path(
    A: Any, k: int, weights: Sequence[float], **options: Any
) -> list[Factorization]:
    r"""Factor M = A - lambda L for every lambda of a grid, with warm starts.

    Parameters
    ----------
    A : ndarray, scipy sparse matrix or symmetric operator
        The similarity; its row sums and norm are computed once.
    k : int
    weights : sequence of float
        The grid; it is walked in increasing order.
    **options
        As for :func:`symmf.factorize`. Without a solver: the closed form where no
        set constrains H, otherwise projected gradient with momentum.

    Returns
    -------
    list of Factorization
        In the order of ``weights``.

    Notes
    -----
    The closed form needs no start and is exact at every lambda; on a grid of eleven it
    takes as long as one to three runs of Algorithm 2 (``scripts/benchmark lambda``).
    For the other solvers: M is about (1 + lambda) A while the degrees are small, so
    the last H is scaled by the root of the ratio of those factors. A warm start
    follows one local solution along the grid; with a constraint a cold start may find
    another.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((40, 5))
    >>> fits = factorize_path(X @ X.T, 3, [0, 0.1, 0.2], random_state=0)
    >>> [fit.H.shape for fit in fits]
    [(40, 3), (40, 3), (40, 3)]
    """
    if not len(weights):
        raise InputError("factorize_path needs at least one lambda.")
    if "solver" not in options:
        free = as_constraint(options.get("constraint", "none")).name == "none"
        if free and options.keys() <= _COMMON:
            options = {"solver": "eigen", **options}
        else:
            options = {"acceleration": "momentum", **options}
    similarity = operator_of(A)
    order = np.argsort(np.asarray(weights, dtype=float), kind="stable")
    fits: dict[int, Factorization] = {}
    last: tuple[float, Factorization] | None = None
    for index in order:
        weight = float(weights[index])
        if last is not None and options.get("solver") != "eigen":
            scale = np.sqrt((1 + weight) / (1 + last[0]))
            H0 = last[1].constraint.project(last[1].H * scale)
            options = {**options, "H0": H0}
        fit = factorize(regularise(similarity, weight), k, **options)
        fits[int(index)], last = fit, (weight, fit)
    return [fits[index] for index in range(len(weights))]
