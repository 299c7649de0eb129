"""scikit-learn's k-means, with a sentence where its own arithmetic would fail."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn import cluster
from sklearn.utils import check_array
from sklearn.utils._param_validation import InvalidParameterError

from symmf.clustering.checks import check_range
from symmf.errors import InputError
from symmf.linalg.checks import check_sparse


class KMeans(cluster.KMeans):
    """K-means clustering, scikit-learn's own, with the same parameters and bits.

    Squares of very large or very small values leave the range of numbers; such data,
    and parameters that are out of range, are refused with an
    :class:`~symmf.errors.InputError`.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : (n, m) array or scipy sparse matrix
            One sample per row.
        y : ignored
        sample_weight : (n,) array, optional
            Weights of the samples.

        Returns
        -------
        self
        """
        X = _taken(X)
        check_range(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]))
        try:
            super().fit(X, y, sample_weight)
        except InvalidParameterError as error:
            raise InputError(f"kmeans: {error}") from error
        return self

    def _check_test_data(self, X: Any) -> Any:
        """Check new rows, for predict, transform and score alike."""
        X = super()._check_test_data(_taken(X))
        check_range(X, new=True)
        # The compiled code takes rows of the type of the centres only.
        return X.astype(self.cluster_centers_.dtype, copy=False)


def _taken(X: Any) -> Any:
    """Return X with the index arrays that scikit-learn's k-means takes, checked."""
    if not sparse.issparse(X):
        return X
    check_sparse(X, argument="X")
    if max(*X.shape, X.nnz) <= np.iinfo(np.int32).max:
        X = X.tocsr()
        if X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:
            indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
            X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X
