"""Projected gradient with a constant step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.common.validation import check_number_or_name
from symmf.constraints import CONSTRAINTS
from symmf.linalg import spectral_norm
from symmf.solvers._points import Point
from symmf.solvers.base import Iterates, Problem, Solver, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedStep(Solver):
    r"""Projected gradient whose step never changes.

    .. math:: H_{i+1} = \mathcal{P}\big(H_i - s (H_i H_i^T H_i - M H_i)\big)

    Parameters
    ----------
    step : float or "safe"
        s, on the gradient without its factor 4, as in the released code. ``"safe"``
        is s = 4 t with t = 1 / (2 L_max), L_max = 12 sqrt(f(H_0)) + 8 ||M||_2, a
        bound that holds along every decreasing run.

    Notes
    -----
    One product with M per iteration. A step that is too long diverges, which is
    reported as the stop reason.

    References
    ----------
    Paper, the convergence figures.
    """

    step: float | str = "safe"

    name: ClassVar[str] = "fixed_step"
    title: ClassVar[str] = "Projected gradient, fixed step"
    reference: ClassVar[str] = "Paper, convergence figures"
    constraints: ClassVar[tuple[str, ...]] = tuple(CONSTRAINTS)
    any_set: ClassVar[bool] = True
    published_start: ClassVar[str] = "normal"

    def check(self, _problem: Problem) -> None:
        """Refuse a step that is neither positive nor "safe"."""
        check_number_or_name("step", self.step, ["safe"], above=0)

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield H_0, H_1, ..."""
        M, constraint = problem.M, problem.constraint
        H_i = Point.of(M, start.H)
        if isinstance(self.step, str):
            L_max = 12 * np.sqrt(max(H_i.f, 0.0)) + 8 * spectral_norm(M)
            s = 2 / L_max if L_max > 0 else 0.0
        else:
            s = float(self.step)
        while True:
            yield H_i.iterate()
            Z = H_i.H - M.dtype.type(s / 4) * H_i.gradient()
            if self.published:
                H = constraint.project_published(Z)
            else:
                H = constraint.project(Z, H_i.H)
            H_i = Point.of(M, H)
