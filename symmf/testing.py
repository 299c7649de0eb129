"""Checks of a solver or a set of one's own: the contract that ours are held to.

As scikit-learn's ``check_estimator``: each returns nothing if all is well and raises an
``AssertionError`` whose sentence says what was promised and is not so.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.constraints import CONSTRAINTS, Constraint
from symmf.solvers import Problem, Solver, Start, factorize

__all__ = ["check_constraint", "check_solver"]

# Steps that are watched, and clusters and rows of the matrix that is factored.
_STEPS, _K, _N = 15, 3, 24
_SHAPES = ((1, 1), (7, 1), (5, 3), (12, 4))


def check_constraint(constraint: Constraint) -> None:
    """Check a set: projection, membership, starts, and what it says of itself.

    Examples
    --------
    >>> from symmf.constraints import Nonnegative
    >>> check_constraint(Nonnegative())
    """
    name = type(constraint).__name__
    assert isinstance(constraint, Constraint), f"{name} is no symmf.Constraint."
    assert type(constraint) is Constraint or constraint.name != Constraint.name, (
        f"{name} has no name of its own: give it the class attribute `name`."
    )
    assert pickle.loads(pickle.dumps(constraint)) == constraint, (
        f"{name} does not come back from pickle; make it a frozen dataclass of plain "
        "values at the top of a module."
    )
    rng = np.random.default_rng(0)
    for n, k in _SHAPES:
        try:
            constraint.check(n, k)
        except ValueError:
            continue  # the set is empty for this shape, and says so
        for size in (1e-3, 1.0, 1e3):
            _check_projection(constraint, size * rng.standard_normal((n, k)), rng)


def _check_projection(
    constraint: Constraint, Z: FloatArray, rng: np.random.Generator
) -> None:
    name, before = type(constraint).__name__, Z.copy()
    H = constraint.project(Z)
    assert np.array_equal(Z, before), f"{name}.project changes its argument."
    assert H.shape == Z.shape, f"{name}.project returns {H.shape} for {Z.shape}."
    assert constraint.contains(H), f"{name}.contains(project(Z)) is False."
    assert not constraint.nonnegative or (H >= 0).all(), (
        f"{name} says nonnegative, and project gives {H.min():.3g}."
    )
    begin = constraint.start(rng, *Z.shape)
    assert constraint.contains(begin), f"{name}.start is not in the set."
    if constraint.cone:
        assert constraint.contains(2.0 * H), f"{name} says cone, but 2 H is outside."
    if not constraint.exact:
        return
    slack = 1e-9 * max(1.0, float(np.abs(Z).max()))
    for point in (H, begin, Z) if constraint.contains(Z) else (H, begin):
        assert np.abs(constraint.project(point) - point).max() <= slack, (
            f"{name} says exact, but projecting a feasible point moves it."
        )
    distance = float(np.linalg.norm(H - Z))
    for step in (1e-3, 0.1, 1.0):
        near = constraint.project(H + step * rng.standard_normal(Z.shape))
        nearer = float(np.linalg.norm(near - Z))
        assert distance <= nearer + slack, (
            f"{name} says exact, but a point of the set is at {nearer:.6g} from Z and "
            f"project(Z) at {distance:.6g}."
        )


def check_solver(solver: Solver) -> None:
    """Check a solver on every set that it says it handles.

    Inputs stay as they were, the same seed gives the same bits, the first iterate is
    the start, every further one is in the set and finite, and what it says it decreases
    never rises.

    Examples
    --------
    >>> from symmf.solvers import SOLVERS
    >>> check_solver(SOLVERS["projected_gradient"]())
    """
    name = type(solver).__name__
    assert isinstance(solver, Solver), f"{name} is no symmf.solvers.Solver."
    assert pickle.loads(pickle.dumps(solver)) == solver, (
        f"{name} does not come back from pickle; make it a frozen dataclass of plain "
        "values at the top of a module."
    )
    for set_name in solver.constraints:
        assert set_name in CONSTRAINTS, f"{name}: there is no set {set_name!r}."
        constraint = CONSTRAINTS[set_name]()
        if constraint.published_only and not solver.published:
            continue
        _check_runs(solver, constraint)
        _check_iterates(solver, constraint)


def _planted() -> FloatArray:
    """Return a similarity with clear blocks and entries of both signs."""
    rng = np.random.default_rng(0)
    X = np.eye(_K)[np.arange(_N) % _K] + 0.3 * rng.standard_normal((_N, _K))
    similarity: FloatArray = X @ X.T
    return similarity


def _check_runs(solver: Solver, constraint: Constraint) -> None:
    where = f"{type(solver).__name__} with the set {constraint.name!r}"
    M, H0 = _planted(), np.random.default_rng(1).random((_N, _K)) + 0.05
    kept = M.copy(), H0.copy()
    more: dict[str, Any] = {"solver": solver, "constraint": constraint}
    begun = factorize(M, _K, H0=H0, max_iter=0, **more)
    assert solver.one_shot or np.array_equal(begun.H, H0), (
        f"{where}: the first iterate is not the start."
    )
    fits = [factorize(M, _K, random_state=7, max_iter=_STEPS, **more) for _ in "ab"]
    assert np.array_equal(fits[0].H, fits[1].H), f"{where}: one seed, different bits."
    factorize(M, _K, H0=H0, max_iter=_STEPS, **more)
    for array, before in zip((M, H0), kept, strict=True):
        assert np.array_equal(array, before), f"{where} changes its inputs."
    assert np.isfinite(fits[0].H).all(), f"{where}: H has entries that are no numbers."


def _check_iterates(solver: Solver, constraint: Constraint) -> None:
    where = f"{type(solver).__name__} with the set {constraint.name!r}"
    values = []
    for i, (H, P, value) in enumerate(_iterates(solver, constraint)):
        assert H.shape == (_N, _K), f"{where}: iterate {i} has the shape {H.shape}."
        # Of a split pair, the second factor is the one that must be in the set.
        inside = H if P is None else P
        assert i == 0 or constraint.contains(inside), (
            f"{where}: iterate {i} is not in the set."
        )
        values.append(value)
    if solver.never_rises and constraint.exact and None not in values:
        rise = float(np.diff(np.array(values, dtype=float)).max(initial=0.0))
        # The trace form of the objective resolves 1e-16 ||M||^2.
        assert rise <= 1e-10 * float(np.sum(_planted() ** 2)), (
            f"{where} says that {solver.never_rises} never rises, but it rises by "
            f"{rise:.3g}."
        )


def _iterates(
    solver: Solver, constraint: Constraint
) -> Iterator[tuple[FloatArray, FloatArray | None, float | None]]:
    """Yield factors and the decreasing value, straight from the generator."""
    from symmf.similarity import as_operator

    problem = Problem(
        M=as_operator(_planted()),
        k=_K,
        constraint=constraint,
        tol=0.0,
        published=solver.published,
    )
    rng = np.random.default_rng(2)
    H0 = constraint.start(rng, _N, _K)
    start = Start(H=H0, P=H0.copy() if solver.split else None, rng=rng)
    steps = 1 if solver.one_shot else _STEPS
    for _, found in zip(
        range(steps + 1), solver.iterates(problem, start), strict=False
    ):
        value = found.objective if found.merit is None else found.merit
        yield found.H.copy(), None if found.P is None else found.P.copy(), value
