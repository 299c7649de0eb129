r"""What graphs need of a similarity: no diagonal, nothing negative, ncut scaling.

Explicit matrices give explicit ones. An implicit A = F F^T stays implicit,

.. math:: S (F F^T - \mathrm{diag}(a)) S = (SF)(SF)^T - \mathrm{diag}(s_i^2 a_i) .
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symmf.common.notation import FloatArray
from symmf.errors import InputError
from symmf.similarity.graphs.normalise import normalised, scaled
from symmf.similarity.operators import (
    DenseOperator,
    Gram,
    Shifted,
    SparseOperator,
    SymmetricOperator,
)

# An explicit n x n matrix may take this many bytes.
DENSE_BYTES = 2 * 2**30


def check_fits(n: int, what: str, advice: str, *, itemsize: int = 8) -> None:
    """Raise InputError if n x n entries do not fit in memory."""
    if n * n * itemsize > DENSE_BYTES:
        raise InputError(
            f"{what} needs all {n} x {n} entries, which do not fit in memory "
            f"({n * n * itemsize / 2**30:.1f} GB). {advice}"
        )


class Scaled(SymmetricOperator):
    """S A S with S = diag(scale), for an A that stays implicit."""

    def __init__(self, A: SymmetricOperator, scale: FloatArray) -> None:
        super().__init__(A.shape[0], A.dtype)
        self.A = A
        self.scale = np.asarray(scale, dtype=A.dtype)

    def _matmat(self, V: FloatArray) -> FloatArray:
        return np.asarray(self.scale[:, None] * self.A.matmat(self.scale[:, None] * V))

    def diagonal(self) -> FloatArray:
        """Return the diagonal."""
        return np.asarray(self.scale**2 * self.A.diagonal())

    def columns(self, index: Any) -> FloatArray:
        """Return the given columns."""
        out: FloatArray = self.A.columns(index) * self.scale[:, None]
        return np.asarray(out * self.scale[index])


def without_diagonal(A: SymmetricOperator) -> SymmetricOperator:
    """Return A with zeros on the diagonal.

    Examples
    --------
    >>> without_diagonal(DenseOperator(np.ones((2, 2)))).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    if not A.diagonal().any():
        return A
    if isinstance(A, DenseOperator):
        M = A.M.copy()
        np.fill_diagonal(M, 0)
        return DenseOperator(M)
    if isinstance(A, SparseOperator):
        rest = A.M - sparse.diags_array(A.diagonal())
        rest.eliminate_zeros()
        return SparseOperator(rest)
    return Shifted(A, 1.0, -A.diagonal())


def normalised_cut(A: SymmetricOperator) -> SymmetricOperator:
    """Return D^-1/2 A D^-1/2, with d = A 1 >= 0; a vertex of degree 0 stays alone.

    Examples
    --------
    >>> A = DenseOperator(np.array([[0.0, 4.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> normalised_cut(A).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    if isinstance(A, SparseOperator) and A.M.data.min(initial=0.0) >= 0:
        return normalised(A.M, thin_factor=A.thin_factor)
    d = A.degrees.astype(np.float64)
    largest = float(np.abs(d).max())
    if float(d.min()) < -1e-6 * largest:
        row = int(np.argmin(d))
        raise InputError(
            f"Normalised-cut scaling needs row sums >= 0; that of row {row} is "
            f"{d[row]:.3g}. Clip the similarity at zero, or use a graph such as "
            "self_tuning."
        )
    # Row sums of an implicit A without its diagonal may leave rounding for zero.
    alive = d > 1e-14 * largest
    S = rescale(A, np.divide(1.0, np.sqrt(np.abs(d)), out=0 * d, where=alive))
    if isinstance(S, DenseOperator) and S.M.min(initial=0.0) >= 0:
        S.is_normalised_graph = True
    return S


def rescale(A: SymmetricOperator, scale: FloatArray) -> SymmetricOperator:
    """Return S A S with S = diag(scale); exactly symmetric if A is."""
    scale = np.asarray(scale).astype(A.dtype)
    if isinstance(A, DenseOperator):
        return DenseOperator(np.multiply.outer(scale, scale) * A.M)
    if isinstance(A, SparseOperator):
        return SparseOperator(scaled(A.M, scale))
    if isinstance(A, Gram):
        return Gram(A.features.with_scaled_rows(scale))
    if isinstance(A, Shifted):
        return Shifted(rescale(A.A, scale), A.a, scale**2 * A.b)
    return Scaled(A, scale)


def clip_nonnegative(A: SymmetricOperator) -> SymmetricOperator:
    """Return max(A, 0); A itself when it has no negative entry.

    An implicit A whose features are all nonnegative is kept as it is. Another implicit
    A has to be formed, which is refused when n x n entries do not fit in memory.
    """
    if isinstance(A, DenseOperator):
        return A if A.M.min() >= 0 else DenseOperator(np.maximum(A.M, 0))
    if isinstance(A, SparseOperator):
        if A.M.nnz == 0 or A.M.data.min() >= 0:
            return A
        M = A.M.copy()
        M.data = np.maximum(M.data, 0)
        M.eliminate_zeros()
        return SparseOperator(M)
    if isinstance(A, Gram) and A.features.mu is None and A.features.X.min() >= 0:
        return A
    n = A.shape[0]
    check_fits(
        n,
        "Clipping this similarity at zero",
        "Use a sparse graph (self_tuning, cosine_knn), or cosine with nonnegative "
        "data, which needs no clipping.",
        itemsize=A.dtype.itemsize,
    )
    M = np.empty((n, n), dtype=A.dtype)
    for rows, block in A.row_blocks():
        first, end = int(rows[0]), int(rows[-1]) + 1
        np.maximum(block, 0, out=M[first:end])
        # The two places of a pair may round differently.
        M[first:end, :first] = M[:first, first:end].T
        square = M[first:end, first:end]
        square[...] = np.maximum(square, square.T)
    return DenseOperator(M)
