r"""Clusters of unequal sizes: many small clusters, merged pair by pair.

k-means prefers clusters of equal size. Here the pair with the least

.. math:: (1 - \langle m_a, m_b \rangle)
          \Big(\frac{n_a n_b}{n_a + n_b}\Big)^e

is merged, with m the means of unit rows (not of unit length) and n the sizes. e = 0 is
average linkage of cosines; large e tends to the balanced clusters of k-means.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symmf.clustering.labels.rows import cluster_means, cluster_sums, unit_rows
from symmf.common.notation import FloatArray, LabelArray
from symmf.common.seeds import RandomState, as_generator
from symmf.common.validation import check_number

_ITERATIONS = 8
# Cosines with all centres are taken for so many entries at a time.
_BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Clusters made by merging small ones.

    Attributes
    ----------
    labels : (n,) array
    centres : (micro, m) array
        Means of the small clusters.
    centre_labels : (micro,) array
        Cluster of every small one.
    """

    labels: LabelArray
    centres: FloatArray
    centre_labels: LabelArray


def merge_rows(Z: FloatArray, n_clusters: int, **options: Any) -> Merged:
    """Cluster the directions of rows by merging micro-clusters.

    The options are those of :func:`merge_path`.

    Examples
    --------
    >>> Z = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    >>> merge_rows(Z, 2).labels
    array([0, 0, 1])
    """
    return merge_path(Z, [n_clusters], **options)[n_clusters]


def merge_path(
    Z: FloatArray,
    n_clusters: Iterable[int],
    *,
    exponent: float = 0.1,
    n_micro: int = 500,
    cap: float | None = None,
    random_state: RandomState = None,
) -> dict[int, Merged]:
    """Return clusters for several numbers of clusters, from one merging.

    Parameters
    ----------
    Z : (n, m) array
        Rows are scaled to unit length.
    n_clusters : iterable of int
    exponent : float
        e; 0 is average linkage.
    n_micro : int
        Small clusters to begin with, by spherical k-means; up to as many rows each row
        is one of its own.
    cap : float, optional
        Take min(n_a n_b / (n_a + n_b), cap): for very unequal sizes.
    random_state : int, Generator, RandomState or None
    """
    check_number("exponent", exponent, least=0)
    check_number("n_micro", n_micro, least=1, whole=True)
    if cap is not None:
        check_number("cap", cap, above=0)
    wanted = sorted({int(k) for k in n_clusters}, reverse=True)
    U = unit_rows(np.asarray(Z, dtype=np.float64))
    n_micro = max(n_micro, wanted[0])
    rng = as_generator(random_state)
    micro = np.arange(len(U)) if len(U) <= n_micro else _spherical(U, n_micro, rng)
    _, micro = np.unique(micro, return_inverse=True)
    sizes = np.bincount(micro).astype(np.float64)
    centres = cluster_means(U, micro, len(sizes))
    groups = _merge(centres.copy(), sizes, wanted, exponent, cap)
    return {
        k: Merged(
            labels=group[micro].astype(np.int64), centres=centres, centre_labels=group
        )
        for k, group in groups.items()
    }


def _spherical(U: FloatArray, k: int, rng: np.random.Generator) -> LabelArray:
    """Spherical k-means (Dhillon and Modha 2001) from random rows, without restarts."""
    centres = U[rng.choice(len(U), k, replace=False)]
    for _ in range(_ITERATIONS):
        labels = _nearest(U, centres)
        sums = cluster_sums(U, labels, k)
        filled = np.bincount(labels, minlength=k) > 0
        centres[filled] = unit_rows(sums[filled])
    return labels


def _nearest(U: FloatArray, centres: FloatArray) -> LabelArray:
    """Return the centre of the largest cosine of every row, a block at a time."""
    labels = np.empty(len(U), dtype=np.int64)
    size = max(1, _BLOCK_ENTRIES // len(centres))
    for first in range(0, len(U), size):
        rows = slice(first, first + size)
        labels[rows] = np.argmax(U[rows] @ centres.T, axis=1)
    return labels


def _merge(
    means: FloatArray,
    sizes: FloatArray,
    wanted: list[int],
    exponent: float,
    cap: float | None,
) -> dict[int, LabelArray]:
    """Merge down; return the group of every micro-cluster at each wanted number.

    By Anderberg's algorithm (1973), which keeps the nearest neighbour of every cluster.
    """
    m = len(sizes)
    sizes = sizes.copy()
    group = np.arange(m)
    alive = np.ones(m, dtype=bool)

    def cost(a: int) -> FloatArray:
        harmonic = sizes[a] * sizes / (sizes[a] + sizes)
        if cap is not None:
            harmonic = np.minimum(harmonic, cap)
        out: FloatArray = (1.0 - means @ means[a]) * harmonic**exponent
        out[~alive] = np.inf
        out[a] = np.inf
        return out

    C = np.stack([cost(a) for a in range(m)])
    # A merge changes few of these.
    best = C.argmin(axis=1)
    least = C[np.arange(m), best]
    found = {}
    for count in range(m, 0, -1):
        if count in wanted:
            found[count] = np.unique(group, return_inverse=True)[1]
        if count <= wanted[-1]:
            break
        a = int(np.argmin(least))
        b = int(best[a])
        a, b = min(a, b), max(a, b)
        total = sizes[a] + sizes[b]
        means[a] = (sizes[a] * means[a] + sizes[b] * means[b]) / total
        sizes[a] = total
        alive[b] = False
        group[group == b] = a
        C[b], C[:, b] = np.inf, np.inf
        row = cost(a)
        C[a], C[:, a] = row, row
        least[b] = np.inf
        stale = alive & ((best == a) | (best == b))
        stale[a] = True
        for i in np.flatnonzero(stale):
            best[i] = C[i].argmin()
            least[i] = C[i, best[i]]
        nearer = alive & (row < least)
        best[nearer], least[nearer] = a, row[nearer]
    for k in wanted:
        # Fewer rows than clusters asked for: every row is one.
        found.setdefault(k, np.arange(m))
    return found
