"""Checks of a stranger's solver and set: ours pass, broken ones are named."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from symmf import SymMF, factorize
from symmf.constraints import CONSTRAINTS, Constraint
from symmf.errors import InputError
from symmf.solvers import SOLVERS, Solver
from symmf.solvers.base import Iterate
from symmf.testing import check_constraint, check_solver


@dataclass(frozen=True, slots=True, kw_only=True)
class Ball(Constraint):
    """Rows of length at most 1."""

    name: ClassVar[str] = "ball"
    cone: ClassVar[bool] = False

    def project(self, Z, _previous=None):
        return Z / np.maximum(1.0, np.linalg.norm(Z, axis=1, keepdims=True))

    def contains(self, H, atol=1e-8):
        return bool((np.linalg.norm(H, axis=1) <= 1 + atol).all())


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(Solver):
    """Gradient steps of a fixed length."""

    size: float = 0.002
    name: ClassVar[str] = "steps"
    title: ClassVar[str] = "Fixed steps"

    def iterates(self, problem, start):
        H = start.H
        while True:
            yield Iterate(H)
            H = H - self.size * 4 * (H @ (H.T @ H) - problem.M.matmat(H))


@pytest.mark.parametrize("name", [n for n in CONSTRAINTS if n != "signed_max"])
def test_our_sets_pass(name):
    check_constraint(CONSTRAINTS[name]())


@pytest.mark.parametrize("name", SOLVERS)
def test_our_solvers_pass(name):
    check_solver(SOLVERS[name]())


def test_a_stranger_is_run_by_factorize_and_by_symmf():
    check_constraint(Ball())
    check_solver(Steps())
    X = np.random.default_rng(0).random((30, 4))
    H = factorize(X @ X.T, 3, constraint=Ball(), random_state=0).H
    assert Ball().contains(H)
    assert factorize(X @ X.T, 3, solver=Steps(), random_state=0).H.shape == (30, 3)
    assert (
        SymMF(3, solver=Steps(), max_iter=5, tol=0, random_state=0).fit(X).solver_
        == "steps"
    )
    assert Ball().contains(
        SymMF(3, constraint=Ball(), max_iter=5, tol=0, random_state=0).fit(X).H_
    )
    with pytest.raises(InputError, match="not 'ball'"):
        factorize(X @ X.T, 3, solver="sym_hals", constraint=Ball())


def test_what_the_guide_shows_passes(tmp_path, monkeypatch):
    guide = Path(__file__).parents[1] / "docs" / "guides" / "plugin.md"
    first, *_ = re.findall(r"```python\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
    (tmp_path / "from_the_guide.py").write_text(first, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    shown = importlib.import_module("from_the_guide")
    check_constraint(shown.Ball())
    check_solver(shown.Steps())


class Moves(Ball):
    def project(self, Z, _previous=None):
        Z *= 0.5
        return Ball.project(self, Z)


class Outside(Ball):
    def project(self, Z, _previous=None):
        return Z + Z.dtype.type(10)


class Undefined(Ball):
    def project(self, Z, _previous=None):
        return Z * Z.dtype.type(np.nan)

    def contains(self, _H, _atol=1e-8):
        return True

    def start(self, _rng, n, k, dtype):
        return np.zeros((n, k), dtype)


class Far(Ball):
    def project(self, Z, _previous=None):
        return np.zeros_like(Z)


class Corners(Ball):
    """Feasible and idempotent, but not the nearest point."""

    def project(self, Z, _previous=None):
        outside = np.linalg.norm(Z, axis=1, keepdims=True) > 1
        return np.where(outside, np.sign(Z) / float(np.sqrt(Z.shape[1])), Z)


class Anywhere(Ball):
    def contains(self, _H, _atol=1e-8):
        return True


class Restarts(Ball):
    def start(self, _rng, n, k, dtype):
        return Ball.project(self, np.random.default_rng().random((n, k)).astype(dtype))


class Starts(Ball):
    def start(self, _rng, n, k, dtype):
        return np.full((n, k), 10, dtype)


class Scaled(Ball):
    cone = True


class Signed(Ball):
    nonnegative = True


class Whole(Ball):
    def project(self, Z, _previous=None):
        return np.sign(Z).astype(int) // (1 + Z.shape[1])


class OneArgument(Ball):
    def project(self, Z):
        return Ball.project(self, Z)


class Empty(Ball):
    def check(self, _n, _k):
        raise InputError("nothing is in it")


class Nameless(Ball):
    name = "none"


class Taken(Ball):
    name = "nonnegative"


class Open(Ball):
    def __reduce__(self):
        raise TypeError("it holds a file")


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (object, "is not a symmf.constraints.Constraint"),
        (Nameless, "no name of its own"),
        (Taken, "'nonnegative' is a set of symmf"),
        (Open, "Pickling Open failed"),
        (Empty, "refuses every shape"),
        (Moves, "changes its argument"),
        (OneArgument, "takes 2 positional arguments"),
        (Whole, "returns the type int"),
        (Undefined, "not numbers"),
        (Outside, "start is not in the set"),
        (Starts, "start is not in the set"),
        (Restarts, "two answers for one seed"),
        (Scaled, "says cone"),
        (Signed, "says nonnegative"),
        (Far, "feasible point moves"),
        (Anywhere, "feasible point moves"),
        (Corners, "says exact, but a point of the set is at"),
    ],
)
def test_what_a_set_breaks_is_named(kind, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_constraint(kind())


class Writes(Steps):
    def iterates(self, problem, start):
        for found in Steps.iterates(self, problem, start):
            yield found
            start.H[:] = 1.0


class Elsewhere(Steps):
    def iterates(self, problem, start):
        for found in Steps.iterates(self, problem, start):
            yield Iterate(found.H + 1)


class Restless(Steps):
    def iterates(self, _problem, start):
        yield Iterate(start.H)
        while True:
            yield Iterate(np.random.default_rng().random(start.H.shape))


class Rises(Steps):
    never_rises = "f"

    def iterates(self, _problem, start):
        for i in range(100):
            yield Iterate(start.H * (1 + i))


class Unsaid(Rises):
    never_rises = "phi"


class Guesses(Steps):
    def iterates(self, problem, start):
        for i, found in enumerate(Steps.iterates(self, problem, start)):
            yield Iterate(found.H, objective=100.0 - i)


class Stale(Steps):
    def iterates(self, problem, start):
        MH = problem.M.matmat(start.H)
        for found in Steps.iterates(self, problem, start):
            yield Iterate(found.H, MH=MH)


class Ends(Steps):
    def iterates(self, problem, start):
        yield from islice(Steps.iterates(self, problem, start), 3)


class Nothing(Steps):
    def iterates(self, problem, start):
        yield from islice(Steps.iterates(self, problem, start), 0)


class Infeasible(Steps):
    constraints = ("nonnegative",)


class AnySet(Steps):
    any_set = True


class UnknownSet(Steps):
    constraints = ("positive",)


class Single(Steps):
    split = True


class Fails(Steps):
    def iterates(self, _problem, start):
        yield Iterate(start.H)
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (object, "is not a symmf.solvers.Solver"),
        (UnknownSet, "no set 'positive'"),
        (Writes, "changes its inputs"),
        (Elsewhere, "first iterate is not the start"),
        (Restless, "different bits"),
        (Rises, "says that f never rises"),
        (Unsaid, "there is no `merit`"),
        (Guesses, "`objective` is not that of its factors"),
        (Stale, "`MH` is not that of its factors"),
        (Ends, "ends after 2 iterations although tol is 0"),
        (Nothing, "must yield the start first"),
        (Infeasible, "is not in the set"),
        (AnySet, "'a box': iterate 1 is not in the set"),
        (Single, "split, but no P"),
        (Fails, "failed .ZeroDivisionError"),
    ],
)
def test_what_a_solver_breaks_is_named(kind, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_solver(kind())
