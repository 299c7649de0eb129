r"""Operators whose entries live on a Dask cluster, or on disk.

With row blocks F_1 .. F_p of F, the product

.. math:: A V = F (F^T V), \qquad F^T V = \sum_i F_i^T V_i

is a map and a reduce: blocks stay on their workers, V and the result on the client.
Every product is one graph of tasks, so that what a lost worker held is computed again.
"""

from __future__ import annotations

import operator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import is_dask
from symmf.distributed.rows import Cluster, DistributedRows, check_array
from symmf.errors import InputError
from symmf.linalg.checks import (
    check_square,
    check_symmetric_products,
    largest_entry,
    not_symmetric,
    symmetry_slack,
)
from symmf.similarity.operators import (
    EXACT_NORM_LIMIT,
    SymmetricOperator,
    as_operator,
)
from symmf.similarity.row_features import RowFeatures

# F^T F of so many features still fits on a worker.
_MOST_FEATURES = 4096
# Strips of dense rows hold at most so many entries.
_STRIP_ENTRIES = 4_000_000


def operator_of(M: Any) -> SymmetricOperator:
    """Check a symmetric matrix and wrap it; a dask array stays where it is."""
    return DistributedMatrix(M) if is_dask(M) else as_operator(M)


class DistributedGram(SymmetricOperator):
    """A = F F^T for rows of F in the blocks of a dask array.

    Parameters
    ----------
    X : dask array chunked by rows, or DistributedRows
        Blocks are arrays or scipy sparse matrices. On the cluster of the client in use
        they are computed up to three times at the start and then stay with the workers;
        without a client they are computed again for every product, on the threads of
        this process.
    centre, unit : bool
        Subtract the column means; scale rows to unit length. For sparse blocks both
        stay implicit.

    Examples
    --------
    >>> import numpy as np
    >>> da = __import__("pytest").importorskip("dask.array")
    >>> X = da.from_array(np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 1.0]]), chunks=(2, 2))
    >>> DistributedGram(X, centre=False).toarray().round(2)
    array([[1.  , 0.96, 0.8 ],
           [0.96, 1.  , 0.6 ],
           [0.8 , 0.6 , 1.  ]])
    """

    def __init__(self, X: Any, *, centre: bool = True, unit: bool = True) -> None:
        rows = X if isinstance(X, DistributedRows) else DistributedRows.of(X)
        super().__init__(rows.shape[0], rows.dtype)
        self.n_features = rows.shape[1]
        self.fro2_exact = self.shape[0] <= EXACT_NORM_LIMIT
        self.mean: FloatArray | None = rows.mean() if centre else None
        self.unit = unit
        self._heights, self._cluster = rows.heights, rows.cluster
        task, mean = self._cluster.task, self.mean
        if mean is not None:
            mean = task(np.asarray, mean)
        self._blocks = self._cluster.keep(
            [task(_features, block, mean, unit) for block in rows.blocks]
        )

    def _partial(self, V: FloatArray) -> Any:
        """Return the task of F^T V."""
        V = np.asarray(V, dtype=self.dtype)
        pairs = zip(self._blocks, _cut(V, self._heights), strict=True)
        return self._cluster.total(
            [self._cluster.task(RowFeatures.tdot, F, v) for F, v in pairs]
        )

    def _matmat(self, V: FloatArray) -> FloatArray:
        Y = self._cluster.shared(self._partial(V))
        products = [self._cluster.task(RowFeatures.dot, F, Y) for F in self._blocks]
        return np.concatenate(self._cluster.compute(products))

    def transposed_product(self, V: FloatArray) -> FloatArray:
        """Return F^T V, a row for every feature."""
        return np.asarray(self._cluster.compute([self._partial(V)])[0])

    @cached_property
    def _squared(self) -> FloatArray:
        parts = [self._cluster.task(RowFeatures.squared_norms, F) for F in self._blocks]
        return np.concatenate(self._cluster.compute(parts)).astype(self.dtype)

    def diagonal(self) -> FloatArray:
        """Return the squared row norms."""
        return self._squared

    def _exact_fro2(self) -> float:
        if self.n_features > min(self.shape[0], _MOST_FEATURES):
            return super()._exact_fro2()
        # ||F F^T|| = ||F^T F||.
        parts = [self._cluster.task(_second_moment, F) for F in self._blocks]
        (G,) = self._cluster.compute([self._cluster.total(parts)])
        return float(np.einsum("ij,ij->", G, G))

    @cached_property
    def max_entry(self) -> float:
        """The largest entry: on the diagonal, by Cauchy and Schwarz."""
        return float(self.diagonal().max())

    @property
    def eigenvalue_floor(self) -> float:
        """F F^T is positive semidefinite."""
        return 0.0


class DistributedMatrix(SymmetricOperator):
    """An explicit symmetric matrix in the chunks of a dask array.

    Parameters
    ----------
    M : (n, n) dask array
        Chunks of any shape, arrays or scipy sparse matrices.
    """

    def __init__(self, M: Any) -> None:
        check_array(M, "M")
        if np.isnan(M.shape).any():
            raise InputError(
                "The sizes of M's chunks are not known; call M.compute_chunk_sizes()."
            )
        check_square(M.shape)
        single = M.dtype == np.float32
        super().__init__(M.shape[0], np.float32 if single else np.float64)
        # Rows and columns are cut alike, so that the diagonal is that of chunks.
        self._heights = M.chunks[0]
        if M.chunks[1] != self._heights:
            M = M.rechunk((self._heights, self._heights))
        cluster = self._cluster = Cluster()
        chunks = M.to_delayed().ravel()
        kept = cluster.keep([cluster.task(_as_type, c, self.dtype) for c in chunks])
        side = len(self._heights)
        self._grid = [kept[i : i + side] for i in range(0, len(kept), side)]
        self._check(M)

    def _check(self, M: Any) -> None:
        """Refuse entries that are not finite, and matrices that are not symmetric."""
        chunks = [chunk for row in self._grid for chunk in row]
        task = self._cluster.task
        sums = self._cluster.compute([task(_chunk_facts, c) for c in chunks])
        scale = float(np.max([found[1] for found in sums]))
        if not np.isfinite(scale):
            raise InputError(
                "M has a NaN or infinite entry; clean or drop such rows first."
            )
        self._fro2, self._max = sum(s[0] for s in sums), max(s[2] for s in sums)
        if not isinstance(M._meta, np.ndarray):
            check_symmetric_products(self)
            return
        (gap,) = self._cluster.compute([abs(M - M.T).max()])
        if gap > symmetry_slack(self.dtype) * scale:
            raise InputError(not_symmetric(float(gap)))

    def _matmat(self, V: FloatArray) -> FloatArray:
        V = np.asarray(V, dtype=self.dtype)
        task, total = self._cluster.task, self._cluster.total
        parts = [task(np.asarray, part) for part in _cut(V, self._heights)]
        outs = [
            total(
                [task(operator.matmul, M, v) for M, v in zip(row, parts, strict=True)]
            )
            for row in self._grid
        ]
        return np.concatenate(self._cluster.compute(outs))

    def diagonal(self) -> FloatArray:
        """Return the diagonal."""
        diagonal = operator.methodcaller("diagonal")
        chunks = [row[i] for i, row in enumerate(self._grid)]
        parts = [self._cluster.task(diagonal, chunk) for chunk in chunks]
        return np.concatenate(self._cluster.compute(parts))

    @property
    def fro2(self) -> float:
        """||M||_F^2."""
        return float(self._fro2)

    @property
    def max_entry(self) -> float:
        """The largest entry, signed."""
        return float(self._max)


def _cut(V: FloatArray, sizes: Any) -> list[FloatArray]:
    return np.split(V, np.cumsum(sizes)[:-1])


def _features(block: AnyMatrix, mean: FloatArray | None, unit: bool) -> RowFeatures:
    return RowFeatures(block, centre=mean is not None, unit=unit, mean=mean)


def _second_moment(F: RowFeatures) -> FloatArray:
    """Return F^T F of a block, a strip of rows at a time."""
    G = np.zeros((F.shape[1], F.shape[1]))
    size = max(1, _STRIP_ENTRIES // F.shape[1])
    for first in range(0, F.shape[0], size):
        strip = F.rows(slice(first, first + size)).astype(np.float64, copy=False)
        G += strip.T @ strip
    return G


def _as_type(chunk: Any, dtype: Any) -> AnyMatrix:
    chunk = sparse.csr_array(chunk) if sparse.issparse(chunk) else np.asarray(chunk)
    return chunk.astype(dtype, copy=False)


def _chunk_facts(chunk: AnyMatrix) -> tuple[float, float, float]:
    """Return the sum of squares, the largest absolute value and the largest value."""
    values = chunk.data if sparse.issparse(chunk) else chunk
    largest = float(values.max(initial=0 if sparse.issparse(chunk) else -np.inf))
    squares = float(np.sum(np.square(values, dtype=np.float64)))
    return squares, largest_entry(chunk), largest
