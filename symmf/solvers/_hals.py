"""Hierarchical alternating least squares: two factors by exact updates of columns.

Algorithm 1, SymHALS and NMF share it: X ~ V U^T, with X = M and the penalty
mu ||V - U||_F^2 for a symmetric M. Columns are updated factor by factor
(:func:`sweep`; extrapolated between the products: :func:`accelerated_hals`), or those
of both factors in turn (:func:`sweep_pairs`).

References
----------
A. Cichocki and A.-H. Phan, "Fast local algorithms for large scale nonnegative matrix
and tensor factorizations", IEICE Trans. Fundamentals E92-A (2009); A. Ang and N.
Gillis, "Accelerating nonnegative matrix factorization algorithms using
extrapolation", Neural Comput. 31 (2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import inner
from symmf.similarity.operators import SymmetricOperator
from symmf.solvers._coupling import tied
from symmf.solvers._points import beyond

# Sweeps end once one moves the factor by less than this share of the first (squared).
_SETTLED = 0.01
# Extrapolation: first speed, its growth, growth of its limit, what a bad step costs
# (Ang and Gillis 2019).
_FIRST, _GROWTH, _LIMIT_GROWTH, _PENALTY = 0.5, 1.05, 1.01, 1.5
# A row that died is put back at this size, relative to its factor.
_REVIVAL = 1e-16

Product = Callable[[FloatArray], FloatArray]


def sweep(V: FloatArray, Q: FloatArray, B: FloatArray) -> float:
    r"""Minimise tr(V V^T Q) - 2 <V, B> over V >= 0, one row after the other, in place.

    V has one row per cluster, (k, n): what is updated together is contiguous.

    .. math:: v_j \leftarrow \max\Big(0,\ v_j + \frac{B_j - Q_j V}{Q_{jj}}\Big)

    Return the squared length of the way that V has moved.
    """
    moved = 0.0
    before, slope = np.empty_like(V[0]), np.empty_like(V[0])
    for j, v in enumerate(V):
        if Q[j, j] <= 0:
            continue
        before[:] = v
        np.dot(Q[j], V, out=slope)
        slope -= B[j]
        slope /= Q[j, j]
        v -= slope
        np.maximum(v, 0, out=v)
        if not v.any():
            v[:] = _REVIVAL * V.max()
        before -= v
        moved += float(before @ before)
    return moved


def sweeps(V: FloatArray, Q: FloatArray, B: FloatArray, most: int) -> FloatArray:
    """Sweep until little moves, at most ``most`` times; the products serve them all.

    N. Gillis and F. Glineur, "Accelerated multiplicative updates and hierarchical ALS
    algorithms for nonnegative matrix factorization", Neural Comput. 24 (2012).
    """
    first = sweep(V, Q, B)
    for _ in range(most - 1):
        if sweep(V, Q, B) <= _SETTLED * first:
            break
    return V


def sweep_pairs(
    M: SymmetricOperator,
    H: FloatArray,
    P: FloatArray,
    MP: FloatArray,
    mu: float,
    *,
    clip: bool,
    printed: bool = False,
    rng: np.random.Generator | None = None,
) -> None:
    """Update all columns of H and P in place, given M P before the sweep.

    ``printed`` takes M-bar instead of its transpose for P. With ``rng`` a column that
    became zero is put back at rounding level: zero could never be left again.
    """
    for j in range(H.shape[1]):
        h, p = H[:, j], P[:, j]
        # p_j has not changed since M P was formed.
        p2 = float(p @ p)
        v = MP[:, j] - H @ (P.T @ p) + h * p2 + mu * p
        _set_column(H, j, v, p2 + mu, clip, rng)
        h2 = float(h @ h)
        v = M.matmat(H[:, j : j + 1])[:, 0] + mu * h
        if printed:
            v += h * float(p @ h) - H @ (P.T @ h)
        else:
            v += p * h2 - P @ (H.T @ h)
        _set_column(P, j, v, h2 + mu, clip, rng)


def _set_column(
    factor: FloatArray,
    j: int,
    v: FloatArray,
    curvature: float,
    clip: bool,
    rng: np.random.Generator | None,
) -> None:
    """h_j <- v / curvature, clipped and revived as asked."""
    if curvature <= 0:
        return
    column = v / curvature
    if clip:
        np.maximum(column, 0, out=column)
    if rng is not None and not column.any():
        column = rng.random(len(column)) - (0 if clip else 0.5)
        column *= _REVIVAL * float(np.max(np.abs(factor)))
    factor[:, j] = column


@dataclass(eq=False)
class Pair:
    """Factors V (k, n) and U (k, m), with X U^T and X^T V^T in the same layout."""

    V: FloatArray
    U: FloatArray
    XU: FloatArray
    XTV: FloatArray
    #: ||X||_F^2
    total: float
    mu: float = 0.0

    @cached_property
    def objective(self) -> float:
        """||X - V^T U||_F^2 + mu ||V - U||_F^2."""
        V, U = self.V, self.U
        F = self.total - 2 * inner(V, self.XU) + inner(V @ V.T, U @ U.T)
        if self.mu:
            D = V - U
            F += self.mu * inner(D, D)
        return F


def accelerated_hals(
    times: Product,
    times_transposed: Product,
    V: FloatArray,
    U: FloatArray,
    *,
    total: float,
    mu: float = 0.0,
    most_sweeps: int = 5,
) -> Iterator[Pair]:
    """Yield the start, then pairs whose objective never rises.

    ``times(U)`` is (X U^T)^T, ``times_transposed(V)`` is (X^T V^T)^T, ``total`` is
    ||X||_F^2. Products of extrapolated factors are linear in those already known; a
    step that would raise it is taken again without extrapolation.
    """

    def step(beta: float) -> Pair:
        """Update V, then U, each from the other one extrapolated by beta."""
        V_e, U_e = beyond(now.V, last.V, beta), beyond(now.U, last.U, beta)
        XU_e = beyond(now.XU, last.XU, beta)
        V = sweeps(np.maximum(V_e, 0), *tied(U_e, XU_e, mu), most_sweeps)
        XTV = times_transposed(V)
        V_e, XTV_e = beyond(V, now.V, beta), beyond(XTV, now.XTV, beta)
        U = sweeps(np.maximum(U_e, 0), *tied(V_e, XTV_e, mu), most_sweeps)
        return Pair(V, U, times(U), XTV, total, mu)

    last = now = Pair(V, U, times(U), times_transposed(V), total, mu)
    yield now
    beta, limit = _FIRST, 1.0
    first = True
    while True:
        new = step(0.0 if first else beta)
        if not first and new.objective > now.objective:
            limit, beta = beta, beta / _PENALTY
            new = step(0.0)
        else:
            beta, limit = min(limit, _GROWTH * beta), min(1.0, _LIMIT_GROWTH * limit)
        first = False
        last, now = now, new
        yield now
