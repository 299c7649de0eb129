"""Scaling features before distances are taken, and rows that are there twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from symmf.common.notation import FloatArray
from symmf.common.validation import check_choice

SCALES = ("auto", "none", "range", "deviation")
# Below this participation ratio few features carry nearly all of the variance.
FEW_FEATURES = 0.35


def participation_ratio(X: FloatArray) -> float:
    """Return (sum v)^2 / (sum v^2) / p for the variances v > 0 of p features.

    1 if all features vary alike, 1 / p if one carries all the variance.

    Examples
    --------
    >>> participation_ratio(np.array([[0.0, 0.0], [1.0, 1.0]]))
    1.0
    """
    v = np.var(np.asarray(X, dtype=np.float64), axis=0)
    v = v[v > 0]
    if v.size == 0:
        return 1.0
    v = v / v.max()
    return float(v.sum() ** 2 / np.sum(v**2) / v.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """Divide every feature by its size; what ``scale=`` of an estimator does.

    Attributes
    ----------
    kind : {"none", "range", "deviation"}
    sizes : (m,) array or None
    """

    kind: str
    sizes: FloatArray | None = None

    @classmethod
    def of(cls, X: Any, kind: str = "auto") -> Scaling:
        """Learn the sizes of the features of X.

        Parameters
        ----------
        X : (n, m) array
        kind : {"auto", "none", "range", "deviation"}
            ``range``: between the 5 and 95 % quantiles (4 standard deviations where
            that is 0). ``deviation``: the standard deviation. ``auto``: ``range`` if
            few features carry nearly all of the variance, else ``none``.

        Examples
        --------
        >>> X = np.column_stack([np.arange(10.0), 1000.0 * np.arange(10.0)])
        >>> Scaling.of(X, "auto").kind
        'none'
        >>> wide = np.column_stack([X[:, 0], X[:, 0] ** 2, 1e4 * X[:, 0] ** 3])
        >>> Scaling.of(wide, "auto").kind
        'range'
        """
        check_choice("scale", kind, SCALES)
        if kind == "auto":
            kind = "range" if participation_ratio(X) < FEW_FEATURES else "none"
        if kind == "none":
            return cls(kind=kind)
        dense = np.asarray(X, dtype=np.float64)
        deviation = dense.std(axis=0)
        sizes = deviation
        if kind == "range":
            low, high = np.quantile(dense, [0.05, 0.95], axis=0)
            sizes = np.where(high > low, high - low, 4 * deviation)
        return cls(kind=kind, sizes=np.where(sizes > 0, sizes, 1.0))

    def apply(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows."""
        return X if self.sizes is None else np.asarray(X / self.sizes)


def distinct_rows(
    X: FloatArray,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where each distinct row comes first, and the distinct row of every row.

    Distinct rows are in the order of their first occurrence.

    Examples
    --------
    >>> first, copy_of = distinct_rows(np.array([[1.0], [0.0], [1.0], [-0.0]]))
    >>> first, copy_of
    (array([0, 1]), array([0, 1, 0, 1]))
    """
    # Adding 0 makes one zero of two; rows are then compared as bytes.
    rows = np.ascontiguousarray(X) + np.zeros((), X.dtype)
    if len(np.unique(_hashes(rows))) == len(rows):
        every = np.arange(len(rows))
        return every, every
    keys = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[inverse]


def _hashes(rows: FloatArray) -> npt.NDArray[np.uint64]:
    """One whole number per row, equal for equal rows: most data have no copies."""
    words = rows.view(np.uint32 if rows.dtype == np.float32 else np.uint64)
    rng = np.random.default_rng(0)
    odd = rng.integers(2**63, size=words.shape[1], dtype=np.uint64) * np.uint64(2)
    # Products wrap around; odd factors lose nothing.
    return np.asarray(words.astype(np.uint64) @ (odd + np.uint64(1)))
