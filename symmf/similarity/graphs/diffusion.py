r"""A self-tuning graph of similarities that are given, walked a few steps.

.. math:: A = S^t, \qquad S = D^{-1/2} W D^{-1/2}

With t = 2p the best H of A = H H^T has the eigenvectors of S times their eigenvalues to
the power p: directions that the graph hardly supports fade instead of being cut off.
"""

from __future__ import annotations

from typing import Any

from symmf.common.notation import AnyMatrix
from symmf.common.validation import check_number
from symmf.errors import InputError
from symmf.similarity.graphs.diffusion_rows import check_similarities, self_tuning_graph
from symmf.similarity.operators import DenseOperator, SymmetricOperator
from symmf.similarity.transforms import DENSE_BYTES


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
    if X.shape[0] ** 2 * 8 > DENSE_BYTES:
        raise InputError(
            f"The similarity 'diffusion' joins all pairs, and {X.shape[0]} x "
            f"{X.shape[0]} of them do not fit in memory."
        )
    S = self_tuning_graph(X, n_neighbors, local_neighbor)
    half: Any = S
    for _ in range(steps // 2 - 1):
        half = S @ half
    dense = half.toarray()
    return DenseOperator(dense @ dense.T)
