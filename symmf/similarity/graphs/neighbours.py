r"""Exact nearest neighbours of the rows of X, a block of rows at a time.

.. math:: D_{ij} = \|x_i\|^2 + \|x_j\|^2 - 2 x_i^T x_j

needs one product with X^T per block, so sparse rows stay sparse and nothing larger than
a block of D is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_number
from symmf.similarity.row_features import RowFeatures

# Up to so many rows all distances are one block, whose products cost half (134 MB).
_WHOLE_ROWS = 4096
# Above, a block holds about this many entries (32 MB).
_BLOCK_ENTRIES = 4_000_000
# So many rows of it are worked on while they are in the processor's cache.
_SLAB_ROWS = 64
# The least of so many entries stands for them where the smallest of a row are sought.
_GROUP = 8
# Below this share of ||x_i||^2 + ||x_j||^2 a difference is rounding, not distance.
_ROUNDING = 1e-14
# A tree takes less time from so many rows on, up to so many features; its leaves hold
# about so many rows.
_TREE_ROWS, TREE_FEATURES, _LEAF = 500, 15, 30
# Other rows are looked for in a tree up to so many features; above, among so many more
# candidates than are asked for.
_NARROW_TREE, _SPARE = 4, 3
# Above so many rows of at most so many features scikit-learn's search is faster.
_MANY_ROWS, _NARROW = 4000, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The q nearest other rows of every row, nearest first.

    Attributes
    ----------
    index : (n, q) array of int
    squared_distance : (n, q) array
    """

    index: npt.NDArray[np.intp]
    squared_distance: FloatArray


def squared_distance_blocks(
    X: AnyMatrix,
) -> Iterator[tuple[npt.NDArray[np.intp], FloatArray]]:
    """Yield (row indices, their squared distances to all rows), block by block.

    Duplicates are at distance exactly zero: what cancellation leaves is removed.
    """
    features = _features(X)
    squares = features.squared_norms()
    n = features.shape[0]
    size = n if n <= _WHOLE_ROWS else max(1, _BLOCK_ENTRIES // n)
    for first in range(0, n, size):
        rows = np.arange(first, min(first + size, n))
        block = features.gram_rows(rows)
        for slab in range(0, len(rows), _SLAB_ROWS):
            some = slice(slab, slab + _SLAB_ROWS)
            _to_distances(block[some], squares[rows[some]], squares)
        block[np.arange(len(rows)), rows] = 0.0
        yield rows, block


def _to_distances(slab: FloatArray, own: FloatArray, squares: FloatArray) -> None:
    """Turn inner products into squared distances, in place."""
    slab *= -2
    slab += np.add.outer(own, squares)
    # Few entries can be rounding; only these are looked at one by one.
    small = np.flatnonzero(slab < _ROUNDING * (own.max() + squares.max()))
    i, j = np.divmod(small, slab.shape[1])
    rounding = slab[i, j] < _ROUNDING * (own[i] + squares[j])
    slab[i[rounding], j[rounding]] = 0.0


def nearest_neighbours(X: AnyMatrix, q: int) -> Neighbours:
    """Return the q nearest rows of each row, itself excluded.

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
    q : int
        At most n - 1 are returned.

    Notes
    -----
    O(n^2 m) work, or a product X X^T of sparse matrices; O(n q) memory plus a block.
    Among equally distant rows those with the smallest index are taken; a tree (few
    features) and scikit-learn (many rows of some features) take any of these.

    Examples
    --------
    >>> near = nearest_neighbours(np.array([[0.0], [1.0], [3.0], [3.0]]), 2)
    >>> near.index
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    """
    n = X.shape[0]
    q = min(q, n - 1)
    if q and not sparse.issparse(X):
        if X.shape[1] <= TREE_FEATURES and n > _TREE_ROWS:
            return _by_tree(np.asarray(X, dtype=np.float64), q)
        if X.shape[1] <= _NARROW and n > _MANY_ROWS:
            return _by_blocks(np.asarray(X, dtype=np.float64), q)
    index = np.empty((n, q), dtype=np.intp)
    distance = np.empty((n, q))
    for rows, block in squared_distance_blocks(X):
        block[np.arange(len(rows)), rows] = np.inf
        index[rows], distance[rows] = smallest(block, q)
    return Neighbours(index=index, squared_distance=distance)


def nearest_rows(
    X: AnyMatrix, Y: AnyMatrix, q: int
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Return distances and indices of the q rows of X nearest to each row of Y.

    Examples
    --------
    >>> distance, index = nearest_rows(np.array([[0.0], [3.0]]), np.array([[1.0]]), 2)
    >>> distance, index
    (array([[1., 2.]]), array([[0, 1]]))
    """
    if sparse.issparse(X):
        from sklearn.neighbors import NearestNeighbors

        search = NearestNeighbors(n_neighbors=q, algorithm="brute").fit(X)
        distance, index = search.kneighbors(Y)
        return distance, index
    if X.shape[1] <= _NARROW_TREE:
        return _tree_search(X, Y, q)
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    origin = np.median(X, axis=0)
    squares, index, doubtful = _by_products(X, Y, q, origin, np.float32)
    if doubtful.any():
        again = _by_products(X, Y[doubtful], q, origin, np.float64)
        squares[doubtful], index[doubtful] = again[:2]
    return np.sqrt(squares), index


def _tree_search(
    X: FloatArray, Y: FloatArray, q: int
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    distance, index = cKDTree(X, leafsize=_LEAF).query(Y, list(range(1, q + 1)))
    return distance, index


def _by_products(
    X: FloatArray, Y: FloatArray, q: int, origin: FloatArray, dtype: Any
) -> tuple[FloatArray, npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Take some more than q candidates by products in a precision, measure them.

    The third array tells for which rows of Y rounding may have hidden a nearer row.
    """
    n, m = X.shape
    count = min(q + _SPARE, n)
    B, C = (X - origin).astype(dtype), (Y - origin).astype(dtype)
    level = np.einsum("ij,ij->i", B, B)
    # One product gives ||b||^2 - 2 b.y, the squared distance but for ||y||^2.
    shifted = np.vstack([-2 * B.T, level])
    widened = np.hstack([C, np.ones((len(C), 1), dtype)])
    index = np.empty((len(Y), q), dtype=np.intp)
    squares = np.empty((len(Y), q))
    doubtful = np.zeros(len(Y), dtype=bool)
    reach = np.sqrt(float(level.max(initial=0)))
    for first in range(0, len(Y), _SLAB_ROWS):
        rows = slice(first, first + _SLAB_ROWS)
        near, value = smallest(widened[rows] @ shifted, count)
        D = X[near] - Y[rows, None]
        found = np.einsum("ijk,ijk->ij", D, D)
        order = np.lexsort((near, found), axis=1)[:, :q]
        index[rows] = np.take_along_axis(near, order, axis=1)
        squares[rows] = np.take_along_axis(found, order, axis=1)
        own = np.einsum("ij,ij->i", C[rows], C[rows], dtype=np.float64)
        slack = m * np.finfo(dtype).eps * (np.sqrt(own) + reach) ** 2
        if count < n:
            doubtful[rows] = squares[rows, -1] > own + value[:, -1] - slack
    return squares, index, doubtful


def _by_tree(X: FloatArray, q: int) -> Neighbours:
    distance, index = _tree_search(X, X, q + 1)
    # A row is its own nearest, unless it has copies: then it may stand anywhere.
    own = index == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True
    rest = ~own
    shape = (len(X), q)
    return Neighbours(
        index=index[rest].reshape(shape).astype(np.intp),
        squared_distance=(distance[rest] ** 2).reshape(shape),
    )


def _by_blocks(X: FloatArray, q: int) -> Neighbours:
    """Let scikit-learn find the neighbours; measure distances without products."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=q, algorithm="brute").fit(X)
    index = search.kneighbors(return_distance=False)
    squares = np.empty(index.shape)
    for j in range(q):
        D = X - X[index[:, j]]
        squares[:, j] = np.einsum("ij,ij->i", D, D)
    order = np.argsort(squares, axis=1, kind="stable")
    return Neighbours(
        index=np.take_along_axis(index, order, axis=1).astype(np.intp),
        squared_distance=np.take_along_axis(squares, order, axis=1),
    )


def smallest(D: FloatArray, q: int) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Column indices and values of the q smallest entries of each row, ascending.

    Of equal entries that with the smallest index comes first.
    """
    index = np.empty((len(D), q), dtype=np.intp)
    value = np.empty((len(D), q))
    for first in range(0, len(D) if q else 0, _SLAB_ROWS):
        slab = D[first : first + _SLAB_ROWS]
        # Few entries of a row can be among its smallest; only these are sorted.
        row, column = np.nonzero(slab <= _bound_of_smallest(slab, q)[:, None])
        order = np.lexsort((column, slab[row, column], row))
        begin = np.searchsorted(row, np.arange(len(slab)))
        chosen = order[begin[:, None] + np.arange(q)]
        index[first : first + _SLAB_ROWS] = column[chosen]
        value[first : first + _SLAB_ROWS] = slab[row, column][chosen]
    return index, value


def _bound_of_smallest(slab: FloatArray, q: int) -> FloatArray:
    """Return a number per row that q of its entries, and few more, do not exceed.

    The q-th smallest of the least entries of groups: to find these least entries takes
    less time than a partition of the whole row.
    """
    width = slab.shape[1] // _GROUP
    least = slab
    if width >= 2 * q:
        least = slab[:, :width].copy()
        for first in range(width, _GROUP * width, width):
            np.minimum(least, slab[:, first : first + width], out=least)
    return np.asarray(np.partition(least, q - 1, axis=1)[:, q - 1])


def local_scales(
    distance: FloatArray, local_neighbor: int, *, floor: float
) -> FloatArray:
    """Return s_i: the distance to the given neighbour, or the last; at least ``floor``.

    ``distance`` holds those to the neighbours of every row, nearest first.
    """
    check_number("local_neighbor", local_neighbor, least=1, whole=True)
    last = min(local_neighbor, distance.shape[1]) - 1
    return np.maximum(distance[:, last], floor)


def either_way(index: npt.NDArray[np.intp], weights: FloatArray) -> Any:
    """Join i and j if either names the other; the larger weight where both do."""
    n, q = index.shape
    ends = np.arange(0, n * q + 1, q)
    W = sparse.csr_array((weights.ravel(), index.ravel(), ends), shape=(n, n))
    W = sparse.csr_array(W.maximum(W.T))
    W.eliminate_zeros()
    return W


def _features(X: AnyMatrix) -> RowFeatures:
    """Rows in double precision; dense ones near the origin, where D keeps its digits.

    The shift is the mean rounded to a multiple of a power of two, so that whole numbers
    stay exact and ties between them stay ties.
    """
    if sparse.issparse(X):
        return RowFeatures(X.astype(np.float64))
    dense = np.asarray(X, dtype=np.float64)
    spread = float(dense.std(axis=0).max(initial=0.0))
    if not (0.0 < spread < np.inf):
        return RowFeatures(dense)
    quantum = 2.0 ** np.floor(np.log2(spread))
    return RowFeatures(dense - np.round(dense.mean(axis=0) / quantum) * quantum)
