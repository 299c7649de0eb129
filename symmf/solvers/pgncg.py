"""SymPGNCG: projected Gauss-Newton steps by conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_number
from symmf.linalg import inner
from symmf.solvers._nnls import MaskArray
from symmf.solvers._points import Point
from symmf.solvers.base import Iterates, Problem, Solver, Start, Stop, hold

# The step is halved at most this often before the method is said to have stalled.
_MAX_BACKTRACKS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class PGNCG(Solver):
    r"""Projected Gauss-Newton method for symmetric NMF.

    .. math:: \min_{H \ge 0} f(H) = \|M - HH^T\|_F^2

    The residual is linearised, :math:`(H - Z)(H - Z)^T \approx HH^T - ZH^T - HZ^T`, and
    a few conjugate-gradient steps solve the normal equations

    .. math:: 2\,(Z H^TH + H Z^T H) = 2\,(HH^TH - MH) ;

    then :math:`H \leftarrow \max(H - \alpha Z, 0)`.

    Parameters
    ----------
    cg_steps : int
        Conjugate-gradient steps in each iteration.
    published : bool
        As the authors' code: :math:`\alpha = 1` always, so that f may rise, and entries
        that sit at the bound enter the linear system like all others. By default the
        system is restricted to free entries (those that are positive or that the
        gradient would raise) and :math:`\alpha` is halved until f falls.

    Notes
    -----
    One product with M per iteration (one more for each halving) and ``cg_steps`` times
    O(n k^2).

    References
    ----------
    Eswar, Hayashi, Ballard, Kannan, Vuduc and Park, "Distributed-memory parallel
    symmetric nonnegative matrix factorization", SC 2020; Hayashi, Aksoy, Ballard and
    Park, "Randomized algorithms for symmetric nonnegative matrix factorization", SIAM
    J. Matrix Anal. Appl. 46 (2025).

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="pgncg", random_state=0)
    >>> bool(fit.error[-1] < 1e-3)
    True
    """

    cg_steps: int = 5

    name: ClassVar[str] = "pgncg"
    title: ClassVar[str] = "SymPGNCG"
    reference: ClassVar[str] = "Eswar et al. 2020"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    never_rises: ClassVar[str] = "f"
    start: ClassVar[str] = "symm_mean"

    def check(self, _problem: Problem) -> None:
        """Refuse a number of steps below one."""
        check_number("cg_steps", self.cg_steps, least=1, whole=True)

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield H_0, H_1, ..."""
        M, now = problem.M, Point.of(problem.M, start.H)
        while True:
            yield now.iterate()
            R = now.gradient() / 2
            free = True if self.published else (now.H > 0) | (R < 0)
            Z = self._direction(now, np.where(free, R, 0), free)
            alpha = 1.0
            for _ in range(_MAX_BACKTRACKS):
                trial = Point.of(M, np.maximum(now.H - alpha * Z, 0))
                if self.published or trial.f < now.f:
                    break
                alpha /= 2
            else:
                yield from hold(problem, now.iterate())
                return Stop.stalled
            now = trial

    def _direction(
        self, now: Point, R: FloatArray, free: MaskArray | bool
    ) -> FloatArray:
        """Return Z with Z G + H Z^T H ~ R / 2 on the free entries, zero elsewhere."""
        H, G = now.H, now.G
        Z, P, e = np.zeros_like(H), R, inner(R, R)
        for _ in range(self.cg_steps):
            Y = np.where(free, 2 * (P @ G + H @ (P.T @ H)), 0)
            curvature = inner(P, Y)
            if curvature <= 0 and not self.published:
                break
            alpha = np.float64(e) / curvature
            Z = Z + H.dtype.type(alpha) * P
            R = R - H.dtype.type(alpha) * Y
            previous, e = e, inner(R, R)
            P = R + H.dtype.type(np.float64(e) / previous) * P
        return np.asarray(Z)
