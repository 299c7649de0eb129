"""Nonnegative least squares with many right-hand sides: block principal pivoting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dposv
from scipy.optimize import nnls as lawson_hanson

from symmf.common.notation import FloatArray

MaskArray: TypeAlias = npt.NDArray[np.bool_]

# Full exchanges that may fail to reduce the infeasibilities before the backup rule.
_FULL_EXCHANGES = 3
# Rounds per unknown before a column is handed to the active-set method.
_ROUNDS = 5
# Below this, relative to the size of its column, a value counts as zero.
_ZERO = 1e-12


def nnls_bpp(Q: FloatArray, B: FloatArray, Z0: FloatArray | None = None) -> FloatArray:
    r"""Solve nonnegative least squares given in normal-equation form.

    .. math:: \min_{Z \ge 0} \tfrac12 \mathrm{tr}(Z^T Q Z) - \mathrm{tr}(Z^T B)

    Columns are independent. The unknowns of a column are split into a passive set F,
    where the gradient y = Q z - b is zero, and the rest, where z is zero; unknowns
    with z < 0 or y < 0 change sides until there are none.

    Parameters
    ----------
    Q : (k, k) array
        Symmetric positive semidefinite. If it is singular on some passive set, a
        ridge of 1e-10 of its mean diagonal entry picks one of the solutions.
    B : (k, q) array
    Z0 : (k, q) array, optional
        Warm start: only the pattern ``Z0 > 0`` is used.

    Returns
    -------
    Z : (k, q) array
        In the precision of B; the work is done in double precision.

    Notes
    -----
    Columns with equal F share one Cholesky factorization, so a round costs
    O(patterns k^3 + q k^2). A column that has not settled after 5 k rounds, which
    needs degenerate data, is solved by an active-set method.

    References
    ----------
    Kim and Park, "Fast nonnegative matrix factorization: an active-set-like method
    and comparisons", SIAM J. Sci. Comput. 33 (2011).

    Examples
    --------
    >>> import numpy as np
    >>> nnls_bpp(np.eye(2), np.array([[1.0], [-1.0]])).ravel().tolist()
    [1.0, 0.0]
    """
    k, q = B.shape
    Q64 = np.asarray(Q, dtype=np.float64)
    # One row per problem from here on: patterns are then contiguous in memory.
    rhs = np.ascontiguousarray(B.T, dtype=np.float64)
    z_zero, y_zero = _zero_levels(Q64, rhs)
    passive: MaskArray = np.zeros((q, k), bool)
    z: FloatArray = np.zeros((q, k))
    y: FloatArray = -rhs
    if Z0 is not None:
        passive = np.ascontiguousarray(Z0.T) > 0
        z = _solve_passive(Q64, rhs, passive)
        y = _gradient(Q64, rhs, z, passive)
    best = np.full(q, k + 1)
    chances = np.full(q, _FULL_EXCHANGES)
    for _ in range(_ROUNDS * k):
        wrong = np.where(passive, z < -z_zero, y < -y_zero)
        counts = wrong.sum(axis=1)
        open_rows = np.flatnonzero(counts)
        if open_rows.size == 0:
            break
        wrong, counts = wrong[open_rows], counts[open_rows]
        better = counts < best[open_rows]
        best[open_rows[better]] = counts[better]
        chances[open_rows[better]] = _FULL_EXCHANGES
        chances[open_rows[~better]] -= 1
        # Backup rule: only the last infeasible unknown changes sides.
        stuck = np.flatnonzero(chances[open_rows] < 0)
        last = k - 1 - np.argmax(wrong[stuck, ::-1], axis=1)
        wrong[stuck] = False
        wrong[stuck, last] = True
        passive[open_rows] ^= wrong
        z[open_rows] = _solve_passive(Q64, rhs[open_rows], passive[open_rows])
        y[open_rows] = _gradient(Q64, rhs[open_rows], z[open_rows], passive[open_rows])
    else:
        wrong = np.where(passive, z < -z_zero, y < -y_zero)
        for row in np.flatnonzero(np.any(wrong, axis=1)):
            z[row] = _active_set(Q64, rhs[row])
    return np.asarray(np.maximum(z, 0), dtype=B.dtype).T


def _zero_levels(Q: FloatArray, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Size below which entries of z and y are rounding, for every row."""
    size = np.max(np.abs(rhs), axis=1, keepdims=True, initial=0.0)
    curvature = float(np.max(np.diagonal(Q), initial=0.0)) or 1.0
    return _ZERO * size / curvature, _ZERO * size


def _gradient(
    Q: FloatArray, rhs: FloatArray, z: FloatArray, passive: MaskArray
) -> FloatArray:
    y = z @ Q - rhs
    y[passive] = 0.0
    return np.asarray(y)


def _solve_passive(Q: FloatArray, rhs: FloatArray, passive: MaskArray) -> FloatArray:
    """Solve Q_FF z_F = b_F with z = 0 outside F, one Cholesky per distinct F."""
    z = np.zeros_like(rhs)
    for rows, F in _patterns(passive):
        if F.size == 0:
            continue
        cells = rows[:, None], F
        Q_FF = Q[F[:, None], F]
        _, solution, info = dposv(Q_FF, rhs[cells].T)
        if info != 0:
            ridge = 1e-10 * float(np.trace(Q)) / len(Q) or 1.0
            _, solution, info = dposv(Q_FF + ridge * np.eye(F.size), rhs[cells].T)
        if info != 0:
            solution = np.linalg.lstsq(Q_FF, rhs[cells].T, rcond=None)[0]
        z[cells] = solution.T
    return z


def _patterns(passive: MaskArray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (rows, F) for every distinct passive set F."""
    q, k = passive.shape
    # A pattern as one machine word (or a few) sorts far faster than k booleans.
    words = -(-k // 64)
    bits = np.zeros((q, 8 * words), np.uint8)
    packed = np.packbits(passive, axis=1)
    bits[:, : packed.shape[1]] = packed
    keys = bits.view(np.uint64)
    order = np.lexsort(keys.T)
    keys = keys[order]
    new = np.ones(q, bool)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    starts = np.append(np.flatnonzero(new), q).tolist()
    for first, end in pairwise(starts):
        rows = order[first:end]
        yield rows, passive[rows[0]].nonzero()[0]


def _active_set(Q: FloatArray, b: FloatArray) -> FloatArray:
    """Lawson and Hanson's method on a square root of Q."""
    values, vectors = np.linalg.eigh(Q)
    floor = 1e-14 * max(float(values[-1]), np.finfo(float).tiny)
    root = np.sqrt(np.maximum(values, floor))
    C = root[:, None] * vectors.T
    z: FloatArray = lawson_hanson(C, (vectors.T @ b) / root, maxiter=100 * len(b))[0]
    return z
