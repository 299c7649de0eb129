"""Objectives from traces and their dense twins, spectral norms, top eigenpairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from threadpoolctl import threadpool_limits

from symmf.notation import FloatArray

# Below this size a dense eigenvalue routine is both exact and faster than Lanczos.
DENSE_EIGEN_LIMIT = 600
# Below this size changing the number of BLAS threads takes longer than it saves.
_THREADED_BLAS = 2000
# Restarts of Lanczos before its accuracy is measured against ||M|| instead.
_RESTARTS = 300


def inner(A: FloatArray, B: FloatArray) -> float:
    """Return <A, B>, accumulated in double precision."""
    if A.dtype == np.float64:
        return float(np.vdot(A, B))
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

    def product(V: FloatArray) -> FloatArray:
        V = V.reshape(M.shape[0], -1)
        out: FloatArray = H @ (H.T @ V) - M.matmat(V)
        return out

    return LinearOperator(
        M.shape, matvec=product, matmat=product, rmatvec=product, dtype=M.dtype
    )


def spectral_norm(M: LinearOperator, H: FloatArray | None = None) -> float:
    """Return ||M||_2, or sigma = ||H H^T - M||_2.

    To full precision for small n; otherwise by Lanczos with residuals below 1e-6 of
    the value, whose own error is of second order.
    """
    n = M.shape[0]
    if n <= DENSE_EIGEN_LIMIT:
        dense = np.asarray(M.toarray(), dtype=np.float64)
        if H is not None:
            dense = np.asarray(H @ H.T, dtype=np.float64) - dense
        # As the authors do: the largest singular value.
        return float(np.linalg.norm(dense, 2))
    operator = M if H is None else residual_operator(M, H)
    # A fixed start keeps results repeatable; it has no symmetry to be trapped by.
    v0 = np.random.default_rng(0).standard_normal(n).astype(M.dtype)
    if not operator.matvec(v0).any():
        return 0.0  # the zero matrix, on which Lanczos cannot start
    # A wide basis, because eigenvalues of both signs often tie in magnitude.
    more = {"which": "LM", "ncv": 40, "tol": 1e-6, "return_eigenvectors": False}
    value = _eigsh(M, operator, k=1, v0=v0, **more)
    return float(abs(value[0]))


def smallest_eigenvalue(M: LinearOperator) -> float:
    """Return sigma_n(M), the algebraically smallest eigenvalue.

    Exact for small n; otherwise a lower bound, within about 1e-3 ||M||_2.
    """
    n = M.shape[0]
    if n <= DENSE_EIGEN_LIMIT:
        return float(np.linalg.eigvalsh(np.asarray(M.toarray(), float))[0])
    size = spectral_norm(M)
    if size == 0:
        return 0.0

    def product(v: FloatArray) -> FloatArray:
        v = v.reshape(n, -1)
        out: FloatArray = size * v - M.matmat(v)
        return out

    # The largest eigenvalue of size I - M: its accuracy is relative to ||M||, while
    # that of a smallest eigenvalue near zero would never be reached.
    shifted = LinearOperator(M.shape, matvec=product, dtype=M.dtype)
    v0 = np.random.default_rng(0).standard_normal(n).astype(M.dtype)
    if not shifted.matvec(v0).any():
        return size
    more = {"which": "LA", "tol": 1e-4, "return_eigenvectors": False}
    value = _eigsh(M, shifted, k=1, v0=v0, **more)
    # Lanczos approaches from inside; the margin makes it a bound again.
    return float(size - value[0] - 1e-3 * size)


def _eigsh(M: Any, operator: LinearOperator, **options: Any) -> Any:
    """Call ARPACK, with one BLAS thread where threads could only get in the way.

    Its many small BLAS calls wake threads that then compete for the cores with the
    products: measured on two cores, up to six times slower for sparse data.
    """
    if getattr(M, "dense_products", True) or M.shape[0] < _THREADED_BLAS:
        return eigsh(operator, **options)
    with threadpool_limits(1, user_api="blas"):
        return eigsh(operator, **options)


@dataclass(slots=True)
class BlockPower:
    """Warm-started estimate of sigma = ||H H^T - M||_2.

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


def top_eigenpairs(
    M: Any, k: int, rng: np.random.Generator, *, tol: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return the k algebraically largest eigenvalues, descending, with vectors.

    Single-vector Lanczos can miss copies of a repeated eigenvalue (a disconnected
    graph has one per component). What is found is therefore deflated and the search
    repeated until nothing larger than the k-th value is left.
    """
    n = M.shape[0]
    if n <= DENSE_EIGEN_LIMIT or k >= n // 3:
        dense = np.asarray(M.toarray() if hasattr(M, "toarray") else M, float)
        # The whole spectrum: subset drivers can fail on clustered eigenvalues.
        values, vectors = np.linalg.eigh(dense)
        top = slice(n - 1, n - 1 - k if k < n else None, -1)
        return values[top], np.ascontiguousarray(vectors[:, top])
    if M.fro2 == 0:
        # Lanczos cannot start on the zero matrix, whose eigenvectors are any.
        return np.zeros(k), np.linalg.qr(rng.standard_normal((n, k)))[0]
    if M.dtype == np.float32:
        tol = max(tol, 1e-5)  # what products in single precision can resolve
    values, vectors = _lanczos(M, k, None, rng, tol)
    while True:
        # Rounding leaves values at the level of the k-th one; only more is news. One
        # rough vector tells whether there is any: what it can overlook differs from
        # the k-th value by less than its accuracy.
        scale = max(abs(values[0]), abs(values[-1]), 1e-3 * float(np.sqrt(M.fro2)))
        news = values[k - 1] + 1e-6 * scale
        if _lanczos(M, 1, vectors, rng, 1e-3)[0][0] <= news:
            return values[:k], np.ascontiguousarray(vectors[:, :k])
        more, extra = _lanczos(M, min(k, 4), vectors, rng, tol)
        missed = more > news
        extra = extra[:, missed]
        extra -= vectors @ (vectors.T @ extra)
        vectors = np.linalg.qr(np.hstack([vectors, extra]))[0]
        # Rayleigh-Ritz on everything found so far.
        ritz = vectors.T @ M.matmat(vectors)
        values, rotation = np.linalg.eigh((ritz + ritz.T) / 2)
        values, vectors = values[::-1], vectors @ rotation[:, ::-1]


def _lanczos(
    M: Any,
    k: int,
    deflate: FloatArray | None,
    rng: np.random.Generator,
    tol: float,
) -> tuple[FloatArray, FloatArray]:
    """Top-k eigenpairs by ARPACK, in the complement of ``deflate``, descending."""
    n = M.shape[0]
    v0 = rng.standard_normal(n).astype(M.dtype)
    operator = M
    if deflate is not None:
        Q = deflate
        # Deflated directions are pushed below the whole spectrum, not to zero: zero
        # may be larger than every eigenvalue that is left.
        shift = 2.0 * float(np.sqrt(M.fro2)) + 1.0

        def product(v: FloatArray) -> FloatArray:
            v = v.reshape(n)
            in_Q = Q.T @ v
            w = v - Q @ in_Q
            w = M.matmat(w[:, None])[:, 0]
            out: FloatArray = w - Q @ (Q.T @ w) - shift * (Q @ in_Q)
            return out

        operator = LinearOperator(M.shape, matvec=product, dtype=M.dtype)
        v0 -= Q @ (Q.T @ v0)
    ncv = min(n - 1, max(2 * k + 1, 20))
    more = {"k": k, "which": "LA", "v0": v0, "ncv": ncv}
    try:
        values, vectors = _eigsh(M, operator, tol=tol, maxiter=_RESTARTS, **more)
    except ArpackNoConvergence:
        # An eigenvalue at zero is never known to a relative accuracy; that of M + cI
        # is, and so is what matters here.
        c = float(np.sqrt(M.fro2))
        shifted = LinearOperator(
            M.shape,
            matvec=lambda v: c * v.reshape(n) + operator.matvec(v.reshape(n)),
            dtype=M.dtype,
        )
        values, vectors = _eigsh(M, shifted, tol=max(tol, 1e-10), **more)
        values = values - c
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]
