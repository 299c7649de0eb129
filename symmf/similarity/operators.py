r"""Symmetric operators: similarity A, and M = A - lambda L, without forming n x n.

With D = diag(A 1) and L = D - A,

.. math:: M = A - \lambda L = (1 + \lambda) A - \lambda D .

Factoring M is fitting A with a graph regulariser, up to a constant in H (the sum over
all pairs i, j counts each pair twice, hence the 2):

.. math:: \|A - HH^T\|_F^2 + 2\lambda\,\mathrm{tr}(H^T L H)
          = \|M - HH^T\|_F^2 + 2\lambda\langle A, L\rangle - \lambda^2\|L\|_F^2 .
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas
from scipy.sparse.linalg import LinearOperator

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_number
from symmf.errors import InputError
from symmf.linalg.checks import (
    check_sparse,
    check_square,
    check_symmetric_products,
    first_not_finite,
    largest_entry,
    not_symmetric,
    symmetry_slack,
)
from symmf.linalg.threads import product
from symmf.similarity.row_features import RowFeatures

# Row blocks hold about this many entries and at most so many rows, so that nothing
# n x n is formed at once.
_BLOCK_ENTRIES, _BLOCK_ROWS = 4_000_000, 512
# Up to so many columns are multiplied one at a time: BLAS then reads half of M for
# each, which takes about half the time.
_FEW_COLUMNS = 4
_SYMV = {np.dtype(np.float64): blas.dsymv, np.dtype(np.float32): blas.ssymv}
# Above this many rows ||A||_F^2 of an implicit matrix is estimated, not computed.
EXACT_NORM_LIMIT = 20_000
# Random vectors of that estimate, so many at a time.
_PROBES, _PROBE_COLUMNS = 8, 4


class SymmetricOperator(LinearOperator):
    """A symmetric matrix known through its products; what every solver works on."""

    #: False when ``fro2`` is a stochastic estimate (very large implicit matrices).
    fro2_exact = True
    # What the eigensolver may use.
    #: (S, a, b) if the matrix is a S + b I: its eigenvectors are those of S
    affine: tuple[SymmetricOperator, float, float] | None = None
    #: whether this is D^-1/2 W D^-1/2 with W >= 0, explicit as ``M``
    is_normalised_graph = False
    #: of such a graph: roots of the row sums of W, which give the eigenvectors of 1
    root_degrees: FloatArray | None = None
    #: of an explicit sparse matrix: whether a factorization stays sparse, if known
    thin_factor: bool | None = None
    #: F if the matrix is F F^T with dense F
    gram_factor: FloatArray | None = None
    #: F if the matrix is F F^T up to a factor and a diagonal
    near_factor: FloatArray | None = None

    def __init__(self, n: int, dtype: Any) -> None:
        super().__init__(dtype=np.dtype(dtype), shape=(n, n))

    def _adjoint(self) -> SymmetricOperator:
        return self

    def _matmat(self, V: FloatArray) -> FloatArray:
        raise NotImplementedError

    def matmat(self, V: FloatArray) -> FloatArray:
        """Return M V for an (n, columns) array."""
        return self._matmat(V)

    def diagonal(self) -> FloatArray:
        """Return the diagonal."""
        out = np.empty(self.shape[0], self.dtype)
        for rows, block in self.row_blocks():
            out[rows] = block[np.arange(len(block)), rows]
        return out

    @cached_property
    def degrees(self) -> FloatArray:
        """Row sums d = A 1; they may be negative when A has mixed signs."""
        return self._matmat(np.ones((self.shape[0], 1), self.dtype))[:, 0]

    @cached_property
    def fro2(self) -> float:
        """||M||_F^2, or Hutchinson's estimate of it where ``fro2_exact`` is False."""
        if self.fro2_exact:
            return self._exact_fro2()
        # E ||M z||^2 = ||M||_F^2 for random signs z; the seed is fixed because the
        # value is a constant of the matrix, not of a run.
        rng, squares = np.random.default_rng(0), []
        for _ in range(_PROBES):
            z = rng.integers(0, 2, (self.shape[0], _PROBE_COLUMNS), dtype=np.int8)
            Mz = self._matmat((2 * z - 1).astype(self.dtype))
            squares.append(np.einsum("ij,ij->j", Mz, Mz, dtype=np.float64))
        return float(np.mean(squares))

    def _exact_fro2(self) -> float:
        return float(
            sum(np.sum(np.square(block, dtype=float)) for _, block in self.row_blocks())
        )

    @cached_property
    def max_entry(self) -> float:
        """The largest entry, signed."""
        return float(max(block.max() for _, block in self.row_blocks()))

    @property
    def eigenvalue_floor(self) -> float:
        """A number no eigenvalue is below, known without iteration."""
        return -float(np.sqrt(self.fro2))

    def columns(self, index: Any) -> FloatArray:
        """Return the given columns as a dense (n, len(index)) array."""
        unit = np.zeros((self.shape[0], len(index)), self.dtype)
        unit[index, np.arange(len(index))] = 1
        return self._matmat(unit)

    def row_blocks(self) -> Iterator[tuple[np.ndarray, FloatArray]]:
        """Yield (row indices, dense rows) over the whole matrix, a block at a time."""
        n = self.shape[0]
        size = max(1, min(_BLOCK_ROWS, _BLOCK_ENTRIES // n))
        for first in range(0, n, size):
            rows = np.arange(first, min(first + size, n))
            yield rows, self.columns(rows).T

    def toarray(self) -> FloatArray:
        """Return the matrix itself; for tests and small n."""
        return self._matmat(np.eye(self.shape[0], dtype=self.dtype))

    def regularised(self, weight: float) -> SymmetricOperator:
        """Return A - weight L."""
        return LaplacianRegularised(self, weight)


class DenseOperator(SymmetricOperator):
    """An explicit symmetric array."""

    def __init__(self, M: FloatArray) -> None:
        super().__init__(M.shape[0], M.dtype)
        self.M = M

    def _matmat(self, V: FloatArray) -> FloatArray:
        few = 0 < V.shape[1] <= _FEW_COLUMNS
        if few and self.M.dtype == V.dtype and self.M.flags.forc:
            symv = _SYMV[self.M.dtype]
            M = self.M.T if self.M.flags.c_contiguous else self.M
            return np.stack([symv(1.0, M, v) for v in V.T], axis=1)
        return product(self.M, V)

    def diagonal(self) -> FloatArray:
        """Return the diagonal."""
        return self.M.diagonal().copy()

    def columns(self, index: Any) -> FloatArray:
        """Return the given columns."""
        return self.M[:, index]

    @cached_property
    def fro2(self) -> float:
        """||M||_F^2."""
        return float(np.einsum("ij,ij->", self.M, self.M, dtype=np.float64))

    @cached_property
    def max_entry(self) -> float:
        """The largest entry, signed."""
        return float(self.M.max())

    def toarray(self) -> FloatArray:
        """Return a copy of the array."""
        return self.M.copy()

    def regularised(self, weight: float) -> SymmetricOperator:
        """Return A - weight L, explicit."""
        M = (1 + weight) * self.M
        M[np.diag_indices_from(M)] -= weight * self.degrees
        return DenseOperator(M.astype(self.dtype, copy=False))


class SparseOperator(SymmetricOperator):
    """An explicit symmetric scipy sparse matrix."""

    def __init__(self, M: AnyMatrix) -> None:
        super().__init__(M.shape[0], M.dtype)
        self.M = sparse.csr_array(M)

    def _matmat(self, V: FloatArray) -> FloatArray:
        return np.asarray(self.M @ V)

    def diagonal(self) -> FloatArray:
        """Return the diagonal."""
        return np.asarray(self.M.diagonal())

    @cached_property
    def fro2(self) -> float:
        """||M||_F^2 from the stored entries."""
        return float(np.sum(np.square(self.M.data, dtype=np.float64)))

    @cached_property
    def max_entry(self) -> float:
        """The largest entry, signed; unstored entries are zero."""
        # scipy sorts the entries in place for it; other products would round otherwise.
        return float(self.M.copy().max())

    def columns(self, index: Any) -> FloatArray:
        """Return the given columns; by symmetry they are rows."""
        return np.asarray(self.M[index].toarray().T)

    def toarray(self) -> FloatArray:
        """Return the dense array."""
        return np.asarray(self.M.toarray())

    def regularised(self, weight: float) -> SymmetricOperator:
        """Return A - weight L, explicit."""
        D = sparse.diags_array(self.degrees)
        return SparseOperator((1 + weight) * self.M - weight * D)


class Gram(SymmetricOperator):
    r"""A = F F^T for the rows of F; centred and scaled rows stay implicit.

    .. math:: A V = F (F^T V) .

    Parameters
    ----------
    features : RowFeatures
        The rows, possibly centred and scaled on the fly.
    """

    def __init__(self, features: RowFeatures) -> None:
        super().__init__(features.shape[0], features.dtype)
        self.features = features
        dense = not features.sparse and features.mu is None
        self.gram_factor = np.asarray(features.X) if dense else None
        self.fro2_exact = self.shape[0] <= EXACT_NORM_LIMIT

    def _matmat(self, V: FloatArray) -> FloatArray:
        return self.features.dot(self.features.tdot(V))

    def diagonal(self) -> FloatArray:
        """Return the squared row norms."""
        return self.features.squared_norms()

    def _exact_fro2(self) -> float:
        return self.features.gram_fro2()

    @cached_property
    def max_entry(self) -> float:
        """The largest entry: on the diagonal, by Cauchy and Schwarz."""
        return float(self.diagonal().max())

    @property
    def eigenvalue_floor(self) -> float:
        """F F^T is positive semidefinite."""
        return 0.0

    def columns(self, index: Any) -> FloatArray:
        """Return the given columns of the Gram matrix."""
        return self.features.gram_rows(index).T


class Shifted(SymmetricOperator):
    """a A + diag(b), a > 0, for an A that stays implicit; b is a number or one a row.

    Parameters
    ----------
    A : SymmetricOperator
    a : float
    b : float or (n,) array
    """

    def __init__(self, A: SymmetricOperator, a: float, b: float | FloatArray) -> None:
        super().__init__(A.shape[0], A.dtype)
        self.A, self.a = A, float(a)
        self.b = np.asarray(b, dtype=A.dtype)
        self.fro2_exact = A.fro2_exact
        if self.b.ndim:
            self.near_factor = A.gram_factor
        else:
            self.affine = (A, self.a, float(b))

    def _matmat(self, V: FloatArray) -> FloatArray:
        out = self.A.matmat(V)
        out *= self.dtype.type(self.a)
        out += self.b.reshape(-1, 1) * V
        return out

    def diagonal(self) -> FloatArray:
        """Return the diagonal."""
        return np.asarray(self.a * self.A.diagonal() + self.b)

    @cached_property
    def fro2(self) -> float:
        """a^2 ||A||^2 + 2 a sum A_ii b_i + sum b_i^2."""
        b = np.broadcast_to(self.b, self.shape[0]).astype(np.float64)
        mixed = float(self.A.diagonal().astype(np.float64) @ b)
        return self.a**2 * self.A.fro2 + 2 * self.a * mixed + float(b @ b)

    @property
    def eigenvalue_floor(self) -> float:
        """That of A, mapped, with the smallest b."""
        return self.a * self.A.eigenvalue_floor + float(self.b.min())

    def columns(self, index: Any) -> FloatArray:
        """Return the given columns."""
        out = self.a * self.A.columns(index)
        b = np.broadcast_to(self.b, self.shape[0])
        out[index, np.arange(len(index))] += b[index]
        return out


class LaplacianRegularised(Shifted):
    """M = (1 + weight) A - weight D for a similarity A that stays implicit."""

    def __init__(self, A: SymmetricOperator, weight: float) -> None:
        super().__init__(A, 1 + weight, -weight * A.degrees)
        self.weight = float(weight)


class WrappedOperator(SymmetricOperator):
    """Any scipy ``LinearOperator`` that is symmetric."""

    def __init__(self, operator: LinearOperator) -> None:
        super().__init__(operator.shape[0], operator.dtype or np.float64)
        self.operator = operator

    def _matmat(self, V: FloatArray) -> FloatArray:
        return np.asarray(self.operator.matmat(V))


#: lambda above this leaves nothing of A in A - lambda L
LARGEST_WEIGHT = 1e12


def regularise(A: SymmetricOperator, weight: float) -> SymmetricOperator:
    """Return M = A - weight L, explicit if A is explicit, implicit otherwise."""
    # Above the limit A itself is lost to rounding beside lambda L.
    check_number("The Laplacian weight (lambda)", weight, least=0, most=LARGEST_WEIGHT)
    return A if weight == 0 else A.regularised(weight)


def as_operator(M: Any) -> SymmetricOperator:
    """Check a symmetric matrix and wrap it; the data are not copied if avoidable.

    Raises
    ------
    InputError
        If it is not square, not symmetric, not real, or has NaN or infinite entries.
    """
    if isinstance(M, SymmetricOperator):
        return M
    if isinstance(M, LinearOperator):
        check_square(M.shape)
        wrapped = WrappedOperator(M)
        check_symmetric_products(wrapped)
        return wrapped
    if sparse.issparse(M):
        check_sparse(M, argument="M")
        M = sparse.csr_array(M)
    else:
        M = np.asarray(M)
    check_square(M.shape)
    if M.dtype.kind not in "fiub":
        raise InputError(f"M must hold real numbers; its type is {M.dtype}.")
    if M.dtype not in (np.float32, np.float64):
        M = M.astype(np.float64)
    row = first_not_finite(M)
    if row is not None:
        raise InputError(
            f"M has a NaN or infinite entry (first in row {row}); "
            "clean or drop such rows first."
        )
    gap = _asymmetry(M)
    if gap > symmetry_slack(M.dtype) * largest_entry(M):
        raise InputError(not_symmetric(gap))
    return SparseOperator(M) if sparse.issparse(M) else DenseOperator(M)


def _asymmetry(M: AnyMatrix) -> float:
    """Return the largest entry of |M - M^T|."""
    if sparse.issparse(M):
        return float(abs(M - M.T).max()) if M.nnz else 0.0
    parts = (
        slice(first, first + _BLOCK_ROWS) for first in range(0, len(M), _BLOCK_ROWS)
    )
    return max(largest_entry(M[rows] - M[:, rows].T) for rows in parts)
