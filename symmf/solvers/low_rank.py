"""A start from a low-rank approximation of M, whose products are cheap."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_number_or_name
from symmf.similarity.operators import DenseOperator, SymmetricOperator
from symmf.solvers._loop import run
from symmf.solvers.base import Problem, Solver, Start, WarmStart

# Columns beyond k, and power iterations, of the approximation.
_MORE, _POWERS = 10, 2
# Products with dense matrices from this size on cost more than all else; on sparse
# graphs they do not (``scripts/benchmark race``).
_DENSE_FROM = 1000
# The approximation is factored only to this tolerance: its factor is not the answer.
_TOL = 1e-4


class LowRank(SymmetricOperator):
    """Q diag(e) Q^T with orthonormal columns of Q."""

    def __init__(self, Q: FloatArray, e: FloatArray) -> None:
        super().__init__(len(Q), Q.dtype)
        self.Q, self.e = Q, e

    def _matmat(self, V: FloatArray) -> FloatArray:
        return np.asarray(self.Q @ (self.e[:, None] * (self.Q.T @ V)))

    def diagonal(self) -> FloatArray:
        """Return the diagonal."""
        return np.asarray(np.square(self.Q) @ self.e)

    def _exact_fro2(self) -> float:
        return float(np.sum(np.square(self.e, dtype=np.float64)))


def low_rank(M: SymmetricOperator, columns: int, rng: np.random.Generator) -> LowRank:
    """Approximate M on the range of its powers times a random matrix.

    References
    ----------
    Hayashi, Aksoy, Ballard and Park, "Randomized algorithms for symmetric nonnegative
    matrix factorization", SIAM J. Matrix Anal. Appl. 46 (2025).
    """
    Q = rng.standard_normal((M.shape[0], columns)).astype(M.dtype)
    for _ in range(_POWERS + 1):
        Q = np.linalg.qr(M.matmat(Q))[0]
    T = Q.T @ M.matmat(Q)
    e, U = np.linalg.eigh((T + T.T) / 2)
    return LowRank(Q @ U, e)


def warm_start(
    solver: Solver, problem: Problem, start: Start, columns: int, max_iter: int
) -> tuple[Start, WarmStart]:
    """Factor a low-rank approximation; return where that ends, as a start for M."""
    began = time.perf_counter()
    approximation = low_rank(problem.M, columns, start.rng)
    seconds = time.perf_counter() - began
    near = replace(problem, M=approximation, tol=max(problem.tol, _TOL))
    fit = run(solver, near, start, max_iter=max_iter)
    fro2 = problem.M.fro2
    # <M, Q T Q^T> = ||T||_F^2 for T = Q^T M Q.
    missing = max(fro2 - approximation.fro2, 0.0) / (fro2 or 1.0)
    made = WarmStart(
        columns=columns,
        error=missing,
        n_iter=fit.n_iter,
        seconds=seconds + float(fit.seconds[-1]),
    )
    return Start(H=fit.H, P=fit.P, rng=start.rng), made


def columns_for(problem: Problem, wanted: Any) -> int | None:
    """Check ``low_rank`` and return the rank to use, if any.

    ``auto`` is k + 10 for large dense matrices.
    """
    if wanted is None:
        return None
    n, k = problem.n, problem.k
    check_number_or_name("low_rank", wanted, ["auto"], least=k, most=n, whole=True)
    if wanted == "auto":
        costly = isinstance(problem.M, DenseOperator) and n >= _DENSE_FROM
        return min(k + _MORE, n) if costly else None
    return int(wanted)
