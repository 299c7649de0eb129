"""Objectives from traces, and their dense twins."""

from __future__ import annotations

import numpy as np

from symmf.common.notation import FloatArray


def inner(A: FloatArray, B: FloatArray) -> float:
    """Return <A, B>, accumulated in double precision."""
    if A.dtype == np.float64:
        # Columns one after the other where they are contiguous: nothing is copied.
        both = A.flags.f_contiguous and B.flags.f_contiguous
        return float(np.vdot(A.T, B.T) if both else np.vdot(A, B))
    return float(np.einsum("ij,ij->", A, B, dtype=np.float64, casting="unsafe"))


def trace_objective(
    fro2: float, H: FloatArray, MH: FloatArray, G: FloatArray | None = None
) -> float:
    """Return ||M - H H^T||_F^2 = ||M||^2 - 2 tr(H^T M H) + ||H^T H||^2.

    Costs O(n k^2) once M H is known, O(n k) with G = H^T H too. Cancellation limits
    it to about 1e-16 ||M||^2; :func:`dense_objective` goes further.
    """
    G = np.asarray(H.T @ H if G is None else G, dtype=np.float64)
    return fro2 - 2.0 * inner(H, MH) + float(np.sum(G * G))


def trace_split_objective(
    fro2: float, H: FloatArray, P: FloatArray, MP: FloatArray
) -> float:
    """Return ||M - H P^T||_F^2 from the product M P, without anything n x n."""
    HH = np.asarray(H.T @ H, dtype=np.float64)
    PP = np.asarray(P.T @ P, dtype=np.float64)
    return fro2 - 2.0 * inner(H, MP) + float(np.sum(HH * PP))


def dense_objective(M: FloatArray, H: FloatArray, P: FloatArray | None = None) -> float:
    """Return ||M - H P^T||_F^2 (P = H by default) from the residual itself."""
    H = np.asarray(H, dtype=np.float64)
    P = H if P is None else np.asarray(P, dtype=np.float64)
    R = np.asarray(M, dtype=np.float64) - H @ P.T
    return float(np.einsum("ij,ij->", R, R))
