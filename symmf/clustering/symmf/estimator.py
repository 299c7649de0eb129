"""The proposed method: factor A - lambda L and cluster the rows of H."""

from __future__ import annotations

import logging
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from symmf.clustering.base import Clusterer, SklearnTransformer, warn_if_collapsed
from symmf.clustering.checks import check_range
from symmf.clustering.labels import unit_rows
from symmf.clustering.labels.assign import Assignment, assign_labels
from symmf.clustering.labels.rows import cluster_means
from symmf.clustering.symmf.extend import GivenExtension
from symmf.clustering.symmf.interpret import Interpretable
from symmf.clustering.symmf.landmarks import Learned, in_blocks, learned_from
from symmf.clustering.symmf.outliers import THRESHOLD
from symmf.clustering.symmf.prepare import Prepared, prepare
from symmf.clustering.symmf.recipe import Recipe, recipe_for, recipe_of_columns
from symmf.clustering.symmf.weights import repeated, times_each
from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.common.seeds import RandomState
from symmf.common.validation import is_dask
from symmf.constraints import ConstraintLike
from symmf.distributed.operators import DistributedMatrix
from symmf.distributed.rows import DistributedRows
from symmf.errors import InputError
from symmf.features.columns import encoder_for
from symmf.similarity import SimilarityName, SymmetricOperator, regularise
from symmf.solvers import Factorization, Solver, SolverName, factorize

logger = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class SymMF(Interpretable, SklearnTransformer, Clusterer):
    r"""Clustering by symmetric matrix factorization with a graph regulariser.

    .. math:: \min_{H \in \mathcal{H}} \|A - HH^T\|_F^2
              + \lambda \sum_{ij} A_{ij} \|h^i - h^j\|_2^2

    which is ||M - H H^T||_F^2 up to a constant, with M = A - lambda L. The rows of H
    are then clustered.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters; ``auto`` chooses it (see :func:`symmf.select`), and gives 1
        if there are no clusters.
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
        ``partitions`` (the share of ``n_partitions`` runs of k-means that put two rows
        together; the choice of ``auto`` for data frames with columns of words),
        ``precomputed``. For dask arrays, whose rows stay where they are: ``auto``,
        ``mutual_knn``, ``text``, ``centred_cosine``, ``cosine``, ``inner_product`` and
        ``precomputed``.
    similarity_options : dict, optional
        Passed to the similarity; for ``text`` ``n_components`` (100), ``tf`` ("raw"
        or "log"), ``floor``, or ``power`` for max(cos, 0)^power of all pairs. For
        every similarity of dense rows ``feature_scale``, what features are divided
        by first: "none", "range" (between the 5 and 95 % quantiles), "deviation", or
        "auto" (with ``mutual_knn``: "range" if few features carry nearly all of the
        variance, else "none"). With ``mutual_knn`` of dense rows and ``text``
        ``n_landmarks``, the number of rows that the fit learns from; the others are
        placed among them. Default: all of up to 20,000 rows; of more, 5000 landmarks,
        which are means of ten times as many rows (100 for each cluster if that is more,
        20,000 at most and for at most 3 features), or 20,000 texts.
    n_columns : int or str, optional
        Columns of H; ``n_clusters`` by default, twice as many for text. ``"k"``,
        ``"2k"`` ...: multiples of the number of clusters.
    solver : str or Solver
        A solver of ``symmf.solvers.SOLVERS`` or an object of your own; or ``auto``:
        the closed form without a constraint, accelerated projected gradient with one.
    solver_options : dict, optional
        Further fields of the solver, such as ``step_scale`` or ``coupling``; and
        ``start``, how H is drawn at the start ("normal", "scaled", "uniform" or
        "symm_mean"; the solver's own choice by default), ``n_starts``, of which the
        one with the smallest error is kept, ``low_rank``, as for
        :func:`symmf.factorize`, ``max_seconds``, a limit of time, ``callback``, a
        function that gets an ``Iteration`` after every iterate and ends the run by
        returning True.
    constraint : str, (str, dict) or Constraint
        The set H lies in. With ``mutual_knn`` or ``text`` a nonnegative H starts from
        the labels found without it.
    labels : {"auto", "kmeans", "cluster_qr", "merge", "average", "argmax"}
        How rows of H get their clusters. ``auto``: ``merge`` for text (clusters of
        unequal sizes), ``argmax`` for a nonnegative H with ``mutual_knn`` or ``text``,
        else k-means.
    label_options : dict, optional
        ``unit_rows``: scale rows of H to unit length first (by default with
        ``mutual_knn`` and ``text``). ``kmeans``: ``n_init``, starts (4 with
        ``mutual_knn``, the first from pivoted QR; else 20), and ``init``
        ("k-means++", "random", or "cluster_qr": the first start from pivoted QR).
        ``merge``: ``exponent``, ``n_micro``, ``cap``. ``average``: ``n_micro``.
        ``noise``: give rows that lie apart (``outlier_score_`` above 1.5) the label -1.
        ``refine``: adjust the labels by a vote of Gaussian mixtures that start from
        them, which helps with touching groups of unequal size and can harm if rows
        contain typing errors.
    max_iter : int
        Largest number of iterations.
    tol : float
        Tolerance of the solver, as in :func:`symmf.factorize`; 0: it never stops early.
    published : bool
        Follow the authors' released code, also where it departs from the paper: centred
        cosines, its loop, and its k-means, which chooses among restarts by the sum of
        unsquared distances.
    verbose : int
        1 or more: log (``logging``) what was chosen and how the fit went.
    random_state : int, Generator, RandomState or None
        Seeds the start and k-means.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each sample.
    H_ : (n, n_clusters) array
        The factor; its rows are those of ``n_landmarks_`` landmarks if not all rows
        were learned from (``fit_transform`` returns a row for every sample).
    n_landmarks_ : int or None
        Size of the matrix that was factored; None: that of the data.
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
    evidence_ : Evidence
        How far to trust the clusters; computed on first use, as are the next two.
    outlier_score_ : (n,) array
        Local outlier factor; about 1: as dense as the neighbours.
    membership_ : (n, n_clusters) array
        How surely each row belongs to each cluster.
    scale_ : {"none", "range", "deviation"}
        What features were divided by.
    units_ratio_ : float or None
        If features are compared as they are: the largest of their standard
        deviations over the smallest. If units differ, the widest features dominate.

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

    n_clusters: int | str = 8
    _: KW_ONLY
    laplacian_weight: float | str = "auto"
    similarity: SimilarityName | Literal["auto", "text"] | str = "auto"
    similarity_options: dict[str, Any] | None = None
    n_columns: int | str | None = None
    solver: SolverName | Literal["auto"] | str | Solver = "auto"
    solver_options: dict[str, Any] | None = None
    constraint: ConstraintLike = "none"
    labels: str = "auto"
    label_options: dict[str, Any] | None = None
    max_iter: int = 300
    tol: float = 1e-6
    published: bool = False
    verbose: int = 0
    random_state: RandomState = None

    def _check_rows(self, X: Any, *, reset: bool = True) -> Any:
        """Check rows; a data frame with words or gaps is encoded first."""
        if is_dask(X):
            return self._check_dask(X, reset=reset)
        if reset:
            self._encoder = encoder_for(X)
        if self._encoder is None:
            return super()._check_rows(X, reset=reset)
        rows = self._encoder.transform(X)
        if reset:
            validate_data(self, X, reset=True, skip_check_array=True)
        return rows

    def _check_dask(self, X: Any, *, reset: bool) -> Any:
        """Do what scikit-learn's validation does, without bringing X here."""
        square = reset and self._precomputed()
        rows = DistributedMatrix(X) if square else DistributedRows.of(X)
        if reset and rows.shape[0] < 2:
            raise InputError(
                f"Found array with {rows.shape[0]} sample(s) while a minimum of 2 is "
                "required."
            )
        return validate_data(self, rows, reset=reset, skip_check_array=True)

    def _scaled(self, X: Any) -> Any:
        if isinstance(X, DistributedRows) and self._input_scale != 1.0:
            return X.times(self._input_scale)
        return super()._scaled(X)

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        similarity, options = self.similarity, self.similarity_options
        if self._encoder is not None:
            similarity, options = recipe_of_columns(self._encoder, similarity, options)
        recipe = recipe_for(
            X,
            similarity,
            options,
            laplacian_weight=self.laplacian_weight,
            n_columns=self.n_columns,
            constraint=self.constraint,
            solver=self.solver,
            solver_options=self.solver_options,
            labels=self.labels,
            label_options=self.label_options,
            published=self.published,
        )
        auto = self.n_clusters == "auto"
        self._remember(X, recipe)
        k = self._choose_number(X, rng) if auto else int(self.n_clusters)
        self.n_clusters_ = k
        learned = Learned(rows=X)
        if recipe.learns_from_part:
            learned = learned_from(
                X, k, recipe.n_landmarks, rng, condensed=recipe.distinct
            )
        data = prepare(learned.rows, recipe, k, learned.n_landmarks)
        M = regularise(data.A, recipe.weight)
        # What labels draw does not depend on how much the solver has drawn: solvers
        # that find the same H find the same labels.
        labels_rng = rng.spawn(1)[0]
        fit = self._factorize(M, rng)
        assigned = self._assign(fit.H, M, recipe, labels_rng, data)
        if recipe.refine:
            if learned.others is not None:
                raise InputError(
                    "label_options={'refine': True} looks at all rows, and there are "
                    f"{X.shape[0]}; leave it out, or give as many n_landmarks."
                )
            assigned = self._refine(X, assigned, data, fit.H, rng)
        self.n_landmarks_ = None if learned.others is None else len(fit.H)
        self._store(fit, M, recipe.words(data.scaling.kind, self.n_landmarks_))
        self._assignment, self.labels_ = assigned, assigned.labels
        self._store_choices(data)
        if learned.others is not None:
            self._assignment = assigned.of_samples(self._place(learned.others))
            self.labels_ = self._assignment.labels

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : (n, m) array, frame, scipy sparse matrix or dask array
            One sample per row, or an (n, n) similarity if ``precomputed``.
        y : ignored
        sample_weight : (n,) array of whole numbers, optional
            How often each row counts: the same as repeating it. A row of weight 0 is
            left out, and placed afterwards as ``predict`` would, if the similarity
            places new rows.

        Returns
        -------
        self
        """
        times = None if sample_weight is None else times_each(X, sample_weight)
        square = self._precomputed()
        super().fit(X if times is None else repeated(X, times, square=square), y)
        if self._recipe.noise:
            self.labels_ = np.where(self.outlier_score_ > THRESHOLD, -1, self.labels_)
        if times is not None:
            self._store_once(X, times)
        return self

    def _store_once(self, X: Any, times: npt.NDArray[np.intp]) -> None:
        """Keep one result of each row, which was clustered as often as it counts."""
        rows = self._check_rows(X, reset=self._precomputed())
        if self._precomputed():
            columns = np.repeat(np.arange(len(times)), times)
            given = GivenExtension(H=self.H_, columns=columns)
            self._new_points = replace(self._new_points, extension=given)
        first = np.minimum(np.cumsum(times) - times, times.sum() - 1)
        self.labels_ = self.labels_[first]
        assigned = self._assignment.labels[first]
        if self.n_landmarks_ is None:
            self.H_ = self.H_[first]
            self.P_ = None if self.P_ is None else self.P_[first]
        out = times == 0
        if out.any():
            new = self._extend(_safe_indexing(X, np.flatnonzero(out)))
            self.labels_[out] = assigned[out] = self._assignment.assign(new)
            if self.n_landmarks_ is None:
                self.H_[out] = new
        # Evidence looks at each row once.
        self._assignment = replace(self._assignment, labels=assigned)
        self._remember(self._scaled(rows), self._recipe)

    def _refine(
        self,
        X: AnyMatrix,
        assigned: Assignment,
        data: Prepared,
        H: FloatArray,
        rng: np.random.Generator,
    ) -> Assignment:
        """Return refined labels, with the centres of the refined clusters."""
        from symmf.clustering.symmf.refine import refine_labels

        rows = data.scaling.apply(np.asarray(X, dtype=np.float64))
        labels = refine_labels(rows, assigned.labels, self.n_clusters_, rng)
        H = data.with_copies(H)
        Z, count = unit_rows(H) if assigned.unit else H, int(labels.max()) + 1
        return replace(
            assigned,
            labels=labels,
            centres=cluster_means(Z, labels, count),
            centre_labels=np.arange(count),
        )

    def _factorize(
        self, M: SymmetricOperator, rng: np.random.Generator
    ) -> Factorization:
        recipe = self._recipe
        k = min(recipe.n_columns(self.n_clusters_), M.shape[0])
        H0 = None
        if recipe.starts_from_labels:
            H0 = self._start_from_labels(M, k, rng)
        fit = factorize(
            M,
            k,
            solver=recipe.solver,
            constraint=recipe.constraint,
            H0=H0,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=rng,
            **recipe.loop,
        )
        # The closed form shows in its columns what is left of the spectrum.
        squares = np.einsum("ij,ij->j", fit.H, fit.H, dtype=np.float64)
        filled = np.count_nonzero(squares > 1e-12 * squares.max())
        whole = fit.solver.one_shot and filled >= self.n_clusters_
        if fit.constraint.name == "none" and not whole:
            warn_if_collapsed(M, fit.H, recipe.weight, rng)
        return fit

    def _start_from_labels(
        self, M: SymmetricOperator, k: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return indicators of the labels found without a constraint, best scaled."""
        text = self._recipe.text is not None
        free = self._recipe.assigned_by("merge" if text else "kmeans")
        H = factorize(M, k, solver="eigen", random_state=rng).H
        labels = self._assign(H, M, free, rng).labels
        H0 = np.zeros((M.shape[0], k), M.dtype)
        H0[np.arange(len(labels)), labels] = 1.0
        sizes = np.maximum(H0.sum(axis=0), 1.0)
        # The multiple of each column that fits M best: <y, M y> / ||y||^4 squared.
        fits = np.einsum("ij,ij->j", H0, M.matmat(H0)) / sizes**2
        return np.asarray(H0 * np.sqrt(np.maximum(fits, 1e-3 / sizes)))

    def _assign(
        self,
        H: FloatArray,
        M: SymmetricOperator,
        recipe: Recipe,
        rng: np.random.Generator,
        data: Prepared | None = None,
    ) -> Assignment:
        return assign_labels(
            H,
            self.n_clusters_,
            recipe.labels,
            recipe.label_options,
            unit=recipe.unit_rows,
            published=recipe.published,
            product=M.matmat,
            rng=rng,
            copy_of=None if data is None else data.copy_of,
            counts=None if data is None else data.counts,
        )

    def _store_choices(self, data: Prepared) -> None:
        """Set what was chosen and what new points need."""
        H, recipe = self.H_, self._recipe
        squares = np.linalg.eigvalsh(np.asarray(H.T @ H, dtype=np.float64))
        self.eigenvalues_: FloatArray = np.maximum(squares[::-1], 0)
        self._new_points = data.new_points(H, recipe.weight)
        self.H_ = data.rows_of_samples(H)
        self.P_ = None if self.P_ is None else data.rows_of_samples(self.P_)
        self.similarity_ = recipe.name
        self.scale_ = data.scaling.kind
        self.units_ratio_ = data.units_ratio
        self.laplacian_weight_ = recipe.weight
        self._n_features_out = H.shape[1]
        logger.log(
            logging.INFO if self.verbose else logging.DEBUG,
            "SymMF: %d clusters; similarity %s, scale %s, lambda %g, solver %s, "
            "labels by %s",
            self.n_clusters_,
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
        X : (n_new, m) array, scipy sparse matrix or dask array
            For ``precomputed`` the similarities of new rows to the training rows.

        Returns
        -------
        (n_new, n_columns) array
        """
        return self._extend(X)

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> FloatArray:
        """Cluster the rows of X and return their rows of H.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.

        Returns
        -------
        (n, n_columns) array
        """
        self.fit(X, y, sample_weight)
        return self.H_ if self.n_landmarks_ is None else self._extend(X)

    def predict(self, X: Any) -> LabelArray:
        """Return the clusters of new rows: those of the nearest centres in H.

        A copy of a training row gets the row of H of that row, and so its label, unless
        ``label_options`` ask for ``noise`` (new rows are never flagged) or ``refine``
        (which moves rows between clusters that touch in H).

        Parameters
        ----------
        X : (n_new, m) array, frame, scipy sparse matrix or dask array

        Returns
        -------
        (n_new,) array of int
        """
        return self._place(self._new_rows(X))

    def _place(self, X: Any) -> LabelArray:
        """Return the clusters of checked rows, a block at a time."""
        extend, assign = self._new_points.extend, self._assignment.assign
        labels: LabelArray = in_blocks(lambda block: assign(extend(block)), X)
        return labels

    def _extend(self, X: Any) -> FloatArray:
        """Return rows of H; scikit-learn may turn those of ``transform`` to frames."""
        rows: FloatArray = in_blocks(self._new_points.extend, self._new_rows(X))
        return rows

    def _new_rows(self, X: Any) -> Any:
        """Check rows, and bring them into the scale of the fit."""
        check_is_fitted(self)
        rows = self._scaled(self._check_rows(X, reset=False))
        if not is_dask(X):
            check_range(rows, new=True)
        return rows
