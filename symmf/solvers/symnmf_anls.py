"""SymNMF by alternating nonnegative least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_number
from symmf.linalg import inner
from symmf.solvers._coupling import coupled_objective
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start, Stop
from symmf.solvers.sym_anls import half_step


@dataclass(frozen=True, slots=True, kw_only=True)
class SymNMFANLS(Solver):
    r"""Alternating least squares as SymNMF runs it.

    .. math:: \min_{W, H \ge 0} \|M - WH^T\|_F^2 + \alpha \|W - H\|_F^2

    W is updated first, from H alone; then H from W.

    Parameters
    ----------
    coupling : float, optional
        alpha; by default the square of the largest entry of M. With 0 the factors
        are untied, and each iterate is shown with its columns balanced,
        ||w_j|| = ||h_j||.
    published : bool
        No difference to the default; accepted so that runs can be marked.

    Notes
    -----
    The same update as SymANLS; penalty, start and stop test differ. Stops when the
    projected gradient of both factors is below ``tol`` times its value after the
    first iteration; SymNMF's own ``tol`` is 1e-3. ``fit.H`` is H, ``fit.P`` is W.
    The objective with the penalty never rises.

    References
    ----------
    Kuang, Yun and Park, "SymNMF: nonnegative low-rank approximation of a similarity
    matrix for graph clustering", J. Global Optim. 62 (2015).

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="symnmf_anls", random_state=0, tol=1e-3)
    >>> bool(fit.error[-1] < 1e-3), fit.stop.name
    (True, 'tolerance')
    """

    coupling: float | None = None

    name: ClassVar[str] = "symnmf_anls"
    title: ClassVar[str] = "SymNMF (ANLS)"
    reference: ClassVar[str] = "Kuang, Yun and Park 2015"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    split: ClassVar[bool] = True
    never_rises: ClassVar[str] = "F"
    own_tolerance: ClassVar[bool] = True
    start: ClassVar[str] = "symm_mean"

    def check(self, _problem: Problem) -> None:
        """Refuse a coupling that is not a number."""
        if self.coupling is not None:
            check_number("coupling", self.coupling, least=0)

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield (H, W) pairs with the penalised objective as the merit."""
        M = problem.M
        alpha = M.max_entry**2 if self.coupling is None else float(self.coupling)
        H, W = start.pair
        MH = M.matmat(H)
        F = coupled_objective(M.fro2, W, H, MH, alpha)
        yield Iterate(H, W, merit=F)
        first: float | None = None
        while True:
            W = half_step(H, MH, alpha, W)
            MW = M.matmat(W)
            H = half_step(W, MW, alpha, H)
            MH = M.matmat(H)
            F = coupled_objective(M.fro2, W, H, MH, alpha)
            yield Iterate(*_balanced(H, W) if alpha == 0 else (H, W), merit=F)
            norm = _projected_gradient(W, H, MH, alpha) + _projected_gradient(
                H, W, MW, alpha
            )
            first = np.sqrt(norm) if first is None else first
            if problem.tol > 0 and np.sqrt(norm) <= problem.tol * first:
                return Stop.tolerance


def _projected_gradient(
    W: FloatArray, H: FloatArray, MH: FloatArray, alpha: float
) -> float:
    """Squared norm of half the gradient in W, where W may still move."""
    g = W @ (H.T @ H) - MH + alpha * (W - H)
    g[(g > 0) & (W <= 0)] = 0
    return inner(g, g)


def _balanced(H: FloatArray, W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Scale columns so that ||h_j|| = ||w_j||; the product W H^T stays."""
    h, w = np.linalg.norm(H, axis=0), np.linalg.norm(W, axis=0)
    both = (h > 0) & (w > 0)
    scale = np.sqrt(np.divide(w, h, out=np.ones_like(w), where=both))
    return H * scale, W / scale
