"""Approximate nearest neighbours of many rows: a forest of random cuts, refined.

Every tree halves the rows again and again, each half at the median along the line
through two of its rows, until leaves are small; neighbours are looked for within
leaves. Then neighbours of neighbours are tried. Time grows as n log n.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from symmf.common.notation import FloatArray
from symmf.linalg.threads import allowed_threads

_TREES, _LEAF = 6, 200
# Rows that stand for all components, and for one at most.
_POOL, _STAND_FOR = 16_384, 256
# Entries of a block of distances.
_BLOCK_ENTRIES = 8_000_000
_IntArray = npt.NDArray[np.intp]
_Rows = npt.NDArray[np.int32]


def forest_neighbours(X: FloatArray, q: int) -> tuple[FloatArray, _IntArray]:
    """Return distances and indices of about the q nearest other rows, nearest first.

    Parameters
    ----------
    X : (n, m) array
        n is far above q.
    q : int

    Notes
    -----
    The same rows give the same neighbours: the cuts are drawn with a fixed seed.
    """
    # Near the origin single precision is enough to tell who is near.
    Y = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)
    rng = np.random.default_rng(0)
    size = max(_LEAF, 4 * q)
    found = _in_leaves(Y, _leaves(Y, size, rng), q)
    for _ in range(_TREES - 1):
        found = _joined(found, _in_leaves(Y, _leaves(Y, size, rng), q), q)
    return _exact(X, _refined(Y, *found, q))


def _leaves(Y: FloatArray, size: int, rng: np.random.Generator) -> _Rows:
    """Return rows by leaf, (leaves, rows); a few rows stand in two leaves."""
    n = len(Y)
    levels = max(0, int(np.ceil(np.log2(n / size))))
    count = 2**levels
    each = -(-n // count)
    filled = rng.choice(n, each * count - n, replace=False)
    groups = np.concatenate([rng.permutation(n), filled]).astype(np.int32)
    groups = groups.reshape(1, -1)
    for _ in range(levels):
        # Rows stand in no order, so the first two of a group are any two.
        direction = Y[groups[:, 0]] - Y[groups[:, 1]]
        along = np.empty(groups.shape, dtype=np.float32)
        step = max(1, _BLOCK_ENTRIES // (groups.shape[1] * Y.shape[1]))
        for first in range(0, len(groups), step):
            part = slice(first, first + step)
            np.einsum("gsd,gd->gs", Y[groups[part]], direction[part], out=along[part])
        half = groups.shape[1] // 2
        order = np.argpartition(along, half, axis=1)
        groups = np.take_along_axis(groups, order, axis=1).reshape(-1, half)
    return groups


def _in_leaves(Y: FloatArray, leaves: _Rows, q: int) -> tuple[_Rows, FloatArray]:
    """Return the q nearest rows of the same leaf, and squared distances."""
    n, (count, size) = len(Y), leaves.shape
    index = np.empty((count, size, q), dtype=np.int32)
    square = np.empty((count, size, q), dtype=np.float32)
    step = max(1, _BLOCK_ENTRIES // (size * size))

    def search(first: int) -> None:
        part = slice(first, first + step)
        rows = leaves[part]
        P = Y[rows]
        level = np.einsum("gsd,gsd->gs", P, P)
        D = P @ P.transpose(0, 2, 1)
        D *= -2
        D += level[:, :, None]
        D += level[:, None, :]
        # A row, or its second place, is not a neighbour of itself.
        D[rows[:, :, None] == rows[:, None, :]] = np.inf
        near = np.argpartition(D, q - 1, axis=2)[:, :, :q]
        square[part] = np.take_along_axis(D, near, axis=2)
        index[part] = np.take_along_axis(rows[:, None, :], near, axis=2)

    _in_threads(search, range(0, count, step))
    # The later place of a row that has two counts.
    place = np.empty(n, dtype=np.int64)
    place[leaves.ravel()] = np.arange(leaves.size)
    return index.reshape(-1, q)[place], square.reshape(-1, q)[place]


def _best(index: _Rows, square: FloatArray, q: int) -> tuple[_Rows, FloatArray]:
    """Return the q nearest of the candidates of every row, each once."""
    order = np.argsort(index, axis=1)
    names = np.take_along_axis(index, order, axis=1)
    values = np.take_along_axis(square, order, axis=1)
    values[:, 1:][names[:, 1:] == names[:, :-1]] = np.inf
    near = np.argpartition(values, q - 1, axis=1)[:, :q]
    return (
        np.take_along_axis(names, near, axis=1),
        np.take_along_axis(values, near, axis=1),
    )


def _joined(
    first: tuple[_Rows, FloatArray], second: tuple[_Rows, FloatArray], q: int
) -> tuple[_Rows, FloatArray]:
    """Return the q nearest of two sets of candidates."""
    index, square = np.empty_like(first[0]), np.empty_like(first[1])
    step = max(1, _BLOCK_ENTRIES // (2 * q))

    def choose(begin: int) -> None:
        rows = slice(begin, begin + step)
        names = np.hstack([first[0][rows], second[0][rows]])
        values = np.hstack([first[1][rows], second[1][rows]])
        index[rows], square[rows] = _best(names, values, q)

    _in_threads(choose, range(0, len(index), step))
    return index, square


def _refined(Y: FloatArray, index: _Rows, square: FloatArray, q: int) -> _Rows:
    """Try the neighbours of every row's neighbours."""
    n, m = Y.shape
    out = np.empty_like(index)
    step = max(1, _BLOCK_ENTRIES // (q * max(q, m)))

    def look(first: int) -> None:
        rows = np.arange(first, min(first + step, n))
        further = np.empty((len(rows), q, q), dtype=np.int32)
        squares = np.empty((len(rows), q, q), dtype=np.float32)
        for j in range(q):
            further[:, j] = index[index[rows, j]]
            D = Y[further[:, j]]
            D -= Y[rows, None]
            np.einsum("rqd,rqd->rq", D, D, out=squares[:, j])
        squares[further == rows[:, None, None]] = np.inf
        names = np.hstack([index[rows], further.reshape(len(rows), -1)])
        values = np.hstack([square[rows], squares.reshape(len(rows), -1)])
        out[rows] = _best(names, values, q)[0]

    _in_threads(look, range(0, n, step))
    return out


def _exact(X: FloatArray, index: _Rows) -> tuple[FloatArray, _IntArray]:
    """Distances in double precision, from differences; nearest first."""
    n, q = index.shape
    distance = np.empty((n, q))
    step = max(1, _BLOCK_ENTRIES // (q * X.shape[1]))

    def measure(first: int) -> None:
        rows = slice(first, first + step)
        D = X[index[rows]].astype(np.float64)
        D -= X[rows, None]
        distance[rows] = np.sqrt(np.einsum("rqd,rqd->rq", D, D))

    _in_threads(measure, range(0, n, step))
    order = np.lexsort((index, distance), axis=1)
    return (
        np.take_along_axis(distance, order, axis=1),
        np.take_along_axis(index, order, axis=1).astype(np.intp),
    )


def _in_threads(work: Callable[[int], None], starts: range) -> None:
    with ThreadPoolExecutor(allowed_threads()) as pool:
        list(pool.map(work, starts))


def join_many(
    X: FloatArray, component: npt.NDArray[np.int32], count: int
) -> list[tuple[int, int, float]]:
    """Return about the nearest pair of every component but the largest and another.

    Few rows stand for a component when others look for it; the row of its own that is
    nearest to what it found is looked for among all.
    """
    order = np.argsort(component, kind="stable")
    sizes = np.bincount(component, minlength=count)
    starts = np.cumsum(sizes) - sizes
    most = int(np.clip(_POOL // count, 1, _STAND_FOR))
    chosen = [
        order[start + np.linspace(0, size - 1, min(size, most)).astype(int)]
        for start, size in zip(starts, sizes, strict=True)
    ]
    pool = np.concatenate(chosen)
    other, square = _nearest_elsewhere(X, pool, component)
    firsts = np.cumsum([0, *map(len, chosen[:-1])])
    pairs = []
    for c in np.flatnonzero(np.arange(count) != np.argmax(sizes)):
        own = slice(firsts[c], firsts[c] + len(chosen[c]))
        j = int(other[own][np.argmin(square[own])])
        inside = order[starts[c] : starts[c] + sizes[c]]
        D = X[inside].astype(np.float64)
        D -= X[j]
        squares = np.einsum("ij,ij->i", D, D)
        nearest = int(np.argmin(squares))
        pairs.append((int(inside[nearest]), j, float(np.sqrt(squares[nearest]))))
    return pairs


def _nearest_elsewhere(
    X: FloatArray, pool: _IntArray, component: npt.NDArray[np.int32]
) -> tuple[_IntArray, FloatArray]:
    """Return for rows of the pool the nearest one of another component."""
    P = np.asarray(X[pool], dtype=np.float64)
    P = P - P.mean(axis=0)
    level = np.einsum("ij,ij->i", P, P)
    other = np.empty(len(pool), dtype=np.intp)
    square = np.empty(len(pool))
    step = max(1, _BLOCK_ENTRIES // len(pool))
    names = component[pool]
    for first in range(0, len(pool), step):
        rows = slice(first, first + step)
        D = level[rows, None] + level - 2 * (P[rows] @ P.T)
        D[names[rows, None] == names] = np.inf
        near = np.argmin(D, axis=1)
        other[rows] = pool[near]
        square[rows] = D[np.arange(len(near)), near]
    return other, square
