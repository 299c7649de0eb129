"""Starting points."""

from __future__ import annotations

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import inner
from symmf.solvers.base import Problem

STARTS = ("normal", "scaled", "uniform", "symm_mean")


def draw_start(problem: Problem, rng: np.random.Generator, kind: str) -> FloatArray:
    """Draw a feasible H_0.

    ``normal``: the projection of a standard normal matrix, as the authors start.
    ``scaled``: the same times the best scalar. ``uniform``: entries in [0, 1).
    ``symm_mean``: 2 sqrt(mean(M_+) / k) times uniform entries, as SymNMF starts.
    """
    n, k, dtype = problem.n, problem.k, problem.M.dtype
    if kind == "uniform":
        return rng.random((n, k)).astype(dtype)
    if kind == "symm_mean":
        size = 2 * np.sqrt(_mean_positive_entry(problem, rng) / k)
        return np.asarray(size * rng.random((n, k)), dtype=dtype)
    H = problem.constraint.start(rng, n, k, dtype)
    if kind == "scaled" and problem.constraint.cone:
        return problem.constraint.project(scale_start(problem, H))
    return H


def scale_start(problem: Problem, H: FloatArray) -> FloatArray:
    """Multiply H by the c > 0 that minimises f(c H): c^2 = <H, M H> / ||H^T H||^2."""
    G = H.T @ H
    size = float(np.sum(np.square(G, dtype=np.float64)))
    if size == 0:
        return H
    c2 = inner(H, problem.M.matmat(H)) / size
    if c2 <= 0:
        # No positive direction found: stay small, but not at the saddle H = 0.
        c2 = 0.1 * np.sqrt(max(problem.M.fro2, 0.0) / size)
    return np.asarray(H * np.sqrt(c2), dtype=H.dtype)


def _mean_positive_entry(problem: Problem, rng: np.random.Generator) -> float:
    """Mean of max(M, 0), from at most 200 rows; M may have mixed signs."""
    rows = np.arange(problem.n)
    if problem.n > 200:
        rows = np.sort(rng.choice(problem.n, 200, replace=False))
    return float(np.mean(np.maximum(problem.M.columns(rows), 0)))
