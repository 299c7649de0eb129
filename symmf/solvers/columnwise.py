"""Algorithm 1: exact updates of one column of a split pair after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_choice, check_number_or_name
from symmf.constraints import Constraint, Nonnegative
from symmf.linalg import dense_objective, trace_split_objective
from symmf.similarity.operators import DenseOperator
from symmf.solvers._coupling import Coupling, coupled_objective
from symmf.solvers._hals import sweep_pairs
from symmf.solvers.base import Iterate, Iterates, Problem, Rest, Solver, Start, Stop


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
        How the smallest eigenvalue in the bound is computed.
    published : bool
        The printed update of p_j, with M-bar where its transpose belongs: it is not
        the minimiser, F can rise, and the run can diverge. Also the released stop
        test, which compares the decrease of the sweep before.

    Notes
    -----
    A sweep takes one product of M with P and k products with single columns; nothing
    n x n is formed. F never rises (at constant mu); every unconstrained update lowers
    it by exactly (||p_j||^2 + mu) ||h_j - h_j_new||^2. The run ends when F falls by at
    most tol (||M||_F^2 - F) twice in a row and, unless mu was given as a number,
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
    published_start: ClassVar[str] = "normal"
    never_rises: ClassVar[str] = "F, while mu is constant"
    own_tolerance: ClassVar[bool] = True

    def check(self, _problem: Problem) -> None:
        """Say which parameter does not fit."""
        check_number_or_name("coupling", self._coupling, ["bound", "adaptive"], least=0)
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
        # Columns are contiguous in Fortran order.
        H, P = (np.array(factor, order="F") for factor in start.pair)
        coupling = Coupling.choose(
            self._coupling, problem, start.H, sigma_n=self.sigma_n
        )
        if self.published:
            return _printed(problem, H, P, coupling.value)
        return _exact(problem, H, P, coupling, start.rng)


def _exact(
    problem: Problem,
    H: FloatArray,
    P: FloatArray,
    coupling: Coupling,
    rng: np.random.Generator,
) -> Iterates:
    """Sweep with exact updates until F is still and, where promised, H = P."""
    M, clip = problem.M, problem.constraint.nonnegative
    MP = M.matmat(P)
    F = coupled_objective(M.fro2, H, P, MP, coupling.value)
    yield Iterate(H, P, merit=F, MP=MP)
    rest = Rest(problem)
    while True:
        sweep_pairs(M, H, P, MP, coupling.value, clip=clip, rng=rng)
        MP = M.matmat(P)
        before, F = F, coupled_objective(M.fro2, H, P, MP, coupling.value)
        yield Iterate(H, P, merit=F, MP=MP)
        gap, size = float(np.linalg.norm(H - P)), float(np.linalg.norm(H))
        grown = coupling.compare(gap, size)
        if rest.reached(before, F):
            if not coupling.must_agree or gap**2 <= problem.tol * size**2:
                return Stop.tolerance
            # Nothing moves any more, yet the factors differ: tie them more strongly.
            grown = coupling.grow() or grown
        if grown:
            F = coupled_objective(M.fro2, H, P, MP, coupling.value)


def _printed(problem: Problem, H: FloatArray, P: FloatArray, mu: float) -> Iterates:
    """Sweep as printed; stop by the decrease before the last one, as released."""
    M, clip = problem.M, problem.constraint.nonnegative
    errors: list[float] = []
    while True:
        MP = M.matmat(P)
        yield Iterate(H, P, merit=coupled_objective(M.fro2, H, P, MP, mu), MP=MP)
        # Their tolerance may lie below what the trace form resolves.
        exact = isinstance(M, DenseOperator)
        split = (
            dense_objective(M.M, H, P)
            if exact
            else trace_split_objective(M.fro2, H, P, MP)
        )
        errors.append(split / (2 * (M.fro2 or 1.0)))
        if (
            len(errors) > 2
            and problem.tol > 0
            and errors[-3] - errors[-2] < problem.tol
        ):
            return Stop.tolerance
        sweep_pairs(M, H, P, MP, mu, clip=clip, printed=True)
