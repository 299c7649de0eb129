"""How strongly the two factors of a split are tied together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import (
    inner,
    smallest_eigenvalue,
    spectral_norm,
    trace_objective,
    trace_split_objective,
)
from symmf.solvers.base import Problem

# The adaptive rule: where it begins, how often it compares, what it accepts, and how
# it grows.
_FIRST_SHARE, _COMPARE_EVERY, _ACCEPTED_GAP, _GROWTH = 0.05, 50, 1e-3, 2.0


def coupled_objective(
    fro2: float, H: FloatArray, P: FloatArray, MP: FloatArray, mu: float
) -> float:
    """Return F = ||M - H P^T||_F^2 + mu ||H - P||_F^2, given M P."""
    D = H - P
    return trace_split_objective(fro2, H, P, MP) + mu * inner(D, D)


def tied(P: FloatArray, MP: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
    """Return Q = P P^T + mu I and B = M P + mu P, the least squares in H given P.

    Factors and products have a row per cluster, (k, n); H solves Q H = B.
    """
    Q = P @ P.T
    if not mu:
        return Q, MP
    Q[np.diag_indices_from(Q)] += mu
    return Q, P * P.dtype.type(mu) + MP


def coupling_bound(
    problem: Problem, H0: FloatArray, *, sigma_n: str = "lanczos"
) -> float:
    r"""Return a coupling from which on every limit has H = P.

    .. math:: \mu > \tfrac12\big(\|M\|_2 + \|M - H_0H_0^T\|_F - \sigma_n(M)\big)

    for a run that starts with P_0 = H_0 and never raises its merit. The paper has the
    Frobenius norm of M in place of the spectral one; its proof gives this sharper form.

    Parameters
    ----------
    problem : Problem
    H0 : (n, k) array
    sigma_n : {"lanczos", "free"}
        The smallest eigenvalue itself, or a lower bound that costs nothing.
    """
    M = problem.M
    lanczos = sigma_n == "lanczos"
    smallest = smallest_eigenvalue(M) if lanczos else M.eigenvalue_floor
    first = trace_objective(M.fro2, H0, M.matmat(H0))
    bound = (spectral_norm(M) + np.sqrt(max(first, 0.0)) - smallest) / 2
    # Strictly above the bound; a zero problem still needs a positive number.
    return float(max(bound * (1 + 1e-6), np.finfo(np.float32).tiny))


@dataclass(slots=True)
class Coupling:
    """The weight mu of ||H - P||_F^2: a number, the bound, or growing towards it."""

    value: float
    limit: float
    #: growth is the adaptive rule; a plain number never changes
    adaptive: bool = False
    #: the factors must agree before a tolerance is met
    must_agree: bool = False
    sweeps: int = 0

    @classmethod
    def choose(
        cls,
        wanted: float | str,
        problem: Problem,
        H0: FloatArray,
        *,
        sigma_n: str = "lanczos",
    ) -> Coupling:
        """Read an option: a number, "bound" or "adaptive"."""
        if not isinstance(wanted, str):
            return cls(float(wanted), float(wanted))
        bound = coupling_bound(problem, H0, sigma_n=sigma_n)
        if wanted == "bound":
            return cls(bound, bound, must_agree=True)
        return cls(_FIRST_SHARE * bound, bound, adaptive=True, must_agree=True)

    def compare(self, gap: float, size: float) -> bool:
        """Count a sweep; every 50 of them grow if ||H - P|| / ||H|| is too large."""
        self.sweeps += 1
        late = self.sweeps % _COMPARE_EVERY == 0
        return late and gap > _ACCEPTED_GAP * size and self.grow()

    def grow(self) -> bool:
        """Double the weight, at most to the bound; return whether it changed."""
        if not self.adaptive or self.value >= self.limit:
            return False
        self.value = min(_GROWTH * self.value, self.limit)
        return True
