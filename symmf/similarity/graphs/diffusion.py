r"""A self-tuning graph of similarities that are given, walked a few steps.

.. math:: A = S^t, \qquad S = D^{-1/2} W D^{-1/2}

With t = 2p the best H of A = H H^T has the eigenvectors of S times their eigenvalues to
the power p: directions that the graph hardly supports fade instead of being cut off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_number
from symmf.errors import InputError
from symmf.linalg import top_eigenpairs
from symmf.similarity.graphs.neighbours import Neighbours, check_ranks
from symmf.similarity.graphs.normalise import NormalisedGraph, normalised
from symmf.similarity.operators import DenseOperator, SymmetricOperator
from symmf.similarity.transforms import check_fits

# Smallest local scale: copies would give 0.
_TINY = 1e-6
# Rows whose distances to all others are held at a time.
_ROWS = 500


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
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> A = diffusion(X, n_neighbors=1, local_neighbor=1, steps=2).toarray()
    >>> A.round(2)
    array([[0.86, 0.  , 0.35],
           [0.  , 1.  , 0.  ],
           [0.35, 0.  , 0.14]])
    """
    check_number("steps", steps, least=2, whole=True)
    if steps % 2:
        raise InputError(f"steps must be an even number, not {steps}.")
    check_similarities(X, "The similarity 'diffusion'")
    check_fits(X.shape[0], "The similarity 'diffusion'", "Use the step diffusion_rows.")
    S = _self_tuning(X, n_neighbors, local_neighbor).M
    half: Any = S
    for _ in range(steps // 2 - 1):
        half = S @ half
    dense = half.toarray()
    return DenseOperator(dense @ dense.T)


def _self_tuning(
    X: AnyMatrix, n_neighbors: int, local_neighbor: int
) -> NormalisedGraph:
    """Return S for similarities with a diagonal of 1: d^2 = 2 - 2 x.

    Rows are joined if one is among the q nearest of the other, with weights
    exp(-d_ij^2 / (s_i s_j)), s_i the distance to a neighbour of given rank.
    """
    check_ranks(n_neighbors=n_neighbors, local_neighbor=local_neighbor)
    n = X.shape[0]
    parts = (np.arange(first, min(first + _ROWS, n)) for first in range(0, n, _ROWS))
    blocks = (
        (rows, np.maximum(2 - 2 * np.asarray(X[rows], dtype=np.float64), 0.0))
        for rows in parts
    )
    near = Neighbours.of_blocks(blocks, n, max(n_neighbors, local_neighbor))
    W = near.self_tuning(n_neighbors, local_neighbor, floor=_TINY)
    # Neighbours in many dimensions: a sparse factor would fill in.
    return normalised(W, thin_factor=False)


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
    S = _self_tuning(X, n_neighbors, local_neighbor)
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
