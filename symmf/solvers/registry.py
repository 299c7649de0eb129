"""The solvers by name: registry key = YAML name = command-line name = file name."""

from __future__ import annotations

from symmf.solvers.base import Solver
from symmf.solvers.eigen import Eigen
from symmf.solvers.fixed_step import FixedStep
from symmf.solvers.projected_gradient import ProjectedGradient

SOLVERS: dict[str, type[Solver]] = {
    "projected_gradient": ProjectedGradient,
    "eigen": Eigen,
    "fixed_step": FixedStep,
}
