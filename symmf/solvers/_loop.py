"""The loop that runs any solver: it alone owns clock, trace, stopping, callbacks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.errors import InputError
from symmf.linalg import (
    dense_objective,
    trace_objective,
    trace_split_objective,
)
from symmf.similarity.operators import DenseOperator
from symmf.solvers.base import (
    Callback,
    Factorization,
    Interrupted,
    Iterate,
    Iteration,
    Problem,
    Rest,
    Solver,
    Start,
    Stop,
)

# Up to this n a dense M is evaluated through the residual itself, which resolves
# relative errors far below the 1e-16 where the trace form ends.
_DENSE_EVALUATION_LIMIT = 400
# An error this many times the larger of 1 and the first one is divergence. Large,
# because methods without a monotone merit may overshoot and recover. The released
# code has no such guard; its iterates are followed much further.
_DIVERGENCE, _PUBLISHED_DIVERGENCE = 1e6, 1e60

Point = TypeVar("Point")


def drive(
    iterates: Iterator[Point],
    look: Callable[[int, Point, float], Stop | None],
) -> Stop:
    """Run a generator of iterates until ``look`` says stop, and why; or to its end.

    ``look`` gets the number of the iterate, the iterate, and the seconds the generator
    has used so far: what ``look`` itself does is not on that clock.
    """
    clock = 0.0
    iteration = 0
    while True:
        began = time.perf_counter()
        try:
            with np.errstate(all="ignore"):
                iterate = next(iterates)
        except StopIteration as end:
            return end.value or Stop.tolerance
        clock += time.perf_counter() - began
        with np.errstate(all="ignore"):
            stop = look(iteration, iterate, clock)
        if stop is not None:
            return stop
        iteration += 1


def run(
    solver: Solver,
    problem: Problem,
    start: Start,
    *,
    max_iter: int,
    max_seconds: float | None = None,
    callback: Callback | None = None,
) -> Factorization:
    """Run ``solver`` until its tolerance, the iteration or time limit, or the end.

    On divergence the last finite iterate is returned and the trace ends with it. Ctrl-C
    raises :class:`Interrupted` with what there is.
    """
    # A constant of the matrix, computed once; not part of anybody's solver time.
    _ = problem.M.fro2
    monitor = _Monitor(
        solver, problem, max_iter=max_iter, max_seconds=max_seconds, callback=callback
    )
    try:
        stop = drive(solver.iterates(problem, start), monitor.look)
    except KeyboardInterrupt:
        if monitor.H is None:
            raise
        raise Interrupted(monitor.result(Stop.interrupted)) from None
    return monitor.result(stop)


def _objectives(problem: Problem, iterate: Iterate) -> tuple[float, float | None]:
    """f(H), and ||M - H P^T||^2 for a split; products here are not timed."""
    M, H, P = problem.M, iterate.H, iterate.P
    if isinstance(M, DenseOperator) and problem.n <= _DENSE_EVALUATION_LIMIT:
        split = None if P is None else dense_objective(M.M, H, P)
        return dense_objective(M.M, H), split
    f = iterate.objective
    if f is None:
        MH = M.matmat(H) if iterate.MH is None else iterate.MH
        f = trace_objective(M.fro2, H, MH)
    if P is None:
        return f, None
    MP = M.matmat(P) if iterate.MP is None else iterate.MP
    return f, trace_split_objective(M.fro2, H, P, MP)


class _Measured(NamedTuple):
    """What the trace holds of an iterate; errors are relative to ||M||_F^2."""

    error: float
    split_error: float | None
    merit: float
    seconds: float


@dataclass(slots=True)
class _Monitor:
    """Keeps trace and last iterate, and answers whether to stop, and why."""

    solver: Solver
    problem: Problem
    max_iter: int
    max_seconds: float | None
    callback: Callback | None
    H: FloatArray | None = None
    P: FloatArray | None = None
    n_iter: int = 0
    trace: list[_Measured] = field(default_factory=list)
    rest: Rest = field(init=False)

    def __post_init__(self) -> None:
        self.rest = Rest(self.problem)

    def look(self, iteration: int, iterate: Iterate, seconds: float) -> Stop | None:
        """Keep the iterate; the first reason to stop that holds is the answer."""
        scale = self.problem.M.fro2 or 1.0
        f, F = _objectives(self.problem, iterate)
        split = None if F is None else F / scale
        merit = f if iterate.merit is None else iterate.merit
        self.trace.append(_Measured(f / scale, split, merit, seconds))
        if self._has_diverged():
            if self.H is None:
                self._keep(0, iterate)
            return Stop.diverged
        self._keep(iteration, iterate)
        if self.callback is not None and self.callback(self._view()):
            return Stop.callback
        last = iteration == self.max_iter
        if self.max_seconds is not None and seconds >= self.max_seconds and not last:
            return Stop.time
        if self._settled(iteration, iterate):
            return Stop.tolerance
        return Stop.max_iter if last else None

    def _has_diverged(self) -> bool:
        """Whether an error is no number, or far above the start and the zero matrix."""
        limit = _PUBLISHED_DIVERGENCE if self.solver.published else _DIVERGENCE
        pairs = zip(self.trace[-1][:2], self.trace[0][:2], strict=True)
        return any(
            not np.isfinite(value) or value > limit * max(1.0, first)
            for value, first in pairs
            if value is not None and first is not None
        )

    def _keep(self, iteration: int, iterate: Iterate) -> None:
        H, P = iterate.H, iterate.P
        if not self.solver.one_shot:
            # A solver may write its next iterate over this one.
            H, P = H.copy(), None if P is None else P.copy()
        self.H, self.P, self.n_iter = H, P, iteration

    def _settled(self, iteration: int, iterate: Iterate) -> bool:
        """One step gave the answer, or the merit is at rest at a stationary point."""
        if self.solver.one_shot:
            return iteration == 1
        if self.solver.own_tolerance or iteration == 0:
            return False
        at_rest = self.rest.reached(self.trace[-2].merit, self.trace[-1].merit)
        return at_rest and self.solver.is_stationary(self.problem, iterate)

    def _view(self) -> Iteration:
        assert self.H is not None
        now = self.trace[-1]
        return Iteration(
            iteration=self.n_iter,
            H=self.H.copy(),
            P=None if self.P is None else self.P.copy(),
            error=now.error,
            split_error=now.split_error,
            seconds=now.seconds,
        )

    def result(self, stop: Stop) -> Factorization:
        """Return the last iterate that was kept, and the trace up to it."""
        if self.H is None:
            name = type(self.solver).__name__
            raise InputError(
                f"The solver {name} yields nothing; its `iterates` must yield the "
                "start first."
            )
        trace = self.trace[: self.n_iter + 1]
        split = None if self.P is None else np.array([one.split_error for one in trace])
        return Factorization(
            H=self.H,
            P=self.P,
            error=np.array([one.error for one in trace]),
            split_error=split,
            seconds=np.array([one.seconds for one in trace]),
            n_iter=self.n_iter,
            stop=stop,
            solver=self.solver,
            constraint=self.problem.constraint,
        )
