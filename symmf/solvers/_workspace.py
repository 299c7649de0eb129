"""Points of a descent, and the memory they take turns in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import inner


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """H with everything one product tells: M H, G = H^T H, f(H)."""

    H: FloatArray
    MH: FloatArray
    G: FloatArray
    #: not known at an extrapolated point
    f: float = np.nan

    def gradient(self) -> FloatArray:
        """4 (H H^T H - M H)."""
        gradient = self.H @ self.G
        gradient -= self.MH
        gradient *= 4
        return np.asarray(gradient)

    def squared_distance(self, other: Point) -> float:
        """Squared distance from traces: its rounding is far below what f resolves."""
        traces = float(np.trace(self.G)) + float(np.trace(other.G))
        return max(0.0, traces - 2 * inner(self.H, other.H))


class Workspace:
    """Arrays of H's size, so that a step asks for no memory."""

    def __init__(self, H: FloatArray) -> None:
        self._points, self._products = _Turns(H), _Turns(H)
        self._scratch = np.empty_like(H)

    def step(self, base: Point, t: float, *needed: Point | None) -> FloatArray:
        """Return H - t gradient = H (I - 4 t G) + 4 t M H: one n k^2 product, one sum.

        The result lies in memory that none of the ``needed`` points uses.
        """
        out = self._points.free(*(point.H for point in needed if point is not None))
        factor = out.dtype.type(4 * t)
        B = -factor * base.G
        B.flat[:: len(B) + 1] += 1
        np.matmul(base.H, B, out=out)
        np.multiply(base.MH, factor, out=self._scratch)
        out += self._scratch
        return out

    def keep_product(self, MH: FloatArray, *needed: Point | None) -> FloatArray:
        """Copy a product: where it lies is free for the next one."""
        out = self._products.free(*(point.MH for point in needed if point is not None))
        np.copyto(out, MH)
        return out


class _Turns:
    """Three arrays: at most two hold a point that is still needed."""

    def __init__(self, H: FloatArray) -> None:
        self._arrays = [np.empty_like(H) for _ in range(3)]

    def free(self, *needed: FloatArray) -> FloatArray:
        """Return an array that holds nothing needed."""
        # Memory, not identity: a projection may hand back a view.
        return next(
            array
            for array in self._arrays
            if not any(np.may_share_memory(array, one) for one in needed)
        )


class Momentum:
    """Extrapolation y = H_i + beta (H_i - H_{i-1}) with restart.

    theta_0 = 1, theta' = (1 + sqrt(1 + 4 theta^2)) / 2, beta = (theta - 1) / theta'.
    M y is linear in the products already known, so it costs no product.
    """

    def __init__(self, *, active: bool) -> None:
        self.active = active
        self.theta = 1.0
        self.previous: Point | None = None
        self._y: FloatArray | None = None
        self._My: FloatArray | None = None

    def extrapolate(self, point: Point) -> Point:
        """Return y with its product; the point itself where beta is 0."""
        if self.previous is None:
            return point
        theta = float((1 + np.sqrt(1 + 4 * self.theta**2)) / 2)
        beta = (self.theta - 1) / theta
        self.theta = theta
        self._y = beyond(point.H, self.previous.H, beta, self._y)
        self._My = beyond(point.MH, self.previous.MH, beta, self._My)
        return Point(self._y, self._My, self._y.T @ self._y) if beta else point

    def restart(self) -> None:
        """Forget the speed: the next step is a plain one."""
        self.theta = 1.0

    def remember(self, point: Point) -> None:
        """Keep the point that a step leaves."""
        if self.active:
            self.previous = point


def beyond(
    new: FloatArray, old: FloatArray, beta: float, out: FloatArray | None = None
) -> FloatArray:
    """Return new + beta (new - old), in ``out`` if there is one."""
    out = np.subtract(new, old, out=out)
    out *= out.dtype.type(beta)
    out += new
    return out
