"""SNMF: a rotation of the spectral square root that is nearly nonnegative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symmf.clustering.base import NonnegativeSymmetric
from symmf.clustering.labels import argmax_rows
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.linalg import inner, top_eigenpairs
from symmf.similarity import Gram, RowFeatures, SymmetricOperator
from symmf.solvers import Factorization, factorize


@dataclass(eq=False, repr=False, kw_only=True)
class SNMF(NonnegativeSymmetric):
    r"""Clustering by symmetric NMF with Procrustes rotations.

    .. math:: \min_{H \ge 0,\, Q^TQ = I} \varphi = \|H - BQ\|_F^2

    where B B^T is the best positive semidefinite approximation of A of rank k, by
    turns

    .. math:: B^TH = U \Sigma V^T, \qquad Q \leftarrow UV^T, \qquad
              H \leftarrow \max(0, BQ) .

    A sample belongs to the largest entry of its row of H.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of columns of H.
    similarity : str
        How A is built from X; negative entries are clipped at zero. By default the
        self-tuning graph of nearest neighbours with normalised-cut scaling.
    similarity_options : dict, optional
        Passed to the similarity.
    n_restarts : int
        Random starts; the one with the smallest phi is kept.
    max_iter : int
        Largest number of iterations of a start.
    tol : float
        Stop when phi falls by at most this share; 0 never stops.
    random_state : int, Generator, RandomState or None
        Seeds the starts, uniform in [0, 1).

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample.
    H_ : (n, n_clusters) array
        The factor.
    phi_ : float
        ||H - B Q||_F^2.
    matrix_ : str
        What was factored, in words.
    solver_ : str
        The solver that ran.
    n_iter_ : int
    stop_ : str
    objective_ : float
        ||A - H H^T||_F^2.
    error_ : float
        The same divided by ||A||_F^2.
    history_ : History
        Of the start that was kept.

    Notes
    -----
    The eigenpairs of A are needed once; an iteration costs O(n k^2), whatever the
    number of features. phi never rises, the error may. X may be sparse.

    References
    ----------
    K. Huang, N. Sidiropoulos, A. Swami, "Non-negative matrix factorization revisited:
    uniqueness and algorithm for symmetric decomposition", IEEE Trans. Signal Process.
    62, 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=[(0, 9), (9, 0)], random_state=0)
    >>> labels = SNMF(2, random_state=0).fit_predict(X)
    >>> len(set(labels[y == 0])), len(set(labels[y == 1]))
    (1, 1)
    """

    n_restarts: int = 1
    max_iter: int = 1000
    tol: float = 1e-8

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        A = self._similarity(X)
        values, vectors = top_eigenpairs(A, self.n_clusters, rng)
        B = (vectors * np.sqrt(np.maximum(values, 0))).astype(A.dtype)
        starts = [
            rng.random((A.shape[0], self.n_clusters)) for _ in range(self.n_restarts)
        ]
        best = self._best_start(B, starts)
        # Once more on A itself: only its error tells how well A is fitted.
        fit = self._solve(A, best)
        self._store(fit, A, self.matrix_)
        self.phi_ = procrustes_distance(fit.H, B)
        self.labels_ = argmax_rows(fit.H, A.matmat(fit.H))

    def _best_start(self, B: FloatArray, starts: Sequence[FloatArray]) -> FloatArray:
        """Return the start that leads to the smallest phi.

        B B^T stands for A: its square root is B too, and its products are cheaper.
        """
        if len(starts) == 1:
            return starts[0]
        low_rank = Gram(RowFeatures(B))
        ends = [self._solve(low_rank, H0).H for H0 in starts]
        phi = [procrustes_distance(H, B) for H in ends]
        return starts[int(np.argmin(phi))]

    def _solve(self, A: SymmetricOperator, H0: FloatArray) -> Factorization:
        # Lanczos gets the same seed every time: starts differ in H0 alone.
        return factorize(
            A,
            self.n_clusters,
            solver="procrustes",
            H0=H0,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=0,
        )


def procrustes_distance(H: FloatArray, B: FloatArray) -> float:
    """Return min ||H - B Q||_F^2 over rotations Q.

    It is ||H||^2 + ||B||^2 - 2 ||B^T H||_*, with the nuclear norm.

    Examples
    --------
    >>> H = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> procrustes_distance(H, H[:, ::-1].copy())
    0.0
    """
    overlap = float(np.linalg.svd(B.T @ H, compute_uv=False).sum())
    return max(0.0, inner(H, H) + inner(B, B) - 2 * overlap)
