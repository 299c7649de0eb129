r"""A self-tuning graph of similarities that are given, walked a few steps.

.. math:: A = S^t, \qquad S = D^{-1/2} W D^{-1/2}

With t = 2p the best H of A = H H^T has the eigenvectors of S times their eigenvalues to
the power p: directions that the graph hardly supports fade instead of being cut off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symmf.errors import InputError
from symmf.notation import AnyMatrix, FloatArray
from symmf.similarity.operators import DenseOperator, SymmetricOperator
from symmf.similarity.transforms import DENSE_BYTES
from symmf.validation import check_number

# Smallest local scale: copies would give 0.
_TINY = 1e-6


def diffusion(
    X: AnyMatrix,
    *,
    n_neighbors: int = 10,
    local_neighbor: int = 7,
    steps: int = 6,
) -> SymmetricOperator:
    r"""Return the diffusion of a graph of given similarities, explicit.

    X holds similarities with a diagonal of 1, so that d^2 = 2 - 2 x is a squared
    distance. Rows are joined if one is among the q nearest of the other, with weights
    exp(-d_ij^2 / (s_i s_j)), s_i the distance to the 7th nearest; the graph is scaled
    by its degrees and multiplied with itself.

    Parameters
    ----------
    X : (n, n) array
        Similarities, symmetric, at most 1.
    n_neighbors : int
        q.
    local_neighbor : int
        Which neighbour gives s_i.
    steps : int
        t, an even number of steps; 6 gives eigenvectors times eigenvalues cubed.

    Examples
    --------
    >>> X = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> A = diffusion(X, n_neighbors=1, local_neighbor=1, steps=2).toarray()
    >>> A.round(2)
    array([[0.86, 0.  , 0.35],
           [0.  , 1.  , 0.  ],
           [0.35, 0.  , 0.14]])
    """
    check_number("n_neighbors", n_neighbors, least=1, whole=True)
    check_number("local_neighbor", local_neighbor, least=1, whole=True)
    check_number("steps", steps, least=2, whole=True)
    if steps % 2:
        raise InputError(f"steps must be an even number, not {steps}.")
    D = _squared_distances(X)
    n = len(D)
    q = min(max(n_neighbors, local_neighbor), n - 1)
    near = np.argsort(D, axis=1, kind="stable")[:, :q]
    d2 = np.take_along_axis(D, near, axis=1)
    s = np.maximum(np.sqrt(d2[:, min(local_neighbor, q) - 1]), _TINY)
    near, d2 = near[:, :n_neighbors], d2[:, :n_neighbors]
    S = _normalised(near, np.exp(-d2 / (s[:, None] * s[near])))
    half: Any = S
    for _ in range(steps // 2 - 1):
        half = S @ half
    dense = half.toarray()
    return DenseOperator(dense @ dense.T)


def _squared_distances(X: AnyMatrix) -> FloatArray:
    if sparse.issparse(X) or X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise InputError(
            "The similarity 'diffusion' needs a dense square matrix of similarities, "
            "as the step 'image_similarity' gives it, not "
            f"{X.shape[0]} x {X.shape[1]}."
        )
    if X.shape[0] ** 2 * 8 > DENSE_BYTES:
        raise InputError(
            f"The similarity 'diffusion' joins all pairs, and {X.shape[0]} x "
            f"{X.shape[0]} of them do not fit in memory."
        )
    if X.max() > 1 + 1e-3:
        raise InputError(
            "The similarity 'diffusion' needs similarities of at most 1 (a row's own "
            f"is 1); the largest is {X.max():.3g}."
        )
    D = np.maximum(2 - 2 * np.asarray(X, dtype=np.float64), 0.0)
    np.fill_diagonal(D, np.inf)
    return D


def _normalised(near: Any, weights: FloatArray) -> Any:
    """Join i and j if either names the other, and scale by the degrees."""
    n, q = near.shape
    rows = np.repeat(np.arange(n), q)
    W = sparse.csr_array((weights.ravel(), (rows, near.ravel())), shape=(n, n))
    W = sparse.csr_array(W.maximum(W.T))
    root = 1 / np.sqrt(np.maximum(W.sum(axis=1), np.finfo(float).tiny))
    W.data *= root[np.repeat(np.arange(n), np.diff(W.indptr))] * root[W.indices]
    return W
