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
from symmf.solvers.base import (
    Iterate,
    Iterates,
    Problem,
    Solver,
    Stop,
    hold,
    is_number,
)
from symmf.solvers.line_search import quartic_step
from symmf.solvers.one_hot import coordinate_moves

# Vectors of the running estimate of sigma; sweeps before the first step.
_BLOCK, _FIRST_SWEEPS = 2, 8
# They ride on the product of every third step: sigma changes slowly, its margin and
# the safeguard cover the steps between.
_RIDE_EVERY = 3
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

    title: ClassVar[str] = "Projected gradient (Algorithm 2)"
    reference: ClassVar[str] = "Paper, Algorithm 2"
    constraints: ClassVar[tuple[str, ...]] = tuple(CONSTRAINTS)
    monotone: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        """Say which parameter does not fit."""
        if not (is_number(self.step_scale) and self.step_scale > 0):
            raise InputError(f"step_scale must be > 0, not {self.step_scale!r}.")
        if self.sigma not in ("estimate", "exact", "bound"):
            raise InputError(
                f"sigma is 'estimate', 'exact' or 'bound', not {self.sigma!r}."
            )
        if self.acceleration not in ("none", "momentum", "line_search"):
            raise InputError(
                "acceleration is 'none', 'momentum' or 'line_search', "
                f"not {self.acceleration!r}."
            )
        if self.acceleration == "line_search" and problem.constraint.name != "none":
            raise InputError(
                "acceleration='line_search' is for constraint='none'; "
                "use 'momentum' for other sets."
            )

    def iterates(
        self,
        problem: Problem,
        H0: FloatArray,
        P0: FloatArray | None,
        rng: np.random.Generator,
    ) -> Iterates:
        """Yield H_0, H_1, ... with their objectives."""
        del P0
        if self.published:
            return self._published(problem, H0)
        if problem.constraint.discrete:
            return coordinate_moves(problem, H0)
        if self.acceleration == "line_search":
            return self._line_search(problem, H0)
        return self._safeguarded(problem, H0, rng)

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
        yield Iterate(state.H, objective=state.f)
        # A given start may lie outside the set: then the first step may go uphill.
        feasible = problem.constraint.contains(H0, 1e-6)
        stalled = False
        while True:
            L = state.curvature()
            t = self.step_scale / L if L > 0 else 0.0
            base, M_base, beta = momentum.extrapolate(state)
            gradient = _gradient(base, M_base, None if beta else state.G)
            for _ in range(_MAX_HALVINGS):
                H = project(_step(base, t, gradient), base)
                state.try_point(H)
                moved = _squared_distance(H, state.H)
                enough = state.f - _ARMIJO * moved / t if t > 0 else state.f
                if state.trial_f <= enough or (not feasible and moved > 0):
                    break
                unresolved = abs(state.trial_f - state.f) <= state.noise
                # Below what f resolves the gradient still tells: downhill is enough.
                if unresolved and inner(gradient, H - state.H) < 0:
                    break
                if beta:
                    # The extrapolated point was bad, not the step: restart.
                    base, beta = state.H, 0.0
                    gradient = _gradient(base, state.MH, state.G)
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
        self.power: BlockPower | None = None
        if sigma == "estimate" and n > 2 * _BLOCK:
            V = np.linalg.qr(rng.standard_normal((n, _BLOCK)))[0].astype(M.dtype)
            self.power = BlockPower(V)
        self.H, self.G = H, H.T @ H
        self.MH = M.matmat(H)
        self.f = trace_objective(M.fro2, H, self.MH, self.G)
        self._norm_M: float | None = None
        if self.power is not None:
            for _ in range(_FIRST_SWEEPS):
                self.power.update(H, M.matmat(self.power.V))
        self._steps = 0
        self._MV: FloatArray | None = None
        self._curvature: float | None = None

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

    def try_point(self, H: FloatArray) -> None:
        """Form the product at a trial point; the block vectors ride along."""
        M, k = self.problem.M, self.problem.k
        self._MV = None
        if self.power is not None and self._steps % _RIDE_EVERY == 0:
            product = M.matmat(np.hstack([H, self.power.V]))
            self.trial_H, self.trial_MH = H, product[:, :k]
            self._MV = product[:, k:]
        else:
            self.trial_H, self.trial_MH = H, M.matmat(H)
        self.trial_G = H.T @ H
        self.trial_f = trace_objective(M.fro2, H, self.trial_MH, self.trial_G)

    def accept(self) -> None:
        """Make the trial point the current one."""
        self.H, self.MH = self.trial_H, self.trial_MH
        self.G, self.f = self.trial_G, self.trial_f
        if self.power is not None and self._MV is not None:
            self.power.update(self.H, self._MV)
        self._steps += 1
        self._curvature = None


class _Momentum:
    """Extrapolation y = H_i + beta (H_i - H_{i-1}) with restart.

    M y is linear in the products already known, so it costs no product.
    """

    def __init__(self, active: bool) -> None:
        self.active = active
        self.theta = 1.0
        self.previous: tuple[FloatArray, FloatArray] | None = None

    def extrapolate(self, state: _State) -> tuple[FloatArray, FloatArray, float]:
        if not self.active or self.previous is None:
            return state.H, state.MH, 0.0
        theta = (1 + np.sqrt(1 + 4 * self.theta**2)) / 2
        beta = float((self.theta - 1) / theta)
        self.theta = float(theta)
        H, MH = self.previous
        dtype = state.H.dtype.type
        y = state.H + dtype(beta) * (state.H - H)
        My = state.MH + dtype(beta) * (state.MH - MH)
        return y, My, beta

    def restart(self) -> None:
        self.theta = 1.0

    def remember(self, state: _State) -> None:
        if self.active:
            self.previous = (state.H, state.MH)


def _step(H: FloatArray, t: float, gradient: FloatArray) -> FloatArray:
    """H - t gradient, in a new array and without a second temporary."""
    Z = gradient * gradient.dtype.type(-t)
    Z += H
    return np.asarray(Z)


def _gradient(H: FloatArray, MH: FloatArray, G: FloatArray | None) -> FloatArray:
    """4 (H H^T H - M H); G = H^T H if it is known."""
    gradient = H @ (H.T @ H if G is None else G)
    gradient -= MH
    gradient *= 4
    return np.asarray(gradient)


def _squared_distance(A: FloatArray, B: FloatArray) -> float:
    D = A - B
    return inner(D, D)
