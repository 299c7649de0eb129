r"""The top eigenpairs of a symmetric matrix, by the way that fits it.

A single Lanczos vector cannot see two copies of one eigenvalue, and a graph has the
eigenvalue 1 once per component. Here blocks of k + 8 vectors are iterated, so copies
are found by construction.

==================  ============================================================
components          graphs with at least k components: known without a search
dense               small matrices, or many of the eigenpairs: LAPACK
gram                M = F F^T with few dense features: the m x m matrix F^T F
inverse_iteration   normalised graphs with small separators, or dense ones of
                    some thousand rows: one factorization
chebyshev_davidson  everything else: products alone
==================  ============================================================

The eigenpairs of a M + b I are those of M, and the first K of K_max are those of
K: one solve serves every lambda of a normalised graph and every K.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import norms
from symmf.linalg.eigen.blocks import Eigenpairs
from symmf.linalg.eigen.davidson import chebyshev_davidson
from symmf.linalg.eigen.graph import ABOVE, inverse_iteration, of_components
from symmf.linalg.threads import one_thread

#: Default accuracy. Residuals are at most this share of ||M||; for a normalised graph,
#: 1000 times this share of 1 - mu_k, the part of the spectrum that separates clusters.
CLUSTERING_ACCURACY = 1e-6
_GRAPH_FACTOR = 1e3
# What tol = 0 means: about what double, and single, precision can reach.
_FINEST, _FINEST_SINGLE = 1e-11, 1e-5
# A block has so many vectors more than are asked for.
_SPARE = 8
# Degree of the polynomial for graphs, of 1, 6, 10, 16 and 24 the fastest on five.
_DEGREE = 16
# Up to this size a dense routine takes less time than a sparse factorization.
_DENSE_GRAPH_LIMIT = 100
# Up to this size one factorization of a dense graph takes less time than a filter.
_DENSE_FACTOR_LIMIT = 5000


def top_eigenpairs(
    M: Any, k: int, rng: np.random.Generator, *, tol: float = CLUSTERING_ACCURACY
) -> tuple[FloatArray, FloatArray]:
    """Return the k algebraically largest eigenvalues, descending, with vectors."""
    found = solve_eigenpairs(M, k, rng, tol=tol)
    return found.values, found.vectors


def solve_eigenpairs(
    M: Any, k: int, rng: np.random.Generator, *, tol: float = CLUSTERING_ACCURACY
) -> Eigenpairs:
    """Return the k algebraically largest eigenpairs of a symmetric operator.

    Parameters
    ----------
    M : SymmetricOperator
        What it declares is used: ``affine``, ``is_normalised_graph``,
        ``root_degrees``, ``thin_factor``, ``gram_factor``, ``near_factor``.
    k : int
    rng : Generator
        Draws the first block: same generator, same bits.
    tol : float
        Residuals relative to ||M||, or for a normalised graph, times 1000, relative
        to 1 - mu_k. 0 is what the precision allows.
    """
    if M.affine is not None and M.affine[1] > 0:
        S, a, b = M.affine
        found = solve_eigenpairs(S, k, rng, tol=tol)
        return replace(found, values=a * found.values + b)
    with one_thread():
        tol = max(tol, _FINEST_SINGLE if M.dtype == np.float32 else _FINEST)
        if M.is_normalised_graph:
            return _of_graph(M, k, rng, min(tol * _GRAPH_FACTOR, 0.1))
        n = M.shape[0]
        if n <= norms.DENSE_EIGEN_LIMIT or k >= n // 3:
            return _dense(M, k)
        F = M.gram_factor
        if F is not None and k <= F.shape[1] <= n // 2:
            return _gram(F, k)
        start = _start(M, k, rng)
        F = M.near_factor
        if F is not None and start.shape[1] <= F.shape[1] <= n // 2:
            # The eigenvectors of F F^T are nearly those of M.
            start = _gram(F, start.shape[1]).vectors
        return chebyshev_davidson(M.matmat, start, k, tol, rng, size=_norm)


def _of_graph(M: Any, k: int, rng: np.random.Generator, tol: float) -> Eigenpairs:
    """Eigenpairs of a normalised graph: those of its components, then the rest."""
    n = M.shape[0]
    known, count = None, 0
    if M.root_degrees is not None:
        known, count = of_components(M.M, M.root_degrees, k)
        if count >= k:
            ones = np.ones(k, M.dtype)
            return Eigenpairs(values=ones, vectors=known, route="components")
    if n <= min(norms.DENSE_EIGEN_LIMIT, _DENSE_GRAPH_LIMIT) or k >= n // 3:
        return _dense(M, k)
    start = _start(M, k - count, rng)
    dense = isinstance(M.M, np.ndarray)
    if M.thin_factor or (dense and n <= _DENSE_FACTOR_LIMIT):
        return inverse_iteration(M.M, start, k, tol, rng, known)
    return chebyshev_davidson(
        M.matmat, start, k, tol, rng, size=_gap, known=known, degree=_DEGREE
    )


def _norm(theta: FloatArray) -> FloatArray:
    """Return ||M||, as far as it is seen, for every Ritz value."""
    return np.full(len(theta), max(float(np.abs(theta[[0, -1]]).max()), 1e-300))


def _gap(theta: FloatArray) -> FloatArray:
    """Return 1 - mu, never 0."""
    return np.asarray(np.maximum(1.0 + ABOVE - theta, ABOVE))


def _start(M: Any, k: int, rng: np.random.Generator) -> FloatArray:
    width = min(k + _SPARE, M.shape[0])
    start: FloatArray = rng.standard_normal((M.shape[0], width)).astype(M.dtype)
    return start


def _dense(M: Any, k: int) -> Eigenpairs:
    # The whole spectrum: subset drivers can fail on clustered eigenvalues.
    values, vectors = np.linalg.eigh(np.asarray(M.toarray(), float))
    n = len(values)
    top = slice(n - 1, n - 1 - k if k < n else None, -1)
    return Eigenpairs(
        values=values[top], vectors=np.ascontiguousarray(vectors[:, top]), route="dense"
    )


def _gram(F: FloatArray, k: int) -> Eigenpairs:
    """Eigenpairs of F F^T from those of F^T F: E = F U / sqrt(values)."""
    G = np.asarray(F.T @ F, dtype=np.float64)
    values, U = np.linalg.eigh(G)
    values, U = values[::-1][:k], U[:, ::-1][:, :k]
    E = F @ U.astype(F.dtype)
    # Columns of values near 0 are made of rounding: a QR keeps all orthonormal.
    E, R = np.linalg.qr(E)
    E *= np.where(np.diag(R) < 0, -1, 1).astype(E.dtype)
    return Eigenpairs(values=np.maximum(values, 0.0), vectors=E, route="gram")
