"""What is asked of a matrix before it is factored: square and symmetric."""

from __future__ import annotations

from typing import Any

import numpy as np

from symmf.errors import InputError


def check_square(shape: tuple[int, ...]) -> None:
    """Raise InputError unless it is the shape of a square matrix with rows."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InputError(
            f"M must be a square matrix with at least one row; its shape is {shape}. "
            "For data with one sample per row use symmf.SymMF, "
            "or build a similarity first."
        )


def symmetry_slack(dtype: Any) -> float:
    """Return how far, relative to the largest, entries may be from the transpose."""
    # A few hundred roundings: what (1 + w) A - w D of a symmetric A can show.
    return 1e-4 if dtype == np.float32 else 1e-10


def not_symmetric(gap: float) -> str:
    """Return the sentence for a matrix that differs from its transpose."""
    return (
        f"M is not symmetric (entries differ by up to {gap:.3g} from its transpose). "
        "If that is meant, factor (M + M.T) / 2 instead."
    )


def check_symmetric_products(M: Any) -> None:
    """<u, M v> = <v, M u> for random u, v: what can be asked of an operator."""
    uv = np.random.default_rng(0).standard_normal((M.shape[0], 2)).astype(M.dtype)
    ritz = uv.T @ M.matmat(uv)
    if not np.isfinite(ritz).all():
        raise InputError("Products with M give NaN or infinite values.")
    gap = abs(float(ritz[0, 1] - ritz[1, 0]))
    if gap > symmetry_slack(M.dtype) * max(1e-300, float(np.abs(ritz).max())) * 100:
        raise InputError(not_symmetric(gap))
