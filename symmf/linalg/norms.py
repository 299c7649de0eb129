"""Objectives from traces, their dense twins, spectral norms, extreme eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from symmf.common.notation import FloatArray
from symmf.linalg.threads import one_thread

# Below this size a dense eigenvalue routine is both exact and faster than Lanczos.
DENSE_EIGEN_LIMIT = 600


def inner(A: FloatArray, B: FloatArray) -> float:
    """Return <A, B>, accumulated in double precision."""
    if A.dtype == np.float64:
        # Columns one after the other where they are contiguous: nothing is copied.
        both = A.flags.f_contiguous and B.flags.f_contiguous
        return float(np.vdot(A.T, B.T) if both else np.vdot(A, B))
    return float(np.einsum("ij,ij->", A, B, dtype=np.float64, casting="unsafe"))


def trace_objective(
    fro2: float, H: FloatArray, MH: FloatArray, G: FloatArray | None = None
) -> float:
    """Return ||M - H H^T||_F^2 = ||M||^2 - 2 tr(H^T M H) + ||H^T H||^2.

    Costs O(n k^2) once M H is known, O(n k) with G = H^T H too. Cancellation limits
    it to about 1e-16 ||M||^2; :func:`dense_objective` goes further.
    """
    G = np.asarray(H.T @ H if G is None else G, dtype=np.float64)
    return fro2 - 2.0 * inner(H, MH) + float(np.sum(G * G))


def trace_split_objective(
    fro2: float, H: FloatArray, P: FloatArray, MP: FloatArray
) -> float:
    """Return ||M - H P^T||_F^2 from the product M P, without anything n x n."""
    HH = np.asarray(H.T @ H, dtype=np.float64)
    PP = np.asarray(P.T @ P, dtype=np.float64)
    return fro2 - 2.0 * inner(H, MP) + float(np.sum(HH * PP))


def dense_objective(M: FloatArray, H: FloatArray, P: FloatArray | None = None) -> float:
    """Return ||M - H P^T||_F^2 (P = H by default) from the residual itself."""
    H = np.asarray(H, dtype=np.float64)
    P = H if P is None else np.asarray(P, dtype=np.float64)
    R = np.asarray(M, dtype=np.float64) - H @ P.T
    return float(np.einsum("ij,ij->", R, R))


def largest_eigenvalue(G: FloatArray) -> float:
    """Return the largest eigenvalue of a small symmetric matrix."""
    return float(np.linalg.eigvalsh(G)[-1])


def residual_operator(M: LinearOperator, H: FloatArray) -> LinearOperator:
    """Return R = H H^T - M as an operator; nothing n x n is formed."""
    return _operator(M, lambda V: H @ (H.T @ V) - M.matmat(V))


def spectral_norm(M: LinearOperator, H: FloatArray | None = None) -> float:
    """Return ||M||_2, or sigma = ||H H^T - M||_2.

    To full precision for small n; otherwise by Lanczos with residuals below 1e-6 of
    the value, whose own error is of second order.
    """
    if M.shape[0] <= DENSE_EIGEN_LIMIT:
        dense = np.asarray(M.toarray(), dtype=np.float64)
        if H is not None:
            dense = np.asarray(H @ H.T, dtype=np.float64) - dense
        # As the authors do: the largest singular value.
        return float(np.linalg.norm(dense, 2))
    operator = M if H is None else residual_operator(M, H)
    # A wide basis, because eigenvalues of both signs often tie in magnitude.
    return abs(_lanczos(operator, which="LM", ncv=40, tol=1e-6))


def smallest_eigenvalue(M: LinearOperator) -> float:
    """Return sigma_n(M), the algebraically smallest eigenvalue.

    Exact for small n; otherwise a lower bound, within about 1e-3 ||M||_2.
    """
    if M.shape[0] <= DENSE_EIGEN_LIMIT:
        return float(np.linalg.eigvalsh(np.asarray(M.toarray(), float))[0])
    size = spectral_norm(M)
    # The largest eigenvalue of size I - M: its accuracy is relative to ||M||, while
    # that of a smallest eigenvalue near zero would never be reached.
    shifted = _operator(M, lambda V: size * V - M.matmat(V))
    # Lanczos approaches from inside; the margin makes it a bound again.
    return size - _lanczos(shifted, which="LA", tol=1e-4) - 1e-3 * size


def _operator(
    M: LinearOperator, product: Callable[[FloatArray], FloatArray]
) -> LinearOperator:
    """Return a symmetric operator of the size of M by its products with columns."""

    def times(V: FloatArray) -> FloatArray:
        return product(V.reshape(M.shape[0], -1))

    return LinearOperator(
        M.shape, matvec=times, matmat=times, rmatvec=times, dtype=M.dtype
    )


def _lanczos(M: LinearOperator, **options: Any) -> float:
    """Return an extreme eigenvalue by ARPACK's implicitly restarted Lanczos method."""
    # A fixed start keeps results repeatable; it has no symmetry to be trapped by.
    v0 = np.random.default_rng(0).standard_normal(M.shape[0]).astype(M.dtype)
    if not M.matvec(v0).any():
        return 0.0  # the zero matrix, on which Lanczos cannot start
    with one_thread():
        return float(eigsh(M, k=1, v0=v0, return_eigenvectors=False, **options)[0])


@dataclass(slots=True)
class BlockPower:
    """Estimate of sigma = ||H H^T - M||_2 by simultaneous iteration (Bauer 1957).

    A few orthonormal vectors V are kept between iterations. Their products with M
    ride as extra columns of the product M H that the solver needs anyway; here only
    O(n k b) work is added. The value ||R V||_2 is a lower bound, hence ``margin``. A
    block, not a single vector, because several eigenvalues often share that size.
    """

    V: FloatArray
    margin: float = 1.05
    value: float = field(default=0.0, init=False)

    def update(self, H: FloatArray, MV: FloatArray) -> float:
        """Take one sweep given M V; return the estimate with its margin."""
        RV = H @ (H.T @ self.V)
        RV -= MV
        squares, W = np.linalg.eigh(RV.T @ RV)
        self.value = float(np.sqrt(max(squares[-1], 0.0)))
        if squares[0] > 1e3 * np.finfo(RV.dtype).eps * squares[-1]:
            # R V W has orthogonal columns of these squared lengths.
            np.matmul(RV, W / np.sqrt(squares), out=self.V)
        elif 0 < squares[-1] < np.inf:
            self.V[...] = np.linalg.qr(RV)[0]
        return self.margin * self.value
