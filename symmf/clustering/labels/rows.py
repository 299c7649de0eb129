"""Cluster labels from a factor: its largest entries, pivoted QR, numbering by size."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr, svd

from symmf.common.notation import AnyMatrix, FloatArray, LabelArray


def unit_rows(H: FloatArray) -> FloatArray:
    """Scale rows to unit length; a zero row stays zero."""
    norms = np.linalg.norm(H, axis=1, keepdims=True)
    scaled: FloatArray = np.divide(H, norms, out=np.zeros_like(H), where=norms > 1e-12)
    return scaled


def without_rounding(H: FloatArray) -> FloatArray:
    """Return H with zeros in columns that only rounding has filled.

    Such a column is that of an eigenvalue 0. To scale a row to unit length that is zero
    but for it would make a direction of nothing.

    Examples
    --------
    >>> without_rounding(np.array([[1.0, 1e-9], [0.0, 1e-9]]))
    array([[1., 0.],
           [0., 0.]])
    """
    squares = np.einsum("ij,ij->j", H, H, dtype=np.float64)
    filled = squares > 1e-10 * squares.max(initial=0.0)
    return H if filled.all() else np.where(filled, H, 0)


def cluster_qr(H: FloatArray, n_clusters: int) -> LabelArray:
    """Read clusters off n_clusters columns by a QR with column pivoting of H^T.

    Deterministic and without iteration: pivoting picks one row per cluster, a rotation
    brings these rows near the axes, and every row takes its largest entry.

    References
    ----------
    A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral
    clustering", Information and Inference 8, 2019.

    Examples
    --------
    >>> cluster_qr(np.array([[1.0, 0.1], [0.9, 0.0], [0.0, 1.0], [0.1, 1.1]]), 2)
    array([1, 1, 0, 0])
    """
    H = H[:, :n_clusters]
    pivots = qr(H.T, mode="r", pivoting=True)[1][: H.shape[1]]
    U, _, Vt = svd(H[pivots].T)
    labels: LabelArray = np.abs(H @ (U @ Vt)).argmax(axis=1).astype(np.int64)
    return labels


def argmax_rows(H: FloatArray, MH: FloatArray | None = None) -> LabelArray:
    """Assign each row to its largest entry (ties: the first one).

    Meaningful for a nonnegative ``H`` only: without a sign constraint columns are
    defined up to rotation. A zero row says nothing; it takes the largest entry of its
    row of ``MH`` when that product is given.
    """
    labels: LabelArray = np.argmax(H, axis=1).astype(np.int64)
    if MH is not None:
        empty = ~np.any(H, axis=1)
        labels[empty] = np.argmax(MH[empty], axis=1)
    return labels


def cluster_sums(
    Z: AnyMatrix, labels: LabelArray, k: int, weights: Any = None
) -> FloatArray:
    """Return the (weighted) sum of the rows of Z in each of k clusters."""
    n = len(labels)
    each = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    members = sparse.csr_array((each, labels, np.arange(n + 1)), shape=(n, k))
    sums = members.T @ Z
    return sums.toarray() if sparse.issparse(sums) else np.asarray(sums)


def cluster_means(
    Z: AnyMatrix, labels: LabelArray, k: int, weights: Any = None
) -> FloatArray:
    """Return the (weighted) mean row of each of k clusters, none of which is empty."""
    sizes = np.bincount(labels, weights=weights, minlength=k)
    return np.asarray(cluster_sums(Z, labels, k, weights) / sizes[:, None])


def number_by_size(labels: Any) -> LabelArray:
    """Give clusters numbers from 0 by decreasing size, ties by first occurrence.

    Equal partitions get equal labels, whatever their clusters were called.

    Examples
    --------
    >>> number_by_size([7, 3, 3, 5, 5]).tolist()
    [2, 0, 0, 1, 1]
    """
    _, first, inverse, counts = np.unique(
        np.asarray(labels), return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    numbered: LabelArray = rank[inverse.ravel()]
    return numbered


def labels_digest(labels: Any) -> str:
    """Return the sha256 of a partition: of its labels numbered by size.

    The bytes are those of little-endian 64-bit integers, so that anyone can compute
    it anywhere.

    Examples
    --------
    >>> labels_digest([4, 1, 1]) == labels_digest([0, 9, 9])
    True
    """
    return hashlib.sha256(number_by_size(labels).astype("<i8").tobytes()).hexdigest()
