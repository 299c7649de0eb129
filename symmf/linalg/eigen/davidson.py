r"""The block Chebyshev-Davidson method: top eigenpairs from products alone.

A basis V holds the best approximations so far. Rayleigh-Ritz on V gives Ritz pairs
(theta, x); every pair that is not accurate yet adds one direction to V,

.. math:: p(M)\, x, \qquad |p| \text{ small on the unwanted part of the spectrum},

and a basis that is full is replaced by its best Ritz vectors. With p of degree 1 the
new directions are the residuals M x - theta x, which is block Lanczos with thick
restarts. A Chebyshev polynomial of higher degree pays where products are cheap beside
the work on V and the end of the spectrum is known, as for sparse graphs.

A block begins with more vectors than are asked for, so that copies of an eigenvalue
are found by construction.

References
----------
Y. Zhou, "A block Chebyshev-Davidson method with inner-outer restart for large
eigenvalue problems", Journal of Computational Physics 229(24), 2010.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg.eigen.blocks import Eigenpairs, orthonormal

_ROUNDS = 300
# The basis is replaced when it has so many times the columns of the first block.
_ROOM = 4


def chebyshev_davidson(
    product: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    k: int,
    tol: float,
    rng: np.random.Generator,
    *,
    size: Callable[[FloatArray], FloatArray],
    known: FloatArray | None = None,
    degree: int = 1,
    floor: float = -1.0,
) -> Eigenpairs:
    """Return the k algebraically largest eigenpairs.

    Parameters
    ----------
    product
        V -> M V.
    start : (n, width) array
        The first block, of more than k columns with those of ``known``.
    k : int
    tol : float
        Largest residual, each in units of ``size``.
    rng : Generator
        Draws columns in place of those that lose rank.
    size
        Ritz values, descending -> what residuals are measured by.
    known : (n, c) array, optional
        Eigenvectors of the largest eigenvalue, which is then 1.
    degree : int
        Of the polynomial.
    floor : float
        No eigenvalue is below; of use for a degree above 1, which needs the largest
        eigenvalue to be 1.
    """
    V = orthonormal(start, rng, known)
    width, products = V.shape[1], 0
    if degree > 1:
        V = orthonormal(filtered(product, V, degree, floor, 0.5), rng, known)
        products += degree * width
    MV = product(V)
    products += width
    if known is not None:
        V, MV = np.hstack([known, V]), np.hstack([known, MV])
    T = np.asarray(V.T @ MV, dtype=np.float64)
    room, keep = min(len(V), _ROOM * V.shape[1]), V.shape[1]
    for _ in range(_ROUNDS):
        theta, Y = np.linalg.eigh((T + T.T) / 2)
        theta, Y = theta[::-1], Y[:, ::-1].astype(V.dtype)
        X = V @ Y[:, :k]
        R = MV @ Y[:, :k] - X * theta[:k].astype(V.dtype)
        residuals = np.linalg.norm(R, axis=0) / size(theta)[:k]
        wanted = np.flatnonzero(residuals > tol)
        if wanted.size == 0:
            break
        if V.shape[1] + wanted.size > room:
            V, MV, T = V @ Y[:, :keep], MV @ Y[:, :keep], np.diag(theta[:keep])
        if degree == 1:
            new = R[:, wanted]
        else:
            new = filtered(product, X[:, wanted], degree, floor, theta[keep - 1])
            products += degree * new.shape[1]
        Q = orthonormal(new, rng, V)
        MQ = product(Q)
        products += Q.shape[1]
        C = np.asarray(V.T @ MQ, dtype=np.float64)
        T = np.block([[T, C], [C.T, np.asarray(Q.T @ MQ, dtype=np.float64)]])
        V, MV = np.hstack([V, Q]), np.hstack([MV, MQ])
    return Eigenpairs(
        values=theta[:k],
        vectors=X,
        route="chebyshev_davidson",
        n_products=products,
        residual=float(residuals.max()),
    )


def filtered(
    product: Callable[[FloatArray], FloatArray],
    X: FloatArray,
    degree: int,
    floor: float,
    cut: float,
) -> FloatArray:
    """Return p(M) X, p the scaled Chebyshev polynomial of [floor, cut] with p(1) = 1.

    The three-term recurrence, scaled so that nothing overflows.
    """
    half, middle = (cut - floor) / 2, (cut + floor) / 2
    sigma = half / (1.0 - middle)
    ratio = sigma
    before: FloatArray = X
    now: FloatArray = (product(X) - middle * X) * (ratio / half)
    for _ in range(degree - 1):
        following = 1.0 / (2.0 / sigma - ratio)
        new = product(now)
        new -= middle * now
        new *= 2 * following / half
        new -= (ratio * following) * before
        before, now, ratio = now, new, following
    return now
