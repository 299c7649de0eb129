"""The closed form: the best unconstrained factor, from the top-k eigenpairs of M."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.linalg import CLUSTERING_ACCURACY, top_eigenpairs
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class Eigen(Solver):
    r"""Global minimiser of ||M - H H^T||_F^2 over all real H.

    .. math:: H = E_k\,\mathrm{diag}\big(\sqrt{\max(\sigma_i, 0)}\big)

    with the k algebraically largest eigenvalues of M and their vectors.

    Parameters
    ----------
    accuracy : float, optional
        Relative accuracy of the eigenpairs, 1e-6 by default; 0 is what the precision
        allows. The objective is flat at the optimum: its gap is of the order of
        ``accuracy`` squared.

    Notes
    -----
    About as much work as 20 to 50 iterations of Algorithm 2; small matrices are
    decomposed densely. Copies of a repeated eigenvalue, which plain Lanczos can miss,
    are found (see ``symmf.linalg``). Needs no start: its iterate 0 is the zero matrix.

    References
    ----------
    Eckart and Young, "The approximation of one matrix by another of lower rank",
    Psychometrika 1 (1936); paper, section III-B (eigenvalues of mixed sign).
    """

    accuracy: float | None = None

    name: ClassVar[str] = "eigen"
    title: ClassVar[str] = "Closed form (top-k eigenpairs)"
    reference: ClassVar[str] = "Eckart and Young 1936; paper, section III-B"
    never_rises: ClassVar[str] = "f"
    one_shot: ClassVar[bool] = True

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield zero, then the solution."""
        M = problem.M
        yield Iterate(np.zeros_like(start.H), objective=M.fro2)
        accuracy = CLUSTERING_ACCURACY if self.accuracy is None else self.accuracy
        values, vectors = top_eigenpairs(M, problem.k, start.rng, tol=accuracy)
        sigma = np.maximum(values, 0)
        H = (vectors * np.sqrt(sigma)).astype(M.dtype)
        yield Iterate(H, objective=M.fro2 - float(np.sum(sigma**2)))
        return None
