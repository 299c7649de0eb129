"""What every way to eigenpairs returns, and orthonormal blocks, their common step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from symmf.common.notation import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Eigenpairs:
    """What :func:`~symmf.linalg.solve_eigenpairs` found, and how.

    Attributes
    ----------
    values : (k,) array
        Descending.
    vectors : (n, k) array
        Orthonormal columns.
    route : str
        ``components``, ``dense``, ``gram``, ``inverse_iteration`` or
        ``chebyshev_davidson``.
    n_products : int
        Columns multiplied (for inverse iteration: blocks solved).
    residual : float
        The largest residual, relative as ``tol`` is.
    """

    values: FloatArray
    vectors: FloatArray
    route: str
    n_products: int = 0
    residual: float = 0.0


def orthonormal(
    W: FloatArray,
    rng: np.random.Generator,
    against: FloatArray | None = None,
    *,
    projected: bool = False,
) -> FloatArray:
    """Return an orthonormal block that spans W, orthogonal to ``against``.

    CholeskyQR2 (Yamamoto et al. 2015): two rounds of Cholesky on W^T W, which is all
    matrix products; where W has lost rank, Householder, with random columns in place of
    the lost ones. ``projected``: W has been made orthogonal to ``against`` once; twice
    is enough.
    """
    if against is not None and not projected:
        W = W - against @ (against.T @ W)
    Q = _cholesky(W)
    if Q is None:
        Q = _replaced(W, rng, against)
    if against is not None:
        Q = Q - against @ (against.T @ Q)
    again = _cholesky(Q)
    return np.linalg.qr(Q)[0] if again is None else again


def _cholesky(W: FloatArray) -> FloatArray | None:
    """W R^-1 with R^T R = W^T W, or None where W is too near to losing rank."""
    G = np.asarray(W.T @ W, dtype=np.float64)
    size = np.sqrt(np.diag(G))
    if not np.isfinite(size).all() or not np.all(size > 0.0):
        return None
    if len(size) == 1:
        return np.asarray(W * (1.0 / size).astype(W.dtype))
    try:
        R = np.linalg.cholesky(G / np.multiply.outer(size, size)).T
    except np.linalg.LinAlgError:
        return None
    # The second round can mend a loss of half the digits, not more.
    if np.abs(np.diag(R)).min() < 1e2 * np.sqrt(np.finfo(W.dtype).eps):
        return None
    inverse = solve_triangular(R, np.eye(len(R))) / size[:, None]
    return np.asarray(W @ inverse.astype(W.dtype))


def _replaced(
    W: FloatArray, rng: np.random.Generator, against: FloatArray | None
) -> FloatArray:
    Q, R = np.linalg.qr(W)
    level = np.abs(np.diag(R))
    size = float(np.linalg.norm(W, axis=0).max(initial=0.0))
    lost = level <= 1e3 * np.finfo(W.dtype).eps * max(size, 1e-300)
    if lost.any():
        fresh = rng.standard_normal((len(W), int(lost.sum()))).astype(W.dtype)
        kept = Q[:, ~lost]
        for _ in range(2):
            fresh -= kept @ (kept.T @ fresh)
            if against is not None:
                fresh -= against @ (against.T @ fresh)
        Q[:, lost] = np.linalg.qr(fresh)[0]
    return np.asarray(Q)
