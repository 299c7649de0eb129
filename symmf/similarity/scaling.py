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
# A ratio of variances cannot tell of so few features; their ranges may differ by this.
_FEW, MOST_RATIO = 3, 4.0
# Rows are ordered by so many features more than one.
_LEADING = 7


def participation_ratio(X: FloatArray) -> float:
    """Return (sum v)^2 / (sum v^2) / p for the variances v > 0 of p features.

    1 if all features vary alike, 1 / p if one carries all the variance.

    Examples
    --------
    >>> participation_ratio(np.array([[0.0, 0.0], [1.0, 1.0]]))
    1.0
    """
    v = np.var(np.asarray(X, dtype=np.float64), axis=0)
    v = v[v > 0] / max(v.max(initial=0.0), 1e-300)
    return float(v.sum() ** 2 / np.sum(v**2) / v.size) if v.size else 1.0


def units_ratio(sizes: FloatArray) -> float:
    """Return the largest size of a feature over the smallest that is not 0."""
    sizes = sizes[sizes > 0]
    return float(sizes.max() / sizes.min()) if sizes.size else 1.0


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
            few features carry nearly all of the variance, or of at most 3 features the
            largest range is more than 4 times the smallest, that of all rows as well
            as that between the quantiles; else ``none``.

        Examples
        --------
        >>> x = np.arange(10.0)
        >>> Scaling.of(np.column_stack([x, 3 * x])).kind
        'none'
        >>> Scaling.of(np.column_stack([x, 1000 * x])).kind
        'range'
        """
        check_choice("scale", kind, SCALES)
        few = kind == "auto" and np.count_nonzero(np.ptp(X, axis=0)) <= _FEW
        if kind == "auto" and not few:
            kind = "range" if participation_ratio(X) < FEW_FEATURES else "none"
        if kind == "none":
            return cls(kind=kind)
        dense = np.asarray(X, dtype=np.float64)
        sizes = deviation = dense.std(axis=0)
        if kind != "deviation":
            low, high = np.quantile(dense, [0.05, 0.95], axis=0)
            sizes = np.where(high > low, high - low, 4 * deviation)
        # Ranges of the middle alone differ too where one feature has far more in it.
        ratios = [units_ratio(each) for each in (sizes, np.ptp(dense, axis=0))]
        if few and min(ratios) <= MOST_RATIO:
            return cls(kind="none")
        kind = "deviation" if kind == "deviation" else "range"
        return cls(kind=kind, sizes=np.where(sizes > 0, sizes, 1.0))

    def apply(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows."""
        return X if self.sizes is None else np.asarray(X / self.sizes)


def distinct_rows(
    X: FloatArray,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where each distinct row comes first, and the distinct row of every row.

    Distinct rows are in an order of their own, the lexicographic one: that of the rows
    of X does not matter.

    Examples
    --------
    >>> first, copy_of = distinct_rows(np.array([[1.0], [0.0], [1.0], [-0.0]]))
    >>> first, copy_of
    (array([1, 0]), array([1, 0, 1, 0]))
    """
    # Adding 0 makes one zero of two.
    rows = np.ascontiguousarray(X) + np.zeros((), X.dtype)
    # Where the first features are all equal, hashes of rows stand for the others.
    leading = rows[:, _LEADING::-1] if rows.shape[1] > _LEADING else rows[:, ::-1]
    order = np.lexsort((_hashes(rows), *leading.T))
    ordered = rows[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    copy_of = np.empty(len(rows), dtype=np.intp)
    copy_of[order] = np.cumsum(new) - 1
    return order[new], copy_of


def _hashes(rows: FloatArray) -> npt.NDArray[np.uint64]:
    """One whole number per row, equal for equal rows: most data have no copies."""
    words = rows.view(np.uint32 if rows.dtype == np.float32 else np.uint64)
    rng = np.random.default_rng(0)
    odd = rng.integers(2**63, size=words.shape[1], dtype=np.uint64) * np.uint64(2)
    # Products wrap around; odd factors lose nothing.
    return np.asarray(words.astype(np.uint64) @ (odd + np.uint64(1)))
