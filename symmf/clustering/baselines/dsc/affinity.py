"""From self-expression coefficients to an affinity, without any network.

A row of C writes one sample as a combination of the others. Samples of one subspace use
each other, so C is nearly block diagonal; the steps here turn it into a nonnegative
affinity that spectral clustering can read.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from symmf.common.notation import AnyMatrix, FloatArray

DENSE_LIMIT = 1600
_BLOCK = 512
# Largest entries of a column that are looked at first; mostly they suffice.
_FEW = 64
_TINY = 1e-12


def closed_form_coefficients(
    Z: FloatArray, lambda1: float, lambda2: float
) -> FloatArray:
    r"""Return the minimiser over C of the L2 self-expression loss for a fixed Z.

    .. math::
        \lambda_1 \|C\|_F^2 + \frac{\lambda_2}{2} \|Z - CZ\|_F^2
        \quad\Rightarrow\quad
        C^* = U \operatorname{diag}\Big(\frac{s^2}{s^2 + 2\lambda_1/\lambda_2}\Big) U^T,
        \qquad Z = U \operatorname{diag}(s) V^T .

    Parameters
    ----------
    Z : array of shape (n, p)
        One latent vector per row.
    lambda1, lambda2 : float
        Positive weights of the two terms.

    Examples
    --------
    >>> import numpy as np
    >>> closed_form_coefficients(np.array([[1.0], [1.0]]), 1.0, 1e9).round(6)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    U, s, _ = linalg.svd(np.asarray(Z, dtype=np.float64), full_matrices=False)
    gain = s**2 / (s**2 + 2.0 * lambda1 / lambda2)
    C: FloatArray = (U * gain) @ U.T
    return C


def threshold_columns(C: FloatArray, threshold: float, min_keep: int = 1) -> FloatArray:
    """Keep the few largest entries of each column and put zero elsewhere.

    Entries are kept in order of decreasing magnitude until they hold at least the share
    ``threshold`` of the column's L1 norm, and never fewer than ``min_keep`` of them.
    """
    C = np.asarray(C)
    if threshold >= 1.0:
        return C.copy()
    kept = np.zeros_like(C)
    for start in range(0, C.shape[1], _BLOCK):  # blocks bound the memory of the sort
        columns = np.ascontiguousarray(C[:, start : start + _BLOCK].T)
        short = _shortened(columns, threshold, min_keep, max(_FEW, min_keep))
        kept[:, start : start + _BLOCK] = short.T
    return kept


def _shortened(
    rows: FloatArray, threshold: float, min_keep: int, most: int
) -> FloatArray:
    """Apply the threshold to rows; only the ``most`` largest entries are sorted."""
    n = rows.shape[1]
    sizes = np.abs(rows)
    if most < n:
        largest = np.argpartition(sizes, n - most, axis=1)[:, n - most :]
        largest.sort(axis=1)  # so that ties are broken by position
    else:
        largest = np.broadcast_to(np.arange(n), rows.shape)
    found = np.take_along_axis(sizes, largest, axis=1)
    order = np.argsort(-found, axis=1, kind="stable")
    found = np.take_along_axis(found, order, axis=1)
    goal = threshold * sizes.sum(axis=1, dtype=np.float64, keepdims=True)
    mass = np.cumsum(found, axis=1, dtype=np.float64)
    if most < n and np.any(mass[:, -1:] < goal):
        return _shortened(rows, threshold, min_keep, n)
    count = np.maximum(1 + np.sum(mass < goal, axis=1), min_keep)
    largest = np.take_along_axis(largest, order, axis=1)
    values = np.take_along_axis(rows, largest, axis=1)
    values[np.arange(values.shape[1]) >= count[:, None]] = 0.0
    short = np.zeros_like(rows)
    np.put_along_axis(short, largest, values, axis=1)
    return short


def leading_eigenpairs(S: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return the ``rank`` eigenvalues of largest magnitude and their eigenvectors.

    Dense LAPACK up to ``DENSE_LIMIT`` rows, Lanczos above. Lanczos can miss copies of a
    repeated eigenvalue, so its answer is checked by deflation: whatever is left must be
    no larger than what was found. If it is larger, LAPACK decides after all.
    """
    n = S.shape[0]
    if n > DENSE_LIMIT and rank < n // 4:
        pairs = _lanczos(S, rank)
        if pairs is not None:
            return pairs
    w, U = linalg.eigh(S)
    largest = np.argsort(-np.abs(w), kind="stable")[:rank]
    return w[largest], U[:, largest]


def _lanczos(S: FloatArray, rank: int) -> tuple[FloatArray, FloatArray] | None:
    n = S.shape[0]
    operator: AnyMatrix = S
    if np.count_nonzero(S) < 0.2 * S.size:
        operator = sparse.csr_array(S)
    start = np.ones(n, S.dtype)

    def left_over(v: FloatArray) -> FloatArray:
        rest: FloatArray = operator @ v - U @ (w * (U.T @ v))
        return rest

    try:
        w, U = eigsh(operator, k=rank, which="LM", v0=start)
        rest = LinearOperator((n, n), matvec=left_over, dtype=S.dtype)
        # A start along the found space would be deflated to nothing.
        probe = np.cos(np.arange(n)).astype(S.dtype)
        missed = eigsh(
            rest, k=1, which="LM", v0=probe, tol=1e-3, return_eigenvectors=False
        )
    except ArpackError:
        return None
    if np.abs(missed[0]) > np.abs(w).min() * (1.0 + 1e-2):
        return None
    return w, U


def subspace_affinity(
    C: FloatArray,
    n_clusters: int,
    *,
    threshold: float = 0.04,
    min_keep: int = 8,
    subspace_dim: int = 12,
    power: float = 8.0,
    set_diagonal: bool = True,
) -> FloatArray:
    r"""Turn self-expression coefficients into an affinity.

    1. :func:`threshold_columns`; 2. symmetrise, and put ones on the diagonal if
    ``set_diagonal``; 3. rows of :math:`T = U_r |w_r|^{1/2}` from the
    :math:`r = \min(d K + 1, n - 1)` leading eigenpairs, scaled to unit norm (d =
    ``subspace_dim``, K = ``n_clusters``); 4. the entrywise ``power`` of the nonnegative
    part of :math:`T T^T`.

    Parameters
    ----------
    C : array of shape (n, n)
        Coefficients; not modified.
    n_clusters : int
        Number of subspaces K.
    threshold, min_keep : float and int
        Share of each column's L1 norm that is kept, and the least number of entries;
        ``threshold=1`` keeps everything.
    subspace_dim : int
        Dimension d expected of each subspace.
    power : float
        Larger values suppress weak links more.
    set_diagonal : bool
        Whether the diagonal is replaced by ones before the decomposition.

    Returns
    -------
    array of shape (n, n)
        Symmetric, entries in [0, 1], ones on the diagonal; double precision.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.kron(np.eye(2), np.full((3, 3), 0.3))
    >>> A = subspace_affinity(C, 2, threshold=1.0, subspace_dim=1, set_diagonal=False)
    >>> np.allclose(A, np.kron(np.eye(2), np.ones((3, 3))))
    True
    """
    n = C.shape[0]
    S = threshold_columns(C, threshold, min(min_keep, n))
    S = S + S.T
    S *= 0.5
    if set_diagonal:
        np.fill_diagonal(S, 1.0)
    rank = max(1, min(subspace_dim * n_clusters + 1, n - 1))
    w, U = leading_eigenpairs(S, rank)
    T = U * np.sqrt(np.abs(w))
    T /= np.maximum(np.linalg.norm(T, axis=1, keepdims=True), _TINY)
    A: FloatArray = T @ T.T  # one triangle copied to the other: exactly symmetric
    np.clip(A, 0.0, 1.0, out=A)
    _raise_to(A, power)
    np.fill_diagonal(A, 1.0)
    # Parts of the graph may be joined by next to nothing: what reads the eigenvectors
    # of almost equal eigenvalues needs double precision.
    return A.astype(np.float64, copy=False)


def _raise_to(A: FloatArray, power: float) -> None:
    """Raise the entries to a power, in place; by squares, if it is 2, 4, 8, ..."""
    squarings = np.log2(power)
    if squarings < 0 or squarings != int(squarings):
        np.power(A, power, out=A)
        return
    for _ in range(int(squarings)):
        np.square(A, out=A)
