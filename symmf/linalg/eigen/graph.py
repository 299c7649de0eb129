r"""Top eigenpairs of a normalised graph, whose largest eigenvalue is known to be 1.

What separates clusters lies in 1 - mu, so accuracy is asked for relative to that. Two
ways, both on a block of vectors, so that repeated eigenvalues need no second search:

inverse iteration
    with one factorization of s I - S, s just above 1. For graphs with small separators
    (few features), whose sparse factor stays thin and three to eight solves are enough;
    and for dense ones of some thousand rows, where a crowd of eigenvalues near the
    k-th may take some tens.
Chebyshev filter
    a polynomial of S that is small on the unwanted part of the spectrum. Needs only
    products, for graphs whose factor would fill in.

A graph has the eigenvalue 1 once per component, with the vector D^1/2 1 of that
component: these need no search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from symmf.common.notation import FloatArray
from symmf.linalg.eigen.blocks import orthonormal
from symmf.linalg.eigen.krylov import Found

# s - 1: far below what separates clusters, far above rounding.
_ABOVE = 1e-5
_ROUNDS = 60
# Degrees of the filter: the first one, and the bounds of the later ones.
_FIRST_DEGREE, _DEGREES = 16, (8, 96)
# Beyond this ratio within a block, rounding of the largest drowns the smallest.
_LARGEST_RATIO = 1e10


def of_components(
    S: Any, root_degrees: FloatArray, most: int
) -> tuple[FloatArray, int]:
    """Return eigenvectors of the eigenvalue 1, and its multiplicity.

    Parameters
    ----------
    S : scipy sparse matrix
        D^-1/2 W D^-1/2.
    root_degrees : (n,) array
        Roots of the row sums of W.
    most : int
        How many vectors are wanted; those of the largest components are taken.

    Returns
    -------
    vectors : (n, at most ``most``) array
        Orthonormal; a column is D^1/2 1 on one component and 0 elsewhere.
    count : int
        Components with an edge.
    """
    _, component = connected_components(S, directed=False)
    squares = np.bincount(component, weights=np.square(root_degrees))
    sizes = np.where(squares > 0, np.bincount(component), 0)
    count = int(np.count_nonzero(sizes))
    chosen = np.argsort(-sizes, kind="stable")[: min(most, count)]
    column = np.full(len(sizes), -1)
    column[chosen] = np.arange(len(chosen))
    rows = np.flatnonzero(column[component] >= 0)
    vectors = np.zeros((len(component), len(chosen)), S.dtype)
    norm = np.sqrt(squares[component[rows]])
    vectors[rows, column[component[rows]]] = root_degrees[rows] / norm
    return vectors, count


def inverse_iteration(
    S: Any,
    start: FloatArray,
    k: int,
    tol: float,
    rng: np.random.Generator,
    known: FloatArray | None = None,
) -> Found:
    """Return the k largest eigenpairs of an explicit S whose largest eigenvalue is 1.

    ``known``: eigenvectors of the eigenvalue 1; the k are then those besides.
    """
    solve = _dense_solver(S) if isinstance(S, np.ndarray) else _sparse_solver(S)
    X = orthonormal(start, rng, known)
    solves, residual = 0, np.inf
    while residual > tol and solves < _ROUNDS:
        Y = solve(X)
        solves += 1
        T = X.T @ Y
        nu, U = np.linalg.eigh((T + T.T) / 2)
        nu, U = nu[::-1], U[:, ::-1]
        Y = Y @ U
        R = Y[:, :k] - (X @ U[:, :k]) * nu[:k]
        residual = float(np.max(np.linalg.norm(R, axis=0) / nu[:k]))
        X = orthonormal(Y, rng, known)
    # The last solve has improved the block once more.
    theta, X = rayleigh_ritz(lambda V: S @ V, X)[:2]
    return Found(theta[:k], np.ascontiguousarray(X[:, :k]), solves, residual)


def _sparse_solver(S: Any) -> Callable[[FloatArray], FloatArray]:
    """Return X -> (s I - S)^-1 X, which is positive definite: no pivoting."""
    system = sparse.csc_array((1.0 + _ABOVE) * sparse.eye_array(S.shape[0]) - S)
    lu = splu(
        system,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    solve: Callable[[FloatArray], FloatArray] = lu.solve
    return solve


def _dense_solver(S: FloatArray) -> Callable[[FloatArray], FloatArray]:
    system = np.negative(S, dtype=np.float64, order="F")
    system[np.diag_indices_from(system)] += 1.0 + _ABOVE
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    return lambda X: np.asarray(cho_solve(factor, X, check_finite=False), X.dtype)


def chebyshev(
    product: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    k: int,
    tol: float,
    rng: np.random.Generator,
    known: FloatArray | None = None,
    *,
    floor: float = -1.0,
) -> Found:
    """Return the k largest eigenpairs of an S with spectrum in [floor, 1].

    ``known``: eigenvectors of the eigenvalue 1; the k are then those besides.
    """
    X = orthonormal(start, rng, known)
    X = filtered(product, X, _FIRST_DEGREE, floor, 0.5, 1.0)
    products = _FIRST_DEGREE
    for _ in range(_ROUNDS):
        theta, X, SX = rayleigh_ritz(product, orthonormal(X, rng, known))
        products += 1
        R = SX[:, :k] - X[:, :k] * theta[:k]
        own = np.linalg.norm(R, axis=0) / (1.0 + _ABOVE - theta[:k])
        residual = float(own.max())
        if residual <= tol:
            break
        cut = float(theta[-1])
        degree = _degree(theta, k, cut, floor, residual / tol)
        X = filtered(product, X, degree, floor, cut, 1.0)
        products += degree
    return Found(theta[:k], np.ascontiguousarray(X[:, :k]), products, residual)


def rayleigh_ritz(
    product: Callable[[FloatArray], FloatArray], X: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Ritz values, descending, Ritz vectors and their products."""
    SX = product(X)
    T = np.asarray(X.T @ SX, dtype=np.float64)
    theta, U = np.linalg.eigh((T + T.T) / 2)
    theta, U = theta[::-1], U[:, ::-1].astype(X.dtype)
    return theta, X @ U, SX @ U


def _degree(theta: FloatArray, k: int, cut: float, floor: float, missing: float) -> int:
    """Return the degree that gains what is missing, within what rounding allows."""
    half, middle = (cut - floor) / 2, (cut + floor) / 2
    rates = np.arccosh(np.maximum((theta[[0, k - 1]] - middle) / half, 1.0 + 1e-12))
    wanted = np.log(4 * missing) / rates[1]
    allowed = np.log(_LARGEST_RATIO) / max(rates[0], 1e-12)
    return int(np.clip(min(wanted, allowed), *_DEGREES))


def filtered(
    product: Callable[[FloatArray], FloatArray],
    X: FloatArray,
    degree: int,
    floor: float,
    cut: float,
    top: float,
) -> FloatArray:
    """Return p(S) X with |p| <= small on [floor, cut] and p(top) = 1."""
    half, middle = (cut - floor) / 2, (cut + floor) / 2
    sigma = half / (top - middle)
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
