"""Checks of a stranger's solver and set: ours pass, broken ones are named."""

from __future__ import annotations

from dataclasses import dataclass
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


class Moves(Ball):
    def project(self, Z, _previous=None):
        Z *= 0.5
        return Ball.project(self, Z)


class Outside(Ball):
    def project(self, Z, _previous=None):
        return Z + 10.0


class Far(Ball):
    def project(self, Z, _previous=None):
        return np.zeros_like(Z)


class Nameless(Ball):
    name = "none"


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Moves, "changes its argument"),
        (Outside, "contains"),
        (Far, "says exact"),
        (Nameless, "no name of its own"),
    ],
)
def test_what_a_set_breaks_is_named(kind, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_constraint(kind())


class Writes(Steps):
    def iterates(self, _problem, start):
        start.H[:] = 1.0
        yield Iterate(start.H)


class Restless(Steps):
    def iterates(self, _problem, start):
        yield Iterate(start.H)
        while True:
            yield Iterate(np.random.default_rng().random(start.H.shape))


class Rises(Steps):
    never_rises = "f"

    def iterates(self, _problem, start):
        for i in range(100):
            yield Iterate(start.H, objective=float(i))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Writes, "first iterate is not the start|changes its inputs"),
        (Restless, "different bits"),
        (Rises, "says that f never rises"),
    ],
)
def test_what_a_solver_breaks_is_named(kind, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_solver(kind())
