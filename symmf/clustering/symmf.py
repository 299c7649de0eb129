"""The proposed method: factor A - lambda L and cluster the rows of H."""

from __future__ import annotations

from typing import Any

import numpy as np

from symmf.clustering.base import Clusterer, warn_if_collapsed
from symmf.constraints import ConstraintLike, as_constraint
from symmf.labels import argmax_rows, kmeans_rows, litekmeans
from symmf.notation import AnyMatrix
from symmf.seeds import RandomState
from symmf.similarity import SymmetricOperator, build_similarity, regularise
from symmf.solvers import factorize
from symmf.validation import check_choice, check_number


class SymMF(Clusterer):
    r"""Clustering by symmetric matrix factorization with a graph regulariser.

    .. math:: \min_{H \in \mathcal{H}} \|A - HH^T\|_F^2
              + \lambda \sum_{ij} A_{ij} \|h^i - h^j\|_2^2

    which is ||M - H H^T||_F^2 up to a constant, with M = A - lambda L. The rows of H
    are then clustered.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, and of columns of H.
    laplacian_weight : float
        lambda, the weight of the graph regulariser. It moves the spectrum of M down:
        above a threshold M has fewer than ``n_clusters`` positive eigenvalues and H
        loses columns (a warning says so).
    similarity : str
        How A is built from X: ``centred_cosine`` (the authors' choice), ``cosine``,
        ``inner_product``, ``gaussian``, ``self_tuning``, ``cosine_knn`` or
        ``precomputed``.
    similarity_options : dict, optional
        Passed to the similarity.
    solver : str
        A solver of ``symmf.solvers.SOLVERS``, or ``auto``: the closed form without
        a constraint, accelerated projected gradient with one.
    constraint : str, (str, dict) or Constraint
        The set H lies in.
    labels : {"auto", "kmeans", "argmax"}
        How clusters are read off H. ``auto``: k-means, as the authors do for every
        set; ``argmax`` is for nonnegative sets.
    n_init : int
        Restarts of that k-means.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when the objective falls by at most ``tol * ||M||_F^2`` twice in a row; 0
        never stops.
    start : {"normal", "scaled", "uniform", "symm_mean"}, optional
        How H is drawn at the start; the solver's own choice by default.
    published : bool
        Follow the authors' released code, faults included: its loop, and its k-means,
        which chooses among restarts by the sum of unsquared distances.
    solver_options : dict, optional
        Further fields of the solver, such as ``step_scale`` or ``coupling``.
    random_state : int, Generator, RandomState or None
        Seeds the start and k-means.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample.
    H_ : (n, n_clusters) array
        The factor.
    P_ : (n, n_clusters) array or None
        The second factor of a split method.
    solver_ : str
        The solver that ran.
    n_iter_ : int
    stop_ : str
    objective_ : float
        ||M - H H^T||_F^2.
    error_ : float
        The same divided by ||M||_F^2.
    history_ : History

    References
    ----------
    M. Zhang and K. Liu, "Rethinking Symmetric Matrix Factorization: A More General
    and Better Clustering Perspective", 2022.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from symmf import SymMF
    >>> X, y = make_blobs(60, centers=3, n_features=5, random_state=0)
    >>> SymMF(n_clusters=3, random_state=0).fit_predict(X).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        laplacian_weight: float = 0.5,
        similarity: str = "centred_cosine",
        similarity_options: dict[str, Any] | None = None,
        solver: str = "auto",
        constraint: ConstraintLike = "none",
        labels: str = "auto",
        n_init: int = 20,
        max_iter: int = 300,
        tol: float = 1e-6,
        start: str | None = None,
        published: bool = False,
        solver_options: dict[str, Any] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.laplacian_weight = laplacian_weight
        self.similarity = similarity
        self.similarity_options = similarity_options
        self.solver = solver
        self.constraint = constraint
        self.labels = labels
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.start = start
        self.published = published
        self.solver_options = solver_options
        self.random_state = random_state

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        check_choice("labels", self.labels, ("auto", "kmeans", "argmax"))
        check_number("n_init", self.n_init, least=1, whole=True)
        A = build_similarity(X, self.similarity, **(self.similarity_options or {}))
        M = regularise(A, self.laplacian_weight)
        self._factorize(M, rng)
        self._read_labels(M, rng)

    def _factorize(self, M: SymmetricOperator, rng: np.random.Generator) -> None:
        solver, options = self._choose_solver()
        fit = factorize(
            M,
            self.n_clusters,
            solver=solver,
            constraint=self.constraint,
            max_iter=self.max_iter,
            tol=self.tol,
            start=self.start,
            random_state=rng,
            **options,
        )
        if fit.constraint.name == "none":
            warn_if_collapsed(M, fit.H, self.laplacian_weight, rng)
        self._store(fit, M)

    def _choose_solver(self) -> tuple[str, dict[str, Any]]:
        options = dict(self.solver_options or {})
        if self.solver != "auto":
            return self.solver, {"published": self.published, **options}
        constraint = as_constraint(self.constraint)
        if self.published:
            return "projected_gradient", {"published": True, **options}
        if constraint.name == "none" and not options:
            return "eigen", {}
        if constraint.discrete or constraint.name == "none":
            return "projected_gradient", options
        return "projected_gradient", {"acceleration": "momentum", **options}

    def _read_labels(self, M: SymmetricOperator, rng: np.random.Generator) -> None:
        if self.labels == "argmax":
            self.labels_ = argmax_rows(self.H_, M.matmat(self.H_))
        elif self.published:
            run = litekmeans(
                self.H_, self.n_clusters, n_init=self.n_init, random_state=rng
            )
            self.labels_ = run.labels
        else:
            self.labels_ = kmeans_rows(
                self.H_, self.n_clusters, n_init=self.n_init, random_state=rng
            )
