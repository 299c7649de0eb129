"""The proposed method: factor A - lambda L and cluster the rows of H."""

from __future__ import annotations

import logging
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from symmf.clustering.base import Clusterer, matrix_words, warn_if_collapsed
from symmf.clustering.checks import check_indices, check_squares
from symmf.clustering.labels.assign import Reader, read_labels
from symmf.clustering.symmf.distributed import (
    distributed_recipe,
    extend_distributed,
    is_distributed,
    prepare_distributed,
)
from symmf.clustering.symmf.prepare import Prepared, prepare
from symmf.clustering.symmf.recipe import LABELS, Recipe, changed, recipe_for
from symmf.clustering.symmf.select import LARGEST, choose_n_clusters
from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.common.seeds import RandomState
from symmf.common.validation import check_choice, check_number
from symmf.constraints import ConstraintLike, as_constraint
from symmf.distributed.rows import is_dask
from symmf.errors import InputError
from symmf.similarity import SimilarityName, SymmetricOperator, regularise
from symmf.solvers import SolverName, factorize
from symmf.solvers.base import Callback

logger = logging.getLogger(__name__)


class SymMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    r"""Clustering by symmetric matrix factorization with a graph regulariser.

    .. math:: \min_{H \in \mathcal{H}} \|A - HH^T\|_F^2
              + \lambda \sum_{ij} A_{ij} \|h^i - h^j\|_2^2

    which is ||M - H H^T||_F^2 up to a constant, with M = A - lambda L. The rows of H
    are then clustered.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; ``auto`` chooses it (see :func:`symmf.select`).
    laplacian_weight : float or "auto"
        lambda, the weight of the graph regulariser; ``auto``: 0.05 for text, else 0.5.
        It moves the spectrum of M down: above a threshold M has fewer than
        ``n_clusters`` positive eigenvalues and H loses columns (a warning says so).
    similarity : str
        How A is built from X. ``auto``: for dense rows ``mutual_knn``, mutual nearest
        neighbours joined by a spanning tree; for sparse rows ``text``, latent semantic
        analysis of counts or weights of terms. Others: ``centred_cosine`` (the
        authors' choice), ``cosine``, ``inner_product``, ``gaussian``, ``self_tuning``,
        ``cosine_knn``, ``scaled_gram``, ``cosine_power``, ``diffusion``,
        ``precomputed``. Rows of a dask array stay where they are: ``centred_cosine``
        (also for ``auto``, with a warning), ``cosine``, ``inner_product`` or
        ``precomputed``.
    similarity_options : dict, optional
        Passed to the similarity; for ``text`` ``n_components`` (100), ``tf`` ("raw"
        or "log"), ``floor``, or ``power`` for max(cos, 0)^power of all pairs.
    scale : {"auto", "none", "range", "deviation"}
        What dense features are divided by. ``auto`` (with ``mutual_knn``): the range
        between the 5 and 95 % quantiles, if few features carry nearly all of the
        variance.
    n_columns : int or str, optional
        Columns of H; ``n_clusters`` by default, twice as many for text. ``"k"``,
        ``"2k"`` ...: so many times the number of clusters.
    unit_rows : bool, optional
        Scale rows of H to unit length before labels are read; by default with
        ``mutual_knn`` and ``text``.
    solver : str
        A solver of ``symmf.solvers.SOLVERS``, or ``auto``: the closed form without
        a constraint, accelerated projected gradient with one.
    constraint : str, (str, dict) or Constraint
        The set H lies in. With ``mutual_knn`` or ``text`` a nonnegative H starts from
        the labels found without it.
    labels : {"auto", "kmeans", "cluster_qr", "merge", "average", "argmax"}
        How clusters are read off H. ``auto``: ``merge`` for text (clusters of unequal
        sizes), ``argmax`` for a nonnegative H with ``mutual_knn`` or ``text``, else
        k-means.
    label_options : dict, optional
        ``kmeans``: ``n_init`` and ``init`` ("k-means++", "random", or "cluster_qr":
        the first start from pivoted QR). ``merge``: ``exponent``, ``n_micro``,
        ``cap``.
    n_init : int, optional
        Starts of that k-means; 4 with ``mutual_knn``, the first from pivoted QR, else
        20.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when the objective falls by at most ``tol * ||M||_F^2`` twice in a row; 0
        never stops.
    start : {"normal", "scaled", "uniform", "symm_mean"}, optional
        How H is drawn at the start; the solver's own choice by default.
    published : bool
        Follow the authors' released code, faults included: centred cosines, its loop,
        and its k-means, which chooses among restarts by the sum of unsquared
        distances.
    solver_options : dict, optional
        Further fields of the solver, such as ``step_scale`` or ``coupling``.
    max_seconds : float, optional
        Stop the solver after this time.
    callback : callable, optional
        Gets an ``Iteration`` after every iterate; returning True stops.
    verbose : int
        1 or more: say in the log (``logging``) what was chosen and how it went.
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
    matrix_ : str
        What was factored, in words.
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
    >>> model = SymMF(n_clusters=3, random_state=0).fit(X)
    >>> model.labels_.shape, model.similarity_, model.solver_
    ((60,), 'mutual_knn', 'eigen')
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    chooses_n_clusters = True
    accepts_dask = True

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        laplacian_weight: float | str = "auto",
        similarity: SimilarityName | Literal["auto", "text"] | str = "auto",
        similarity_options: dict[str, Any] | None = None,
        scale: str = "auto",
        n_columns: int | str | None = None,
        unit_rows: bool | None = None,
        solver: SolverName | Literal["auto"] | str = "auto",
        constraint: ConstraintLike = "none",
        labels: str = "auto",
        label_options: dict[str, Any] | None = None,
        n_init: int | None = None,
        max_iter: int = 300,
        tol: float = 1e-6,
        start: str | None = None,
        published: bool = False,
        solver_options: dict[str, Any] | None = None,
        max_seconds: float | None = None,
        callback: Callback | None = None,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.laplacian_weight = laplacian_weight
        self.similarity = similarity
        self.similarity_options = similarity_options
        self.scale = scale
        self.n_columns = n_columns
        self.unit_rows = unit_rows
        self.solver = solver
        self.constraint = constraint
        self.labels = labels
        self.label_options = label_options
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.start = start
        self.published = published
        self.solver_options = solver_options
        self.max_seconds = max_seconds
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        check_choice("labels", self.labels, LABELS)
        if self.n_init is not None:
            check_number("n_init", self.n_init, least=1, whole=True)
        recipe = self._recipe(X)
        most = LARGEST if self.n_clusters == "auto" else int(self.n_clusters)
        options = self.similarity_options or {}
        if is_distributed(X):
            data = prepare_distributed(X, recipe, options)
        else:
            data = prepare(X, recipe, options, most)
        if self.n_clusters == "auto":
            self.n_clusters_ = choose_n_clusters(data.A, rng)
        else:
            self.n_clusters_ = int(self.n_clusters)
        M = regularise(data.A, recipe.weight)
        self._factorize(M, data, recipe, rng)
        reader = self._labels_of(self.H_, M, recipe, rng)
        self._keep(data, reader, recipe)

    def _recipe(self, X: AnyMatrix) -> Recipe:
        """Return every choice, the user's and the data's."""
        if is_distributed(X):
            recipe = distributed_recipe(self.similarity, published=self.published)
        else:
            recipe = recipe_for(X, self.similarity, published=self.published)
        weight, labels = self.laplacian_weight, self.labels
        if isinstance(weight, str) and weight != "auto":
            raise InputError(
                f"laplacian_weight (lambda) is a number >= 0 or 'auto', not {weight!r}."
            )
        positive = as_constraint(self.constraint).name == "nonnegative"
        if recipe.unit_rows and positive and labels == "auto":
            labels = "argmax"
        options = dict(self.label_options or {})
        chosen = labels if labels != "auto" else recipe.labels
        if self.n_init is not None and chosen == "kmeans":
            options["n_init"] = self.n_init
        return changed(
            recipe,
            weight=weight,
            labels=labels,
            label_options=options,
            unit_rows=self.unit_rows,
            scale=self.scale,
        )

    def _columns(self, recipe: Recipe) -> int:
        if isinstance(self.n_columns, str):
            times = self.n_columns.removesuffix("k") or "1"
            if not self.n_columns.endswith("k") or not times.isdigit():
                raise InputError(
                    "n_columns is a whole number >= 1, or so many times n_clusters, as "
                    f"in 'k' or '2k', not {self.n_columns!r}."
                )
            return int(times) * self.n_clusters_
        if self.n_columns is not None:
            check_number("n_columns", self.n_columns, least=1, whole=True)
            return int(self.n_columns)
        if as_constraint(self.constraint).name != "none":
            return self.n_clusters_
        return recipe.columns * self.n_clusters_

    def _factorize(
        self,
        M: SymmetricOperator,
        data: Prepared,
        recipe: Recipe,
        rng: np.random.Generator,
    ) -> None:
        solver, options = self._choose_solver()
        k = min(self._columns(recipe), M.shape[0])
        H0 = None
        name = as_constraint(self.constraint).name
        if recipe.unit_rows and name == "nonnegative" and self.start is None:
            H0 = self._start_from_labels(M, k, recipe, rng)
        fit = factorize(
            M,
            k,
            solver=solver,
            constraint=self.constraint,
            H0=H0,
            max_iter=self.max_iter,
            tol=self.tol,
            start=self.start,
            max_seconds=self.max_seconds,
            callback=self.callback,
            random_state=rng,
            **options,
        )
        # The closed form shows in its columns what is left of the spectrum.
        whole = fit.solver.one_shot and data.rank(fit.H) >= self.n_clusters_
        if fit.constraint.name == "none" and not whole:
            warn_if_collapsed(M, fit.H, recipe.weight, rng)
        self._store(fit, M, self._words(data, recipe))
        squares = np.linalg.eigvalsh(np.asarray(fit.H.T @ fit.H, dtype=np.float64))
        self.eigenvalues_: FloatArray = np.maximum(squares[::-1], 0)

    def _words(self, data: Prepared, recipe: Recipe) -> str:
        """Say which matrix is factored, with all that was chosen."""
        options = dict(self.similarity_options or {})
        if data.scaling.kind != "none":
            options["scale"] = data.scaling.kind
        name = "text" if recipe.text else recipe.similarity
        return matrix_words(name, options, recipe.weight)

    def _start_from_labels(
        self, M: SymmetricOperator, k: int, recipe: Recipe, rng: np.random.Generator
    ) -> FloatArray:
        """Return indicators of the labels found without a constraint, best scaled."""
        free = changed(recipe, labels="merge" if recipe.text else "kmeans")
        H = factorize(M, k, solver="eigen", random_state=rng).H
        raw = self._labels_of(H, M, free, rng).labels
        H0 = np.zeros((M.shape[0], k), M.dtype)
        H0[np.arange(len(raw)), raw] = 1.0
        sizes = np.maximum(H0.sum(axis=0), 1.0)
        # The multiple of each column that fits M best: <y, M y> / ||y||^4 squared.
        fits = np.einsum("ij,ij->j", H0, M.matmat(H0)) / sizes**2
        return np.asarray(H0 * np.sqrt(np.maximum(fits, 1e-3 / sizes)))

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

    def _labels_of(
        self,
        H: FloatArray,
        M: SymmetricOperator,
        recipe: Recipe,
        rng: np.random.Generator,
    ) -> Reader:
        return read_labels(
            H,
            self.n_clusters_,
            recipe.labels,
            recipe.label_options,
            unit=recipe.unit_rows,
            published=self.published,
            product=M.matmat,
            rng=rng,
        )

    def _keep(self, data: Prepared, reader: Reader, recipe: Recipe) -> None:
        """Keep what was chosen and what new points need."""
        self._factor = self.H_
        self._new_points = data.new_points(self.H_)
        self.similarity_ = "text" if recipe.text else recipe.similarity
        self.scale_ = data.scaling.kind
        self.laplacian_weight_ = recipe.weight
        if data.copy_of is not None:
            reader = reader.copied(data.copy_of)
            self.H_ = self.H_[data.copy_of]
            self.P_ = None if self.P_ is None else self.P_[data.copy_of]
        self._reader, self.labels_ = reader, reader.labels
        self._n_features_out = self.H_.shape[1]
        logger.log(
            logging.INFO if self.verbose else logging.DEBUG,
            "SymMF: %d clusters of %d rows; similarity %s, scale %s, lambda %g, "
            "solver %s, labels by %s",
            self.n_clusters_,
            len(self.labels_),
            self.similarity_,
            self.scale_,
            recipe.weight,
            self.solver_,
            recipe.labels,
        )

    def transform(self, X: Any) -> FloatArray:
        """Return rows of H for the rows of X (Nystrom on the same similarity).

        Parameters
        ----------
        X : (n_new, m) array or scipy sparse matrix
            For ``precomputed`` the similarities of new rows to the training rows.

        Returns
        -------
        (n_new, n_columns) array
        """
        return self._rows_of(X)

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Cluster the rows of X and return their rows of H."""
        return self.fit(X, y).H_

    def predict(self, X: Any) -> LabelArray:
        """Return the clusters of new rows: those of the nearest centres in H.

        A copy of a training row gets the row of H of that row.
        """
        rows = self._rows_of(X)
        return self._reader.read(rows)

    def _rows_of(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if is_dask(X):
            return extend_distributed(X, self)
        check_indices(X)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        X = self._scaled(X)
        check_squares(X)
        return self._new_points.extend(X, self._factor, self.laplacian_weight_)
