"""SymHALS: two nonnegative factors, updated column by column and tied together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symmf.clustering.base import NonnegativeSymmetric
from symmf.clustering.labels import argmax_rows
from symmf.common.notation import AnyMatrix
from symmf.solvers import factorize

# Entries of a graph with normalised-cut scaling are small; those of a cosine are not.
_COUPLING_NCUT, _COUPLING_OTHER = 0.66, 1.0
# What ``tol=None`` stands for: an extrapolated step gains more than a plain one.
_TOL, _PLAIN_TOL = 1e-4, 1e-5


@dataclass(eq=False, repr=False, kw_only=True)
class SymHALS(NonnegativeSymmetric):
    r"""Clustering by symmetric NMF with hierarchical alternating least squares.

    .. math:: \min_{H, P \ge 0} \|A - HP^T\|_F^2 + \mu \|H - P\|_F^2

    Columns are updated one after the other,

    .. math:: h_j \leftarrow \max\Big(0, \frac{\bar A_j p_j + \mu p_j}
              {\|p_j\|^2 + \mu}\Big), \qquad \bar A_j = A - \sum_{l \ne j} h_l p_l^T ,

    and likewise those of P. A sample belongs to the largest entry of its row of P.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of columns of H and P.
    coupling : float, "bound" or None
        mu, which ties the factors together. None is 0.66 for a similarity with
        normalised-cut scaling and 1 for others; ``"bound"`` the smallest value for
        which H = P is proved in the limit.
    order : {"factors", "columns"}
        All of H, then all of P (the original program); or h_j, p_j in turn (the
        publication).
    start : {"symm_mean", "uniform", "scaled", "normal"}
        How H = P is drawn. The original demonstration takes ``uniform`` in [0, 1),
        which is far above the entries of a scaled graph; ``symm_mean`` (uniform, scaled
        to the mean of A) ended at a lower objective in every comparison made.
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
        When to stop, as in :func:`symmf.factorize`; 0 never stops. By default 1e-4, and
        1e-5 where nothing is extrapolated.
    published : bool
        Plain updates as in the original program. By default they are extrapolated
        (with ``order="factors"``), which needs fewer of them.
    random_state : int, Generator, RandomState or None
        Seeds the start.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample.
    H_, P_ : (n, n_clusters) arrays
        The two factors.
    gap_ : float
        ||H - P||_F / ||P||_F; well above 1e-3 means that a larger coupling is needed.
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
    Two products with A and O(n k^2) per iteration; the objective never rises. A may be
    implicit, so sparse X stays sparse.

    References
    ----------
    Z. Zhu, X. Li, K. Liu, Q. Li, "Dropping symmetry for fast symmetric nonnegative
    matrix factorization", NeurIPS 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=[(0, 9), (9, 0)], random_state=0)
    >>> labels = SymHALS(2, random_state=0).fit_predict(X)
    >>> len(set(labels[y == 0])), len(set(labels[y == 1]))
    (1, 1)
    """

    coupling: float | str | None = None
    order: str = "factors"
    start: str = "symm_mean"
    n_restarts: int = 1
    max_iter: int = 500
    tol: float | None = None
    published: bool = False

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        A = self._similarity(X)
        plain = self.published or self.order != "factors"
        usual = _PLAIN_TOL if plain else _TOL
        fit = factorize(
            A,
            self.n_clusters,
            solver="sym_hals",
            coupling=self._coupling(),
            order=self.order,
            acceleration="none" if plain else "extrapolation",
            published=self.published,
            start=self.start,
            n_starts=self.n_restarts,
            max_iter=self.max_iter,
            tol=usual if self.tol is None else self.tol,
            random_state=rng,
        )
        self._store(fit, A, self.matrix_)
        assert fit.P is not None
        size = float(np.linalg.norm(fit.P)) or 1.0
        self.gap_ = float(np.linalg.norm(fit.H - fit.P)) / size
        self.labels_ = argmax_rows(fit.P, A.matmat(fit.P))

    def _coupling(self) -> float | str:
        if self.coupling is not None:
            return self.coupling
        options = self.similarity_options or {}
        graph = self.similarity in ("self_tuning", "cosine_knn")
        ncut = graph and options.get("ncut", True)
        return _COUPLING_NCUT if ncut else _COUPLING_OTHER
