"""Graph-regularised nonnegative matrix factorization of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from scipy import sparse

from symmf.clustering.baselines.data_factors import (
    DataFactors,
    DataFit,
    for_products,
    run_data_factors,
    squared_norm,
    transposed,
    unit_columns,
)
from symmf.clustering.labels import kmeans_rows
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.seeds import RandomState
from symmf.common.validation import check_choice
from symmf.linalg import inner
from symmf.similarity.graphs.self_tuning import neighbour_graph
from symmf.similarity.share import shared

# Denominators of the updates are kept above this, as published.
_FLOOR = 1e-10
# The running mean of the tolerance test starts at this many times the first objective.
_FIRST_MEAN, _MEMORY = 10.0, 0.1
# Products with X are formed at each of the first updates of V, then at every tenth.
_FRESH, _PERIOD = 5, 10


@dataclass(eq=False)
class GNMFIterate:
    """One iterate: U (m, k), V (n, k), and what their objective is made of."""

    U: FloatArray
    V: FloatArray
    XU: FloatArray
    UU: FloatArray
    #: lambda W V, lambda D and ||X||_F^2
    WV: FloatArray
    degrees: FloatArray
    total: float

    @cached_property
    def objective(self) -> float:
        """||X - V U^T||_F^2 + weight tr(V^T L V)."""
        V = self.V
        fit = self.total - 2 * inner(V, self.XU) + inner(self.UU, V.T @ V)
        return fit + inner(V, self.degrees * V) - inner(V, self.WV)


def gnmf_iterates(
    X: AnyMatrix,
    U: FloatArray,
    V: FloatArray,
    W: AnyMatrix,
    *,
    weight: float,
    published: bool = True,
) -> Iterator[GNMFIterate]:
    r"""Yield the start with unit columns of U, then an iterate per update of V.

    .. math::
        V &\leftarrow V \circ \frac{XU + \lambda WV}{V U^TU + \lambda DV}, \\
        U &\leftarrow U \circ \frac{X^TV}{U V^TV}

    As published, U is updated after every update of V. Otherwise V is updated ten times
    with one product X U, and U as often with one product X^T V where that is cheaper
    than the product (Gillis and Glineur 2012): the graph needs many updates of V, the
    data few.
    """
    U, V = unit_columns(U, V)
    total, cheap = squared_norm(X), _cheap_updates(X, U)
    X, XT = (X, transposed(X)) if published else for_products(X)
    W = W * V.dtype.type(weight)
    degrees = np.asarray(W.sum(axis=1)).ravel().astype(V.dtype)[:, None]
    XU, UU, WV = np.asarray(X @ U), U.T @ U, np.asarray(W @ V)
    updates = 0
    while True:
        yield GNMFIterate(U, V, XU, UU, WV, degrees, total)
        below = V @ UU
        below += degrees * V
        np.maximum(below, _FLOOR, out=below)
        V = V * (XU + WV)
        V /= below
        WV = np.asarray(W @ V)
        updates += 1
        fresh = published or updates <= _FRESH
        if not fresh and updates % _PERIOD:
            continue
        XTV, VV = np.asarray(XT @ V), V.T @ V
        for _ in range(1 if fresh else cheap):
            U = U * XTV / np.maximum(U @ VV, _FLOOR)
        XU, UU = np.asarray(X @ U), U.T @ U


def _cheap_updates(X: AnyMatrix, U: FloatArray) -> int:
    """Return how many updates of U cost about a product with X; 1 to 10."""
    m, k = U.shape
    stored = X.nnz if sparse.issparse(X) else X.size
    return int(np.clip(stored // (m * (k + 10)), 1, _PERIOD))


def _running_mean(tol: float) -> Callable[[int, GNMFIterate], bool]:
    """Tell when the objective is within ``tol`` of its running mean."""
    mean = 0.0

    def settled(iteration: int, iterate: GNMFIterate) -> bool:
        nonlocal mean
        O = iterate.objective  # noqa: E741  # the paper's symbol
        if iteration == 0:
            mean = _FIRST_MEAN * O
            return False
        mean = _MEMORY * mean + (1 - _MEMORY) * O
        return tol > 0 and mean - O <= tol * mean

    return settled


@dataclass(eq=False, repr=False)
class GNMF(DataFactors):
    r"""Nonnegative matrix factorization that respects a graph of neighbours.

    .. math:: \min_{U \ge 0,\, V \ge 0} \|X - V U^T\|_F^2
              + \lambda_g \,\mathrm{tr}(V^T (D - W) V)

    by multiplicative updates of V and U; k-means then clusters the rows of V. W joins
    each sample to its nearest neighbours.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of columns of U and V.
    graph_weight : float
        lambda_g, the weight of the graph.
    n_neighbors : int
        Nearest neighbours of a sample in the graph.
    weighting : {"binary", "heat", "cosine"}
        Weight of an edge: 1 (images), a heat kernel, or the cosine of the two samples
        (text).
    heat_scale : float, optional
        Width t of the heat kernel; the mean distance by default.
    data_weighting : {"none", "ncut"}
        ``ncut`` divides rows by the square root of their degree, as in :class:`NMF`.
    n_starts : int
        Random starts; after ``start_iter`` iterations the best one goes on.
    start_iter : int
        Iterations of each start when there are several.
    n_restarts : int
        Whole runs; the one with the smallest objective is kept.
    max_iter : int
        Largest number of iterations, that is of updates of V.
    tol : float
        Stop when a running mean of the objective exceeds it by less than this share;
        0 never stops (the published demonstration runs 100 iterations).
    n_init : int
        Restarts of k-means.
    published : bool
        Update U, with a product of its own, after every update of V. By default V is
        updated ten times per product with X, which ends at the same objective and
        takes a fraction of the time.
    random_state : int, Generator, RandomState or None
        Seeds the start, uniform in [0, 1), and k-means.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample.
    U_ : (m, n_clusters) array
        Features of the clusters, unit columns.
    V_ : (n, n_clusters) array
        Weights of the clusters in each sample.
    W_ : (n, n) scipy sparse array
        The graph.
    matrix_ : str
        What was factored, in words.
    solver_ : str
        Always ``"multiplicative"``.
    n_iter_ : int
    stop_ : {"tolerance", "max_iter"}
    objective_ : float
        The objective at the last iterate, before U is scaled to unit columns.
    history_ : History
        The objective divided by ||X||_F^2, at every iterate, and the time.

    Notes
    -----
    The objective never rises. It is not invariant to the scale of V, so
    ``graph_weight`` has a meaning only for rows of known size: give unit rows. Zeros
    never change under these updates; the start has none. X may be sparse.

    References
    ----------
    D. Cai, X. He, J. Han, T. Huang, "Graph regularized nonnegative matrix factorization
    for data representation", IEEE TPAMI 33, 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=[(1, 9), (9, 1)], random_state=0)
    >>> labels = GNMF(2, random_state=0).fit_predict(abs(X))
    >>> len(set(labels[y == 0])), len(set(labels[y == 1]))
    (1, 1)
    """

    n_clusters: int = 8
    _: KW_ONLY
    graph_weight: float = 100.0
    n_neighbors: int = 5
    weighting: str = "binary"
    heat_scale: float | None = None
    data_weighting: str = "none"
    n_starts: int = 1
    start_iter: int = 30
    n_restarts: int = 1
    max_iter: int = 100
    tol: float = 0.0
    n_init: int = 20
    published: bool = False
    random_state: RandomState = None

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        check_choice("weighting", self.weighting, ("binary", "heat", "cosine"))
        weighted = self._weighted(X)
        graph = shared(
            neighbour_graph,
            X,
            n_neighbors=self.n_neighbors,
            weighting=self.weighting,
            heat_scale=self.heat_scale,
        )
        self.W_ = graph.M.astype(X.dtype)
        runs = [
            self._run(weighted, *self._start(weighted, rng))
            for _ in range(self.n_restarts)
        ]
        fit = min(runs, key=lambda run: run.last.objective)
        self._store_factors(
            fit, fit.last.U, fit.last.V, self._words(), "multiplicative"
        )
        self.labels_ = kmeans_rows(
            self.V_, self.n_clusters, n_init=self.n_init, random_state=rng
        )

    def _words(self) -> str:
        """Say what is factored, with the graph that is added."""
        graph = f"{self.n_neighbors} neighbours, {self.weighting}"
        if self.heat_scale is not None:
            graph += f" {self.heat_scale:g}"
        weights = f"data weighting {self.data_weighting}"
        return f"X and a graph: {weights}, {graph}, lambda {self.graph_weight:g}"

    def _start(
        self, X: AnyMatrix, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw U and V; of several draws, the best after a few iterations."""
        (n, m), k = X.shape, self.n_clusters
        starts = [
            (rng.random((m, k)).astype(X.dtype), rng.random((n, k)).astype(X.dtype))
            for _ in range(self.n_starts)
        ]
        if len(starts) == 1:
            return starts[0]
        ends = [
            next(islice(self._iterates(X, U, V), self.start_iter, None))
            for U, V in starts
        ]
        best = min(ends, key=lambda end: end.objective)
        return best.U, best.V

    def _iterates(
        self, X: AnyMatrix, U: FloatArray, V: FloatArray
    ) -> Iterator[GNMFIterate]:
        return gnmf_iterates(
            X, U, V, self.W_, weight=self.graph_weight, published=self.published
        )

    def _run(self, X: AnyMatrix, U: FloatArray, V: FloatArray) -> DataFit[GNMFIterate]:
        iterates, settled = self._iterates(X, U, V), _running_mean(self.tol)
        return run_data_factors(X, iterates, settled, self.max_iter)
