"""How many communities a graph has, by its Bethe-Hessian matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

_DENSE = 1000
_MOST = 100


def count_communities(W: Any) -> int:
    r"""Return how many communities a graph has beyond chance, at least 1.

    The negative eigenvalues of :math:`(r^2 - 1) I - r W + D`, with
    :math:`r = \sqrt{\sum_i d_i^2 / \sum_i d_i - 1}` and every edge counted once
    (Saade, Krzakala and Zdeborova, 2014). For graphs that are given; on graphs of
    neighbours in space it finds far too many.

    Examples
    --------
    >>> block = np.ones((6, 6)) - np.eye(6)
    >>> count_communities(sparse.csr_array(np.kron(np.eye(2), block)))
    2
    """
    A = sparse.csr_array(W != 0, dtype=np.float64)
    A = sparse.csr_array(A.maximum(A.T))
    A.setdiag(0)
    A.eliminate_zeros()
    n = A.shape[0]
    d = np.asarray(A.sum(axis=1)).ravel()
    if n < 2 or d.sum() == 0:
        return 1
    r = np.sqrt(max(float((d**2).sum() / d.sum()) - 1, 1.0))
    B = sparse.csr_array(sparse.diags_array(r**2 - 1 + d) - r * A)
    if n <= _DENSE:
        values = np.linalg.eigvalsh(B.toarray())
    else:
        most = min(_MOST, n - 2)
        values = eigsh(B, k=most, which="SA", v0=np.ones(n), return_eigenvectors=False)
    return max(1, int(np.count_nonzero(values < -1e-9)))
