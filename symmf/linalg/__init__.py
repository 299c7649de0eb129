"""Objectives from traces and their dense twins, spectral norms, top eigenpairs."""

from __future__ import annotations

from symmf.linalg.checks import largest_entry
from symmf.linalg.eigen.blocks import Eigenpairs
from symmf.linalg.eigen.pairs import (
    CLUSTERING_ACCURACY,
    solve_eigenpairs,
    top_eigenpairs,
)
from symmf.linalg.norms import (
    DENSE_EIGEN_LIMIT,
    BlockPower,
    dense_objective,
    inner,
    largest_eigenvalue,
    residual_operator,
    smallest_eigenvalue,
    spectral_norm,
    trace_objective,
    trace_split_objective,
)

__all__ = [
    "CLUSTERING_ACCURACY",
    "DENSE_EIGEN_LIMIT",
    "BlockPower",
    "Eigenpairs",
    "dense_objective",
    "inner",
    "largest_eigenvalue",
    "largest_entry",
    "residual_operator",
    "smallest_eigenvalue",
    "solve_eigenpairs",
    "spectral_norm",
    "top_eigenpairs",
    "trace_objective",
    "trace_split_objective",
]
