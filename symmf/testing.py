"""Checks of a solver or a set of one's own: the contract that ours are held to.

As scikit-learn's ``check_estimator``: each returns nothing if all is well and raises an
``AssertionError`` whose sentence says what was promised and is not so.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from symmf.common.notation import FloatArray
from symmf.constraints import CONSTRAINTS, Constraint
from symmf.linalg import dense_objective
from symmf.solvers import Problem, Solver, Start, factorize
from symmf.solvers.base import Iterate

__all__ = ["check_constraint", "check_solver"]

# Steps that are watched, and clusters and rows of the matrix that is factored.
_STEPS, _K, _N = 15, 3, 24
_SHAPES = ((1, 1), (1, 3), (7, 1), (5, 3), (12, 4))


@contextmanager
def _promise(what: str) -> Iterator[None]:
    """Name what failed, whatever a stranger's code raises."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise AssertionError(f"{what} failed ({why}).") from error


def _check_pickles(thing: object) -> None:
    """Workers and stored results need that a copy through pickle is equal."""
    name = type(thing).__name__
    with _promise(f"Pickling {name}"):
        assert pickle.loads(pickle.dumps(thing)) == thing, (
            f"{name} does not come back from pickle; make it a frozen dataclass of "
            "plain values at the top of a module."
        )


def check_constraint(constraint: Constraint) -> None:
    """Check a set: projection, membership, starts, and what it says of itself.

    Examples
    --------
    >>> from symmf.constraints import Nonnegative
    >>> check_constraint(Nonnegative())
    """
    kind = type(constraint)
    assert isinstance(constraint, Constraint), (
        f"{kind.__name__} is not a symmf.constraints.Constraint."
    )
    assert CONSTRAINTS.get(constraint.name, kind) is kind, (
        f"{kind.__name__} has no name of its own: {constraint.name!r} is a set of "
        "symmf. Give it the class attribute `name`."
    )
    _check_pickles(constraint)
    rng = np.random.default_rng(0)
    possible = [shape for shape in _SHAPES if _is_possible(constraint, *shape)]
    assert possible, f"{kind.__name__}.check refuses every shape."
    for shape in possible:
        with _promise(f"{kind.__name__} for matrices of shape {shape}"):
            _check_start(constraint, *shape)
            for size in (1e-3, 1.0, 1e3):
                _check_projection(constraint, size * rng.standard_normal(shape), rng)


def _is_possible(constraint: Constraint, n: int, k: int) -> bool:
    """Whether the set says that it has (n, k) matrices."""
    with _promise(f"{type(constraint).__name__}.check({n}, {k})"):
        try:
            constraint.check(n, k)
        except ValueError:
            return False
    return True


def _check_start(constraint: Constraint, n: int, k: int) -> None:
    where = f"{type(constraint).__name__}.start"
    begin, again = (
        constraint.start(np.random.default_rng(0), n, k, np.float64) for _ in "ab"
    )
    _check_array(where, begin, np.zeros((n, k)))
    assert constraint.contains(begin, 1e-6), f"{where} is not in the set."
    assert np.array_equal(begin, again), f"{where} gives two answers for one seed."


def _check_array(where: str, found: Any, like: FloatArray) -> None:
    """Ask for a real array of this shape in which all entries are numbers."""
    assert isinstance(found, np.ndarray), f"{where} does not return an array."
    assert found.shape == like.shape, f"{where} returns {found.shape} for {like.shape}."
    assert found.dtype.kind == "f", f"{where} returns the type {found.dtype}."
    assert np.isfinite(found).all(), f"{where} has entries that are not numbers."


def _check_projection(
    constraint: Constraint, Z: FloatArray, rng: np.random.Generator
) -> None:
    name, before = type(constraint).__name__, Z.copy()
    H, again = constraint.project(Z, Z), constraint.project(Z, Z)
    assert np.array_equal(Z, before), f"{name}.project changes its argument."
    _check_array(f"{name}.project", H, Z)
    assert np.array_equal(H, again), f"{name}.project gives two answers for one Z."
    assert constraint.contains(H, 1e-8), f"{name}.contains(project(Z)) is False."
    assert not constraint.nonnegative or (H >= 0).all(), (
        f"{name} says nonnegative, and project gives {H.min():.3g}."
    )
    if constraint.cone:
        assert constraint.contains(2.0 * H), f"{name} says cone, but 2 H is outside."
    if constraint.exact:
        _check_nearest(constraint, Z, H, rng)


def _check_nearest(
    constraint: Constraint, Z: FloatArray, H: FloatArray, rng: np.random.Generator
) -> None:
    """No point of the set that we can think of is nearer to Z than H = project(Z)."""
    name = type(constraint).__name__
    slack = 1e-9 * max(1.0, float(np.abs(Z).max()))
    begin = constraint.start(rng, *Z.shape)
    for point in (H, begin, Z) if constraint.contains(Z) else (H, begin):
        assert np.abs(constraint.project(point) - point).max() <= slack, (
            f"{name} says exact, but projecting a feasible point moves it."
        )
    steps = [step * rng.standard_normal(Z.shape) for step in (1e-3, 0.1, 1.0)]
    rivals = [constraint.project(H + step) for step in steps]
    further = [H + step for step in steps] + [
        share * Z for share in np.arange(0.05, 1, 0.05)
    ]
    rivals += [point for point in further if constraint.contains(point, 0.0)]
    distance = float(np.linalg.norm(H - Z))
    nearest = min(float(np.linalg.norm(rival - Z)) for rival in rivals)
    assert distance <= nearest + slack, (
        f"{name} says exact, but a point of the set is at {nearest:.6g} from Z and "
        f"project(Z) at {distance:.6g}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box(Constraint):
    """Entries between -1/2 and 1/2: a set that no solver knows by name."""

    name: ClassVar[str] = "a box"
    cone: ClassVar[bool] = False

    def project(self, Z: FloatArray, _previous: FloatArray | None = None) -> FloatArray:
        return np.clip(Z, -0.5, 0.5)


def check_solver(solver: Solver) -> None:
    """Check a solver on every set that it says it handles.

    Inputs stay as they were; the same seed gives the same bits; the first iterate is
    the start, and every further one is finite and in the set; with ``tol=0`` they do
    not end; an objective or product that comes with H is that of H; and what the solver
    says it decreases never rises.

    Examples
    --------
    >>> from symmf.solvers import SOLVERS
    >>> check_solver(SOLVERS["projected_gradient"]())
    """
    name = type(solver).__name__
    assert isinstance(solver, Solver), f"{name} is not a symmf.solvers.Solver."
    _check_pickles(solver)
    unknown = [known for known in solver.constraints if known not in CONSTRAINTS]
    assert not unknown, f"{name}: there is no set {unknown[0]!r}."
    sets = [CONSTRAINTS[known]() for known in solver.constraints]
    for constraint in [*sets, *([_Box()] if solver.any_set else [])]:
        if solver.published or not constraint.published_only:
            with _promise(f"{name} with the set {constraint.name!r}"):
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
    more: dict[str, Any] = {"solver": solver, "constraint": constraint}
    begun = factorize(M, _K, H0=H0, max_iter=0, **more)
    assert solver.one_shot or np.array_equal(begun.H, H0), (
        f"{where}: the first iterate is not the start."
    )
    fits = [factorize(M, _K, random_state=7, max_iter=_STEPS, **more) for _ in "ab"]
    assert np.array_equal(M, _planted()), f"{where} changes its inputs."
    assert np.array_equal(fits[0].H, fits[1].H), f"{where}: one seed, different bits."
    _check_array(where, fits[0].H, H0)


def _check_iterates(solver: Solver, constraint: Constraint) -> None:
    """Look at the iterates themselves, straight from the generator."""
    from symmf.similarity import as_operator

    where = f"{type(solver).__name__} with the set {constraint.name!r}"
    M, published = _planted(), solver.published
    problem = Problem(M=as_operator(M), k=_K, constraint=constraint, tol=0.0)
    rng = np.random.default_rng(2)
    H0 = constraint.start(rng, _N, _K)
    start = Start(H=H0.copy(), P=H0.copy() if solver.split else None, rng=rng)
    steps = 1 if solver.one_shot else _STEPS
    values = []
    for i, found in enumerate(islice(solver.iterates(problem, start), steps + 1)):
        _check_array(f"{where}: iterate {i}", found.H, H0)
        assert not solver.split or found.P is not None, f"{where}: split, but no P."
        # Of a split pair, the second factor is the one that must be in the set.
        inside = found.H if found.P is None else found.P
        assert i == 0 or constraint.contains(inside), (
            f"{where}: iterate {i} is not in the set."
        )
        values.append(_check_values(f"{where}: iterate {i}", solver, M, found))
    assert len(values) == steps + 1, (
        f"{where} ends after {len(values) - 1} iterations although tol is 0."
    )
    assert np.array_equal(start.H, H0), f"{where} changes its inputs."
    if solver.never_rises and constraint.exact and not published:
        rise = float(np.diff(values).max(initial=0.0))
        # The trace form of the objective resolves 1e-16 ||M||^2.
        assert rise <= 1e-10 * float(np.sum(M**2)), (
            f"{where} says that {solver.never_rises} never rises, but it rises by "
            f"{rise:.3g}."
        )


def _check_values(where: str, solver: Solver, M: FloatArray, found: Iterate) -> float:
    """Compare what comes with H with what it should be; return what decreases."""
    f = dense_objective(M, found.H)
    expected: dict[str, tuple[Any, Any]] = {"objective": (found.objective, f)}
    expected["MH"] = found.MH, M @ found.H
    if found.P is not None:
        expected["MP"] = found.MP, M @ found.P
    for name, (given, own) in expected.items():
        assert given is None or np.allclose(given, own, rtol=1e-6, atol=1e-6), (
            f"{where}: `{name}` is not that of its factors."
        )
    if found.merit is not None:
        return found.merit
    assert solver.never_rises in ("", "f"), (
        f"{where}: {solver.never_rises} never rises, but there is no `merit`."
    )
    return f
