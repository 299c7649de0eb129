"""The objective along a line is a quartic; its exact minimiser."""

from __future__ import annotations

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import inner


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
