"""What the estimators share: reading input, building the similarity, scoring hooks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from symmf.errors import InputError, SymmfWarning
from symmf.notation import AnyMatrix, FloatArray, LabelArray
from symmf.seeds import RandomState, as_generator
from symmf.similarity import SymmetricOperator, build_similarity
from symmf.solvers import Factorization


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What happened at each iterate: what an experiment stores as a trace."""

    error: FloatArray
    split_error: FloatArray | None = None
    seconds: FloatArray | None = None

    @classmethod
    def of(cls, fit: Factorization) -> History:
        """Take the traces of a factorization."""
        return cls(error=fit.error, split_error=fit.split_error, seconds=fit.seconds)


class Clusterer(ClusterMixin, BaseEstimator):
    """Base of the clusterers: scikit-learn's conventions, dense or sparse rows.

    A subclass sets ``accepts_sparse``, ``needs_nonnegative`` and writes ``_fit``.
    """

    accepts_sparse = True
    #: the method is undefined for negative data
    needs_nonnegative = False

    n_clusters: int
    random_state: RandomState
    labels_: LabelArray
    n_iter_: int

    def fit(self, X: Any, y: Any = None) -> Any:
        """Cluster the rows of X.

        Parameters
        ----------
        X : (n, m) array or scipy sparse matrix
            One sample per row, or an (n, n) similarity if ``precomputed``.
        y : ignored

        Returns
        -------
        self
        """
        del y
        X = validate_data(
            self,
            X,
            accept_sparse="csr" if self.accepts_sparse else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
        )
        check_n_clusters(self.n_clusters, X.shape[0])
        if self.needs_nonnegative and not self._precomputed():
            check_nonnegative(X, type(self).__name__)
        self._fit(X, as_generator(self.random_state))
        return self

    def _fit(self, X: AnyMatrix, rng: np.random.Generator) -> None:
        """Set ``labels_`` and what else the method finds."""
        raise NotImplementedError

    def _precomputed(self) -> bool:
        return getattr(self, "similarity", None) == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts_sparse
        tags.input_tags.pairwise = self._precomputed()
        tags.input_tags.positive_only = self.needs_nonnegative
        return tags


def check_n_clusters(n_clusters: Any, n: int) -> None:
    """Raise InputError unless 1 <= n_clusters <= n."""
    whole = isinstance(n_clusters, int | np.integer)
    if isinstance(n_clusters, bool) or not whole or not 1 <= n_clusters <= n:
        raise InputError(
            f"n_clusters must be a whole number between 1 and the number of samples, "
            f"n_samples={n}; got {n_clusters!r}."
        )


def check_nonnegative(X: AnyMatrix, method: str) -> None:
    """Raise InputError if a method that needs X >= 0 gets a negative entry."""
    lowest = X.min()
    if lowest < 0:
        raise InputError(
            f"Negative values in data passed to {method}, which needs X >= 0 "
            f"(smallest entry {lowest:.3g}). Shift or clip the data, or use SymMF."
        )


def similarity_of(
    X: AnyMatrix, name: str, options: dict[str, Any] | None, *, nonnegative: bool
) -> SymmetricOperator:
    """Build the similarity; where it must be nonnegative, clip it at zero."""
    A = build_similarity(X, name, **(options or {}))
    if not nonnegative:
        return A
    from symmf.similarity.graphs import clip_nonnegative

    return clip_nonnegative(A)


def warn_if_collapsed(H: FloatArray, k: int, weight: float) -> None:
    """Warn when the regulariser left M fewer than k positive eigenvalues.

    Then the best unconstrained H has columns that carry nothing.
    """
    spectrum = np.linalg.eigvalsh(np.asarray(H.T @ H, dtype=np.float64))[::-1]
    rank = int(np.count_nonzero(spectrum > 1e-10 * max(spectrum[0], 1e-300)))
    if rank < k and weight > 0:
        warnings.warn(
            f"Only {rank} of {k} directions of H are left: with lambda = {weight:g} "
            f"the matrix A - lambda L has fewer than {k} positive eigenvalues. "
            "Use a smaller lambda, or a centred similarity (centred_cosine).",
            SymmfWarning,
            stacklevel=4,
        )
