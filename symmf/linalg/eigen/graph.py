r"""Normalised graphs, whose largest eigenvalue is known to be 1.

What separates clusters lies in 1 - mu, so accuracy is asked for relative to that. A
graph has the eigenvalue 1 once per component, with the vector D^1/2 1 of that
component: these need no search. The rest is found by inverse iteration on a block of
vectors (subspace iteration with (s I - S)^-1, s just above 1) from one factorization,
where that stays thin: three to eight solves for graphs of few features; dense graphs
of some thousand rows, with a crowd of eigenvalues near the k-th, may take some tens.

References
----------
B. N. Parlett, "The Symmetric Eigenvalue Problem", SIAM 1998, chapters 4 and 14.
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
from symmf.linalg.eigen.blocks import Eigenpairs, orthonormal

# s - 1: far below what separates clusters, far above rounding.
ABOVE = 1e-5
_ROUNDS = 60


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
) -> Eigenpairs:
    """Return the k largest eigenpairs of an explicit S whose largest eigenvalue is 1.

    ``known``: eigenvectors of the eigenvalue 1, which come first.
    """
    solve = _dense_solver(S) if isinstance(S, np.ndarray) else _sparse_solver(S)
    count = 0 if known is None else known.shape[1]
    rest = k - count
    X = orthonormal(start, rng, known)
    solves, residual = 0, np.inf
    while residual > tol and solves < _ROUNDS:
        Y = solve(X)
        solves += 1
        T = X.T @ Y
        nu, U = np.linalg.eigh((T + T.T) / 2)
        nu, U = nu[::-1], U[:, ::-1]
        Y = Y @ U
        R = Y[:, :rest] - (X @ U[:, :rest]) * nu[:rest]
        residual = float(np.max(np.linalg.norm(R, axis=0) / nu[:rest]))
        X = orthonormal(Y, rng, known)
    # The last solve has improved the block once more.
    T = np.asarray(X.T @ (S @ X), dtype=np.float64)
    theta, U = np.linalg.eigh((T + T.T) / 2)
    values, X = theta[::-1][:rest], X @ U[:, ::-1][:, :rest].astype(X.dtype)
    if known is not None:
        values, X = np.append(np.ones(count), values), np.hstack([known, X])
    return Eigenpairs(
        values=values,
        vectors=np.ascontiguousarray(X),
        route="inverse_iteration",
        n_products=solves,
        residual=residual,
    )


def _sparse_solver(S: Any) -> Callable[[FloatArray], FloatArray]:
    """Return X -> (s I - S)^-1 X, which is positive definite: no pivoting."""
    system = sparse.csc_array((1.0 + ABOVE) * sparse.eye_array(S.shape[0]) - S)
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
    system[np.diag_indices_from(system)] += 1.0 + ABOVE
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    return lambda X: np.asarray(cho_solve(factor, X, check_finite=False), X.dtype)
