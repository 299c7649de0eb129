"""Reading cluster labels off a factor: k-means on its rows, or the largest entry."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from symmf.errors import InputError
from symmf.notation import AnyMatrix, FloatArray, LabelArray
from symmf.seeds import RandomState, as_generator, spawn_seed


def kmeans_rows(
    Z: AnyMatrix,
    n_clusters: int,
    *,
    n_init: int = 20,
    random_state: RandomState = None,
    max_iter: int = 100,
) -> LabelArray:
    """Cluster the rows of ``Z`` with scikit-learn's k-means.

    Starts are ``n_clusters`` distinct rows drawn at random, as the authors do; the
    run with the smallest inertia is kept.
    """
    n = Z.shape[0]
    if not 1 <= n_clusters <= n:
        raise InputError(
            f"k-means needs between 1 and {n} clusters for {n} rows, not {n_clusters}."
        )
    model = KMeans(
        n_clusters,
        init="random",
        n_init=n_init,
        max_iter=max_iter,
        random_state=spawn_seed(as_generator(random_state)),
    )
    with warnings.catch_warnings():
        # Fewer distinct rows than clusters: fewer clusters is the right answer.
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels: LabelArray = model.fit_predict(Z).astype(np.int64)
    return labels


def argmax_rows(H: FloatArray, MH: FloatArray | None = None) -> LabelArray:
    """Assign each row to its largest entry (ties: the first one).

    Meaningful for a nonnegative ``H`` only: without a sign constraint columns are
    defined up to rotation. A zero row says nothing; it takes the largest entry of its
    row of ``MH`` when that product is given.
    """
    labels: LabelArray = np.argmax(H, axis=1).astype(np.int64)
    if MH is not None:
        empty = ~np.any(H, axis=1)
        labels[empty] = np.argmax(MH[empty], axis=1)
    return labels
