"""What every solver promises, tested over the registry."""

import pickle
from itertools import islice

import numpy as np
import pytest
from helpers.solver_cases import (
    PAIRS,
    every_pair,
    every_solver,
    options,
    planted,
    run,
    start,
)

from symmf import factorize
from symmf.clustering.labels import kmeans_rows
from symmf.constraints import CONSTRAINTS, as_constraint
from symmf.metrics import accuracy
from symmf.similarity import as_operator
from symmf.solvers import SOLVERS, Problem, Start, Stop
from symmf.solvers.factorize import as_solver


@every_pair
def test_inputs_are_untouched(solver, constraint):
    M, _ = planted()
    H0, P0 = start(), start(seed=2)
    copies = [array.copy() for array in (M, H0, P0)]
    starts = {"H0": H0, "P0": P0} if SOLVERS[solver].split else {"H0": H0}
    fit = factorize(M, 3, max_iter=4, **starts, **options(solver, constraint))
    for array, copy in zip((M, H0, P0), copies, strict=True):
        assert np.array_equal(array, copy)
    assert not np.shares_memory(fit.H, H0)


@every_pair
def test_a_given_start_is_iterate_zero(solver, constraint):
    M, _ = planted()
    H0 = start()
    fit = factorize(M, 3, H0=H0, max_iter=0, **options(solver, constraint))
    if not SOLVERS[solver].one_shot:
        assert np.array_equal(fit.H, H0)
    assert (fit.n_iter, fit.stop) == (0, Stop.max_iter)
    if SOLVERS[solver].split:
        assert np.array_equal(fit.P, H0)


@every_pair
def test_same_seed_same_bits(solver, constraint):
    fits = [
        run(solver, constraint, random_state=7, max_iter=12, tol=1e-6) for _ in range(2)
    ]
    assert np.array_equal(fits[0].H, fits[1].H)
    assert np.array_equal(fits[0].error, fits[1].error)
    assert fits[0].stop == fits[1].stop
    other = run(solver, constraint, random_state=8, max_iter=2)
    if not SOLVERS[solver].one_shot:
        assert not np.array_equal(fits[0].error[:1], other.error[:1])


@every_solver
def test_solvers_and_results_pickle(solver):
    kind = SOLVERS[solver]()
    assert pickle.loads(pickle.dumps(kind)) == kind
    fit = run(kind, max_iter=3)
    again = pickle.loads(pickle.dumps(fit))
    assert np.array_equal(again.H, fit.H)
    assert again.stop is fit.stop


@every_solver
def test_solvers_cannot_be_changed(solver):
    kind = SOLVERS[solver]()
    with pytest.raises(AttributeError):
        kind.published = True
    assert kind.title
    assert kind.reference


@every_pair
def test_iterates_are_feasible(solver, constraint):
    feasible = as_constraint(constraint)
    seen = []
    keep = {"callback": lambda it: seen.append((it.H, it.P))}
    run(solver, constraint, noise=0.4, max_iter=15, **keep)
    assert len(seen) == (2 if SOLVERS[solver].one_shot else 16)
    for H, P in seen[1:]:
        assert H.shape == (24, 3)
        if solver != "admm":
            # ADMM's first factor is nonnegative in the limit only.
            assert feasible.contains(H)
        if P is not None:
            assert feasible.contains(P)


MONOTONE = [
    pytest.param(name, constraint, id=f"{name}-{constraint}")
    for name, kind in SOLVERS.items()
    for constraint in kind.constraints
    if kind.never_rises and CONSTRAINTS[constraint].exact
]


def values(solver, M, constraint, H0, *, steps, **more):
    """What the solver decreases, straight from its generator."""
    method = as_solver(solver, more)
    problem = Problem(
        M=as_operator(M), k=H0.shape[1], constraint=as_constraint(constraint), tol=0
    )
    P0 = H0.copy() if method.split else None
    begin = Start(H=H0.copy(), P=P0, rng=np.random.default_rng(0))
    iterates = islice(method.iterates(problem, begin), 2 if method.one_shot else steps)
    return np.array(
        [one.objective if one.merit is None else one.merit for one in iterates]
    )


@pytest.mark.parametrize(("solver", "constraint"), MONOTONE)
@pytest.mark.parametrize("seed", range(3))
def test_monotone_where_promised(solver, constraint, seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((20, 20))
    M = M + M.T + [0, 20, -20][seed] * np.eye(20)
    set_ = as_constraint(constraint)
    H0 = set_.start(rng, 20, 4) * (3.0 if set_.cone else 1.0)
    # A growing coupling changes what is decreased.
    more = {"coupling": "bound"} if solver == "columnwise" else {}
    f = values(solver, M, constraint, H0, steps=41, **more)
    assert np.isfinite(f).all()
    # The trace form resolves 1e-16 ||M||^2, and sums a few of them.
    slack = 1e-12 * np.sum(M**2)
    assert np.diff(f).max(initial=0) <= slack


# Sweeps over rows depend on the order of the rows by design.
ORDERED = [
    ("projected_gradient", "one_hot_rows"),
    ("coordinate_descent", "nonnegative"),
    ("bsum", "nonnegative"),
]
EQUIVARIANT = [pair for pair in PAIRS if pair.values not in ORDERED]


@pytest.mark.parametrize(("solver", "constraint"), EQUIVARIANT)
def test_permuting_samples_permutes_the_factor(solver, constraint):
    M, _ = planted(noise=0.3)
    H0 = start()
    order = np.random.default_rng(5).permutation(24)
    more = options(solver, constraint)
    if solver == "projected_gradient":
        # The estimate of sigma starts from random vectors that are not permuted.
        more["sigma"] = "exact"
    a = factorize(M, 3, H0=H0, max_iter=5, tol=0, **more).H[order]
    b = factorize(M[np.ix_(order, order)], 3, H0=H0[order], max_iter=5, tol=0, **more).H
    if solver == "eigen":
        a, b = a @ a.T, b @ b.T
    np.testing.assert_allclose(a, b, atol=1e-8)


@every_solver
def test_planted_clusters_are_found(solver):
    M, y = planted(n=60, noise=0.1)
    scores = []
    for seed in range(3):
        fit = factorize(M, 3, solver=solver, random_state=seed, max_iter=500)
        labels = kmeans_rows(fit.H, 3, n_init=5, random_state=0)
        scores.append(accuracy(y, labels))
    # A start may lead to a local minimum; three of them do not.
    assert max(scores) == 1.0


@every_solver
def test_exact_nonnegative_factors_are_fixed_points(solver):
    rng = np.random.default_rng(2)
    # Rows with a single nonzero, as clusters have.
    H = np.eye(3)[np.arange(15) % 3] * (0.5 + rng.random((15, 1)))
    fit = factorize(H @ H.T, 3, solver=solver, H0=H, max_iter=10, tol=0)
    assert fit.error[-1] < 1e-20
    np.testing.assert_allclose(fit.H @ fit.H.T, H @ H.T, atol=1e-10)
    if solver != "eigen":
        np.testing.assert_allclose(fit.H, H, atol=1e-8)


@pytest.mark.parametrize("start_name", ["normal", "scaled", "uniform", "symm_mean"])
@every_solver
def test_every_start_can_be_asked_for(solver, start_name):
    assert np.isfinite(run(solver, start=start_name, max_iter=2).H).all()
