"""AC and NMI of a contingency table, in the conventions the audit needs.

A table C counts samples, true classes in rows and clusters in columns; an empty cluster
is a zero column. With P = C / n, row sums p and column sums q of P,

    AC = max over injective matchings of the matched mass,
    h = H(p),   H = H(q),   I = h + H - H(P),   NMI = I / mean(h, H),

and NMI = 0 if h, H or I is 0. Because the means are ordered, the five values of NMI are
ordered too: max <= arithmetic <= geometric <= harmonic <= min.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from symmf.common.notation import FloatArray

# Ordered so that NMI never falls from one to the next.
AVERAGES = ("max", "arithmetic", "geometric", "harmonic", "min")


def xlogx(x: Any) -> FloatArray:
    """Return x ln x with 0 ln 0 = 0."""
    values: FloatArray = np.asarray(x, dtype=float)
    return values * np.log(np.where(values > 0, values, 1.0))


def mean_entropy(h: Any, H: Any, average: str) -> FloatArray:
    """Return the mean of two entropies by which ``average`` divides.

    Examples
    --------
    >>> [round(float(mean_entropy(1.0, 4.0, name)), 2) for name in AVERAGES]
    [4.0, 2.5, 2.0, 1.6, 1.0]
    """
    a: FloatArray = np.asarray(h, dtype=float)
    b: FloatArray = np.asarray(H, dtype=float)
    if average == "max":
        return np.maximum(a, b)
    if average == "arithmetic":
        return (a + b) / 2
    if average == "geometric":
        return np.sqrt(a * b)
    if average == "harmonic":
        return 2 * a * b / np.where(a + b > 0, a + b, 1.0)
    return np.minimum(a, b)


def inverse_means(h: Any, H: Any) -> FloatArray:
    """Return 1 / mean(h, H), one line per average, and 0 where an entropy is 0."""
    h, H = np.asarray(h, dtype=float), np.asarray(H, dtype=float)
    defined = (h > 1e-15) & (H > 1e-15)
    means = np.stack([mean_entropy(h, H, average) for average in AVERAGES])
    return np.divide(1.0, means, out=np.zeros_like(means), where=defined)


def table_scores(tables: Any) -> FloatArray:
    """Return AC and all NMI values of tables of one shape, stacked.

    Returns
    -------
    array of shape (tables, 6)
        AC first, then NMI in the order of :data:`AVERAGES`.

    Examples
    --------
    >>> table_scores([[[36, 36], [0, 72]]])[0].round(4)
    array([0.75  , 0.3113, 0.3437, 0.3456, 0.3475, 0.3837])
    """
    tables = np.asarray(tables)
    n = tables.sum(axis=(1, 2))
    h, H, joint = (
        -xlogx(counts.reshape(len(n), -1) / n[:, None]).sum(axis=1)
        for counts in (tables.sum(axis=2), tables.sum(axis=1), tables)
    )
    mutual = np.maximum(h + H - joint, 0.0)
    nmi = np.clip(mutual * inverse_means(h, H), 0.0, 1.0)
    nmi[:, mutual < 1e-14] = 0.0
    matched = [C[linear_sum_assignment(C, maximize=True)].sum() for C in tables]
    return np.column_stack([np.array(matched) / n, nmi.T])


def expand(C: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return class and cluster labels, sample by sample, that have the table C.

    Examples
    --------
    >>> expand([[1, 1], [0, 2]])
    (array([0, 0, 1, 1]), array([0, 1, 1, 1]))
    """
    C = np.asarray(C)
    i, j = np.indices(C.shape)
    return np.repeat(i.ravel(), C.ravel()), np.repeat(j.ravel(), C.ravel())
