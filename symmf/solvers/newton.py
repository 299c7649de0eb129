"""SymNMF by a Newton-like projected method."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from symmf.common.notation import FloatArray
from symmf.common.validation import check_choice
from symmf.errors import InputError
from symmf.linalg import inner
from symmf.similarity.operators import SymmetricOperator
from symmf.solvers._nnls import MaskArray
from symmf.solvers._points import Point
from symmf.solvers.base import Iterates, Problem, Solver, Start, Stop, hold

#: the largest n for which Hessian blocks are formed
DENSE_LIMIT = 3000
# Armijo: required share of the predicted decrease, shrinking of alpha, how often.
_SIGMA, _BETA, _MAX_BACKTRACKS = 0.1, 0.1, 30
# A plain gradient step after so many others, against stagnation of stale factors.
_GRADIENT_EVERY = 100
_CG_ITERATIONS, _CG_ACCURACY = 20, 1e-3
# What is left of a column that a step would remove.
_SHRINKING = 1e-8

# (H, gradient, free entries, whether to start afresh) -> S
Direction: TypeAlias = Callable[[FloatArray, FloatArray, MaskArray, bool], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Newton(Solver):
    r"""Newton-like method for symmetric NMF with a projected line search.

    .. math:: \min_{H \ge 0} f(H) = \|M - HH^T\|_F^2, \qquad g = 4(HH^TH - MH)

    Column j moves along :math:`B_j^{-1} g_j` on the free entries (g <= 0 or H > 0),

    .. math:: B_j = 4\,[\,HH^T - M + h_jh_j^T + \|h_j\|^2 I\,] ,

    or along the gradient where B_j is not positive definite;
    H becomes max(H - alpha S, 0), alpha = 1, 0.1, 0.01, ... by Armijo's rule.

    Parameters
    ----------
    method : {"cholesky", "cg"}
        ``cholesky`` forms n x n matrices and is refused above n = 3000. ``cg`` takes
        at most 20 conjugate-gradient steps with products only, so M may be implicit.
    published : bool
        Let a column that becomes zero stay zero, even all of them. By default it is
        shrunk instead, and can grow again.

    Notes
    -----
    The Cholesky factor of a column is reused until its free set changes. Up to
    k n^3 / 3 multiply-adds per iteration with ``cholesky``, about 20 products with
    n x k matrices with ``cg``. f never rises. Stops when the norm of the gradient on
    the free entries is below ``tol`` times that of the gradient at the start
    (SymNMF's own ``tol`` is 1e-4), or when 30 backtracking steps do not help.

    References
    ----------
    Kuang, Yun and Park, "SymNMF: nonnegative low-rank approximation of a similarity
    matrix for graph clustering", J. Global Optim. 62 (2015).

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="newton", random_state=0, tol=1e-3)
    >>> bool(fit.error[-1] < 1e-3), fit.stop.name
    (True, 'tolerance')
    """

    method: str = "cholesky"

    name: ClassVar[str] = "newton"
    title: ClassVar[str] = "SymNMF (Newton-like)"
    reference: ClassVar[str] = "Kuang, Yun and Park 2015"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    never_rises: ClassVar[str] = "f"
    own_tolerance: ClassVar[bool] = True
    start: ClassVar[str] = "symm_mean"

    def check(self, problem: Problem) -> None:
        """Refuse a matrix that is too large for the dense variant."""
        check_choice("method", self.method, ("cholesky", "cg"))
        if self.method == "cholesky" and problem.n > DENSE_LIMIT:
            raise InputError(
                f"Newton with Cholesky forms dense {problem.n} x {problem.n} matrices "
                f"and takes at most n = {DENSE_LIMIT}. Use method='cg', which needs "
                "products only, or solver='symnmf_anls'."
            )

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield H_0, H_1, ..."""
        M, now = problem.M, Point.of(problem.M, start.H)
        eps = float(np.finfo(M.dtype).eps)
        cg = self.method == "cg"
        direction: Direction = partial(_cg_direction, M) if cg else _Cholesky(M)
        first = float(np.linalg.norm(now.gradient()))
        for iteration in itertools.count(1):
            yield now.iterate()
            g = now.gradient()
            free = (g <= eps) | np.greater(now.H, eps)
            if float(np.linalg.norm(g[free])) < problem.tol * first:
                return Stop.tolerance
            S = direction(now.H, g, free, iteration % _GRADIENT_EVERY == 0)
            alpha = 1.0
            for _ in range(_MAX_BACKTRACKS):
                H = np.maximum(now.H - alpha * S, 0)
                if not self.published:
                    # Shrink columns that would vanish: zero is never left again.
                    dead = ~H.any(axis=0)
                    H[:, dead] = _SHRINKING * now.H[:, dead]
                trial = Point.of(M, H)
                if trial.f - now.f <= _SIGMA * inner(g, H - now.H):
                    break
                alpha *= _BETA
            else:
                yield from hold(problem, now.iterate())
                return Stop.stalled
            now = trial
        return None


class _Cholesky:
    """Solves with the Hessian blocks, remembering their factors."""

    def __init__(self, M: SymmetricOperator) -> None:
        self.M = np.asarray(M.toarray(), dtype=np.float64)
        self.free: MaskArray | None = None
        self.factors: list[FloatArray | None] = []

    def __call__(
        self, H: FloatArray, g: FloatArray, free: MaskArray, restart: bool
    ) -> FloatArray:
        """Return S; a column without a usable factor moves along its gradient."""
        k = H.shape[1]
        if self.free is None:
            self.factors, changed = [None] * k, np.ones(k, bool)
        else:
            changed = (self.free != free).any(axis=0)
        self.free = free
        if restart:
            self.factors = [None] * k
        R = None
        S = g.copy()
        for j in range(k):
            F = np.flatnonzero(free[:, j])
            if changed[j]:
                R = H @ H.T - self.M if R is None else R
                self.factors[j] = _factor(R, H[:, j], F)
            factor = self.factors[j]
            if factor is None:
                continue
            step = np.zeros_like(g[:, j])
            step[F] = cho_solve((factor, False), g[F, j])
            if _usable(step, H[:, j], g[:, j]):
                S[:, j] = step
            else:
                self.factors[j] = None
        return S


def _factor(R: FloatArray, h: FloatArray, F: np.ndarray) -> FloatArray | None:
    """Cholesky factor of B_j on F, or None if it is not positive definite."""
    if F.size == 0:
        return None
    hF = np.asarray(h[F], dtype=np.float64)
    B = R[np.ix_(F, F)] + np.outer(hF, hF)
    B[np.diag_indices_from(B)] += float(h @ h)
    try:
        factor: FloatArray = cho_factor(4 * B)[0]
    except LinAlgError:
        return None
    return factor


def _usable(step: FloatArray, h: FloatArray, g: FloatArray) -> bool:
    """Drop moves out of the feasible set, in place; then ask for descent."""
    eps = float(np.finfo(g.dtype).eps)
    step[(step > -eps) & (h <= eps)] = 0
    sizes = float(np.linalg.norm(g)) * float(np.linalg.norm(step))
    return bool(sizes > 0 and float(g @ step) > eps * sizes)


def _cg_direction(
    M: SymmetricOperator,
    H: FloatArray,
    g: FloatArray,
    free: MaskArray,
    restart: bool,
) -> FloatArray:
    """Return S by truncated conjugate gradients, for all columns at once.

    A column of negative curvature moves along its gradient.
    """
    S = g.copy()
    if restart:
        return S
    h2 = np.einsum("ij,ij->j", H, H)
    X, R = np.zeros_like(g), np.where(free, g, 0)
    P, r2 = R.copy(), np.einsum("ij,ij->j", R, R)
    goal = _CG_ACCURACY**2 * r2
    active, convex = r2 > 0, np.ones(g.shape[1], bool)
    for _ in range(_CG_ITERATIONS):
        if not active.any():
            break
        BP = H @ (H.T @ P) - M.matmat(P) + H * np.einsum("ij,ij->j", H, P) + h2 * P
        BP = np.where(free, 4 * BP, 0)
        curvature = np.einsum("ij,ij->j", P, BP)
        convex &= ~active | (curvature > 0)
        active &= convex
        alpha = np.where(active, r2, 0) / np.where(active, curvature, 1)
        X, R = X + alpha * P, R - alpha * BP
        before, r2 = r2, np.einsum("ij,ij->j", R, R)
        active &= r2 > goal
        P = R + np.where(active, r2 / np.where(before > 0, before, 1), 0) * P
    for j in np.flatnonzero(convex):
        step = X[:, j].copy()
        if _usable(step, H[:, j], g[:, j]):
            S[:, j] = step
    return S
