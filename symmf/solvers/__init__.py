"""Solvers: generators over a symmetric operator, run by one loop."""

from __future__ import annotations

from symmf.solvers.base import (
    Factorization,
    Interrupted,
    Iteration,
    Problem,
    Solver,
    Start,
    Stop,
)
from symmf.solvers.factorize import factorize
from symmf.solvers.path import factorize_path
from symmf.solvers.registry import SOLVERS, SolverName

__all__ = [
    "SOLVERS",
    "Factorization",
    "Interrupted",
    "Iteration",
    "Problem",
    "Solver",
    "SolverName",
    "Start",
    "Stop",
    "factorize",
    "factorize_path",
]
