"""Exact coordinate descent for symmetric NMF."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import trace_objective
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinateDescent(Solver):
    r"""Minimise over one entry of H after the other, exactly.

    .. math:: \min_{H \ge 0} f(H) = \|M - HH^T\|_F^2

    As a function of x = h_ij alone, f / 4 is, up to a constant,

    .. math:: \tfrac14 x^4 + \tfrac{a}{2} x^2 + b x, \qquad
       a = \sum_{p \ne i} h_{pj}^2 + \sum_{l \ne j} h_{il}^2 - M_{ii}, \qquad
       b = \sum_{l \ne j} h_{il} \sum_{p \ne i} h_{pl} h_{pj}
           - \sum_{p \ne i} M_{ip} h_{pj} .

    Its minimiser over x >= 0 is zero or the largest root of x^3 + a x + b.

    Parameters
    ----------
    published : bool
        No difference to the default; accepted so that runs can be marked.

    Notes
    -----
    An iteration is a sweep over all rows, entry by entry within a row: one product
    with M, and every column of M once. O(n^2 k) for a dense M, with a Python loop
    over n k entries: for small and medium n. f never rises.

    References
    ----------
    Vandaele, Gillis, Lei, Zhong and Dhillon, "Efficient and non-convex coordinate
    descent for symmetric nonnegative matrix factorization", IEEE Trans. Signal
    Process. 64 (2016). There columns are the outer loop; here rows are, so that a
    column of M is read once per sweep.

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="coordinate_descent", random_state=0)
    >>> bool(fit.error[-1] < 1e-3)
    True
    """

    name: ClassVar[str] = "coordinate_descent"
    title: ClassVar[str] = "Exact coordinate descent"
    reference: ClassVar[str] = "Vandaele et al. 2016"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    never_rises: ClassVar[str] = "f"
    published_start: ClassVar[str] = "uniform"

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield H_0, then H after each sweep."""
        M = problem.M
        diagonal = M.diagonal().astype(np.float64)
        H = start.H
        while True:
            MH = M.matmat(H)
            yield Iterate(H, objective=trace_objective(M.fro2, H, MH), MH=MH)
            # Sweeps are in double precision: G and M H are updated n k times.
            work, links = H.astype(np.float64), MH.astype(np.float64)
            G = work.T @ work
            for i in range(problem.n):
                change = _update_row(work[i], links[i], G, float(diagonal[i]))
                if change.any():
                    column = M.columns([i])[:, 0]
                    links += np.outer(column, change)
            H = work.astype(M.dtype)


def _update_row(h: FloatArray, r: FloatArray, G: FloatArray, m: float) -> FloatArray:
    """Minimise over the entries of row i in turn, in place; return the change.

    r is row i of M H at entry, m is M_ii; G = H^T H is kept up to date.
    """
    before = h.copy()
    h2 = float(h @ h)
    for j in range(len(h)):
        x = float(h[j])
        a = float(G[j, j]) + h2 - 2 * x * x - m
        b = float(h @ G[:, j]) - x * float(G[j, j]) - x * (h2 - x * x) - float(r[j])
        b += m * x
        new = quartic_minimiser(a, b)
        if new == x:
            continue
        h[j] = new
        h2 += new * new - x * x
        G[:, j] += (new - x) * h
        G[j, :] = G[:, j]
        # The line above counted the diagonal entry as (new - x) new.
        G[j, j] += (new - x) * x
    return np.asarray(h - before)


def quartic_minimiser(a: float, b: float) -> float:
    """Return the x >= 0 that minimises x^4 / 4 + a x^2 / 2 + b x.

    Examples
    --------
    >>> quartic_minimiser(-4.0, 0.0)
    2.0
    >>> quartic_minimiser(1.0, 3.0)
    0.0
    """
    # x = size y with coefficients of order one: nothing under- or overflows.
    size = max(math.sqrt(abs(a)), math.cbrt(abs(b)))
    if size == 0:
        return 0.0
    a, b = a / size / size, b / size / size / size
    y = _largest_root(a, b)
    if y <= 0 or y * (y * (y * y / 4 + a / 2) + b) >= 0:
        return 0.0
    return size * y


def _largest_root(a: float, b: float) -> float:
    """Largest real root of x^3 + a x + b, by Cardano's formulas."""
    half, third = b / 2, a / 3
    discriminant = half * half + third**3
    if discriminant <= 0:
        # Three real roots; a is negative, as not both coefficients are zero.
        radius = math.sqrt(-third)
        cosine = min(1.0, max(-1.0, -half / radius**3))
        x = 2 * radius * math.cos(math.acos(cosine) / 3)
    else:
        root = math.sqrt(discriminant)
        # The larger of the two cube roots; the other follows without cancellation.
        u = math.cbrt(-half - math.copysign(root, half))
        x = u - third / u
    slope = 3 * x * x + a
    # One Newton step removes what the formulas round away.
    return x - (x * x * x + a * x + b) / slope if slope > 0 else x
