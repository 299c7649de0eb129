"""Two nonnegative factors by column updates, with extrapolation between the products.

NMF and SymHALS share it: X ~ V U^T, with X = M and the penalty mu ||V - U||_F^2 for a
symmetric M. Factors have one row per cluster, (k, n), so that what is updated
together is contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import inner
from symmf.solvers._coupling import tied
from symmf.solvers._points import beyond

# Sweeps end once one moves the factor by less than this share of the first (squared).
_SETTLED = 0.01
# Extrapolation: first speed, its growth, growth of its limit, what a bad step costs
# (Ang and Gillis 2019).
_FIRST, _GROWTH, _LIMIT_GROWTH, _PENALTY = 0.5, 1.05, 1.01, 1.5
# A row that died is put back at this size, relative to its factor.
REVIVAL = 1e-16

Product = Callable[[FloatArray], FloatArray]


def sweep(V: FloatArray, Q: FloatArray, B: FloatArray) -> float:
    r"""Minimise tr(V V^T Q) - 2 <V, B> over V >= 0, one row after the other, in place.

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
            v[:] = REVIVAL * V.max()
        before -= v
        moved += float(before @ before)
    return moved


def sweeps(V: FloatArray, Q: FloatArray, B: FloatArray, most: int) -> FloatArray:
    """Sweep until little moves, at most ``most`` times; the products serve them all."""
    first = sweep(V, Q, B)
    for _ in range(most - 1):
        if sweep(V, Q, B) <= _SETTLED * first:
            break
    return V


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
