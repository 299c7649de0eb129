"""SymANLS: alternating nonnegative least squares on a split pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from symmf.common.notation import FloatArray
from symmf.common.validation import check_number_or_name
from symmf.solvers._coupling import (
    Coupling,
    coupled_objective,
    tied,
)
from symmf.solvers._nnls import nnls_bpp
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class SymANLS(Solver):
    r"""Alternate exact minimisation over two nonnegative factors.

    .. math:: \min_{H, P \ge 0} F(H, P) = \|M - HP^T\|_F^2 + \mu\|H - P\|_F^2

    .. math:: H \leftarrow \arg\min_{H \ge 0} F(H, P), \qquad
              P \leftarrow \arg\min_{P \ge 0} F(H, P) ,

    each a nonnegative least-squares problem with n right-hand sides.

    Parameters
    ----------
    coupling : float or "bound"
        mu. ``"bound"`` is the smallest value for which H = P is proved in the limit.
    published : bool
        No difference to the default; accepted so that runs can be marked.

    Notes
    -----
    Two products of M with n x k matrices and two NNLS solves per iteration, in
    normal-equation form: mu I is added to the k x k matrix, no rows are stacked. F
    never rises. M may have mixed signs.

    References
    ----------
    Zhu, Li, Liu and Li, "Dropping symmetry for fast symmetric nonnegative matrix
    factorization", NeurIPS 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="sym_anls", random_state=0)
    >>> bool(fit.split_error[-1] < 1e-3)
    True
    """

    coupling: float | str = 1.0

    name: ClassVar[str] = "sym_anls"
    title: ClassVar[str] = "SymANLS"
    reference: ClassVar[str] = "Zhu et al. 2018"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    split: ClassVar[bool] = True
    never_rises: ClassVar[str] = "F"
    start: ClassVar[str] = "uniform"

    def check(self, _problem: Problem) -> None:
        """Refuse a coupling that is not a number."""
        check_number_or_name("coupling", self.coupling, ["bound"], least=0)

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield (H_0, P_0), (H_1, P_1), ... with F as the merit."""
        M = problem.M
        H, P = start.pair
        mu = Coupling.choose(self.coupling, problem, start.H).value
        MH, MP = None, M.matmat(P)
        while True:
            F = coupled_objective(M.fro2, H, P, MP, mu)
            yield Iterate(H, P, merit=F, MH=MH, MP=MP)
            H = half_step(P, MP, mu, H)
            MH = M.matmat(H)
            P = half_step(H, MH, mu, P)
            MP = M.matmat(P)


def half_step(P: FloatArray, MP: FloatArray, mu: float, warm: FloatArray) -> FloatArray:
    """Return argmin over H >= 0 of ||M - H P^T||^2 + mu ||H - P||^2."""
    return nnls_bpp(*tied(P.T, MP.T, mu), warm.T).T
