"""What the estimators share: reading input, building the similarity, checks, traces."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from symmf.clustering.checks import (
    check_n_clusters,
    check_nonnegative,
    check_parameters,
    safe_scale,
)
from symmf.clustering.labels import number_by_size
from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.common.seeds import RandomState, as_generator
from symmf.common.validation import check_columns, is_dask
from symmf.errors import InputError, SymmfWarning
from symmf.linalg import top_eigenpairs
from symmf.linalg.checks import check_sparse
from symmf.linalg.threads import one_thread
from symmf.similarity import SymmetricOperator, build_similarity
from symmf.similarity.transforms import clip_nonnegative
from symmf.solvers import Factorization, Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What happened at each iterate: what an experiment stores as a trace."""

    error: FloatArray
    split_error: FloatArray | None = None
    seconds: FloatArray | None = None


class ClusterMethod(Protocol):
    """What a method of ``symmf.METHODS`` makes: a clusterer, ours or another's."""

    labels_: LabelArray

    def fit(self, X: Any) -> Self:
        """Cluster the rows of X."""


if TYPE_CHECKING:

    class SklearnClusterer:
        """What scikit-learn's classes write, with types, of which they have none.

        A base without types would let mypy take any parameter of a dataclass.
        """

        def __getattr__(self, name: str) -> Any:
            """Let anything be asked for."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters by name."""

        def set_params(self, **params: Any) -> Self:
            """Change parameters."""

        def fit_predict(self, X: Any, y: Any = None) -> LabelArray:
            """Cluster the rows of X and return their labels."""

        def __sklearn_tags__(self) -> Any:
            """Return what the estimator takes."""

    class SklearnTransformer(SklearnClusterer):
        """The same of its mixins for transformers."""

else:

    class SklearnClusterer(ClusterMixin, BaseEstimator):
        """scikit-learn's bases of a clusterer."""

    class SklearnTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
        """scikit-learn's mixins for a transformer."""


class Clusterer(SklearnClusterer):
    """Base of the clusterers: scikit-learn's conventions, dense or sparse rows.

    A subclass is a dataclass of its parameters and writes ``_fit``.
    """

    #: the method is undefined for negative data
    needs_nonnegative = False
    #: ``n_clusters="auto"`` is understood
    chooses_n_clusters = False
    #: raised whenever the same parameters give other numbers than before: a part of
    #: the key of a trial
    behaviour: int = 1

    n_clusters: Any
    random_state: RandomState
    labels_: LabelArray
    n_iter_: int
    #: the solver that ran, as ``symmf.solvers.SOLVERS`` or the method calls it
    solver_: str
    #: what was factored, in words: of the same rows, equal words mean equal matrices
    matrix_: str
    stop_: str
    objective_: float
    history_: History

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : (n, m) array or scipy sparse matrix
            One sample per row, or an (n, n) similarity if ``precomputed``. SymMF takes
            a dask array too.
        y : ignored

        Returns
        -------
        self
        """
        check_parameters(self)
        rows = self._check_rows(X)
        if self.n_clusters != "auto" or not self.chooses_n_clusters:
            check_n_clusters(self.n_clusters, rows.shape[0])
        if self.needs_nonnegative:
            check_nonnegative(rows, type(self).__name__)
        # A similarity is what it is; its extremes are refused where it is factored.
        self._input_scale = 1.0 if self._precomputed() else safe_scale(rows)
        with np.errstate(all="ignore"), one_thread():
            self._fit(self._scaled(rows), as_generator(self.random_state))
        if not np.isfinite(self.objective_):
            raise InputError(
                f"{type(self).__name__} ran out of the range of floating-point "
                "numbers. Scale X to entries of order one, and look at parameters that "
                "are very large or very small."
            )
        self.labels_ = number_by_size(self.labels_)
        if not self.labels_.any() and self.n_clusters not in (1, "auto"):
            warnings.warn(
                f"All {len(self.labels_)} samples are in one cluster, although "
                f"n_clusters={self.n_clusters}. Look for a sample or a column that is "
                "far larger than the others, or for rows that are all alike.",
                SymmfWarning,
                stacklevel=2,
            )
        return self

    def _check_rows(self, X: Any, *, reset: bool = True) -> AnyMatrix:
        """Check rows in memory: those of a fit, or new ones unless ``reset``."""
        if is_dask(X):
            raise InputError(
                f"{type(self).__name__} needs its rows in memory, and X is a dask "
                "array. Give X.compute() if they fit, or use SymMF."
            )
        if sparse.issparse(X):
            check_sparse(X, argument="X")
        try:
            # Its sum of infinities of both signs is a warning before the sentence.
            with np.errstate(invalid="ignore"):
                rows = validate_data(
                    self,
                    X,
                    accept_sparse="csr",
                    dtype=[np.float64, np.float32],
                    ensure_min_samples=2 if reset else 1,
                    reset=reset,
                )
        except Exception:
            check_columns(X)
            raise
        # Else scipy would put a sparse matrix in order, which is the caller's.
        ordered = not sparse.issparse(rows) or rows.has_canonical_format
        return rows if ordered else rows.copy()

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        """Set ``labels_`` and what else the method finds."""
        raise NotImplementedError

    def _store(self, fit: Factorization, M: SymmetricOperator, matrix: str) -> None:
        """Keep the factor of M, what M is and how the factor was reached."""
        self.H_: FloatArray = fit.H
        self.P_: FloatArray | None = fit.P
        self.error_ = float(fit.error[-1])
        self._store_run(
            matrix,
            fit.solver.name or type(fit.solver).__name__,
            fit.stop,
            self.error_ * (M.fro2 or 1.0),
            History(error=fit.error, split_error=fit.split_error, seconds=fit.seconds),
        )

    def _store_run(
        self, matrix: str, solver: str, stop: Stop, objective: float, history: History
    ) -> None:
        """Set what every method says about its run; warn if a limit ended it."""
        self.matrix_, self.solver_, self.stop_ = matrix, solver, str(stop)
        self.objective_, self.history_ = objective, history
        self.n_iter_ = len(history.error) - 1
        # With tol = 0, or as published, the number of iterations is the method.
        meant = getattr(self, "published", False) or getattr(self, "tol", 0) == 0
        if stop in (Stop.max_iter, Stop.time) and not meant:
            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations, "
                "before its tolerance was met: increase max_iter, or tol if the result "
                "is good enough.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _scaled(self, X: AnyMatrix) -> AnyMatrix:
        """Return X in the scale the model works in: X itself but for extreme values."""
        if self._input_scale == 1.0:
            return X
        # In two steps: the power of two itself may be beyond the floating-point range.
        half = np.sqrt(self._input_scale)
        return X * X.dtype.type(half) * X.dtype.type(half)

    def _precomputed(self) -> bool:
        return getattr(self, "similarity", None) == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed()
        tags.input_tags.positive_only = self.needs_nonnegative
        return tags


@dataclass(eq=False, repr=False)
class NonnegativeSymmetric(Clusterer):
    """Base of the methods that factor a nonnegative similarity A ~ H H^T, H >= 0."""

    n_clusters: int = 8
    _: KW_ONLY
    similarity: str = "self_tuning"
    similarity_options: dict[str, Any] | None = None
    random_state: RandomState = None

    def _similarity(
        self,
        X: AnyMatrix,
        usual: Mapping[str, Any] | None = None,
        *,
        symbol: str = "M",
    ) -> SymmetricOperator:
        """Build A from X, clipped at zero where it has negative entries.

        ``usual`` are options of the similarity that go without saying; ``symbol`` is
        what the method calls its matrix.
        """
        given = self.similarity_options or {}
        A = build_similarity(X, self.similarity, **{**(usual or {}), **given})
        nonnegative = clip_nonnegative(A)
        clipped = nonnegative is not A
        self.matrix_ = matrix_words(
            self.similarity, given, clipped=clipped, symbol=symbol
        )
        return nonnegative


def matrix_words(
    similarity: str,
    options: Mapping[str, Any],
    weight: float = 0.0,
    *,
    clipped: bool = False,
    symbol: str = "M",
) -> str:
    """Say which matrix is factored: the similarity, its options, lambda.

    Examples
    --------
    >>> matrix_words("self_tuning", {"n_neighbors": 5}, 0.5)
    'M: self_tuning, n_neighbors 5, lambda 0.5'
    """
    words = [similarity, *(f"{name} {options[name]}" for name in sorted(options))]
    if clipped:
        words.append("clipped at 0")
    if weight:
        words.append(f"lambda {weight:g}")
    return f"{symbol}: {', '.join(words)}"


def warn_if_collapsed(
    M: SymmetricOperator, H: FloatArray, weight: float, rng: np.random.Generator
) -> None:
    """Warn when the regulariser left M fewer than k positive eigenvalues.

    Then the best unconstrained H has columns that carry nothing. The eigenvalues are
    computed only when M is not positive on the span of H, which costs one product.
    """
    k = H.shape[1]
    if weight == 0:
        return
    ritz = np.asarray(H.T @ M.matmat(H), dtype=np.float64)
    if np.linalg.eigvalsh((ritz + ritz.T) / 2)[0] > 0:
        return
    values = top_eigenpairs(M, k, rng, tol=1e-4)[0]
    # What rounding makes of zero, in an n x n matrix, is not positive.
    slack = M.shape[0] * float(np.finfo(M.dtype).eps) * float(np.sqrt(M.fro2))
    positive = int(np.count_nonzero(values > slack))
    if positive < k:
        warnings.warn(
            f"With lambda = {weight:g} only {positive} of the {k} largest eigenvalues "
            f"of A - lambda L are positive, so H has rank {positive} at best. Use a "
            "smaller lambda, or a centred similarity (centred_cosine).",
            SymmfWarning,
            stacklevel=5,
        )
