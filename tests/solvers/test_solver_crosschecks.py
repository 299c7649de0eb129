"""Independent routes to the same answer: dense textbook versions, and each other."""

import numpy as np
import pytest
from reference import solvers as reference
from scipy import sparse

from symmf import factorize
from symmf.constraints import Constraint
from symmf.errors import InputError
from symmf.similarity import as_operator
from symmf.solvers import Problem
from symmf.solvers._coupling import Coupling, coupling_bound
from symmf.solvers._points import quartic_step


def exact(rng, n=30, k=3):
    """M = H H^T with one large entry in every row: a unique nonnegative factor."""
    H = 0.1 * rng.random((n, k)) * (rng.random((n, k)) < 0.5)
    H[np.arange(n), np.arange(n) % k] += 0.5 + rng.random(n)
    return H @ H.T, H


def match_columns(H, expected):
    """Order the columns of H as those of ``expected``."""
    order = np.argmax(expected.T @ H, axis=1)
    assert len(set(order.tolist())) == H.shape[1]
    return H[:, order]


# Against textbook versions ------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.5, 1.0])
@pytest.mark.parametrize("published", [True, False])
def test_projected_gradient(M, rng, scale, published):
    H0 = rng.random((18, 3))
    options = {"step_scale": scale, "published": published, "sigma": "exact"}
    for constraint, project in (
        ("none", lambda Z: Z),
        ("nonnegative", lambda Z: np.maximum(Z, 0)),
    ):
        fit = factorize(
            M, 3, H0=H0, constraint=constraint, max_iter=30, tol=0, **options
        )
        H = reference.projected_gradient(M, H0, project, 30, scale)
        np.testing.assert_allclose(fit.H, H, atol=1e-10)


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("printed", [False, True])
def test_columnwise(M, rng, clip, printed):
    H, P = rng.random((2, 18, 3))
    fit = factorize(
        M,
        3,
        solver="columnwise",
        nonnegative=clip,
        coupling=5.0,
        H0=H,
        P0=P,
        published=printed,
        max_iter=12,
        tol=0,
    )
    for _ in range(12):
        H, P = reference.columnwise_sweep(M, H, P, 5.0, clip=clip, printed=printed)
    np.testing.assert_allclose(fit.H, H, atol=1e-9)
    np.testing.assert_allclose(fit.P, P, atol=1e-9)


@pytest.mark.parametrize(
    ("solver", "step"),
    [("sym_anls", reference.sym_anls_step), ("sym_hals", reference.sym_hals_step)],
)
def test_split_solvers(M, rng, solver, step):
    H, P = rng.random((2, 18, 3))
    fit = factorize(M, 3, solver=solver, coupling=2.0, H0=H, P0=P, max_iter=15, tol=0)
    for _ in range(15):
        H, P = step(M, H, P, 2.0)
    np.testing.assert_allclose(fit.H, H, atol=1e-8)
    np.testing.assert_allclose(fit.P, P, atol=1e-8)


def test_admm(M, rng):
    X, Y = 0.5 * rng.random((2, 18, 3))
    fit = factorize(M, 3, solver="admm", rho=20.0, H0=X, P0=Y, max_iter=15, tol=0)
    multiplier = np.zeros_like(X)
    for _ in range(15):
        X, Y, multiplier = reference.admm_step(M, X, Y, multiplier, 20.0)
    np.testing.assert_allclose(fit.H, X, atol=1e-7)
    np.testing.assert_allclose(fit.P, Y, atol=1e-7)


# Solver against solver ----------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "projected_gradient"},
        {"solver": "projected_gradient", "published": True},
        {"solver": "projected_gradient", "step_scale": 0.5},
        {"solver": "projected_gradient", "sigma": "bound"},
        {"solver": "projected_gradient", "acceleration": "momentum"},
        {"solver": "projected_gradient", "acceleration": "line_search"},
        {"solver": "columnwise"},
        {"solver": "columnwise", "coupling": "bound"},
        {"solver": "columnwise", "coupling": 1.0},
        {"solver": "fixed_step"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_every_unconstrained_route_ends_at_the_closed_form(M, options):
    best = factorize(M, 3, solver="eigen").H
    fit = factorize(M, 3, random_state=0, max_iter=1500, tol=0, **options)
    target = best @ best.T
    # H itself is unique up to a rotation only.
    np.testing.assert_allclose(
        fit.H @ fit.H.T, target, atol=1e-5 * np.abs(target).max()
    )


def test_sym_hals_in_column_order_is_nonnegative_algorithm_1(M, rng):
    H0 = rng.random((18, 3))
    options = {"H0": H0, "coupling": 3.0, "max_iter": 20, "tol": 0}
    hals = factorize(M, 3, solver="sym_hals", order="columns", **options)
    columns = factorize(M, 3, solver="columnwise", constraint="nonnegative", **options)
    same = factorize(M, 3, solver="columnwise", nonnegative=True, **options)
    assert np.array_equal(hals.H, columns.H)
    assert np.array_equal(hals.P, columns.P)
    assert np.array_equal(same.H, columns.H)


def test_both_orders_of_sym_hals_reach_the_same_factor(rng):
    M, H = exact(rng)
    for order in ("factors", "columns"):
        fit = factorize(
            M, 3, solver="sym_hals", order=order, random_state=0, max_iter=800, tol=0
        )
        np.testing.assert_allclose(match_columns(fit.H, H), H, atol=1e-4)


def test_symnmf_anls_is_sym_anls_with_exchanged_roles(M, rng):
    H0 = rng.random((18, 3))
    options = {"coupling": 4.0, "max_iter": 20, "tol": 0}
    a = factorize(M, 3, solver="symnmf_anls", H0=H0, **options)
    b = factorize(M, 3, solver="sym_anls", H0=H0, P0=H0, **options)
    np.testing.assert_allclose(a.H, b.P, atol=1e-10)
    np.testing.assert_allclose(a.P, b.H, atol=1e-10)


def test_symnmf_anls_chooses_its_coupling_from_the_largest_entry(M, rng):
    H0 = rng.random((18, 3))
    options = {"solver": "symnmf_anls", "H0": H0, "max_iter": 5, "tol": 0}
    default = factorize(M, 3, **options)
    given = factorize(M, 3, coupling=float(M.max()) ** 2, **options)
    assert np.array_equal(default.H, given.H)


def test_untied_anls_is_shown_balanced(M, rng):
    fit = factorize(
        M, 3, solver="symnmf_anls", coupling=0.0, H0=rng.random((18, 3)), max_iter=9
    )
    np.testing.assert_allclose(
        np.linalg.norm(fit.H, axis=0), np.linalg.norm(fit.P, axis=0), rtol=1e-10
    )


NONNEGATIVE = ["newton", "symnmf_anls", "sym_anls", "sym_hals", "admm", "procrustes"]


@pytest.mark.parametrize("solver", NONNEGATIVE)
def test_a_unique_nonnegative_factor_is_recovered(rng, solver):
    M, H = exact(rng)
    fits = [
        factorize(M, 3, solver=solver, random_state=seed, max_iter=600, tol=1e-12)
        for seed in range(2)
    ]
    fit = min(fits, key=lambda f: f.error[-1])
    assert fit.error[-1] < 1e-6
    # The objective is flat: the factor is known to the square root of its error.
    np.testing.assert_allclose(match_columns(fit.H, H), H, atol=1e-2)


@pytest.mark.parametrize(
    "solver", ["newton", "sym_anls", "sym_hals", "admm", "coordinate_descent"]
)
def test_nonnegative_solvers_agree_with_projected_gradient(M, solver):
    """From one point in the basin of a minimum all go to that minimum."""
    first = factorize(
        M, 3, constraint="nonnegative", random_state=0, max_iter=1000, tol=0
    )
    near = first.H + 0.01 * np.random.default_rng(0).random(first.H.shape)
    more = {"coupling": "bound"} if solver.startswith("sym") else {}
    fit = factorize(M, 3, solver=solver, H0=near, max_iter=500, tol=0, **more)
    assert fit.error[-1] == pytest.approx(first.error[-1], abs=1e-6)


def test_newton_variants_agree(rng):
    M, H = exact(rng)
    near = np.maximum(H + 0.05 * rng.random(H.shape), 0)
    fits = [
        factorize(M, 3, solver="newton", method=method, H0=near, max_iter=300, tol=1e-9)
        for method in ("cholesky", "cg")
    ]
    for fit in fits:
        np.testing.assert_allclose(fit.H, H, atol=1e-4)


def test_newton_refuses_a_matrix_too_large_for_cholesky():
    M = sparse.csr_array(sparse.eye_array(3001))
    with pytest.raises(InputError, match="method='cg'"):
        factorize(M, 2, solver="newton")
    fit = factorize(M, 2, solver="newton", method="cg", max_iter=2, random_state=0)
    assert fit.error[-1] < fit.error[0]


def test_procrustes(M, rng):
    H = rng.random((18, 3))
    fit = factorize(M, 3, solver="procrustes", H0=H, max_iter=8, tol=0)
    values, vectors = np.linalg.eigh(M)
    B = vectors[:, -3:] * np.sqrt(values[-3:])
    for _ in range(8):
        U, _, Vt = np.linalg.svd(B.T @ H)
        H = np.maximum(B @ U @ Vt, 0)
    np.testing.assert_allclose(fit.H, H, atol=1e-8)


def test_procrustes_uses_the_positive_eigenvalues_only(rng):
    U = rng.random((10, 2))
    M = U @ U.T - 3 * np.eye(10)
    assert np.sum(np.linalg.eigvalsh(M) > 0) < 4
    fit = factorize(M, 4, solver="procrustes", random_state=0)
    assert np.isfinite(fit.H).all()
    assert fit.H.min() >= 0


# Details ------------------------------------------------------------------------------


def test_the_quartic_along_a_line_is_minimised(M, rng):
    for _ in range(20):
        H, D = rng.standard_normal((2, 18, 3))
        alpha, decrease = quartic_step(H, D, M @ D)
        f = reference.objective
        assert f(M, H) - f(M, H + alpha * D) == pytest.approx(decrease, abs=1e-6)
        others = [f(M, H + a * D) for a in np.linspace(0, 2 * alpha + 1, 60)]
        assert f(M, H + alpha * D) <= min(others) + 1e-8


def test_the_adaptive_coupling_ends_with_equal_factors(M):
    fit = factorize(
        M, 3, solver="columnwise", random_state=0, max_iter=20_000, tol=1e-10
    )
    assert fit.stop == "tolerance"
    assert np.linalg.norm(fit.H - fit.P) <= 1e-4 * np.linalg.norm(fit.H)


def test_the_adaptive_coupling_grows_to_the_bound_and_no_further(M, rng):
    problem = Problem(M=as_operator(M), k=3)
    H0 = rng.random((18, 3))
    bound = coupling_bound(problem, H0)
    coupling = Coupling.choose("adaptive", problem, H0)
    assert coupling.value == pytest.approx(0.05 * bound)
    for _ in range(49):
        coupling.compare(1.0, 1.0)
    assert coupling.value == pytest.approx(0.05 * bound)
    coupling.compare(1.0, 1.0)
    assert coupling.value == pytest.approx(0.1 * bound)
    for _ in range(500):
        coupling.compare(1.0, 1.0)
    assert coupling.value == bound
    assert not coupling.grow()
    fixed = Coupling.choose(2.5, problem, H0)
    assert not fixed.grow()
    assert fixed.value == 2.5


def test_the_free_bound_is_never_below_the_lanczos_one(M, rng):
    problem = Problem(M=as_operator(M), k=3)
    H0 = rng.random((18, 3))
    free = coupling_bound(problem, H0, sigma_n="free")
    assert free >= coupling_bound(problem, H0)
    fit = factorize(
        M, 3, solver="columnwise", sigma_n="free", random_state=0, max_iter=5
    )
    assert np.isfinite(fit.H).all()


def test_a_step_that_is_too_long_diverges_and_says_so(M):
    fit = factorize(M, 3, solver="fixed_step", step=10.0, random_state=0)
    assert fit.stop == "diverged"
    assert np.isfinite(fit.H).all()
    assert np.isfinite(fit.error).all()


def test_a_dead_column_comes_back(rng):
    """Zero is a fixed point of column updates; they must not stay there."""
    M, _ = exact(rng)
    H0 = rng.random((30, 3))
    H0[:, 1] = 0
    for solver in ("columnwise", "sym_hals"):
        fit = factorize(
            M, 3, solver=solver, constraint="nonnegative", H0=H0, max_iter=400, tol=0
        )
        assert fit.error[-1] < 1e-3, solver


@pytest.mark.parametrize("acceleration", ["none", "momentum"])
def test_a_projection_may_hand_back_a_view_or_a_copy(acceleration) -> None:
    """Memory is reused between steps; a set of one's own must not notice."""

    class Viewing(Constraint):
        def project(self, Z, previous=None):
            del previous
            return Z[:, :]

    class Copying(Constraint):
        def project(self, Z, previous=None):
            del previous
            return Z.copy()

    F = np.random.default_rng(0).standard_normal((40, 6))
    H0 = np.random.default_rng(1).standard_normal((40, 3))
    fits = [
        factorize(
            F @ F.T,
            3,
            constraint=constraint,
            acceleration=acceleration,
            H0=H0,
            max_iter=60,
            tol=0,
            random_state=0,
        )
        for constraint in ("none", Viewing(), Copying())
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].H, other.H)
        np.testing.assert_array_equal(fits[0].error, other.error)
