"""Algorithm 2: projected gradient with an adaptive step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from symmf.common.notation import FloatArray
from symmf.common.validation import check_choice, check_number
from symmf.constraints import CONSTRAINTS
from symmf.errors import InputError
from symmf.linalg import inner, largest_eigenvalue, spectral_norm
from symmf.solvers._one_hot import coordinate_moves
from symmf.solvers._points import Momentum, Point, quartic_step
from symmf.solvers._step_bound import StepBound
from symmf.solvers.base import Iterates, Problem, Solver, Start, Stop, hold

ACCELERATIONS = ("none", "momentum", "line_search")
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
        How ||H H^T - M||_2 is computed: a warm-started block power estimate that shares
        the product M H; to full precision; or an upper bound without
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
    never rises when the projection is exact. Gradient steps of this length cannot leave
    one-hot rows; there each iteration is a sweep of exact single-row moves.

    References
    ----------
    Paper, Algorithm 2 and Theorem 3. The printed step is half the released one.
    Restarts of the momentum: O'Donoghue and Candes, "Adaptive restart for accelerated
    gradient schemes", Found. Comput. Math. 15 (2015).
    """

    step_scale: float = 1.0
    sigma: str = "estimate"
    acceleration: str = "none"

    name: ClassVar[str] = "projected_gradient"
    title: ClassVar[str] = "Projected gradient (Algorithm 2)"
    reference: ClassVar[str] = "Paper, Algorithm 2"
    constraints: ClassVar[tuple[str, ...]] = tuple(CONSTRAINTS)
    any_set: ClassVar[bool] = True
    published_start: ClassVar[str] = "normal"
    never_rises: ClassVar[str] = "f"

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
        return self._safeguarded(problem, start)

    def _published(self, problem: Problem, H: FloatArray) -> Iterates:
        """Run the released loop: exact norms, no safeguard."""
        M, project = problem.M, problem.constraint.project_published
        while True:
            H_i = Point.of(M, H)
            yield H_i.iterate()
            L_i = 4 * spectral_norm(M, H) + 8 * largest_eigenvalue(H_i.G)
            t_i = self.step_scale / L_i if L_i > 0 else 0.0
            H = project(H - t_i * H_i.gradient())

    def _safeguarded(self, problem: Problem, start: Start) -> Iterates:
        """Take Algorithm 2's steps, each halved until the objective falls enough."""
        bound = StepBound(problem, start, self.sigma)
        momentum = Momentum(active=self.acceleration == "momentum")
        # A given start may lie outside the set: then the first step may go uphill.
        may_rise = not problem.constraint.contains(start.H, 1e-6)
        while True:
            H_i = bound.point
            yield H_i.iterate()
            L_i = bound.curvature()
            t_i = self.step_scale / L_i if L_i > 0 else 0.0
            H_next = _backtrack(problem, bound, momentum, t_i, may_rise=may_rise)
            if H_next is None:
                yield from hold(problem, H_i.iterate())
                return Stop.stalled
            momentum.remember(H_i)
            bound.accept(H_next)
            may_rise = False

    def _line_search(self, problem: Problem, H: FloatArray) -> Iterates:
        """Steepest descent with the exact minimiser of f along the gradient."""
        M = problem.M
        point = Point.of(M, H)
        while True:
            yield point.iterate()
            direction = -point.gradient()
            M_direction = M.matmat(direction)
            alpha, decrease = quartic_step(point.H, direction, M_direction)
            if decrease <= 0:
                yield from hold(problem, point.iterate())
                return Stop.stalled
            H = point.H + alpha * direction
            # M is linear: the product at the new point costs no further product.
            MH = point.MH + alpha * M_direction
            point = Point(H, MH, H.T @ H, point.f - decrease)


def _backtrack(
    problem: Problem, bound: StepBound, momentum: Momentum, t: float, *, may_rise: bool
) -> Point | None:
    """Return P(y - t gradient), t halved until f falls enough; None at a standstill.

    One product with M per trial; y is the current point, or beyond it by momentum.
    """
    point, project = bound.point, problem.constraint.project
    y = momentum.extrapolate(point)
    for _ in range(_MAX_HALVINGS):
        trial = bound.try_point(project(y.step(t), y.H))
        moved = trial.squared_distance(point)
        enough = point.f - _ARMIJO * moved / t if t > 0 else point.f
        if trial.f <= enough or (may_rise and moved > 0):
            return trial
        unresolved = abs(trial.f - point.f) <= bound.noise
        # Below what f resolves the gradient decides: downhill is enough.
        if unresolved and inner(y.gradient(), trial.H - point.H) < 0:
            return trial
        if y is not point:
            # The extrapolated point was bad, not the step.
            momentum.restart()
            y = point
        elif unresolved:
            return None
        else:
            t /= 2
    return None
