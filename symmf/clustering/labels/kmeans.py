"""k-means on the rows of a factor: scikit-learn's, and that of the authors' code."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from symmf.clustering.labels.rows import cluster_means, cluster_qr
from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.common.seeds import RandomState, as_generator, spawn_seed

Init = Literal["random", "k-means++", "cluster_qr"]
INITS: tuple[Init, ...] = get_args(Init)


def kmeans_rows(
    Z: AnyMatrix,
    n_clusters: int,
    *,
    n_init: int = 20,
    random_state: RandomState = None,
    max_iter: int = 100,
    init: Init = "k-means++",
    weights: FloatArray | None = None,
) -> LabelArray:
    """Cluster the rows of ``Z`` with scikit-learn's k-means.

    The run with the smallest inertia is kept. ``init="random"`` starts from rows
    drawn uniformly, as the authors do; with many clusters even 20 such starts may all
    miss one. ``init="cluster_qr"``: the first of the ``n_init`` runs starts from what
    pivoted QR finds, the others from k-means++; made for the rows of n_clusters
    eigenvectors, where a few runs then do what many random ones do. ``weights``: how
    often each row counts.
    """
    seed = spawn_seed(as_generator(random_state))
    starts: list[tuple[Any, int]] = [(init, n_init)]
    if init == "cluster_qr":
        centres = _qr_centres(Z, n_clusters)
        starts = [(centres, 1)] if centres is not None else []
        if n_init > len(starts):
            starts.append(("k-means++", n_init - len(starts)))
    runs = [
        KMeans(
            n_clusters, init=start, n_init=count, max_iter=max_iter, random_state=seed
        )
        for start, count in starts
    ]
    with warnings.catch_warnings():
        # Fewer distinct rows than clusters: fewer clusters is the right answer.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for run in runs:
            run.fit(Z, sample_weight=weights)
    best = min(runs, key=lambda run: run.inertia_)
    return np.asarray(best.labels_, dtype=np.int64)


def _qr_centres(Z: AnyMatrix, n_clusters: int) -> FloatArray | None:
    """Return the means of what pivoted QR finds; None if it finds fewer clusters."""
    if sparse.issparse(Z) or Z.shape[1] < n_clusters:
        return None
    labels = cluster_qr(Z, n_clusters)
    if np.bincount(labels, minlength=n_clusters).min() == 0:
        return None
    return cluster_means(Z, labels, n_clusters)


@dataclass(frozen=True, slots=True, kw_only=True)
class KMeansRun:
    """The run of :func:`litekmeans` that was kept.

    Attributes
    ----------
    labels : (n,) array
    centres : (n_clusters, m) array
    distance : float
        Sum of the (unsquared) distances of the rows to their centres.
    """

    labels: LabelArray
    centres: FloatArray
    distance: float


def litekmeans(
    Z: AnyMatrix,
    n_clusters: int,
    *,
    start_rows: Any = None,
    n_init: int = 20,
    random_state: RandomState = None,
    max_iter: int = 100,
) -> KMeansRun:
    """Cluster the rows of ``Z`` as the k-means of the authors' code does.

    It differs from :func:`kmeans_rows` in two points. Of several runs the one with the
    smallest sum of *unsquared* distances is kept, although squared distances are what
    each run decreases. An empty cluster takes the row farthest from its centre.

    Parameters
    ----------
    Z : (n, m) array or scipy sparse matrix
    n_clusters : int
    start_rows : (n_clusters,) or (runs, n_clusters) array of int, optional
        Rows that are the first centres; drawn at random if not given.
    n_init : int
        Runs, when they are drawn.
    random_state : int, Generator, RandomState or None
    max_iter : int
        A run ends when labels repeat, or after so many iterations.

    Examples
    --------
    >>> Z = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> litekmeans(Z, 2, start_rows=[0, 1]).labels
    array([0, 0, 1, 1])
    """
    starts = start_rows
    if starts is None:
        rng = as_generator(random_state)
        n = Z.shape[0]
        starts = [rng.choice(n, n_clusters, replace=False) for _ in range(n_init)]
    if sparse.issparse(Z):
        squares = np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", Z, Z)
    starts = np.atleast_2d(np.asarray(starts, dtype=np.intp))
    runs = [_lloyd(Z, squares, rows, max_iter) for rows in starts]
    return min(runs, key=lambda run: run.distance)


def _lloyd(Z: AnyMatrix, squares: FloatArray, rows: Any, max_iter: int) -> KMeansRun:
    """Run Lloyd's iterations from the centres in some rows until labels repeat."""
    k = len(rows)
    centres = Z[rows].toarray() if sparse.issparse(Z) else Z[rows]
    labels = np.full(len(squares), -1, dtype=np.int64)
    for _ in range(max_iter):
        D = _distances(Z, centres)
        new = np.argmin(D, axis=1)
        if np.bincount(new, minlength=k).min() == 0:
            new = _fill_empty(new, D[np.arange(len(new)), new] + squares, k)
        centres = cluster_means(Z, new, k)
        same = np.array_equal(new, labels)
        labels = new
        if same:
            break
    own = _distances(Z, centres)[np.arange(len(labels)), labels]
    distance = float(np.sum(np.sqrt(np.maximum(own + squares, 0.0))))
    return KMeansRun(labels=labels, centres=centres, distance=distance)


def _distances(Z: AnyMatrix, centres: FloatArray) -> FloatArray:
    """Return ||c||^2 - 2 z.c: ||z||^2, the same for all, is left out, as published."""
    D = np.asarray(Z @ centres.T) * -2.0
    D += np.einsum("ij,ij->i", centres, centres)
    return D


def _fill_empty(labels: LabelArray, distance: FloatArray, k: int) -> LabelArray:
    """Give every empty cluster the row that is farthest from its own centre.

    That may empty the cluster the row came from, hence the loop; a row moves once.
    """
    labels, distance = labels.copy(), distance.copy()
    while True:
        missing = np.flatnonzero(np.bincount(labels, minlength=k) == 0)
        if missing.size == 0:
            return labels
        farthest = np.argsort(-distance, kind="stable")[: missing.size]
        labels[farthest] = missing
        distance[farthest] = -np.inf
