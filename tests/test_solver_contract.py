"""What every solver promises, tested over the registry."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from symmf import factorize
from symmf.constraints import CONSTRAINTS, as_constraint
from symmf.errors import InputError
from symmf.labels import kmeans_rows
from symmf.metrics import accuracy
from symmf.similarity import Gram, RowFeatures, as_operator, regularise
from symmf.solvers import SOLVERS, Problem, Stop
from symmf.solvers.factorize import as_solver

PAIRS = [
    pytest.param(name, constraint, id=f"{name}-{constraint}")
    for name, kind in SOLVERS.items()
    for constraint in kind.constraints
]
every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_pair = pytest.mark.parametrize(("solver", "constraint"), PAIRS)


def options(solver, constraint=None):
    """What a solver needs beside its name to run on a set."""
    found = {"solver": solver}
    if constraint is not None:
        found["constraint"] = constraint
        if CONSTRAINTS[constraint].published_only:
            found["published"] = True
    return found


def planted(n=24, k=3, seed=0, noise=0.05):
    """A similarity with k clear blocks, mixed signs, and its classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = np.eye(k)[y] + noise * rng.standard_normal((n, k))
    return X @ X.T, y


def start(n=24, k=3, seed=1):
    return np.random.default_rng(seed).random((n, k)) + 0.05


# Inputs ---------------------------------------------------------------------------


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


@every_solver
def test_nan_is_refused(solver):
    M, _ = planted()
    M[3, 4] = M[4, 3] = np.nan
    for bad in (M, sparse.csr_array(M), aslinearoperator(M)):
        with pytest.raises(InputError, match=r"NaN"):
            factorize(bad, 3, solver=solver)


@every_solver
def test_a_matrix_that_is_not_symmetric_is_refused(solver):
    M, _ = planted()
    M[3, 4] += 1
    for bad in (M, sparse.csr_array(M), aslinearoperator(M)):
        with pytest.raises(InputError, match="not symmetric"):
            factorize(bad, 3, solver=solver)
    with pytest.raises(InputError, match="square"):
        factorize(M[:, :5], 3, solver=solver)


@every_solver
def test_a_start_that_does_not_fit_is_refused(solver):
    M, _ = planted()
    with pytest.raises(InputError, match="H0 must have shape"):
        factorize(M, 3, solver=solver, H0=start(k=2))
    with pytest.raises(InputError, match="H0 has NaN"):
        factorize(M, 3, solver=solver, H0=np.full((24, 3), np.nan))
    if not SOLVERS[solver].split:
        with pytest.raises(InputError, match="no second factor"):
            factorize(M, 3, solver=solver, P0=start())


@every_solver
def test_an_unknown_option_gets_the_nearest_name(solver):
    M, _ = planted()
    with pytest.raises(InputError, match="Did you mean 'published'"):
        factorize(M, 3, solver=solver, publishd=True)


@every_solver
def test_a_set_it_cannot_handle_is_refused_in_a_sentence(solver):
    M, _ = planted()
    refused = [name for name in CONSTRAINTS if name not in SOLVERS[solver].constraints]
    for name in refused:
        if name == "none":
            # A method that is nonnegative by construction need not be told.
            factorize(M, 3, solver=solver, constraint="none", max_iter=1)
            continue
        with pytest.raises(InputError, match=f"'{name}'"):
            factorize(M, 3, solver=solver, constraint=name)


# Reproducibility ------------------------------------------------------------------


@every_pair
def test_same_seed_same_bits(solver, constraint):
    M, _ = planted()
    fits = [
        factorize(M, 3, random_state=7, max_iter=12, **options(solver, constraint))
        for _ in range(2)
    ]
    assert np.array_equal(fits[0].H, fits[1].H)
    assert np.array_equal(fits[0].error, fits[1].error)
    assert fits[0].stop == fits[1].stop
    other = factorize(M, 3, random_state=8, max_iter=2, **options(solver, constraint))
    if not SOLVERS[solver].one_shot:
        assert not np.array_equal(fits[0].error[:1], other.error[:1])


@every_solver
def test_solvers_and_results_pickle(solver):
    M, _ = planted()
    kind = SOLVERS[solver]()
    assert pickle.loads(pickle.dumps(kind)) == kind
    fit = factorize(M, 3, solver=kind, random_state=0, max_iter=3)
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


# Iterates -------------------------------------------------------------------------


@every_pair
def test_iterates_are_feasible(solver, constraint):
    M, _ = planted(noise=0.4)
    feasible = as_constraint(constraint)
    seen = []
    factorize(
        M,
        3,
        random_state=0,
        max_iter=15,
        tol=0,
        callback=lambda it: seen.append((it.H, it.P)),
        **options(solver, constraint),
    )
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
    if kind.monotone and CONSTRAINTS[constraint].exact
]


def values(solver, M, constraint, H0, *, steps, **more):
    """What the solver decreases, straight from its generator."""
    method = as_solver(solver, more)
    problem = Problem(
        M=as_operator(M), k=H0.shape[1], constraint=as_constraint(constraint), tol=0
    )
    found = []
    for iterate in method.iterates(
        problem,
        H0.copy(),
        H0.copy() if method.split else None,
        np.random.default_rng(0),
    ):
        f = iterate.merit if iterate.merit is not None else iterate.objective
        found.append(f)
        if len(found) > steps or (method.one_shot and len(found) == 2):
            break
    return np.array(found)


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
    f = values(solver, M, constraint, H0, steps=40, **more)
    assert np.isfinite(f).all()
    # The trace form resolves 1e-16 ||M||^2, and sums a few of them.
    slack = 1e-12 * np.sum(M**2)
    assert np.diff(f).max(initial=0) <= slack


# Sweeps over rows depend on the order of the rows by design.
ORDERED = [
    ("projected_gradient", "one_hot_rows"),
    ("coordinate_descent", "nonnegative"),
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


# Representation of M ---------------------------------------------------------------


def features(n=40, m=12, seed=0, dtype=np.float64):
    return sparse.random_array(
        (n, m), density=0.3, rng=np.random.default_rng(seed), dtype=dtype
    )


def implicit(weight=0.5, **shape):
    gram = Gram(RowFeatures(features(**shape), centre=True, unit=True))
    return regularise(gram, weight)


@every_pair
def test_dense_sparse_and_implicit_agree(solver, constraint):
    M = implicit()
    dense = M.toarray()
    dense = (dense + dense.T) / 2
    H0 = start(n=40)
    more = {"H0": H0, "max_iter": 6, "tol": 0, "random_state": 0}
    fits = [
        factorize(form, 3, **more, **options(solver, constraint))
        for form in (
            dense,
            sparse.csr_array(dense),
            M,
            aslinearoperator(dense),
        )
    ]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.error, fits[0].error, atol=1e-8)
        if solver == "eigen":
            np.testing.assert_allclose(fit.H @ fit.H.T, fits[0].H @ fits[0].H.T)
        else:
            np.testing.assert_allclose(fit.H, fits[0].H, atol=1e-7)


@every_pair
def test_nothing_n_by_n_is_formed_for_an_implicit_matrix(
    solver, constraint, monkeypatch
):
    M = implicit(n=1100, m=30)
    monkeypatch.setattr(type(M), "toarray", _refuse)
    product, columns = type(M)._matmat, type(M).columns

    def narrow_product(self, V):
        assert V.shape[1] < 550, "a product with half the identity, or more"
        return product(self, V)

    def few_columns(self, index):
        assert np.size(index) < 550, "half of the columns, or more"
        return columns(self, index)

    monkeypatch.setattr(type(M), "_matmat", narrow_product)
    monkeypatch.setattr(type(M), "columns", few_columns)
    more = options(solver, constraint)
    if solver == "newton":
        with pytest.raises(InputError, match="formed"):
            factorize(M, 3, **more)
        more["method"] = "cg"
    fit = factorize(M, 3, random_state=0, max_iter=2, **more)
    assert fit.H.shape == (1100, 3)


def _refuse(*_):
    raise InputError("The matrix was formed.")


@every_pair
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_in_is_precision_out(solver, constraint, dtype):
    M, _ = planted()
    more = {"H0": start(), "max_iter": 10, "tol": 0, "random_state": 0}
    more |= options(solver, constraint)
    fit = factorize(M.astype(dtype), 3, **more)
    assert fit.H.dtype == dtype
    if fit.P is not None:
        assert fit.P.dtype == dtype
    # Traces are double precision whatever the factors are.
    assert fit.error.dtype == np.float64
    double = factorize(M, 3, **more)
    np.testing.assert_allclose(fit.error, double.error, atol=2e-3)


@every_pair
@pytest.mark.parametrize("dtype", [np.int64, np.float16, bool])
def test_other_numbers_are_taken_as_double_precision(solver, constraint, dtype):
    M = (np.add.outer(np.arange(6), np.arange(6)) % 2 == 0).astype(dtype)
    more = options(solver, constraint)
    fit = factorize(M, 2, random_state=0, max_iter=2, **more)
    assert fit.H.dtype == np.float64


# The loop --------------------------------------------------------------------------


@every_pair
def test_the_trace_is_complete(solver, constraint):
    M, _ = planted(noise=0.3)
    seen = []
    fit = factorize(
        M,
        3,
        random_state=0,
        max_iter=9,
        tol=0,
        callback=seen.append,
        **options(solver, constraint),
    )
    expected = 1 if SOLVERS[solver].one_shot else 9
    assert fit.n_iter == expected
    assert len(fit.error) == len(fit.seconds) == len(seen) == expected + 1
    assert (np.diff(fit.seconds) >= 0).all()
    assert (fit.split_error is not None) == SOLVERS[solver].split
    assert (fit.P is not None) == SOLVERS[solver].split
    for it, error in zip(seen, fit.error, strict=True):
        dense = np.sum((M - it.H @ it.H.T) ** 2) / np.sum(M**2)
        assert it.error == error
        np.testing.assert_allclose(error, dense, rtol=1e-9, atol=1e-15)
    if fit.split_error is not None:
        for it, error in zip(seen, fit.split_error, strict=True):
            dense = np.sum((M - it.H @ it.P.T) ** 2) / np.sum(M**2)
            np.testing.assert_allclose(error, dense, rtol=1e-9, atol=1e-15)
    assert np.array_equal(fit.H, seen[-1].H)


@every_pair
def test_without_a_tolerance_exactly_max_iter_iterations_run(solver, constraint):
    """Even at a standstill, which an exact factor is for most of them."""
    H = np.eye(3)[np.arange(12) % 3]
    for M in (H @ H.T, np.zeros((12, 12))):
        fit = factorize(M, 3, H0=H, max_iter=30, tol=0, **options(solver, constraint))
        if SOLVERS[solver].one_shot:
            assert (fit.n_iter, fit.stop) == (1, Stop.tolerance)
        else:
            assert (fit.n_iter, fit.stop) == (30, Stop.max_iter)


@every_pair
def test_a_tolerance_ends_the_run(solver, constraint):
    M, _ = planted(noise=0.3)
    fit = factorize(
        M, 3, random_state=0, max_iter=20_000, tol=1e-3, **options(solver, constraint)
    )
    if fit.constraint.exact:
        assert fit.stop in (Stop.tolerance, Stop.stalled)
        assert fit.n_iter < 20_000


@every_pair
def test_a_callback_can_stop(solver, constraint):
    M, _ = planted()
    fit = factorize(
        M,
        3,
        random_state=0,
        tol=0,
        callback=lambda it: it.iteration == 1,
        **options(solver, constraint),
    )
    assert (fit.n_iter, fit.stop) == (1, Stop.callback)


@every_solver
def test_what_a_callback_does_to_its_arrays_changes_nothing(solver):
    M, _ = planted()

    def spoil(it):
        it.H[:] = np.nan
        if it.P is not None:
            it.P[:] = np.nan

    more = {"random_state": 0, "max_iter": 5, "tol": 0, "solver": solver}
    spoiled = factorize(M, 3, callback=spoil, **more)
    assert np.array_equal(spoiled.H, factorize(M, 3, **more).H)


@every_pair
def test_the_time_limit_is_honoured(solver, constraint, monkeypatch):
    """With a clock that advances a second at each look."""
    from symmf.solvers import loop

    ticks = iter(range(10**6))
    monkeypatch.setattr(loop.time, "perf_counter", lambda: float(next(ticks)))
    M, _ = planted()
    fit = factorize(
        M, 3, random_state=0, tol=0, max_seconds=2.5, **options(solver, constraint)
    )
    if SOLVERS[solver].one_shot:
        assert fit.stop == Stop.tolerance
        return
    # Iterates 0, 1, 2 take one second each; the third second passes the limit.
    assert (fit.stop, fit.n_iter) == (Stop.time, 2)
    assert fit.seconds.tolist() == [1.0, 2.0, 3.0]


# Awkward problems -------------------------------------------------------------------

RNG = np.random.default_rng(0)
LOW = RNG.standard_normal((9, 2))
AWKWARD = {
    "one by one": (np.array([[2.0]]), 1),
    "two by two, k = 1": (np.array([[2.0, -1.0], [-1.0, 1.0]]), 1),
    "two by two, k = 2": (np.array([[2.0, -1.0], [-1.0, 1.0]]), 2),
    "k = 1": (LOW @ LOW.T, 1),
    "k = n": (LOW @ LOW.T + np.eye(9), 9),
    "zero": (np.zeros((6, 6)), 2),
    "negative definite": (-LOW @ LOW.T - np.eye(9), 3),
    "rank below k": (LOW @ LOW.T, 5),
    "identity": (np.eye(7), 3),
    "tiny entries": (1e-20 * (LOW @ LOW.T), 3),
    "huge entries": (1e20 * (LOW @ LOW.T), 3),
    "empty row": (np.diag([3.0, 2.0, 0.0, 1.0]), 2),
}


@every_pair
@pytest.mark.parametrize("problem", AWKWARD)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_awkward_problems_end_well(solver, constraint, problem, dtype):
    M, k = AWKWARD[problem]
    if constraint == "orthogonal" and k > len(M):
        pytest.skip("no such matrix")
    if dtype == np.float32 and "entries" in problem:
        # ||M||^2 and H H^T H must fit in single precision.
        M = M * (1e12 if problem.startswith("tiny") else 1e-12)
    more = options(solver, constraint)
    if solver in ("sym_anls", "sym_hals"):
        # A coupling given as a number is in the units of M, and so is SymNMF's.
        more["coupling"] = "bound"
    if solver == "symnmf_anls":
        more["coupling"] = float(np.abs(M).max())
    fit = factorize(M.astype(dtype), k, random_state=0, max_iter=60, **more)
    assert fit.stop in Stop
    assert np.isfinite(fit.H).all()
    assert np.isfinite(fit.error).all()
    assert fit.stop != Stop.diverged
    if fit.constraint.cone and fit.constraint.exact and solver != "procrustes":
        # The zero matrix is feasible with error 1: nothing should end far above it.
        floor = 1.0 if M.any() else 0.0
        assert fit.error[-1] <= max(floor, fit.error[0]) * (1 + 1e-5) + 1e-5


@every_solver
@pytest.mark.parametrize("k", [0, -1, 25, 2.0, True, "3", None])
def test_k_must_be_between_1_and_n(solver, k):
    M, _ = planted()
    with pytest.raises(InputError, match="k must be"):
        factorize(M, k, solver=solver)


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


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"max_iter": -1}, "max_iter"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"max_iter": "many"}, "max_iter"),
        ({"tol": -1e-3}, "tol"),
        ({"tol": float("nan")}, "tol"),
        ({"tol": "small"}, "tol"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"max_seconds": "long"}, "max_seconds"),
        ({"start": "unifrom"}, "Did you mean 'uniform'"),
        ({"solver": "newtn"}, "Did you mean 'newton'"),
        ({"constraint": "signed_max"}, "published=True"),
        ({"H0": "zeros"}, "array of real numbers"),
        ({"step_scale": "half"}, "step_scale"),
        ({"solver": "admm", "rho": "ten"}, "rho"),
        ({"solver": "sym_anls", "coupling": True}, "coupling"),
        ({"solver": SOLVERS["newton"](), "method": "cg"}, "Not used: method"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(more, match):
    M, _ = planted()
    with pytest.raises(InputError, match=match):
        factorize(M, 3, **more)


@pytest.mark.parametrize("start_name", ["normal", "scaled", "uniform", "symm_mean"])
@every_solver
def test_every_start_can_be_asked_for(solver, start_name):
    M, _ = planted()
    fit = factorize(M, 3, solver=solver, start=start_name, random_state=0, max_iter=2)
    assert np.isfinite(fit.H).all()
