"""The curvature L_i of Algorithm 2 from the products that its steps need anyway."""

from __future__ import annotations

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import BlockPower, inner, largest_eigenvalue, spectral_norm
from symmf.solvers._points import Point
from symmf.solvers.base import Problem, Start

# Vectors of the running estimate of sigma; sweeps before the first step.
_BLOCK, _FIRST_SWEEPS = 2, 2
# They ride on the product of every second step until the estimate changes L by less
# than this share, then less and less often: margin and safeguard cover the rest.
_SETTLED, _SHORTEST_WAIT, _LONGEST_WAIT = 0.05, 2, 8


class StepBound:
    """L = 4 sigma + 8 ||H||_2^2 along a run, sigma = ||H H^T - M||_2.

    ``point`` is where the run is; ``try_point`` forms the one product of a step, on
    which the vectors of the estimate ride, and ``accept`` moves there.
    """

    def __init__(self, problem: Problem, start: Start, sigma: str) -> None:
        self.problem, self.sigma_mode = problem, sigma
        M, n, H = problem.M, problem.n, start.H
        self.point = Point.of(M, H)
        #: differences of f below this are rounding
        self.noise = 1e-14 * max(M.fro2, np.finfo(float).tiny)
        if M.dtype == np.float32:
            self.noise *= 1e7
        self._norm_M: float | None = None
        self.power: BlockPower | None = None
        if sigma == "estimate" and n > 2 * _BLOCK:
            self.power = BlockPower(_first_vectors(self.point, start.rng))
            for _ in range(_FIRST_SWEEPS):
                self.power.update(H, M.matmat(self.power.V))
        self._wait, self._steps_to_ride = _SHORTEST_WAIT, 0
        self._MV: FloatArray | None = None
        self._curvature: float | None = None

    def curvature(self) -> float:
        """L at the current point."""
        if self._curvature is None:
            h2 = largest_eigenvalue(self.point.G)
            self._curvature = 4 * self._sigma(h2) + 8 * h2
        return self._curvature

    def _sigma(self, h2: float) -> float:
        M = self.problem.M
        if self.sigma_mode == "exact":
            return spectral_norm(M, self.point.H)
        bounds = []
        if M.fro2_exact:
            # The largest singular value is at most the Frobenius norm.
            bounds.append(float(np.sqrt(max(self.point.f, 0.0))))
        if self.power is not None:
            bounds.append(self.power.margin * self.power.value)
        elif self.sigma_mode == "bound" or not bounds:
            # H H^T >= 0, so -sigma_1(M) <= R <= h2 - sigma_n(M).
            if self._norm_M is None:
                self._norm_M = spectral_norm(M)
            bounds.append(max(self._norm_M, h2 - M.eigenvalue_floor))
        return min(bounds)

    def try_point(self, H: FloatArray) -> Point:
        """Form the product at a trial point; the block vectors ride along."""
        M, k = self.problem.M, self.problem.k
        MH = self._MV = None
        if self.power is not None and self._steps_to_ride <= 0:
            product = M.matmat(np.concatenate([H, self.power.V], axis=1))
            MH, self._MV = (np.ascontiguousarray(V) for V in np.hsplit(product, [k]))
        return Point.of(M, H, MH)

    def accept(self, point: Point) -> None:
        """Make the last trial point the current one."""
        self.point = point
        self._curvature = None
        self._steps_to_ride -= 1
        if self.power is None or self._MV is None:
            return
        before = self.power.value
        self.power.update(point.H, self._MV)
        change = 4 * abs(self.power.value - before)
        settled = change <= _SETTLED * self.curvature()
        self._wait = min(2 * self._wait, _LONGEST_WAIT) if settled else _SHORTEST_WAIT
        self._steps_to_ride = self._wait - 1


def _first_vectors(point: Point, rng: np.random.Generator) -> FloatArray:
    """Return random vectors plus R H c: a power step whose product is known."""
    H = point.H
    n, k = H.shape
    V = rng.standard_normal((n, _BLOCK)).astype(H.dtype)
    c = rng.standard_normal((k, _BLOCK)).astype(H.dtype)
    RHc = H @ (point.G @ c) - point.MH @ c
    size = float(np.sqrt(inner(RHc, RHc)))
    if size > 0:
        # The random part keeps directions that H and M H do not have.
        V += RHc * RHc.dtype.type(np.sqrt(n * _BLOCK) / size)
    return np.linalg.qr(V)[0]
