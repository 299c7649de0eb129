"""sBSUM: block successive upper-bound minimisation, one entry of H at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.linalg import trace_objective
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start
from symmf.solvers.coordinate_descent import quartic_minimiser


@dataclass(frozen=True, slots=True, kw_only=True)
class BSUM(Solver):
    r"""Minimise a convex upper bound of f over one entry of H after the other.

    .. math:: \min_{H \ge 0} f(H) = \|M - HH^T\|_F^2

    With x = h_ij the old entry, f / 4 as a function of the new entry y is at most, up
    to a constant,

    .. math:: \tfrac14 y^4 + \tfrac{p}{2} y^2 + (d - x^3 - p x)\,y, \qquad
       p = \max\bigl(0,\ \|h_j\|^2 + \|h^i\|^2 - 2x^2 - M_{ii}\bigr), \qquad
       d = (HH^TH - MH)_{ij} ,

    with h_j a column and h^i a row of H. As p >= 0 the bound is convex, and its
    minimiser over y >= 0 is the real root of its derivative, or zero.

    Parameters
    ----------
    published : bool
        No difference to the default; accepted so that runs can be marked.

    Notes
    -----
    An iteration is a sweep column by column: one product with M, and every column of M
    k times. O(n^2 k) for a dense M, with a Python loop over n k entries: for small n.
    f never rises. :class:`~symmf.solvers.coordinate_descent.CoordinateDescent`
    minimises f itself where this minimises the bound.

    References
    ----------
    Shi, Sun, Lu, Hong and Razaviyayn, "Inexact block coordinate descent methods for
    symmetric nonnegative matrix factorization", IEEE Trans. Signal Process. 65 (2017).

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="bsum", random_state=0)
    >>> bool(fit.error[-1] < 1e-3)
    True
    """

    name: ClassVar[str] = "bsum"
    title: ClassVar[str] = "sBSUM"
    reference: ClassVar[str] = "Shi et al. 2017"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    never_rises: ClassVar[str] = "f"
    start: ClassVar[str] = "symm_mean"

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield H_0, then H after each sweep."""
        M = problem.M
        diagonal = M.diagonal().astype(np.float64)
        H = start.H
        while True:
            MH = M.matmat(H)
            yield Iterate(H, objective=trace_objective(M.fro2, H, MH), MH=MH)
            # Sweeps are in double precision: G and M H are updated n k times.
            H, MH = H.astype(np.float64), MH.astype(np.float64)
            rows2 = np.einsum("ij,ij->i", H, H)
            for j in range(problem.k):
                g = H.T @ H[:, j]  # column j of G = H^T H
                for i in range(problem.n):
                    x = float(H[i, j])
                    p = max(0.0, float(g[j] + rows2[i] - diagonal[i]) - 2 * x * x)
                    d = float(H[i] @ g - MH[i, j])
                    y = quartic_minimiser(p, d - x**3 - p * x)
                    if y == x:
                        continue
                    H[i, j] = y
                    rows2[i] += y * y - x * x
                    g += (y - x) * H[i]
                    # Entry j was counted as (y - x) y instead of y^2 - x^2.
                    g[j] += (y - x) * x
                    MH[:, j] += (y - x) * M.columns([i])[:, 0]
            H = H.astype(M.dtype)
