"""Points of a descent, steps from them and beyond them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import inner, trace_objective
from symmf.similarity.operators import SymmetricOperator
from symmf.solvers.base import Iterate


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """H with everything that follows from one product: M H, G = H^T H, f(H)."""

    H: FloatArray
    MH: FloatArray
    G: FloatArray
    #: not known at an extrapolated point
    f: float = np.nan

    @classmethod
    def of(cls, M: SymmetricOperator, H: FloatArray, MH: Any = None) -> Point:
        """Form the product, unless it is given, and what follows."""
        MH = M.matmat(H) if MH is None else MH
        G = H.T @ H
        return cls(H, MH, G, trace_objective(M.fro2, H, MH, G))

    def iterate(self) -> Iterate:
        """Return what the loop is given of it."""
        return Iterate(self.H, objective=self.f, MH=self.MH)

    def gradient(self) -> FloatArray:
        """4 (H H^T H - M H)."""
        gradient = self.H @ self.G
        gradient -= self.MH
        gradient *= 4
        return np.asarray(gradient)

    def step(self, t: float) -> FloatArray:
        """Return H - t gradient = H (I - 4 t G) + 4 t M H: one n k^2 product."""
        factor = self.H.dtype.type(4 * t)
        B = -factor * self.G
        B.flat[:: len(B) + 1] += 1
        Z = self.H @ B
        Z += factor * self.MH
        return np.asarray(Z)

    def squared_distance(self, other: Point) -> float:
        """Squared distance from traces: its rounding is far below what f resolves."""
        traces = float(np.trace(self.G)) + float(np.trace(other.G))
        return max(0.0, traces - 2 * inner(self.H, other.H))


class Momentum:
    """Extrapolation y = H_i + beta (H_i - H_{i-1}) with restart (Nesterov 1983).

    theta_0 = 1, theta' = (1 + sqrt(1 + 4 theta^2)) / 2, beta = (theta - 1) / theta'.
    M y is linear in the products already known, so it costs no product.
    """

    def __init__(self, *, active: bool) -> None:
        self.active = active
        self.theta = 1.0
        self.previous: Point | None = None

    def extrapolate(self, point: Point) -> Point:
        """Return y with its product; the point itself where beta is 0."""
        if self.previous is None:
            return point
        theta = float((1 + np.sqrt(1 + 4 * self.theta**2)) / 2)
        beta = (self.theta - 1) / theta
        self.theta = theta
        if beta == 0:
            return point
        y = beyond(point.H, self.previous.H, beta)
        return Point(y, beyond(point.MH, self.previous.MH, beta), y.T @ y)

    def restart(self) -> None:
        """Forget the speed: the next step is a plain one."""
        self.theta = 1.0

    def remember(self, point: Point) -> None:
        """Keep the point that a step leaves."""
        if self.active:
            self.previous = point


def beyond(new: FloatArray, old: FloatArray, beta: float) -> FloatArray:
    """Return new + beta (new - old); without beta, new itself."""
    if beta == 0:
        return new
    out = new - old
    out *= out.dtype.type(beta)
    out += new
    return out


def quartic_step(H: FloatArray, D: FloatArray, MD: FloatArray) -> tuple[float, float]:
    r"""Return the alpha >= 0 minimising f(H + alpha D), and the decrease of f.

    With K1 = H^T D and K2 = D^T D,

    .. math:: f(H+\alpha D) - f(H) = \alpha\langle\nabla f, D\rangle
        + \alpha^2 [2\,\mathrm{tr}(G K_2) + 2\,\mathrm{tr}(K_1^2) + 2\|K_1\|^2
        - 2\,\mathrm{tr}(D^T M D)] + 4\alpha^3\mathrm{tr}(K_1 K_2)
        + \alpha^4\|K_2\|^2 .
    """
    G, K1, K2 = (np.asarray(A, float) for A in (H.T @ H, H.T @ D, D.T @ D))
    # <grad, D> = 4 <H G - M H, D>, with <M H, D> = <H, M D> by symmetry.
    c1 = 4 * float(np.sum(G * K1) - inner(H, MD))
    c2 = 2 * float(np.sum(G * K2) + np.sum(K1 * K1.T) + np.sum(K1 * K1) - inner(D, MD))
    c3 = 4 * float(np.sum(K1 * K2))
    c4 = float(np.sum(K2 * K2))
    if c4 == 0:
        return 0.0, 0.0
    roots = np.roots([4 * c4, 3 * c3, 2 * c2, c1])
    real = roots[np.abs(roots.imag) < 1e-8 * (1 + np.abs(roots.real))].real
    candidates = [0.0, *real[real > 0]]
    values = [a * (c1 + a * (c2 + a * (c3 + a * c4))) for a in candidates]
    best = int(np.argmin(values))
    return float(candidates[best]), -float(values[best])
