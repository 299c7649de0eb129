"""Starting points: given or drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_name
from symmf.errors import InputError
from symmf.linalg import inner
from symmf.solvers.base import Problem, Solver

STARTS = ("normal", "scaled", "uniform", "symm_mean")


def first_factor(
    problem: Problem,
    method: Solver,
    H0: Any,
    kind: str | None,
    rng: np.random.Generator,
) -> FloatArray:
    """Return H_0: the one that is given, or one of the kind asked for."""
    if H0 is not None:
        return given_factor("H0", H0, problem)
    if kind is None:
        kind = (method.published and method.published_start) or method.start
    check_name("start", kind, STARTS)
    if method.one_shot:
        return np.zeros((problem.n, problem.k), problem.M.dtype)
    return draw_start(problem, rng, kind)


def given_factor(name: str, H: Any, problem: Problem) -> FloatArray:
    """Copy a given start in the precision of M."""
    try:
        if np.iscomplexobj(H):
            raise TypeError("half of it would be dropped")
        H = np.array(H, dtype=problem.M.dtype, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of real numbers.") from None
    shape = problem.n, problem.k
    if H.shape != shape:
        raise InputError(
            f"{name} must have shape {shape} (rows of M, k); it has {H.shape}."
        )
    if not np.isfinite(H).all():
        raise InputError(f"{name} has NaN or infinite entries.")
    return np.asarray(H)


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
