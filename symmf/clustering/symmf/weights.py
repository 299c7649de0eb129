"""Sample weights: how often each row counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, _num_samples

from symmf.errors import InputError


def times_each(X: Any, sample_weight: Any) -> npt.NDArray[np.intp]:
    """Return how often each row of X counts.

    Raises
    ------
    InputError
        If a weight is no whole number, is negative, or all are 0.
    """
    row = np.empty((_num_samples(X), 1))
    weights = np.asarray(_check_sample_weight(sample_weight, row))
    times = weights.astype(np.intp)
    if (times != weights).any() or times.min() < 0 or not times.any():
        raise InputError(
            "sample_weight says how often each row counts: whole numbers, none below "
            "0 and not all 0. Multiply fractions by a common number."
        )
    return times


def repeated(X: Any, times: npt.NDArray[np.intp], *, square: bool) -> Any:
    """Return rows (of a similarity: and columns) as often as they count.

    Examples
    --------
    >>> repeated(np.array([[1.0], [2.0]]), np.array([2, 1]), square=False).ravel()
    array([1., 1., 2.])
    """
    rows = np.repeat(np.arange(len(times)), times)
    if not square:
        known = hasattr(X, "columns") or sparse.issparse(X)
        return _safe_indexing(X if known else np.asarray(X), rows)
    if not sparse.issparse(X):
        return np.asarray(X)[np.ix_(rows, rows)]
    return sparse.csr_array(X)[rows][:, rows]
