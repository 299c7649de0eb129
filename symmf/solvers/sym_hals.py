"""SymHALS: column updates of a nonnegative split pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_choice, check_number_or_name
from symmf.errors import InputError
from symmf.solvers._coupling import (
    Coupling,
    coupled_objective,
    tied,
)
from symmf.solvers._hals import accelerated_hals, sweep, sweep_pairs
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class SymHALS(Solver):
    r"""Hierarchical alternating least squares on two nonnegative factors.

    .. math:: \min_{H, P \ge 0} F(H, P) = \|M - HP^T\|_F^2 + \mu\|H - P\|_F^2

    With :math:`B = P^TP + \mu I` and :math:`C = MP + \mu P`, for j = 1 .. k

    .. math:: h_j \leftarrow \max\Big(0,\ h_j + \frac{C_j - H B_j}{B_{jj}}\Big) ,

    then the same for P with H.

    Parameters
    ----------
    coupling : float or "bound"
        mu. ``"bound"`` is the smallest value for which H = P is proved in the limit.
    order : {"factors", "columns"}
        All columns of H and then all of P, as the original code does; or h_j, p_j in
        turn, as published, which is Algorithm 1 with nonnegative factors.
    acceleration : {"none", "extrapolation"}
        Whether each factor is updated from the other one extrapolated beyond its last
        change; a step that would raise F is taken again without. For
        ``order="factors"``.
    published : bool
        No difference to the default; accepted so that runs can be marked.

    Notes
    -----
    Each update is an exact minimisation, so F never rises. Two products of M with
    n x k matrices per iteration (``"columns"``: one, and k with single columns) and
    O(n k^2). A column that becomes zero is put back at rounding level.

    References
    ----------
    Zhu, Li, Liu and Li, "Dropping symmetry for fast symmetric nonnegative matrix
    factorization", NeurIPS 2018; Ang and Gillis, "Accelerating nonnegative matrix
    factorization algorithms using extrapolation", Neural Comput. 31 (2019).

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="sym_hals", random_state=0)
    >>> bool(fit.split_error[-1] < 1e-3)
    True
    """

    coupling: float | str = 0.66
    order: str = "factors"
    acceleration: str = "none"

    name: ClassVar[str] = "sym_hals"
    title: ClassVar[str] = "SymHALS"
    reference: ClassVar[str] = "Zhu et al. 2018"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    split: ClassVar[bool] = True
    never_rises: ClassVar[str] = "F"
    start: ClassVar[str] = "uniform"

    def check(self, _problem: Problem) -> None:
        """Say which parameter does not fit."""
        check_number_or_name("coupling", self.coupling, ["bound"], least=0)
        check_choice("order", self.order, ("factors", "columns"))
        check_choice("acceleration", self.acceleration, ("none", "extrapolation"))
        if self.acceleration != "none" and self.order == "columns":
            raise InputError(
                "acceleration='extrapolation' is for order='factors'; with 'columns' "
                "leave it at 'none'."
            )

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield (H_0, P_0), (H_1, P_1), ... with F as the merit."""
        M = problem.M
        # Columns are contiguous in Fortran order.
        H, P = (np.array(factor, order="F") for factor in start.pair)
        mu = Coupling.choose(self.coupling, problem, start.H).value
        if self.acceleration == "extrapolation":
            yield from _extrapolated(problem, H, P, mu)
        MH, MP = None, M.matmat(P)
        while True:
            F = coupled_objective(M.fro2, H, P, MP, mu)
            yield Iterate(H, P, merit=F, MH=MH, MP=MP)
            if self.order == "columns":
                sweep_pairs(M, H, P, MP, mu, clip=True, rng=start.rng)
            else:
                sweep(H.T, *tied(P.T, MP.T, mu))
                MH = M.matmat(H)
                sweep(P.T, *tied(H.T, MH.T, mu))
            MP = M.matmat(P)


def _extrapolated(
    problem: Problem, H: FloatArray, P: FloatArray, mu: float
) -> Iterator[Iterate]:
    """Yield pairs without end, one sweep over each factor per step."""
    M = problem.M

    def times(factor: FloatArray) -> FloatArray:
        return np.ascontiguousarray(M.matmat(np.ascontiguousarray(factor.T)).T)

    H, P = np.ascontiguousarray(H.T), np.ascontiguousarray(P.T)
    for pair in accelerated_hals(
        times, times, H, P, total=M.fro2, mu=mu, most_sweeps=1
    ):
        H, P, MH, MP = pair.V.T, pair.U.T, pair.XTV.T, pair.XU.T
        yield Iterate(H, P, merit=pair.objective, MH=MH, MP=MP)
