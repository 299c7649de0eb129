"""ADMM for symmetric NMF (nonconvex splitting)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from symmf.common.validation import check_number
from symmf.linalg import inner, spectral_norm, trace_split_objective
from symmf.solvers._coupling import tied
from symmf.solvers._nnls import nnls_bpp
from symmf.solvers.base import Iterate, Iterates, Problem, Rest, Solver, Start, Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class ADMM(Solver):
    r"""Nonconvex splitting with a multiplier for X = Y.

    .. math:: \min \tfrac12 \|XY^T - M\|_F^2 \quad\text{s.t.}\quad X = Y,\ Y \ge 0

    .. math:: \beta &= \tfrac{6}{\rho} \|XY^T - M\|_F^2 \\
       Y &\leftarrow \arg\min_{Y \ge 0} \tfrac12\|XY^T - M\|_F^2
          + \tfrac{\rho}{2}\|Y - X + \Lambda/\rho\|_F^2
          + \tfrac{\beta}{2}\|Y - Y_{old}\|_F^2 \\
       X &\leftarrow (MY + \rho Y + \Lambda)(Y^TY + \rho I)^{-1} \\
       \Lambda &\leftarrow \Lambda + \rho (Y - X)

    Parameters
    ----------
    rho : float, optional
        Weight of X = Y; by default max(1, ||M||_2 / 2). The theory's value grows with
        n and is far larger than what works.
    published : bool
        The released code: the Y-step is called with X and Y exchanged, 6.1 in place
        of 6, Lambda_0 = 1 instead of 0, rho = 10 if not given.

    Notes
    -----
    Two products with M, one NNLS solve and one k x k solve per iteration. Not
    monotone. ``fit.H`` is X, nonnegative in the limit only; ``fit.P`` is Y, always
    nonnegative: take labels from it. Stops when ||M - X Y^T||_F^2 changes by at most
    tol times what it leaves of ||M||_F^2, twice in a row, and ||X - Y||_F^2 <= tol
    ||Y||_F^2.

    References
    ----------
    Lu, Hong and Wang, "A nonconvex splitting method for symmetric nonnegative matrix
    factorization: convergence analysis and optimality", IEEE Trans. Signal Process.
    65 (2017).

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="admm", random_state=0)
    >>> bool(fit.error[-1] < 1e-3), bool(fit.P.min() >= 0)
    (True, True)
    """

    rho: float | None = None

    name: ClassVar[str] = "admm"
    title: ClassVar[str] = "ADMM (nonconvex splitting)"
    reference: ClassVar[str] = "Lu, Hong and Wang 2017"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    split: ClassVar[bool] = True
    own_tolerance: ClassVar[bool] = True
    published_start: ClassVar[str] = "uniform"

    def check(self, _problem: Problem) -> None:
        """Refuse a rho that is not positive."""
        if self.rho is not None:
            check_number("rho", self.rho, above=0)

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield (X, Y) pairs."""
        M, tol = problem.M, problem.tol
        X, Y = start.pair
        rho, factor = self._constants(problem)
        multiplier = np.ones_like(X) if self.published else np.zeros_like(X)
        MY = M.matmat(Y)
        split = trace_split_objective(M.fro2, X, Y, MY)
        rest = Rest(problem)
        while True:
            yield Iterate(X, Y, merit=split, MP=MY)
            beta = factor / rho * max(split, 0.0)
            # The Y-step takes X and the old Y; the released code exchanges them.
            given, old = (Y, X) if self.published else (X, Y)
            Q, B = tied(given.T, (MY if self.published else M.matmat(X)).T, rho)
            Q[np.diag_indices_from(Q)] += beta
            Y = nnls_bpp(Q, B - multiplier.T + beta * old.T, old.T).T
            MY = M.matmat(Y)
            Q, B = tied(Y.T, MY.T, rho)
            X = np.asarray(cho_solve(cho_factor(Q), B + multiplier.T).T, dtype=Y.dtype)
            multiplier = multiplier + rho * (Y - X)
            before, split = split, trace_split_objective(M.fro2, X, Y, MY)
            D = X - Y
            agree = inner(D, D) <= tol * inner(Y, Y)
            # The objective may rise: what counts is how far it moved.
            if rest.reached(split + abs(before - split), split) and agree:
                yield Iterate(X, Y, merit=split, MP=MY)
                return Stop.tolerance

    def _constants(self, problem: Problem) -> tuple[float, float]:
        if self.published:
            return (10.0 if self.rho is None else self.rho), 6.1
        if self.rho is None:
            return max(1.0, spectral_norm(problem.M) / 2), 6.0
        return self.rho, 6.0
