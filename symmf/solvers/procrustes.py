"""Symmetric NMF by rotating a square root of M (Procrustes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import inner, top_eigenpairs
from symmf.solvers.base import Iterate, Iterates, Problem, Solver, Start, Stop

# A fit this good, relative to ||B||_F^2, cannot be improved in double precision.
_EXACT_FIT = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Procrustes(Solver):
    r"""Find a rotation of the spectral square root that is nearly nonnegative.

    .. math:: \min_{H \ge 0,\ Q^TQ = I} \varphi = \|H - BQ\|_F^2, \qquad
              B = E_k\,\mathrm{diag}(\sqrt{\sigma_i})

    from the k algebraically largest eigenpairs of M. Alternate

    .. math:: B^TH = U\Sigma V^T, \quad Q \leftarrow UV^T, \quad
              H \leftarrow \max(0, BQ) .

    Parameters
    ----------
    published : bool
        No difference to the default; accepted so that runs can be marked.

    Notes
    -----
    The eigenpairs are computed once; an iteration then costs O(n k^2), whatever the
    size or density of M. phi never rises, ||M - H H^T|| need not fall. If only k' < k
    eigenvalues are positive, B has k' columns and Q orthonormal rows. Stops when phi
    falls by at most ``tol`` times its value, or is zero to rounding. The problem has
    local minima: take the best phi of several starts.

    References
    ----------
    Huang, Sidiropoulos and Swami, "Non-negative matrix factorization revisited:
    uniqueness and algorithm for symmetric decomposition", IEEE Trans. Signal
    Process. 62 (2014).

    Examples
    --------
    >>> from symmf import factorize
    >>> U = np.random.default_rng(0).random((20, 2))
    >>> fit = factorize(U @ U.T, 2, solver="procrustes", random_state=0)
    >>> bool(fit.error[-1] < 1e-3), bool(fit.H.min() >= 0)
    (True, True)
    """

    name: ClassVar[str] = "procrustes"
    title: ClassVar[str] = "Symmetric NMF by Procrustes rotations"
    reference: ClassVar[str] = "Huang, Sidiropoulos and Swami 2014"
    constraints: ClassVar[tuple[str, ...]] = ("nonnegative",)
    never_rises: ClassVar[str] = "phi"
    own_tolerance: ClassVar[bool] = True
    start: ClassVar[str] = "uniform"

    def iterates(self, problem: Problem, start: Start) -> Iterates:
        """Yield H_0, H_1, ... with phi as the merit."""
        H = start.H
        B = _square_root(problem, start.rng)
        size = inner(B, B)
        target = B @ _rotation(B, H)
        phi = _squared_distance(H, target)
        yield Iterate(H, merit=phi)
        while True:
            H = np.maximum(target, 0)
            before, phi = phi, _squared_distance(H, target)
            # The rotation that fits this H best is also the next iteration's.
            target = B @ _rotation(B, H)
            phi = min(phi, _squared_distance(H, target))
            yield Iterate(H, merit=phi)
            still = before - phi <= problem.tol * before
            if problem.tol > 0 and (still or phi <= _EXACT_FIT * size):
                return Stop.tolerance


def _square_root(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """B with B B^T the best positive semidefinite approximation of rank k."""
    values, vectors = top_eigenpairs(problem.M, problem.k, rng)
    positive = values > 0
    root = vectors[:, positive] * np.sqrt(values[positive])
    return np.asarray(root, dtype=problem.M.dtype)


def _rotation(B: FloatArray, H: FloatArray) -> FloatArray:
    """Q with orthonormal rows that maximises tr(Q^T B^T H)."""
    U, _, Vt = np.linalg.svd(B.T @ H, full_matrices=False)
    return np.asarray(U @ Vt)


def _squared_distance(A: FloatArray, B: FloatArray) -> float:
    D = A - B
    return inner(D, D)
