"""Solvers: generators over a symmetric operator, run by one loop."""

from __future__ import annotations

from symmf.solvers.base import Factorization, Iteration, Problem, Solver, Stop
from symmf.solvers.factorize import factorize
from symmf.solvers.path import factorize_path
from symmf.solvers.registry import SOLVERS

__all__ = [
    "SOLVERS",
    "Factorization",
    "Iteration",
    "Problem",
    "Solver",
    "Stop",
    "factorize",
    "factorize_path",
]
