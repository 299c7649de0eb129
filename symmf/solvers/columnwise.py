"""Algorithm 1: exact updates of one column of a split pair after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_choice
from symmf.constraints import Constraint, Nonnegative
from symmf.linalg import dense_objective, inner, trace_split_objective
from symmf.similarity.operators import DenseOperator, SymmetricOperator
from symmf.solvers._coupling import Coupling, check_coupling
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start, Stop

# A column that died is put back at this size, relative to its factor.
_REVIVAL = 1e-16


@dataclass(frozen=True, slots=True, kw_only=True)
class Columnwise(Solver):
    r"""Column-wise minimisation of a split objective, H and P tied by a penalty.

    .. math:: F(H, P) = \|M - HP^T\|_F^2 + \mu \|H - P\|_F^2

    For j = 1 .. k, with :math:`\bar M = M - \sum_{l \ne j} h_l p_l^T`,

    .. math:: h_j \leftarrow \frac{(\bar M + \mu I) p_j}{\|p_j\|^2 + \mu}, \qquad
              p_j \leftarrow \frac{(\bar M^T + \mu I) h_j}{\|h_j\|^2 + \mu} ,

    each clipped at zero in the nonnegative variant.

    Parameters
    ----------
    coupling : float, "bound" or "adaptive", optional
        mu. ``"bound"`` is the smallest value for which H = P is proved in the limit;
        ``"adaptive"``, the default, begins at a twentieth of it and doubles while H
        and P stay apart. The released code's 1.0 is the default when ``published``.
    nonnegative : bool
        The same as ``constraint="nonnegative"``.
    sigma_n : {"lanczos", "free"}
        How the smallest eigenvalue in the bound is had.
    published : bool
        The printed update of p_j, with M-bar where its transpose belongs: it is not
        the minimiser, F can rise, and the run can diverge. Also the released stop
        test, which looks at the decrease one sweep late.

    Notes
    -----
    A sweep takes one product of M with P and k products with single columns; nothing
    n x n is formed. F never rises (at constant mu); every unconstrained update lowers
    it by exactly (||p_j||^2 + mu) ||h_j - h_j_new||^2. The run ends when F falls by at
    most tol ||M||_F^2 twice in a row and, unless mu was given as a number,
    ||H - P||_F^2 <= tol ||H||_F^2. With nonnegative factors this is SymHALS in the
    column order of its publication.

    References
    ----------
    Paper, Algorithm 1, Theorem 2 and its corollary.

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="columnwise", random_state=0)
    >>> bool(fit.error[-1] < 1e-3), bool(np.allclose(fit.H, fit.P, atol=1e-2))
    (True, True)
    """

    coupling: float | str | None = None
    nonnegative: bool = False
    sigma_n: str = "lanczos"

    name: ClassVar[str] = "columnwise"
    title: ClassVar[str] = "Column-wise split (Algorithm 1)"
    reference: ClassVar[str] = "Paper, Algorithm 1"
    constraints: ClassVar[tuple[str, ...]] = ("none", "nonnegative")
    split: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    own_tolerance: ClassVar[bool] = True

    def check(self, _problem: Problem) -> None:
        """Say which parameter does not fit."""
        check_coupling(self._coupling, names=("bound", "adaptive"))
        check_choice("sigma_n", self.sigma_n, ("lanczos", "free"))

    def choose(self, asked: Constraint) -> Constraint:
        """Let the option ``nonnegative`` name the set as well."""
        if self.nonnegative and asked.name == "none":
            return Nonnegative()
        # slots=True replaces the class, which a bare super() would not find.
        return Solver.choose(self, asked)

    @property
    def _coupling(self) -> float | str:
        if self.coupling is not None:
            return self.coupling
        return 1.0 if self.published else "adaptive"

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield (H_0, P_0), then one pair per sweep."""
        M = problem.M
        clip = problem.constraint.nonnegative
        # Columns are contiguous in Fortran order.
        H, P = (np.array(factor, order="F") for factor in start.pair)
        coupling = Coupling.choose(
            self._coupling, problem, start.H, sigma_n=self.sigma_n
        )
        rule = _Rule(problem, coupling, self.published)
        MP = M.matmat(P)
        yield Iterate(H, P, merit=rule.merit(H, P, MP), MP=MP)
        while True:
            if self.published:
                sweep(M, H, P, MP, coupling.value, clip=clip, printed=True)
            else:
                sweep(M, H, P, MP, coupling.value, clip=clip, rng=start.rng)
            MP = M.matmat(P)
            yield Iterate(H, P, merit=rule.merit(H, P, MP), MP=MP)
            if rule.done():
                return Stop.tolerance


def sweep(
    M: SymmetricOperator,
    H: FloatArray,
    P: FloatArray,
    MP: FloatArray,
    mu: float,
    *,
    clip: bool,
    printed: bool = False,
    rng: np.random.Generator | None = None,
) -> None:
    """Update all columns of H and P in place, given M P before the sweep.

    ``printed`` takes M-bar instead of its transpose for P. With ``rng`` a column that
    became zero is put back at rounding level: zero could never be left again.
    """
    for j in range(H.shape[1]):
        h, p = H[:, j], P[:, j]
        # p_j has not changed since M P was formed.
        p2 = float(p @ p)
        v = MP[:, j] - H @ (P.T @ p) + h * p2 + mu * p
        _set_column(H, j, v, p2 + mu, clip, rng)
        h2 = float(h @ h)
        v = M.matmat(H[:, j : j + 1])[:, 0] + mu * h
        if printed:
            v += h * float(p @ h) - H @ (P.T @ h)
        else:
            v += p * h2 - P @ (H.T @ h)
        _set_column(P, j, v, h2 + mu, clip, rng)


def _set_column(
    factor: FloatArray,
    j: int,
    v: FloatArray,
    curvature: float,
    clip: bool,
    rng: np.random.Generator | None,
) -> None:
    """h_j <- v / curvature, clipped and revived as asked."""
    if curvature <= 0:
        return
    column = v / curvature
    if clip:
        np.maximum(column, 0, out=column)
    if rng is not None and not column.any():
        column = rng.random(len(column)) - (0 if clip else 0.5)
        column *= _REVIVAL * float(np.max(np.abs(factor)))
    factor[:, j] = column


class _Rule:
    """F, the adaptive coupling, and when to stop."""

    def __init__(self, problem: Problem, coupling: Coupling, published: bool) -> None:
        self.problem, self.coupling, self.published = problem, coupling, published
        self.split = np.inf
        self.decrease = np.inf
        self.gap2 = self.size2 = 0.0
        self.small_steps = 0
        self.history: list[float] = []

    def merit(self, H: FloatArray, P: FloatArray, MP: FloatArray) -> float:
        """F at the current coupling."""
        M, mu = self.problem.M, self.coupling.value
        before = self.split + mu * self.gap2
        D = H - P
        self.gap2, self.size2 = inner(D, D), inner(H, H)
        self.split = trace_split_objective(M.fro2, H, P, MP)
        if self.published:
            # Their tolerance may lie below what the trace form resolves.
            exact = isinstance(M, DenseOperator)
            error = dense_objective(M.M, H, P) if exact else self.split
            self.history.append(error / (2 * (M.fro2 or 1.0)))
        value = self.split + mu * self.gap2
        self.decrease = before - value
        return value

    def done(self) -> bool:
        """Small decrease twice in a row, and H = P where that is promised."""
        coupling, tol = self.coupling, self.problem.tol
        if self.published:
            # The released test compares the two errors before the last one.
            late = self.history[-3:-1]
            return tol > 0 and len(late) == 2 and late[0] - late[1] < tol
        coupling.look(np.sqrt(self.gap2), np.sqrt(self.size2))
        if tol == 0:
            return False
        small = self.decrease <= tol * self.problem.M.fro2
        self.small_steps = self.small_steps + 1 if small else 0
        if self.small_steps < 2:
            return False
        if not coupling.must_agree or self.gap2 <= tol * self.size2:
            return True
        # Nothing moves any more, yet the factors differ: tie them more strongly.
        if coupling.grow():
            self.small_steps = 0
        return False
