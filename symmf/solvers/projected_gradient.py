"""Algorithm 2: projected gradient with an adaptive step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.constraints import CONSTRAINTS
from symmf.errors import InputError
from symmf.linalg import (
    BlockPower,
    inner,
    largest_eigenvalue,
    spectral_norm,
    trace_objective,
)
from symmf.notation import FloatArray
from symmf.solvers._line_search import quartic_step
from symmf.solvers._one_hot import coordinate_moves
from symmf.solvers.base import (
    Iterate,
    Iterates,
    Problem,
    Solver,
    Start,
    Stop,
    hold,
)
from symmf.validation import check_choice, check_number

ACCELERATIONS = ("none", "momentum", "line_search")
# Vectors of the running estimate of sigma; sweeps before the first step.
_BLOCK, _FIRST_SWEEPS = 2, 2
# They ride on the product of every second step until what they tell changes L by less
# than this share, then ever more seldom: margin and safeguard cover the rest.
_SETTLED, _SHORTEST_WAIT, _LONGEST_WAIT = 0.05, 2, 8
# Sufficient decrease f(H+) <= f(H) - c ||H+ - H||^2 / t, and how often t is halved.
_ARMIJO, _MAX_HALVINGS = 1e-4, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedGradient(Solver):
    r"""Projected gradient for min ||M - H H^T||_F^2 over H in any set.

    .. math:: H_{i+1} = \mathcal{P}\big(H_i - t_i \nabla f(H_i)\big), \qquad
              \nabla f(H) = 4 (H H^T H - M H),

    .. math:: t_i = \frac{\mathrm{step\_scale}}{L_i}, \qquad
              L_i = 4 \|H_i H_i^T - M\|_2 + 8 \|H_i^T H_i\|_2 .

    Parameters
    ----------
    step_scale : float
        1.0 is the step 1/L of the released code, 0.5 the printed 1/(2L).
    sigma : {"estimate", "exact", "bound"}
        How ||H H^T - M||_2 is had: a warm-started block power estimate whose products
        ride on the product M H; to full precision; or an upper bound without
        iteration. ``published=True`` implies "exact".
    acceleration : {"none", "momentum", "line_search"}
        ``momentum`` extrapolates and restarts when the objective would rise;
        ``line_search`` minimises the quartic along the gradient (no constraint only).
    published : bool
        No safeguard, exact norms, and the released code's map for the set.

    Notes
    -----
    One product with M per iteration serves gradient, objective, step and safeguard.
    With the safeguard (steps are halved until the objective decreases enough) f
    never rises when the projection is exact. One-hot rows cannot be left by a gradient
    step of this length; there each iteration is a sweep of exact single-row moves.

    References
    ----------
    Paper, Algorithm 2 and Theorem 3. The printed step is half the released one.
    """

    step_scale: float = 1.0
    sigma: str = "estimate"
    acceleration: str = "none"

    name: ClassVar[str] = "projected_gradient"
    title: ClassVar[str] = "Projected gradient (Algorithm 2)"
    reference: ClassVar[str] = "Paper, Algorithm 2"
    constraints: ClassVar[tuple[str, ...]] = tuple(CONSTRAINTS)
    monotone: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Say which parameter does not fit."""
        check_number("step_scale", self.step_scale, above=0)
        check_choice("sigma", self.sigma, ("estimate", "exact", "bound"))
        check_choice("acceleration", self.acceleration, ACCELERATIONS)
        if self.acceleration == "line_search" and problem.constraint.name != "none":
            raise InputError(
                "acceleration='line_search' is for constraint='none'; "
                "use 'momentum' for other sets."
            )

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield H_0, H_1, ... with their objectives."""
        if self.published:
            return self._published(problem, start.H)
        if problem.constraint.discrete:
            return coordinate_moves(problem, start.H)
        if self.acceleration == "line_search":
            return self._line_search(problem, start.H)
        return self._safeguarded(problem, start.H, start.rng)

    def _published(self, problem: Problem, H: FloatArray) -> Iterates:
        """Run the released loop: exact norms, no safeguard."""
        M, project = problem.M, problem.constraint.project_published
        while True:
            G, MH = H.T @ H, M.matmat(H)
            yield Iterate(H, objective=trace_objective(M.fro2, H, MH))
            L = 4 * spectral_norm(M, H) + 8 * largest_eigenvalue(G)
            t = self.step_scale / L if L > 0 else 0.0
            H = project(H - 4 * t * (H @ G - MH))

    def _safeguarded(
        self, problem: Problem, H0: FloatArray, rng: np.random.Generator
    ) -> Iterates:
        """One M-product per step: the trial point's, which the next step reuses."""
        project = problem.constraint.project
        state = _State(problem, H0, self.sigma, rng)
        momentum = _Momentum(self.acceleration == "momentum")
        space, scratch = _Space(H0), np.empty_like(H0)
        yield Iterate(state.H, objective=state.f)
        # A given start may lie outside the set: then the first step may go uphill.
        feasible = problem.constraint.contains(H0, 1e-6)
        stalled = False
        while True:
            L = state.curvature()
            t = self.step_scale / L if L > 0 else 0.0
            base, M_base, beta = momentum.extrapolate(state)
            G = base.T @ base if beta else state.G
            for _ in range(_MAX_HALVINGS):
                Z = space.free(state.H, momentum.previous_H)
                H = project(_step(base, M_base, G, t, Z, scratch), base)
                state.try_point(H, momentum.previous_MH)
                moved = state.squared_distance()
                enough = state.f - _ARMIJO * moved / t if t > 0 else state.f
                if state.trial_f <= enough or (not feasible and moved > 0):
                    break
                unresolved = abs(state.trial_f - state.f) <= state.noise
                # Below what f resolves the gradient still tells: downhill is enough.
                if unresolved:
                    gradient = _gradient(base, M_base, G)
                    if inner(gradient, H - state.H) < 0:
                        break
                if beta:
                    # The extrapolated point was bad, not the step: restart.
                    base, M_base, G, beta = state.H, state.MH, state.G, 0.0
                    momentum.restart()
                    continue
                if unresolved:
                    stalled = True
                    break
                t /= 2
            else:
                stalled = True
            if stalled:
                yield from hold(problem, Iterate(state.H, objective=state.f))
                return Stop.stalled
            feasible = True
            momentum.remember(state)
            state.accept()
            yield Iterate(state.H, objective=state.f)

    def _line_search(self, problem: Problem, H: FloatArray) -> Iterates:
        """Steepest descent with the exact minimiser of f along the gradient."""
        M = problem.M
        MH = M.matmat(H)
        f = trace_objective(M.fro2, H, MH)
        yield Iterate(H, objective=f)
        while True:
            direction = -_gradient(H, MH, H.T @ H)
            M_direction = M.matmat(direction)
            alpha, decrease = quartic_step(H, direction, M_direction)
            if decrease <= 0:
                yield from hold(problem, Iterate(H, objective=f))
                return Stop.stalled
            H = H + alpha * direction
            # M is linear: the product at the new point costs no further product.
            MH = MH + alpha * M_direction
            f = f - decrease
            yield Iterate(H, objective=f)


class _State:
    """H, M H, f(H) and the estimate of sigma, all from one product per step."""

    def __init__(
        self, problem: Problem, H: FloatArray, sigma: str, rng: np.random.Generator
    ) -> None:
        self.problem, self.sigma_mode = problem, sigma
        M, n = problem.M, problem.n
        self.noise = 1e-14 * max(M.fro2, np.finfo(float).tiny)
        if M.dtype == np.float32:
            self.noise *= 1e7
        self.H, self.G = H, H.T @ H
        self.MH = M.matmat(H)
        self.f = trace_objective(M.fro2, H, self.MH, self.G)
        self._norm_M: float | None = None
        self.power: BlockPower | None = None
        if sigma == "estimate" and n > 2 * _BLOCK:
            self.power = BlockPower(self._first_vectors(rng))
            for _ in range(_FIRST_SWEEPS):
                self.power.update(H, M.matmat(self.power.V))
        self._products = _Space(H)
        self._riding = np.empty((n, problem.k + _BLOCK), M.dtype)
        self._wait, self._steps_to_ride = _SHORTEST_WAIT, 0
        self._MV: FloatArray | None = None
        self._curvature: float | None = None

    def _first_vectors(self, rng: np.random.Generator) -> FloatArray:
        """Return random vectors plus R H c: a power step whose product is known."""
        n, k = self.H.shape
        V = rng.standard_normal((n, _BLOCK)).astype(self.H.dtype)
        c = rng.standard_normal((k, _BLOCK)).astype(self.H.dtype)
        RHc = self.H @ (self.G @ c) - self.MH @ c
        size = float(np.sqrt(inner(RHc, RHc)))
        if size > 0:
            # The random part keeps directions that H and M H do not have.
            V += RHc * RHc.dtype.type(np.sqrt(n * _BLOCK) / size)
        return np.linalg.qr(V)[0]

    def curvature(self) -> float:
        """L = 4 sigma + 8 ||H||_2^2 at the current point."""
        if self._curvature is None:
            h2 = largest_eigenvalue(self.G)
            self._curvature = 4 * self._sigma(h2) + 8 * h2
        return self._curvature

    def _sigma(self, h2: float) -> float:
        M = self.problem.M
        if self.sigma_mode == "exact":
            return spectral_norm(M, self.H)
        bounds = []
        if M.fro2_exact:
            # The largest singular value is at most the Frobenius norm.
            bounds.append(float(np.sqrt(max(self.f, 0.0))))
        if self.power is not None:
            bounds.append(self.power.margin * self.power.value)
        elif self.sigma_mode == "bound" or not bounds:
            # H H^T >= 0, so -sigma_1(M) <= R <= h2 - sigma_n(M).
            if self._norm_M is None:
                self._norm_M = spectral_norm(M)
            bounds.append(max(self._norm_M, h2 - M.eigenvalue_floor))
        return min(bounds)

    def try_point(self, H: FloatArray, *needed: FloatArray | None) -> None:
        """Form the product at a trial point; the block vectors ride along.

        ``needed`` are products of earlier points that must not be overwritten.
        """
        M, k = self.problem.M, self.problem.k
        if self.power is not None and self._steps_to_ride <= 0:
            np.concatenate([H, self.power.V], axis=1, out=self._riding)
            product = M.matmat(self._riding)
            self._MV = product[:, k:].copy()
        else:
            product = M.matmat(H)
            self._MV = None
        # Kept in a place of its own: the product's memory is free for the next one.
        self.trial_MH = self._products.free(self.MH, *needed)
        np.copyto(self.trial_MH, product[:, :k])
        self.trial_H = H
        self.trial_G = H.T @ H
        self.trial_f = trace_objective(M.fro2, H, self.trial_MH, self.trial_G)

    def squared_distance(self) -> float:
        """||H+ - H||^2 from traces: its rounding is far below what f resolves."""
        traces = float(np.trace(self.trial_G)) + float(np.trace(self.G))
        return max(0.0, traces - 2 * inner(self.trial_H, self.H))

    def accept(self) -> None:
        """Make the trial point the current one."""
        self.H, self.MH = self.trial_H, self.trial_MH
        self.G, self.f = self.trial_G, self.trial_f
        self._curvature = None
        self._steps_to_ride -= 1
        if self.power is not None and self._MV is not None:
            before = self.power.value
            self.power.update(self.H, self._MV)
            change = 4 * abs(self.power.value - before)
            if change <= _SETTLED * self.curvature():
                self._wait = min(2 * self._wait, _LONGEST_WAIT)
            else:
                self._wait = _SHORTEST_WAIT
            self._steps_to_ride = self._wait - 1


class _Space:
    """Arrays of H's size that take turns, so that a step asks for no memory."""

    def __init__(self, H: FloatArray) -> None:
        # At most two hold a point that is still needed: the current and the last one.
        self._points = [np.empty_like(H) for _ in range(3)]

    def free(self, *needed: FloatArray | None) -> FloatArray:
        """Return an array that holds none of the needed points."""
        kept = [one for one in needed if one is not None]
        # Memory, not identity: a projection may hand back a view.
        return next(
            point
            for point in self._points
            if not any(np.may_share_memory(point, one) for one in kept)
        )


class _Momentum:
    """Extrapolation y = H_i + beta (H_i - H_{i-1}) with restart.

    M y is linear in the products already known, so it costs no product.
    """

    def __init__(self, active: bool) -> None:
        self.active = active
        self.theta = 1.0
        self.previous_H: FloatArray | None = None
        self.previous_MH: FloatArray | None = None
        self._y: FloatArray | None = None
        self._My: FloatArray | None = None

    def extrapolate(self, state: _State) -> tuple[FloatArray, FloatArray, float]:
        if self.previous_H is None or self.previous_MH is None:
            return state.H, state.MH, 0.0
        theta = (1 + np.sqrt(1 + 4 * self.theta**2)) / 2
        beta = float((self.theta - 1) / theta)
        self.theta = float(theta)
        self._y = _beyond(state.H, self.previous_H, beta, self._y)
        self._My = _beyond(state.MH, self.previous_MH, beta, self._My)
        return self._y, self._My, beta

    def restart(self) -> None:
        self.theta = 1.0

    def remember(self, state: _State) -> None:
        if self.active:
            self.previous_H, self.previous_MH = state.H, state.MH


def _beyond(
    new: FloatArray, old: FloatArray, beta: float, out: FloatArray | None
) -> FloatArray:
    """Return new + beta (new - old), in ``out`` if there is one."""
    out = np.subtract(new, old, out=out)
    out *= out.dtype.type(beta)
    out += new
    return out


def _step(
    H: FloatArray,
    MH: FloatArray,
    G: FloatArray,
    t: float,
    out: FloatArray,
    scratch: FloatArray,
) -> FloatArray:
    """Return H - t gradient = H (I - 4 t G) + 4 t M H: one n k^2 product, one sum."""
    factor = H.dtype.type(4 * t)
    B = -factor * G
    B.flat[:: len(B) + 1] += 1
    np.matmul(H, B, out=out)
    np.multiply(MH, factor, out=scratch)
    out += scratch
    return out


def _gradient(H: FloatArray, MH: FloatArray, G: FloatArray) -> FloatArray:
    """4 (H H^T H - M H), with G = H^T H."""
    gradient = H @ G
    gradient -= MH
    gradient *= 4
    return np.asarray(gradient)
