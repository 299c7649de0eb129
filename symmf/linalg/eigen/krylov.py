"""Block Lanczos with thick restarts: for any matrix known by its products."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg.eigen.blocks import orthonormal

# Vectors of the second search, which looks for copies, and how deep it looks.
_BLOCK, _DEPTH = 4, 5
_RESTARTS = 300
# Below this share of a product, what is left of it is orthogonalised twice.
_LITTLE = 1e-2
# A value that grows by so many times the tolerance is that of another copy.
_GROWN = 10.0
# A single vector is asked whether it is done after so many steps.
_STEPS = 5


class Found(NamedTuple):
    """Eigenvalues, descending, their vectors, columns multiplied, largest residual."""

    values: FloatArray
    vectors: FloatArray
    n_products: int
    residual: float


def krylov(
    product: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    k: int,
    tol: float,
    rng: np.random.Generator,
) -> Found:
    """Return the k algebraically largest eigenpairs.

    A single vector takes the fewest products but sees one copy of an eigenvalue. A
    block is therefore set on top of what it found: were there another copy among the k
    largest, the joint subspace would show it and the search go on until it is found.
    What has grown is searched again, with a new block, until nothing grows.

    Parameters
    ----------
    product
        V -> M V.
    start : (n, width) array
        The first column begins the first search, the next ones the second.
    k
    tol
        Every residual is at most ``tol`` times the largest Ritz value in size.
    rng
        Draws later blocks, and columns in place of those that lose rank.
    """
    found = _block_lanczos(product, start[:, :1], k, tol, rng)
    block = start[:, 1 : 1 + _BLOCK]
    for _ in range(-(-k // _BLOCK)):
        more = _block_lanczos(product, block, k, tol, rng, known=found)
        grown = more.values - found.values
        found = more._replace(n_products=found.n_products + more.n_products)
        if not np.any(grown > _GROWN * max(tol, 1e-12) * np.abs(more.values).max()):
            break
        block = rng.standard_normal(block.shape).astype(start.dtype)
    return found


def _block_lanczos(
    product: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    k: int,
    tol: float,
    rng: np.random.Generator,
    known: Found | None = None,
) -> Found:
    """Block Lanczos; its basis is orthogonal to working precision.

    After a restart the basis begins with the best Ritz vectors, or with what is known
    already: nothing found is lost.
    """
    n, width = start.shape
    room = min(n, max(2 * k, k + _DEPTH * width, 20))
    keep = min(room - width, k + (room - k) // 4)
    V = np.empty((n, room), start.dtype, order="F")
    T = np.zeros((room, room))
    filled, products = 0, 0
    if known is not None:
        V[:, :k] = known.vectors
        T[np.arange(k), np.arange(k)] = known.values
        filled = k
    Q = orthonormal(start, rng, V[:, :filled] if filled else None)
    for _ in range(_RESTARTS):
        while True:
            block = slice(filled, filled + width)
            V[:, block] = Q
            W = product(np.ascontiguousarray(Q))
            products, filled = products + width, block.stop
            basis = V[:, :filled]
            C = basis.T @ W
            size = float(np.linalg.norm(W))
            W = W - basis @ C
            T[:filled, block] = C
            T[block, :filled] = C.T
            T[block, block] = (C[block] + C[block].T) / 2
            # A part of a block would leave the rest of its directions out for ever.
            full = filled + width > room
            early = width == 1 and filled > k + _STEPS and filled % _STEPS == 0
            if full or early:
                theta, Y, residual = _ritz(T[:filled, :filled], W, block, k)
                scale = max(float(np.abs(theta[[0, -1]]).max()), 1e-300)
                done = residual <= tol * scale
                if full or done:
                    break
            # Where little is left of W, much of it is rounding.
            enough = float(np.linalg.norm(W)) > _LITTLE * size
            Q = orthonormal(W, rng, basis, projected=enough)
        filled = k if done else keep
        V[:, :filled] = basis @ Y[:, :filled].astype(V.dtype)
        if done:
            break
        T[:] = 0.0
        T[np.arange(filled), np.arange(filled)] = theta[:filled]
        Q = orthonormal(W, rng, V[:, :filled])
    return Found(theta[:k], V[:, :k].copy(), products, residual / scale)


def _ritz(
    T: FloatArray, W: FloatArray, block: slice, k: int
) -> tuple[FloatArray, FloatArray, float]:
    """Ritz values, descending, coefficients, and the largest residual of k pairs."""
    theta, Y = np.linalg.eigh(T)
    theta, Y = theta[::-1], np.ascontiguousarray(Y[:, ::-1])
    G = np.asarray(W.T @ W, dtype=np.float64)
    last = Y[block, :k]
    squares = np.einsum("ij,ij->j", last, G @ last)
    return theta, Y, float(np.sqrt(max(squares.max(initial=0.0), 0.0)))
