"""Top eigenpairs of F F^T less a diagonal, for many rows and few features.

The eigenvectors of F F^T, from the m x m matrix F^T F, are nearly those asked for. A
block of them is improved by Rayleigh-Ritz on the block and its residuals: all matrix
products, a few passes over F.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg.eigen.krylov import Found

_ROUNDS = 30
# Directions of a basis below this share of the largest are rounding.
_LOST = 1e-5


def near_gram(
    product: Callable[[FloatArray], FloatArray],
    F: FloatArray,
    k: int,
    width: int,
    tol: float,
) -> Found:
    """Return the k algebraically largest eigenpairs, residuals relative to ||M||.

    Parameters
    ----------
    product
        V -> M V.
    F : (n, m) array
        M is F F^T up to a factor and a diagonal.
    k
    width
        Vectors of the block, between k and m.
    tol
    """
    squares, U = np.linalg.eigh(np.asarray(F.T @ F, dtype=np.float64))
    squares, U = squares[::-1][:width], U[:, ::-1][:, :width]
    level = np.sqrt(np.maximum(squares, _LOST**2 * max(float(squares[0]), 1e-300)))
    X = F @ (U / level).astype(F.dtype)
    theta, X, MX = _ritz(X, product(X), width)
    products = width
    for _ in range(_ROUNDS):
        R = MX[:, :k] - X[:, :k] * theta[:k].astype(X.dtype)
        norms = np.sqrt(np.einsum("ij,ij->j", R, R, dtype=np.float64))
        scale = max(float(np.abs(theta).max()), 1e-300)
        residual = float(norms.max()) / scale
        if residual <= tol:
            break
        R /= np.maximum(norms, 1e-300).astype(R.dtype)
        both = np.hstack([MX, product(R)])
        theta, X, MX = _ritz(np.hstack([X, R]), both, width)
        products += k
    return Found(theta[:k], np.ascontiguousarray(X[:, :k]), products, residual)


def _ritz(
    S: FloatArray, MS: FloatArray, width: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Ritz values, descending, vectors and products, of any basis S."""
    G = np.asarray(S.T @ S, dtype=np.float64)
    g, V = np.linalg.eigh((G + G.T) / 2)
    kept = g > _LOST * g[-1]
    W = V[:, kept] / np.sqrt(g[kept])
    T = W.T @ np.asarray(S.T @ MS, dtype=np.float64) @ W
    theta, Y = np.linalg.eigh((T + T.T) / 2)
    C = (W @ Y[:, ::-1][:, :width]).astype(S.dtype)
    return theta[::-1][:width], S @ C, MS @ C
