"""Nonnegative matrix factorization of the data by alternating least squares."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from symmf.clustering.base import Clusterer, History
from symmf.labels import argmax_rows, kmeans_rows
from symmf.linalg import inner
from symmf.notation import AnyMatrix, FloatArray
from symmf.seeds import RandomState
from symmf.solvers import Stop
from symmf.solvers._nnls import nnls_bpp
from symmf.validation import check_choice, check_number


@dataclass(slots=True)
class NMFIterate:
    """One iterate: U (m, k), V (n, k) and what is known about them."""

    U: FloatArray
    V: FloatArray
    #: ||X - V U^T||_F^2
    objective: float
    #: norm of the gradient over entries that may move
    projected_gradient: float


def ncut_weighted(X: AnyMatrix) -> AnyMatrix:
    """Return the rows x_i / sqrt(w_i) with w = X X^T 1, the degrees of the graph X X^T.

    A row of degree zero is left at zero.

    Examples
    --------
    >>> ncut_weighted(np.array([[2.0, 0.0], [0.0, 3.0]]))
    array([[1., 0.],
           [0., 1.]])
    """
    total = np.asarray(X.sum(axis=0)).ravel()
    w = np.asarray(X @ total, dtype=np.float64).ravel()
    scale = np.divide(1.0, np.sqrt(w), out=np.zeros_like(w), where=w > 0)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.diags_array(scale.astype(X.dtype)) @ X)
    return X * scale.astype(X.dtype)[:, None]


def squared_norm(X: AnyMatrix) -> float:
    """Return ||X||_F^2 of a dense or sparse matrix."""
    values = X.data if sparse.issparse(X) else X
    return float(np.sum(np.square(values, dtype=np.float64)))


def unit_columns(U: FloatArray, V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (U, V) with unit columns of U and V U^T unchanged; zeros stay zero."""
    norms = np.linalg.norm(U, axis=0)
    return np.divide(U, norms, out=np.zeros_like(U), where=norms > 0), V * norms


def nmf_iterates(X: AnyMatrix, U: FloatArray, V: FloatArray) -> Iterator[NMFIterate]:
    r"""Yield the start, then iterates of alternating nonnegative least squares.

    .. math:: V^T = \mathrm{NNLS}(U^TU, U^TX^T), \qquad
              U^T = \mathrm{NNLS}(V^TV, V^TX)
    """
    total = squared_norm(X)
    XT = sparse.csr_array(X.T) if sparse.issparse(X) else X.T
    XU, XTV = np.asarray(X @ U), np.asarray(XT @ V)
    while True:
        UU, VV = U.T @ U, V.T @ V
        slope_U, slope_V = _may_move(U @ VV - XTV, U), _may_move(V @ UU - XU, V)
        yield NMFIterate(
            U,
            V,
            objective=total - 2 * inner(V, XU) + inner(UU, VV),
            projected_gradient=2
            * float(np.hypot(np.linalg.norm(slope_U), np.linalg.norm(slope_V))),
        )
        V = np.ascontiguousarray(nnls_bpp(UU, XU.T, V.T).T)
        XTV = np.asarray(XT @ V)
        U = np.ascontiguousarray(nnls_bpp(V.T @ V, XTV.T, U.T).T)
        XU = np.asarray(X @ U)


def _may_move(slope: FloatArray, factor: FloatArray) -> FloatArray:
    """Zero the slope where a zero entry would have to become negative."""
    return np.where((slope <= 0) | (factor > 0), slope, 0)


class NMF(Clusterer):
    r"""Clustering by nonnegative matrix factorization with normalised-cut weights.

    .. math:: \min_{U \ge 0,\, V \ge 0} \|X - V U^T\|_F^2

    The two factors are solved for in turn, each exactly, by nonnegative least squares
    with block principal pivoting. A sample belongs to the largest entry of its row of
    V, after the columns of U are scaled to unit length.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of columns of U and V.
    data_weighting : {"ncut", "none"}
        ``ncut`` divides row x_i by the square root of its degree in the graph
        X X^T; ``none`` factors X as it is.
    labels : {"argmax", "kmeans"}
        How clusters are read off V.
    n_init : int
        Restarts of k-means when ``labels="kmeans"``.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when the projected gradient has shrunk by this factor since the first
        iteration; 0 never stops.
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
    solver_ : str
        Always ``"anls"``.
    n_iter_ : int
    stop_ : {"tolerance", "max_iter"}
    objective_ : float
        ||X - V U^T||_F^2 for the weighted X.
    history_ : History
        The same divided by ||X||_F^2, at every iterate, and the time.

    Notes
    -----
    An iteration costs two products with X and two nonnegative least squares with n and
    m right-hand sides; the objective never rises. X may be sparse.

    References
    ----------
    J. Kim and H. Park, "Fast nonnegative matrix factorization: an active-set-like
    method and comparisons", SIAM J. Sci. Comput. 33, 2011; W. Xu, X. Liu, Y. Gong,
    "Document clustering based on non-negative matrix factorization", SIGIR 2003 (the
    weights).

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((5, 3)))
    >>> NMF(2, random_state=0).fit(X).history_.error[-1] < 1e-6
    np.True_
    """

    needs_nonnegative = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        data_weighting: str = "ncut",
        labels: str = "argmax",
        n_init: int = 20,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.data_weighting = data_weighting
        self.labels = labels
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        check_choice("data_weighting", self.data_weighting, ("ncut", "none"))
        check_choice("labels", self.labels, ("argmax", "kmeans"))
        check_number("max_iter", self.max_iter, least=0, whole=True)
        check_number("tol", self.tol, least=0)
        if self.data_weighting == "ncut":
            X = ncut_weighted(X)
        (n, m), k = X.shape, self.n_clusters
        U, V = rng.random((m, k)), rng.random((n, k))
        last = self._iterate(X, U.astype(X.dtype), V.astype(X.dtype))
        self.U_, self.V_ = unit_columns(last.U, last.V)
        if self.labels == "argmax":
            self.labels_ = argmax_rows(self.V_, np.asarray(X @ self.U_))
        else:
            self.labels_ = kmeans_rows(self.V_, k, n_init=self.n_init, random_state=rng)

    def _iterate(self, X: AnyMatrix, U: FloatArray, V: FloatArray) -> NMFIterate:
        """Run to the tolerance or the limit; return the last iterate."""
        scale = squared_norm(X) or 1.0
        errors, seconds = [], []
        stop = Stop.max_iter
        began = time.perf_counter()
        first = 0.0
        for iterate in nmf_iterates(X, U, V):
            seconds.append(time.perf_counter() - began)
            errors.append(iterate.objective / scale)
            last = iterate
            # The slope at a random start says nothing: it is measured from iterate 1.
            if len(errors) == 2:
                first = iterate.projected_gradient
            if self.tol > 0 and iterate.projected_gradient <= self.tol * first:
                stop = Stop.tolerance
                break
            if len(errors) > self.max_iter:
                break
        self._tell(
            solver="anls",
            stop=stop,
            n_iter=len(errors) - 1,
            objective=last.objective,
            history=History(error=np.array(errors), seconds=np.array(seconds)),
        )
        return last
