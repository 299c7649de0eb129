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
    """Extrapolation y = H_i + beta (H_i - H_{i-1}) with restart.

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
