r"""Exact nearest neighbours of the rows of X, a block of rows at a time.

.. math:: D_{ij} = \|x_i\|^2 + \|x_j\|^2 - 2 x_i^T x_j

needs one product with X^T per block, so sparse rows stay sparse and nothing larger than
a block of D is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

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
# A tree, whose leaves hold about so many rows, is used from so many rows on,
_LEAF, _TREE_ROWS = 30, 500
# up to so many features. Up to so many more it is used where few rows are within three
# times the distance of the neighbours, as a look at some of them tells; elsewhere
# products take less time, by a factor of up to four.
_NARROW_TREE, _WIDE_TREE, _TIMES, _FEW_NEAR, _SOME = 8, 30, 3, 0.2, 16
# Above so many rows of at most so many features scikit-learn's search is faster.
_MANY_ROWS, _NARROW = 4000, 64


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The q nearest rows of every row, (n, q), nearest first."""

    index: npt.NDArray[np.intp]
    squared_distance: FloatArray

    @classmethod
    def of_blocks(
        cls, blocks: Iterable[tuple[npt.NDArray[np.intp], FloatArray]], n: int, q: int
    ) -> Self:
        """Find the nearest of n rows, given row indices and squared distances to all.

        A row is infinitely far from itself, which the blocks are made to say.
        """
        q = min(q, n - 1)
        index, squares = np.empty((n, q), dtype=np.intp), np.empty((n, q))
        for rows, block in blocks:
            block[np.arange(len(rows)), rows] = np.inf
            index[rows], squares[rows] = smallest(block, q)
        return cls(index, squares)

    def local_scales(self, local_neighbor: int, *, floor: float) -> FloatArray:
        """Return s_i: the distance to that neighbour, or the last; at least a floor."""
        last = min(local_neighbor, self.index.shape[1]) - 1
        return np.maximum(np.sqrt(self.squared_distance[:, last]), floor)

    def self_tuning(self, q: int, local_neighbor: int, *, floor: float) -> Any:
        """Join each row to q neighbours with weights exp(-d_ij^2 / (s_i s_j))."""
        s = self.local_scales(local_neighbor, floor=floor)
        index, squares = self.index[:, :q], self.squared_distance[:, :q]
        return either_way(index, np.exp(-squares / (s[:, None] * s[index])))


def check_ranks(**ranks: object) -> None:
    """Raise InputError unless numbers of neighbours are whole numbers above 0."""
    for name, rank in ranks.items():
        check_number(name, rank, least=1, whole=True)


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


def nearest_neighbours(X: AnyMatrix, q: int, of: AnyMatrix = None) -> Neighbours:
    """Return the q rows of X nearest to each row, itself excluded, or to new rows.

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
    q : int
        At most n - 1 are returned.
    of : (n_new, m) array or scipy sparse matrix, optional
        The new rows.

    Notes
    -----
    O(n^2 m) work, or a product X X^T of sparse matrices; O(n q) memory plus a block.
    Among equally distant rows those with the smallest index are taken; a tree (few
    features) and scikit-learn (many rows of some features) take any of these.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0], [3.0]])
    >>> nearest_neighbours(X, 2).index
    array([[1, 2],
           [0, 2],
           [3, 1],
           [2, 1]])
    >>> nearest_neighbours(X, 1, np.array([[2.5]])).squared_distance
    array([[0.25]])
    """
    n, m = X.shape
    others = of is None
    q = min(q, n - others)
    if q and not sparse.issparse(X):
        dense = np.asarray(X, dtype=np.float64)
        rows = dense if others else np.asarray(of, dtype=np.float64)
        if tree_pays(dense, q):
            return _by_tree(dense, q, rows, others=others)
        if not others or (m <= _NARROW and n > _MANY_ROWS):
            origin = np.median(dense, axis=0)
            query = None if others else rows - origin
            search = _brute(dense - origin, q)
            return _measured(dense, rows, search.kneighbors(query)[1])
    if not others:
        distance, index = _brute(X, q).kneighbors(of)
        return Neighbours(index, distance**2)
    return Neighbours.of_blocks(squared_distance_blocks(X), n, q)


def tree_pays(X: FloatArray, q: int) -> bool:
    """Tell whether a tree of the rows of X finds q neighbours soonest."""
    n, m = X.shape
    if n <= _TREE_ROWS or m > _WIDE_TREE:
        return False
    if m <= _NARROW_TREE:
        return True
    D = cdist(X[:: n // _SOME], X)
    near = np.partition(D, min(q, n - 1), axis=1)[:, min(q, n - 1), None]
    return float(np.mean(_TIMES * near > D)) < _FEW_NEAR


def _brute(X: AnyMatrix, q: int) -> Any:
    """Return scikit-learn's search, which takes products and keeps what is least."""
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=q, algorithm="brute").fit(X)


def _measured(X: FloatArray, Y: FloatArray, index: Any) -> Neighbours:
    """Return neighbours by their squared distances, measured without products."""
    squares = np.empty(index.shape)
    for j, column in enumerate(index.T):
        D = Y - X[column]
        squares[:, j] = np.einsum("ij,ij->i", D, D)
    order = np.lexsort((index, squares), axis=1)
    index = np.take_along_axis(index, order, axis=1).astype(np.intp)
    return Neighbours(index, np.take_along_axis(squares, order, axis=1))


def _by_tree(X: FloatArray, q: int, Y: FloatArray, *, others: bool) -> Neighbours:
    ranks = list(range(1, q + 1 + others))
    distance, index = cKDTree(X, leafsize=_LEAF).query(Y, ranks)
    if others:
        # A row is its own nearest, unless it has copies: then it may stand anywhere.
        own = index == np.arange(len(X))[:, None]
        own[~own.any(axis=1), -1] = True
        distance, index = (each[~own].reshape(len(X), q) for each in (distance, index))
    return Neighbours(index.astype(np.intp), distance**2)


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


def directed(index: npt.NDArray[np.intp], values: FloatArray) -> Any:
    """Return the sparse matrix with these values at the neighbours of every row."""
    n, q = index.shape
    ends = np.arange(0, n * q + 1, q)
    return sparse.csr_array((values.ravel(), index.ravel(), ends), shape=(n, n))


def either_way(index: npt.NDArray[np.intp], weights: FloatArray) -> Any:
    """Join i and j if either names the other; the larger weight where both do."""
    W = directed(index, weights)
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
