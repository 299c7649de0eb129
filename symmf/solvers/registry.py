"""The solvers by name: registry key = YAML name = command-line name = file name."""

from __future__ import annotations

from typing import Literal, TypeAlias

from symmf.solvers.admm import ADMM
from symmf.solvers.base import Solver
from symmf.solvers.bsum import BSUM
from symmf.solvers.columnwise import Columnwise
from symmf.solvers.coordinate_descent import CoordinateDescent
from symmf.solvers.eigen import Eigen
from symmf.solvers.fixed_step import FixedStep
from symmf.solvers.newton import Newton
from symmf.solvers.pgncg import PGNCG
from symmf.solvers.procrustes import Procrustes
from symmf.solvers.projected_gradient import ProjectedGradient
from symmf.solvers.snmpbb import SNMPBB
from symmf.solvers.sym_anls import SymANLS
from symmf.solvers.sym_hals import SymHALS
from symmf.solvers.symnmf_anls import SymNMFANLS

SOLVERS: dict[str, type[Solver]] = {
    kind.name: kind
    for kind in (
        ProjectedGradient,
        Columnwise,
        Eigen,
        FixedStep,
        SymANLS,
        SymHALS,
        Newton,
        SymNMFANLS,
        ADMM,
        Procrustes,
        CoordinateDescent,
        BSUM,
        PGNCG,
        SNMPBB,
    )
}

# For editors, which offer these where a name is asked for.
SolverName: TypeAlias = Literal[
    "projected_gradient",
    "columnwise",
    "eigen",
    "fixed_step",
    "sym_anls",
    "sym_hals",
    "newton",
    "symnmf_anls",
    "admm",
    "procrustes",
    "coordinate_descent",
    "bsum",
    "pgncg",
    "snmpbb",
]
