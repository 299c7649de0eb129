r"""The top eigenpairs of a symmetric matrix, found a block at a time.

A single Lanczos vector cannot see two copies of one eigenvalue, and a graph has the
eigenvalue 1 once per component. Here a block of k + 8 vectors is iterated, so copies
are found by construction. Which way is taken depends on the matrix:

=====================  ==========================================================
components             graphs with at least k components: known without a search
dense                  small matrices, or many of the eigenpairs: LAPACK
gram                   M = F F^T with few dense features: the m x m matrix F^T F
inverse_iteration      normalised graphs with small separators, or dense ones of
                       some thousand rows: one factorization
chebyshev              other normalised graphs: polynomial filter
near_gram              F F^T less a diagonal, many rows: improved from F^T F
krylov                 everything else: block Lanczos with thick restarts
=====================  ==========================================================

The eigenpairs of a M + b I are those of M, and the first K of K_max are those of
K: one solve serves every lambda of a normalised graph and every K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import norms
from symmf.linalg.eigen.graph import chebyshev, inverse_iteration, of_components
from symmf.linalg.eigen.krylov import Found, krylov
from symmf.linalg.eigen.near_gram import near_gram
from symmf.linalg.threads import blas_threads_for

#: Default accuracy. Residuals are at most this share of ||M||; for a normalised graph,
#: 1000 times this share of 1 - mu_k, the part of the spectrum that separates clusters.
CLUSTERING_ACCURACY = 1e-6
_GRAPH_FACTOR = 1e3
# What tol = 0 means: about what double, and single, precision can reach.
_FINEST, _FINEST_SINGLE = 1e-11, 1e-5
# A block has so many vectors more than are asked for.
_SPARE = 8
# Above this size a block that begins near the answer takes fewer passes over the data
# than single vectors do; by default its residuals are at most this share of ||M||.
_MANY_ROWS, _NEAR_ACCURACY = 20_000, 1e-4
# Up to this size a dense routine takes less time than a sparse factorization.
_DENSE_GRAPH_LIMIT = 100
# Up to this size one factorization of a dense graph takes less time than a filter.
_DENSE_FACTOR_LIMIT = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Eigenpairs:
    """What :func:`solve_eigenpairs` found, and how.

    Attributes
    ----------
    values : (k,) array
        Descending.
    vectors : (n, k) array
        Orthonormal columns.
    route : str
        ``components``, ``dense``, ``gram``, ``near_gram``, ``inverse_iteration``,
        ``chebyshev`` or ``krylov``.
    n_products : int
        Blocks multiplied (solved, for inverse iteration).
    residual : float
        The largest residual, relative as ``tol`` is.
    """

    values: FloatArray
    vectors: FloatArray
    route: str
    n_products: int = 0
    residual: float = 0.0


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
    M : symmetric operator
        Has ``shape``, ``dtype``, ``matmat`` and ``toarray``. What else it knows is
        used: ``affine`` (M = a S + b I), ``is_normalised_graph``, ``root_degrees``,
        ``thin_factor``, ``gram_factor``, ``near_factor``.
    k : int
    rng : Generator
        Draws the first block: same generator, same bits.
    tol : float
        Residuals relative to ||M||, or for a normalised graph, times 1000, relative
        to 1 - mu_k. 0 is what the precision allows.
    """
    base = getattr(M, "affine", None)
    if base is not None:
        S, a, b = base
        if a > 0:
            inner = solve_eigenpairs(S, k, rng, tol=tol)
            return Eigenpairs(
                values=a * inner.values + b,
                vectors=inner.vectors,
                route=inner.route,
                n_products=inner.n_products,
                residual=inner.residual,
            )
    if getattr(M, "is_normalised_graph", False):
        return _of_graph(M, k, rng, tol)
    n = M.shape[0]
    if n <= norms.DENSE_EIGEN_LIMIT or k >= n // 3:
        return _dense(M, k)
    factor = getattr(M, "gram_factor", None)
    if factor is not None and k <= factor.shape[1] <= n // 2:
        return _gram(factor, k)
    factor = getattr(M, "near_factor", None)
    many = n > _MANY_ROWS and tol >= CLUSTERING_ACCURACY
    if many and factor is not None and k + _SPARE <= factor.shape[1]:
        accuracy = max(tol, _NEAR_ACCURACY)
        found = near_gram(M.matmat, factor, k, k + _SPARE, accuracy)
        if found.residual <= accuracy:
            return _named("near_gram", found)
    with blas_threads_for(M):
        found = krylov(M.matmat, _start(M, k, rng), k, _reachable(M, tol), rng)
    return _named("krylov", found)


def _of_graph(M: Any, k: int, rng: np.random.Generator, tol: float) -> Eigenpairs:
    """Eigenpairs of a normalised graph: those of its components, then the rest."""
    n = M.shape[0]
    known, count = None, 0
    root = getattr(M, "root_degrees", None)
    if root is not None:
        known, count = of_components(M.M, root, k)
        if count >= k:
            ones = np.ones(k, M.dtype)
            return Eigenpairs(values=ones, vectors=known, route="components")
    if n <= min(norms.DENSE_EIGEN_LIMIT, _DENSE_GRAPH_LIMIT) or k >= n // 3:
        return _dense(M, k)
    rest = k - count
    start = _start(M, rest, rng)
    tol = min(_reachable(M, tol) * _GRAPH_FACTOR, 0.1)
    dense = isinstance(getattr(M, "M", None), np.ndarray)
    factored = M.thin_factor or (dense and n <= _DENSE_FACTOR_LIMIT)
    with blas_threads_for(M):
        if factored:
            found = inverse_iteration(M.M, start, rest, tol, rng, known)
        else:
            found = chebyshev(M.matmat, start, rest, tol, rng, known)
    if known is not None:
        found = found._replace(
            values=np.append(np.ones(count, M.dtype), found.values),
            vectors=np.hstack([known, found.vectors]),
        )
    return _named("inverse_iteration" if factored else "chebyshev", found)


def _reachable(M: Any, tol: float) -> float:
    """Return the tolerance, or what the precision of M allows."""
    return max(tol, _FINEST_SINGLE if M.dtype == np.float32 else _FINEST)


def _start(M: Any, k: int, rng: np.random.Generator) -> FloatArray:
    width = min(k + _SPARE, M.shape[0])
    start: FloatArray = rng.standard_normal((M.shape[0], width)).astype(M.dtype)
    return start


def _named(route: str, found: Found) -> Eigenpairs:
    return Eigenpairs(
        values=found.values,
        vectors=np.ascontiguousarray(found.vectors),
        route=route,
        n_products=found.n_products,
        residual=found.residual,
    )


def _dense(M: Any, k: int) -> Eigenpairs:
    dense = np.asarray(M.toarray() if hasattr(M, "toarray") else M, float)
    # The whole spectrum: subset drivers can fail on clustered eigenvalues.
    values, vectors = np.linalg.eigh(dense)
    n = len(dense)
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
