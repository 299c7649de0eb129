"""SNMPBB: alternating nonnegative least squares by projected Barzilai-Borwein steps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_number, check_number_or_name
from symmf.linalg import inner, trace_objective
from symmf.solvers._coupling import Coupling, tied
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start, Stop

_MAX_ROUNDS = 1000
# Armijo's share of the predicted decrease, and the factor of backtracking.
_GAMMA, _RHO = 1e-4, 0.25
# The weight of the history in the nonmonotone reference value (Zhang and Hager).
_ETA = 0.75
_FIRST_ACCURACY = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class SNMPBB(Solver):
    r"""Nonmonotone projected Barzilai-Borwein method on a split pair.

    .. math:: \min_{H, P \ge 0} F(H, P) = \|M - PH^T\|_F^2 + w\,\|H - P\|_F^2
              + 2g\,\mathrm{tr}(H^T L H), \qquad L = I - D^{-1/2} M D^{-1/2}

    P and H in turn are moved towards the minimiser of F by projected gradient steps:
    a step of length 1 / ||G||_2, then one of the Barzilai-Borwein length with a
    nonmonotone line search, until the gradient on the free entries is small.

    Parameters
    ----------
    coupling : float or "bound", optional
        w; 1 by default, as published (n / 10) / log_5(k). ``"bound"`` is the smallest
        value for which H = P is proved in the limit of exact alternation.
    graph_weight : float, optional
        g, the weight of the graph term on H; without it there is none.
    published : bool
        As the released code: the second step is stretched by 2.1 (1.5 with a graph
        term), while gradient and value are carried as if it were not. Iterates may then
        leave the set; what is handed out is max(H, 0). With a graph term a given
        start is rescaled to the mean of M. By default the step is not stretched, so
        that H and P stay nonnegative and the carried values are exact.

    Notes
    -----
    Two products with M per iteration; with a graph term two more for every inner step.
    Stops, from the tenth iteration on, when the gradients on the free entries are at
    most ``tol`` times those at the start; with a graph term also when the relative
    residual changes by less than ``tol`` relatively.

    References
    ----------
    Swart and Brust, arXiv 2606.02887 (2026).

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="snmpbb", random_state=0)
    >>> bool(fit.error[-1] < 1e-2)
    True
    """

    coupling: float | str | None = None
    graph_weight: float | None = None

    name: ClassVar[str] = "snmpbb"
    title: ClassVar[str] = "SNMPBB"
    reference: ClassVar[str] = "Swart and Brust 2026"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    split: ClassVar[bool] = True
    own_tolerance: ClassVar[bool] = True
    start: ClassVar[str] = "symm_mean"

    def check(self, problem: Problem) -> None:
        """Refuse weights that are no numbers, and k = 1 where the weight needs k."""
        if self.graph_weight is not None:
            check_number("graph_weight", self.graph_weight, least=0)
        if self.coupling is not None:
            check_number_or_name("coupling", self.coupling, ["bound"], least=0)
        elif self.published:
            check_number("k (for the published coupling)", problem.k, least=2)

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield (H_0, P_0), (H_1, P_1), ..."""
        M = problem.M
        H, P = start.pair
        w = self._weight(problem, start)
        graph: tuple[Any, ...] = ()
        if self.graph_weight is not None:
            graph = (_laplacian(problem), self.graph_weight)
        if self.published and graph:
            total = float(np.sum(M.matmat(np.ones((problem.n, 1), M.dtype))))
            size = math.sqrt(total / problem.n**2 / problem.k) / float(P.mean())
            H, P = size * H, size * P
        MH = M.matmat(H)
        in_P = _Quadratic.given(H, MH, w)
        in_H = _Quadratic.given(P, M.matmat(P), w, *graph)
        at_start = in_P.gradient(P), in_H.gradient(H)
        first = math.hypot(*(float(np.linalg.norm(R)) for R in at_start))
        tol_P = tol_H = max(problem.tol, _FIRST_ACCURACY) * first
        error = math.inf
        yield Iterate(np.maximum(H, 0), np.maximum(P, 0))
        for iteration in itertools.count(1):
            P, its, delta_P = self._inner(P, in_P, tol_P)
            tol_P = tol_P / 10 if its <= 1 else tol_P
            in_H = _Quadratic.given(P, M.matmat(P), w, *graph)
            H, its, delta_H = self._inner(H, in_H, tol_H)
            tol_H = tol_H / 10 if its <= 1 else tol_H
            MH = M.matmat(H)
            in_P = _Quadratic.given(H, MH, w)
            yield Iterate(np.maximum(H, 0), np.maximum(P, 0))
            delta = math.hypot(delta_P, delta_H)
            if problem.tol and iteration >= 10 and delta <= problem.tol * first:
                return Stop.tolerance
            previous = error
            error = math.sqrt(max(trace_objective(M.fro2, H, MH), 0.0))
            settled = abs(previous - error) < problem.tol * previous
            if graph and iteration >= 2 and settled:
                return Stop.tolerance
        return None

    def _weight(self, problem: Problem, start: Start) -> float:
        if self.coupling is not None:
            return Coupling.choose(self.coupling, problem, start.H).value
        if not self.published:
            return 1.0
        return problem.n / 10 / math.log(problem.k, 5)

    def _inner(
        self, X: FloatArray, F: _Quadratic, tol: float
    ) -> tuple[FloatArray, int, float]:
        """Minimise F over X >= 0.

        Returns X, the rounds begun, and the norm of its carried gradient on the free
        entries.
        """
        stretch, longest, shortest = 2.1, 1e20, 1e-5
        if self.graph_weight is not None:
            stretch, longest, shortest = 1.5, 1e5, 0.0
        norm = float(np.linalg.norm(F.Q, 2))
        if not self.published:
            stretch = 1.0
            norm += 4 * F.weight  # ||L||_2 <= 2
            # Below this the gradient is rounding, and steps along it lead away.
            tol = max(tol, 10 * float(np.finfo(X.dtype).eps * np.linalg.norm(F.C)))
        t, lam, eta, previous_eta = 1 / norm, 1.0, _ETA, _ETA
        R = F.gradient(X)
        phi = inner(X, X @ F.Q) / 2 - inner(X, F.C)
        reference, size = phi, math.inf
        for rounds in range(1, _MAX_ROUNDS + 1):
            size = _free_norm(R, X)
            if size <= tol:
                return X, rounds, size
            D = np.maximum(X - t * R, 0) - X
            DG = F.times(D)
            phi += inner(D, R) + inner(D, DG) / 2
            X, R = X + D, R + DG
            reference = phi if rounds == 1 else phi + eta * (reference - phi)
            D = np.maximum(X - lam * R, 0) - X
            DG = F.times(D)
            p, q, before, a = inner(D, R), inner(D, DG), phi, 1.0
            phi = before + p + q / 2
            while phi > reference + _GAMMA * a * p and a > shortest:
                a *= _RHO
                phi = before + a * p + a * a * q / 2
            X, R = X + stretch * a * D, R + a * DG
            lam = min(max(inner(D, D) / q, 1e-20), longest) if q > 0 else longest
            both = eta if rounds == 1 else eta + previous_eta
            previous_eta, eta = eta, both / 2
        return X, _MAX_ROUNDS, _free_norm(R, X)


@dataclass(frozen=True, slots=True)
class _Quadratic:
    """F in one factor, given the other: <X, X Q> / 2 - <X, C> + weight tr(X^T L X)."""

    Q: FloatArray
    C: FloatArray
    L: Callable[[FloatArray], FloatArray] | None = None
    weight: float = 0.0

    @classmethod
    def given(cls, Y: FloatArray, MY: FloatArray, w: float, *graph: Any) -> _Quadratic:
        """Take the least squares of a factor given Y, and a graph term if any."""
        Q, B = tied(Y.T, MY.T, w)
        return cls(Q, B.T, *graph)

    def times(self, X: FloatArray) -> FloatArray:
        """Return the product of X with the second derivative."""
        XQ = X @ self.Q
        return XQ if self.L is None else XQ + 2 * self.weight * self.L(X)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return the gradient at X."""
        return np.asarray(self.times(X) - self.C)


def _laplacian(problem: Problem) -> Callable[[FloatArray], FloatArray]:
    """Return X -> X - D^-1/2 M D^-1/2 X."""
    M = problem.M
    degrees = M.matmat(np.ones((problem.n, 1), M.dtype)) + np.finfo(np.float64).eps
    root = 1 / np.sqrt(degrees)
    return lambda X: X - root * M.matmat(root * X)


def _free_norm(R: FloatArray, X: FloatArray) -> float:
    """Norm of the gradient where it may still move X: R < 0 or X > 0."""
    return float(np.linalg.norm(R[(R < 0) | (X > 0)]))
