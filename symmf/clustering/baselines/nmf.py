"""Nonnegative matrix factorization of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import Any

import numpy as np

from symmf.clustering.baselines.data_factors import (
    DataFactors,
    DataFit,
    for_products,
    run_data_factors,
    small_decrease,
    squared_norm,
    transposed,
)
from symmf.clustering.labels import argmax_rows, kmeans_rows
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.seeds import RandomState
from symmf.common.validation import check_choice
from symmf.solvers._hals import Pair, accelerated_hals
from symmf.solvers._nnls import nnls_bpp

# What ``tol=None`` stands for.
_TOL, _PUBLISHED_TOL = 1e-6, 1e-4
# Below this share of ||X||_F^2 what is left needs all digits of the products.
_CLOSE = 1e-4


def nmf_iterates(X: AnyMatrix, U: FloatArray, V: FloatArray) -> Iterator[Pair]:
    r"""Yield the start, then iterates of alternating nonnegative least squares.

    .. math:: V^T = \mathrm{NNLS}(U^TU, U^TX^T), \qquad
              U^T = \mathrm{NNLS}(V^TV, V^TX)
    """
    total, XT = squared_norm(X), transposed(X)
    XU, XTV = np.asarray(X @ U), np.asarray(XT @ V)
    while True:
        yield Pair(V.T, U.T, XU.T, XTV.T, total)
        V = np.ascontiguousarray(nnls_bpp(U.T @ U, XU.T, V.T).T)
        XTV = np.asarray(XT @ V)
        U = np.ascontiguousarray(nnls_bpp(V.T @ V, XTV.T, U.T).T)
        XU = np.asarray(X @ U)


def hals_iterates(X: AnyMatrix, U: FloatArray, V: FloatArray) -> Iterator[Pair]:
    r"""Yield the start, then iterates of accelerated column updates.

    .. math:: v_j \leftarrow \max\Big(0,\ v_j + \frac{(XU)_j - V (U^TU)_j}
              {(U^TU)_{jj}}\Big)

    and likewise for U: a few sweeps for each product with X, extrapolated.
    """
    total, first = squared_norm(X), 0
    rows, columns = for_products(X)
    U, V = np.ascontiguousarray(U.T), np.ascontiguousarray(V.T)
    if rows is not X:
        for pair in _hals_pairs(rows, columns, U, V, total):
            yield pair
            # The next run begins with this pair, which has been seen then.
            U, V, first = pair.U, pair.V, 1
            if _CLOSE * total > pair.objective:
                break
    yield from islice(_hals_pairs(X, transposed(X), U, V, total), first, None)


def _hals_pairs(
    X: Any, XT: Any, U: FloatArray, V: FloatArray, total: float
) -> Iterator[Pair]:
    return accelerated_hals(
        lambda U: np.ascontiguousarray((X @ U.T).T),
        lambda V: np.ascontiguousarray((XT @ V.T).T),
        V,
        U,
        total=total,
    )


def projected_gradient(pair: Pair) -> float:
    """Return the norm of the gradient over entries that may move."""

    def slope(F: FloatArray, other: FloatArray, product: FloatArray) -> float:
        S = (other @ other.T) @ F - product
        # A zero entry cannot become negative.
        return float(np.linalg.norm(np.where((S <= 0) | (F > 0), S, 0)))

    U, V = pair.U, pair.V
    return 2 * float(np.hypot(slope(U, V, pair.XTV), slope(V, U, pair.XU)))


def _shrunk_gradient(tol: float) -> Callable[[int, Pair], bool]:
    """Tell when the projected gradient has shrunk by this factor."""
    first = 0.0

    def settled(iteration: int, pair: Pair) -> bool:
        nonlocal first
        norm = projected_gradient(pair)
        # The slope at a random start says nothing: it is measured from iterate 1.
        if iteration == 1:
            first = norm
        return tol > 0 and norm <= tol * first

    return settled


@dataclass(eq=False, repr=False)
class NMF(DataFactors):
    r"""Clustering by nonnegative matrix factorization with normalised-cut weights.

    .. math:: \min_{U \ge 0,\, V \ge 0} \|X - V U^T\|_F^2

    The columns of the two factors are updated in turn, with extrapolation. A sample
    belongs to the largest entry of its row of V, after the columns of U are scaled to
    unit length.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of columns of U and V.
    data_weighting : {"ncut", "none"}
        ``ncut`` divides row x_i by the square root of its degree in the graph
        X X^T; ``none`` factors X as it is.
    labels : {"argmax", "kmeans"}
        How clusters are read off V: the largest entry of a row, as for text; or
        k-means on the rows, as is usual for images, where columns of V overlap.
    n_init : int
        Restarts of k-means when ``labels="kmeans"``.
    max_iter : int
        Largest number of iterations.
    tol : float, optional
        Stop when the objective falls by at most this share twice in a row, by default
        1e-6; 0 never stops. As published: when the projected gradient has shrunk by
        this factor since the first iteration, by default 1e-4.
    published : bool
        Solve for the two factors in turn, each exactly, by nonnegative least squares
        with block principal pivoting, as Kim and Park do.
    random_state : int, Generator, RandomState or None
        Seeds the start, uniform in [0, 1).

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample.
    U_ : (m, n_clusters) array
        Features of the clusters, unit columns.
    V_ : (n, n_clusters) array
        Weights of the clusters in each sample.
    matrix_ : str
        What was factored, in words.
    solver_ : str
        ``"hals"``, or ``"anls"`` as published.
    n_iter_ : int
    stop_ : {"tolerance", "max_iter"}
    objective_ : float
        ||X - V U^T||_F^2 for the weighted X.
    history_ : History
        The same divided by ||X||_F^2, at every iterate, and the time.

    Notes
    -----
    An iteration costs two products with X and a few sweeps over the columns, or two
    nonnegative least squares with n and m right-hand sides; the objective never rises.
    X may be sparse.

    References
    ----------
    J. Kim and H. Park, "Fast nonnegative matrix factorization: an active-set-like
    method and comparisons", SIAM J. Sci. Comput. 33, 2011; W. Xu, X. Liu, Y. Gong,
    "Document clustering based on non-negative matrix factorization", SIGIR 2003 (the
    weights); A. Ang and N. Gillis, "Accelerating nonnegative matrix factorization
    algorithms using extrapolation", Neural Comput. 31, 2019.

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((5, 3)))
    >>> bool(NMF(2, random_state=0).fit(X).history_.error[-1] < 1e-6)
    True
    """

    n_clusters: int = 8
    _: KW_ONLY
    data_weighting: str = "ncut"
    labels: str = "argmax"
    n_init: int = 20
    max_iter: int = 200
    tol: float | None = None
    published: bool = False
    random_state: RandomState = None

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        check_choice("labels", self.labels, ("argmax", "kmeans"))
        X = self._weighted(X)
        (n, m), k = X.shape, self.n_clusters
        U, V = rng.random((m, k)), rng.random((n, k))
        fit = self._run(np.float64 if self.published else X.dtype, X, U, V)
        if X.dtype != np.float64 and not np.isfinite(fit.last.objective):
            # A column may die with k above the rank; what makes up for it in the other
            # factor does not fit in single precision.
            fit = self._run(np.float64, X, U, V)
        words = f"X: data weighting {self.data_weighting}"
        solver = "anls" if self.published else "hals"
        self._store_factors(fit, fit.last.U.T, fit.last.V.T, words, solver)
        self.U_, self.V_ = (F.astype(X.dtype, copy=False) for F in (self.U_, self.V_))
        if self.labels == "argmax":
            self.labels_ = argmax_rows(self.V_, np.asarray(X @ self.U_))
        else:
            self.labels_ = kmeans_rows(self.V_, k, n_init=self.n_init, random_state=rng)

    def _run(
        self, kind: Any, X: AnyMatrix, U: FloatArray, V: FloatArray
    ) -> DataFit[Pair]:
        """Run in a precision; least squares with a Gram matrix in single go astray."""
        X, U, V = (array.astype(kind, copy=False) for array in (X, U, V))
        usual = _PUBLISHED_TOL if self.published else _TOL
        tol = usual if self.tol is None else self.tol
        if self.published:
            iterates, settled = nmf_iterates(X, U, V), _shrunk_gradient(tol)
        else:
            iterates, settled = hals_iterates(X, U, V), small_decrease(tol)
        return run_data_factors(X, iterates, settled, self.max_iter)
