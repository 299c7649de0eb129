"""The loop that runs any solver: it alone owns clock, trace, stopping, callbacks."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from symmf.linalg import (
    dense_objective,
    trace_objective,
    trace_split_objective,
)
from symmf.notation import FloatArray
from symmf.similarity.operators import DenseOperator
from symmf.solvers.base import (
    Callback,
    Factorization,
    Iterate,
    Iteration,
    Problem,
    Solver,
    Stop,
)

# Up to this n a dense M is evaluated through the residual itself, which resolves
# relative errors far below the 1e-16 where the trace form ends.
_DENSE_EVALUATION_LIMIT = 400
# A decrease below tol must be seen this often in a row.
_PATIENCE = 2
# An error this many times the larger of 1 and the first one is divergence. Large,
# because methods without a monotone merit may overshoot and recover. The released
# code has no such guard; its iterates are followed much further.
_DIVERGENCE, _PUBLISHED_DIVERGENCE = 1e6, 1e60


@dataclass(slots=True)
class _Trace:
    """Errors and times of the iterates seen so far."""

    problem: Problem
    error: list[float] = field(default_factory=list)
    split_error: list[float] = field(default_factory=list)
    merit: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, iterate: Iterate, seconds: float) -> None:
        M = self.problem.M
        scale = M.fro2 or 1.0
        f, F = self._objectives(iterate)
        self.error.append(f / scale)
        if F is not None:
            self.split_error.append(F / scale)
        merit = iterate.merit if iterate.merit is not None else f
        self.merit.append(merit / scale)
        self.seconds.append(seconds)

    def _objectives(self, iterate: Iterate) -> tuple[float, float | None]:
        """f(H), and ||M - H P^T||^2 for a split; products here are not timed."""
        M, H, P = self.problem.M, iterate.H, iterate.P
        if isinstance(M, DenseOperator) and self.problem.n <= _DENSE_EVALUATION_LIMIT:
            split = None if P is None else dense_objective(M.M, H, P)
            return dense_objective(M.M, H), split
        f = iterate.objective
        if f is None:
            f = trace_objective(M.fro2, H, M.matmat(H))
        if P is None:
            return f, None
        return f, trace_split_objective(M.fro2, H, P, M.matmat(P))

    def diverged(self) -> bool:
        """Non-finite, or far above both the start and the zero matrix."""
        values = [self.error[-1], *self.split_error[-1:]]
        firsts = [self.error[0], *self.split_error[:1]]
        if not np.all(np.isfinite(values)):
            return True
        limit = _PUBLISHED_DIVERGENCE if self.problem.published else _DIVERGENCE
        return any(
            value > limit * max(1.0, first)
            for value, first in zip(values, firsts, strict=True)
        )

    def drop_last(self) -> None:
        for column in (self.error, self.split_error, self.merit, self.seconds):
            if column:
                column.pop()


def run(
    solver: Solver,
    problem: Problem,
    *,
    H0: FloatArray,
    P0: FloatArray | None,
    rng: np.random.Generator,
    max_iter: int,
    max_seconds: float | None = None,
    callback: Callback | None = None,
) -> Factorization:
    """Run ``solver`` until its tolerance, the iteration or time limit, or the end.

    On divergence the last finite iterate is returned and the trace ends with it.
    """
    # A constant of the matrix, kept by it; not part of anybody's solver time.
    _ = problem.M.fro2
    iterates = solver.iterates(problem, H0, P0, rng)
    trace = _Trace(problem)
    clock = 0.0
    small_steps = 0
    H: FloatArray = H0
    P: FloatArray | None = None
    stop = Stop.max_iter
    for iteration in range(max_iter + 1):
        began = time.perf_counter()
        iterate, ended = _next(iterates)
        clock += time.perf_counter() - began
        if iterate is None:
            stop = ended
            break
        with np.errstate(all="ignore"):
            trace.add(iterate, clock)
        if trace.diverged():
            stop = Stop.diverged
            if iteration > 0:
                trace.drop_last()
            break
        H, P = iterate.H, iterate.P
        if not solver.one_shot:
            # A solver may write its next iterate over this one.
            H, P = H.copy(), None if P is None else P.copy()
        if callback is not None and callback(_view(iteration, H, P, trace)):
            stop = Stop.callback
            break
        if max_seconds is not None and clock >= max_seconds and iteration < max_iter:
            stop = Stop.time
            break
        if solver.one_shot and iteration == 1:
            stop = Stop.tolerance
            break
        if problem.tol > 0 and not solver.own_tolerance and iteration > 0:
            decrease = trace.merit[-2] - trace.merit[-1]
            small_steps = small_steps + 1 if decrease <= problem.tol else 0
            if small_steps >= _PATIENCE:
                stop = Stop.tolerance
                break
    iterates.close()
    return Factorization(
        H=H,
        P=P,
        error=np.array(trace.error),
        split_error=np.array(trace.split_error) if trace.split_error else None,
        seconds=np.array(trace.seconds),
        n_iter=len(trace.error) - 1,
        stop=stop,
        solver=solver,
        constraint=problem.constraint,
    )


def _next(
    iterates: Generator[Iterate, None, Stop | None],
) -> tuple[Iterate | None, Stop]:
    """Resume the solver; (None, why) once it has ended."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return next(iterates), Stop.max_iter
    except StopIteration as end:
        return None, end.value or Stop.tolerance


def _view(
    iteration: int, H: FloatArray, P: FloatArray | None, trace: _Trace
) -> Iteration:
    return Iteration(
        iteration=iteration,
        H=H.copy(),
        P=None if P is None else P.copy(),
        error=trace.error[-1],
        split_error=trace.split_error[-1] if trace.split_error else None,
        seconds=trace.seconds[-1],
    )
