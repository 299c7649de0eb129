"""When a run has converged: measured by what H can explain, and by the gradient."""

from itertools import pairwise

import numpy as np
import pytest

from symmf import factorize
from symmf.solvers import SOLVERS
from symmf.solvers.base import Problem, Rest


def weak_graph(seed=0, n=120, k=4):
    """A normalised graph of blocks: k columns explain little of ||M||_F^2."""
    rng = np.random.default_rng(seed)
    block = np.arange(n) % k
    chance = np.where(block[:, None] == block, 0.3, 0.05)
    A = np.triu(rng.random((n, n)) < chance, 1).astype(float)
    A += A.T
    root = 1 / np.sqrt(np.maximum(A.sum(axis=1), 1))
    return 1.5 * (root[:, None] * A * root) - 0.5 * np.eye(n)


@pytest.mark.parametrize("acceleration", ["none", "momentum", "line_search"])
def test_at_a_small_tolerance_algorithm_2_is_the_closed_form(acceleration):
    M = weak_graph()
    best = factorize(M, 4, solver="eigen", accuracy=0, random_state=0)
    fit = factorize(
        M, 4, acceleration=acceleration, tol=1e-12, max_iter=20000, random_state=0
    )
    assert fit.stop == "tolerance"
    np.testing.assert_allclose(fit.H @ fit.H.T, best.H @ best.H.T, atol=1e-5)


def test_the_tolerance_is_a_share_of_what_is_explained():
    M = weak_graph()
    best = factorize(M, 4, solver="eigen", accuracy=0, random_state=0).error[-1]
    explained = 1 - best
    assert explained < 0.2
    fit = factorize(M, 4, acceleration="momentum", tol=1e-5, random_state=0)
    assert fit.error[-1] - best < 1e-3 * explained


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("constraint", ["none", "nonnegative"])
def test_it_does_not_depend_on_the_unit_of_m(scale, constraint):
    M = weak_graph()
    fits = [
        factorize(size * M, 4, constraint=constraint, random_state=1, tol=1e-7)
        for size in (1.0, scale)
    ]
    assert fits[0].stop == fits[1].stop == "tolerance"
    assert abs(fits[0].n_iter - fits[1].n_iter) <= 2


@pytest.mark.parametrize("M", [np.zeros((12, 12)), -np.eye(12)])
def test_a_matrix_with_nothing_to_explain_ends(M):
    fit = factorize(M, 3, random_state=0, max_iter=5000)
    assert fit.stop != "max_iter"
    assert np.abs(fit.H).max() < 1e-2


def test_a_small_decrease_far_from_a_stationary_point_is_not_the_end():
    M = weak_graph()
    solver = SOLVERS["fixed_step"](step=1e-6)
    fit = factorize(M, 4, solver=solver, tol=1e-6, max_iter=50, random_state=0)
    assert fit.stop == "max_iter"


def test_a_merit_is_at_rest_after_two_small_decreases_in_a_row():
    from symmf.similarity import as_operator

    rest = Rest(Problem(M=as_operator(np.eye(4)), k=1, tol=0.1))
    merits = [3.0, 2.95, 2.0, 1.9, 1.85]
    seen = [rest.reached(*pair) for pair in pairwise(merits)]
    assert seen == [False, False, False, True]
