"""SymNMF: symmetric nonnegative matrix factorization of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symmf.clustering.base import NonnegativeSymmetric
from symmf.clustering.labels import argmax_rows
from symmf.common.notation import AnyMatrix
from symmf.common.validation import check_choice
from symmf.solvers import factorize

#: up to this many samples the authors take Newton's method
NEWTON_LIMIT = 2000
# The algorithms, and what ``tol=None`` stands for.
_TOL = {"gradient": 1e-6, "newton": 1e-3, "anls": 1e-3}


@dataclass(eq=False, repr=False, kw_only=True)
class SymNMF(NonnegativeSymmetric):
    r"""Clustering by symmetric nonnegative matrix factorization.

    .. math:: \min_{H \ge 0} \|A - HH^T\|_F^2

    by projected gradient with momentum; by the authors' Newton-like method on the free
    entries of each column; or by their alternating least squares on

    .. math:: \min_{W, H \ge 0} \|A - WH^T\|_F^2 + \alpha \|W - H\|_F^2 .

    A sample belongs to the largest entry of its row of H.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of columns of H.
    algorithm : {"auto", "gradient", "newton", "anls"}
        ``auto`` is projected gradient, which ends at the same objective in a fraction
        of the time; as published, Newton up to 2000 samples and alternating least
        squares above.
    coupling : float, optional
        alpha of the alternating method; by default the square of the largest entry of
        A.
    similarity : str
        How A is built from X; negative entries are clipped at zero. By default the
        self-tuning graph of nearest neighbours with normalised-cut scaling.
    similarity_options : dict, optional
        Passed to the similarity.
    n_restarts : int
        Random starts; the one with the smallest objective is kept.
    max_iter : int
        Largest number of iterations of a start.
    tol : float, optional
        0 never stops. ``gradient`` stops as :func:`symmf.factorize` does, by default at
        1e-6; the others when the projected gradient has shrunk by this factor, by
        default 1e-3 as in the authors' own clustering program.
    published : bool
        The authors' algorithms, with Cholesky factors in Newton's.
    random_state : int, Generator, RandomState or None
        Seeds the start, uniform and scaled to the mean of A.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample.
    H_ : (n, n_clusters) array
        The factor.
    P_ : (n, n_clusters) array or None
        W of the alternating method.
    algorithm_ : {"gradient", "newton", "anls"}
        What was used.
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

    Notes
    -----
    Projected gradient needs one product with A per iteration, Newton about twenty (by
    conjugate gradients; as published it factors up to k dense n x n matrices). The
    alternating method needs two products and two nonnegative least squares. A may be
    implicit, but for Newton as published.

    References
    ----------
    D. Kuang, S. Yun, H. Park, "SymNMF: nonnegative low-rank approximation of a
    similarity matrix for graph clustering", J. Global Optim. 62, 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=[(0, 9), (9, 0)], random_state=0)
    >>> labels = SymNMF(2, random_state=0).fit_predict(X)
    >>> len(set(labels[y == 0])), len(set(labels[y == 1]))
    (1, 1)
    """

    algorithm: str = "auto"
    coupling: float | None = None
    n_restarts: int = 1
    max_iter: int = 1000
    tol: float | None = None
    published: bool = False

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        check_choice("algorithm", self.algorithm, ("auto", *_TOL))
        A = self._similarity(X)
        self.algorithm_ = self._algorithm(A.shape[0])
        fit = factorize(
            A,
            self.n_clusters,
            constraint="nonnegative",
            start="symm_mean",
            n_starts=self.n_restarts,
            max_iter=self.max_iter,
            tol=_TOL[self.algorithm_] if self.tol is None else self.tol,
            random_state=rng,
            **self._solver(),
        )
        self._store(fit, A, self.matrix_)
        self.labels_ = argmax_rows(fit.H, A.matmat(fit.H))

    def _algorithm(self, n: int) -> str:
        if self.algorithm != "auto":
            return self.algorithm
        if not self.published:
            return "gradient"
        return "newton" if n <= NEWTON_LIMIT else "anls"

    def _solver(self) -> dict[str, Any]:
        if self.algorithm_ == "anls":
            return {"solver": "symnmf_anls", "coupling": self.coupling}
        if self.algorithm_ == "newton":
            method = "cholesky" if self.published else "cg"
            return {"solver": "newton", "method": method}
        return {"solver": "projected_gradient", "acceleration": "momentum"}
