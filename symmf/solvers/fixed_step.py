"""Projected gradient with a constant step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.constraints import CONSTRAINTS
from symmf.errors import InputError
from symmf.linalg import spectral_norm, trace_objective
from symmf.notation import FloatArray
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, is_number


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
    """

    step: float | str = "safe"

    title: ClassVar[str] = "Projected gradient, fixed step"
    reference: ClassVar[str] = "Paper, convergence figures"
    constraints: ClassVar[tuple[str, ...]] = tuple(CONSTRAINTS)

    def check(self, problem: Problem) -> None:
        """Refuse a step that is neither positive nor "safe"."""
        del problem
        if self.step == "safe":
            return
        if not (is_number(self.step) and self.step > 0):
            raise InputError(f"step must be a number > 0 or 'safe', not {self.step!r}.")

    def iterates(
        self,
        problem: Problem,
        H0: FloatArray,
        P0: FloatArray | None,
        rng: np.random.Generator,
    ) -> Iterates:
        """Yield H_0, H_1, ..."""
        del P0, rng
        M, H = problem.M, H0
        constraint = problem.constraint
        MH = M.matmat(H)
        f = trace_objective(M.fro2, H, MH)
        if self.step == "safe":
            L_max = 12 * np.sqrt(max(f, 0.0)) + 8 * spectral_norm(M)
            s = 2 / L_max if L_max > 0 else 0.0
        else:
            s = float(self.step)
        while True:
            yield Iterate(H, objective=f)
            Z = H - M.dtype.type(s) * (H @ (H.T @ H) - MH)
            if self.published:
                H = constraint.project_published(Z)
            else:
                H = constraint.project(Z, H)
            MH = M.matmat(H)
            f = trace_objective(M.fro2, H, MH)
