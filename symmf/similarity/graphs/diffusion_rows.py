r"""The self-tuning graph of given similarities, and the rows of its diffusion.

.. math:: S = D^{-1/2} W D^{-1/2}, \qquad S^t \approx H H^T

H has the top eigenvectors of S times their eigenvalues to the power t / 2. Only the
graph is formed, never S^t.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_number
from symmf.errors import InputError
from symmf.linalg.eigen.pairs import top_eigenpairs

# Smallest local scale: copies would give 0.
_TINY = 1e-6
# Rows whose distances to all others are held at a time.
_ROWS = 500


def self_tuning_graph(X: AnyMatrix, n_neighbors: int, local_neighbor: int) -> Any:
    """Return S, sparse, for similarities with a diagonal of 1: d^2 = 2 - 2 x.

    Rows are joined if one is among the q nearest of the other, with weights
    exp(-d_ij^2 / (s_i s_j)), s_i the distance to a neighbour of given rank.
    """
    check_number("n_neighbors", n_neighbors, least=1, whole=True)
    check_number("local_neighbor", local_neighbor, least=1, whole=True)
    n = X.shape[0]
    q = min(max(n_neighbors, local_neighbor), n - 1)
    near = np.empty((n, q), dtype=np.intp)
    d2 = np.empty((n, q))
    for first in range(0, n, _ROWS):
        rows = np.arange(first, min(first + _ROWS, n))
        D = np.maximum(2 - 2 * np.asarray(X[rows], dtype=np.float64), 0.0)
        D[rows - first, rows] = np.inf
        near[rows] = np.argsort(D, axis=1, kind="stable")[:, :q]
        d2[rows] = np.take_along_axis(D, near[rows], axis=1)
    s = np.maximum(np.sqrt(d2[:, min(local_neighbor, q) - 1]), _TINY)
    near, d2 = near[:, :n_neighbors], d2[:, :n_neighbors]
    return _normalised(near, np.exp(-d2 / (s[:, None] * s[near])))


def diffusion_rows(
    X: AnyMatrix,
    rng: np.random.Generator,
    *,
    n_columns: int = 30,
    n_neighbors: int = 10,
    local_neighbor: int = 7,
    steps: int = 6,
) -> FloatArray:
    """Return the rows of H for t steps on the graph of X, each of length 1.

    Parameters
    ----------
    X : (n, n) array
        Similarities, symmetric, at most 1; float32 stays as it is.
    rng : Generator
        Draws the first block of the eigensolver.
    n_columns : int
        Columns of H, at most n.
    n_neighbors : int
        q.
    local_neighbor : int
        Which neighbour gives s_i.
    steps : int
        t.

    Examples
    --------
    >>> X = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> rng = np.random.default_rng(0)
    >>> H = diffusion_rows(X, rng, n_columns=2, n_neighbors=1, local_neighbor=1)
    >>> H.shape, np.linalg.norm(H, axis=1).round(6)
    ((3, 2), array([1., 1., 1.]))
    """
    check_number("n_columns", n_columns, least=1, whole=True)
    check_number("steps", steps, least=1, whole=True)
    check_similarities(X, "The step 'diffusion_rows'")
    S = _Graph(self_tuning_graph(X, n_neighbors, local_neighbor))
    values, vectors = top_eigenpairs(S, min(n_columns, X.shape[0]), rng)
    H = vectors * np.abs(values) ** (steps / 2)
    norms = np.linalg.norm(H, axis=1, keepdims=True)
    return np.asarray(H / np.maximum(norms, np.finfo(float).tiny))


def check_similarities(X: AnyMatrix, what: str) -> None:
    """Refuse what cannot be similarities of all pairs; ``what`` needs them."""
    if sparse.issparse(X) or X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise InputError(
            f"{what} needs a dense square matrix of similarities, as the step "
            f"'image_similarity' gives it, not {X.shape[0]} x {X.shape[1]}."
        )
    if X.max() > 1 + 1e-3:
        raise InputError(
            f"{what} needs similarities of at most 1 (a row's own is 1); the largest "
            f"is {X.max():.3g}."
        )


class _Graph:
    """What the eigensolver asks of a normalised graph."""

    is_normalised_graph = True
    dense_products = False
    # Neighbours in many dimensions: a sparse factor would fill in.
    thin_factor = False

    def __init__(self, S: Any) -> None:
        self.M, self.shape, self.dtype = S, S.shape, S.dtype

    def matmat(self, V: FloatArray) -> FloatArray:
        return np.asarray(self.M @ V)

    def toarray(self) -> FloatArray:
        return np.asarray(self.M.toarray())


def _normalised(near: Any, weights: FloatArray) -> Any:
    """Join i and j if either names the other, and scale by the degrees."""
    n, q = near.shape
    rows = np.repeat(np.arange(n), q)
    W = sparse.csr_array((weights.ravel(), (rows, near.ravel())), shape=(n, n))
    W = sparse.csr_array(W.maximum(W.T))
    root = 1 / np.sqrt(np.maximum(W.sum(axis=1), np.finfo(float).tiny))
    W.data *= root[np.repeat(np.arange(n), np.diff(W.indptr))] * root[W.indices]
    return W
