"""k-means on the rows of a factor: scikit-learn's, and that of the authors' code."""

from __future__ import annotations

import logging
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
from symmf.errors import InputError

logger = logging.getLogger(__name__)

Init = Literal["random", "k-means++", "cluster_qr"]
INITS: tuple[Init, ...] = get_args(Init)

# From this many rows on, rows times restarts is kept constant.
MANY_ROWS = 50_000
_FEWEST_RESTARTS = 3
# Replicates share one product with the rows; the result may have this many entries.
_BATCH_ENTRIES = 20_000_000


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
    eigenvectors, where a few runs then do what many random ones do. Above 50,000 rows
    there are fewer restarts (at least 3), none from rows drawn uniformly, and the log
    says so. ``weights``: how often each row counts.
    """
    n = Z.shape[0]
    _check(n_clusters, n)
    if n > MANY_ROWS and n_init > _FEWEST_RESTARTS:
        few = max(_FEWEST_RESTARTS, n_init * MANY_ROWS // n)
        logger.info(
            "k-means on %d rows: %d restarts with k-means++ instead of %d",
            n,
            few,
            n_init,
        )
        n_init, init = few, "k-means++" if init == "random" else init
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
    n = Z.shape[0]
    _check(n_clusters, n)
    if start_rows is None:
        rng = as_generator(random_state)
        draws = [rng.choice(n, n_clusters, replace=False) for _ in range(n_init)]
        starts = np.stack(draws)
    else:
        starts = np.atleast_2d(np.asarray(start_rows, dtype=np.intp))
    size = max(1, _BATCH_ENTRIES // (n * n_clusters))
    best: KMeansRun | None = None
    for first in range(0, len(starts), size):
        for run in _lloyd(Z, starts[first : first + size], max_iter):
            if best is None or run.distance < best.distance:
                best = run
    assert best is not None
    return best


def _lloyd(Z: AnyMatrix, starts: Any, max_iter: int) -> list[KMeansRun]:
    """Run Lloyd's iterations from several starts at once."""
    n, (runs, k) = Z.shape[0], starts.shape
    if sparse.issparse(Z):
        squares = np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
        centres = np.stack([Z[rows].toarray() for rows in starts])
    else:
        squares = np.einsum("ij,ij->i", Z, Z)
        centres = Z[starts]
    labels = np.full((runs, n), -1, dtype=np.int64)
    going = np.arange(runs)
    for _ in range(max_iter):
        # ||z||^2 is the same for every centre; left out, as published.
        D = _distances(Z, centres[going])
        new = np.ascontiguousarray(np.argmin(D, axis=2).T)
        for position, run in enumerate(going):
            if np.bincount(new[position], minlength=k).min() == 0:
                own = D[np.arange(n), position, new[position]] + squares
                new[position] = _fill_empty(new[position], own, k)
            centres[run] = cluster_means(Z, new[position], k)
        same = np.all(new == labels[going], axis=1)
        labels[going] = new
        going = going[~same]
        if going.size == 0:
            break
    return [
        KMeansRun(
            labels=labels[run],
            centres=centres[run],
            distance=_total_distance(Z, squares, centres[run], labels[run]),
        )
        for run in range(runs)
    ]


def _distances(Z: AnyMatrix, centres: FloatArray) -> FloatArray:
    """Return ||c||^2 - 2 z.c as (n, runs, k)."""
    runs, k, m = centres.shape
    flat = centres.reshape(runs * k, m)
    D = np.asarray(Z @ flat.T) * -2.0
    D += np.einsum("ij,ij->i", flat, flat)
    return D.reshape(-1, runs, k)


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


def _total_distance(
    Z: AnyMatrix, squares: FloatArray, centres: FloatArray, labels: LabelArray
) -> float:
    own = _distances(Z, centres[None])[np.arange(len(labels)), 0, labels]
    return float(np.sum(np.sqrt(np.maximum(own + squares, 0.0))))


def _check(n_clusters: int, n: int) -> None:
    if not 1 <= n_clusters <= n:
        raise InputError(
            f"k-means needs between 1 and {n} clusters for {n} rows, not {n_clusters}."
        )
