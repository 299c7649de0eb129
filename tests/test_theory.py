"""What the paper proves, corrected where it is wrong, on random problems."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.solvers import (
    columnwise_sweep,
    curvature,
    gradient,
    hessian_block,
    objective,
    penalised,
)

from symmf import factorize
from symmf.constraints import as_constraint
from symmf.similarity import DenseOperator, as_operator, regularise
from symmf.solvers import SOLVERS, Problem
from symmf.solvers.coupling import coupling_bound

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 14)

CONVEX = ["none", "nonnegative", "l1_rows", "simplex_rows"]
NONCONVEX = ["unit_rows", "sparse_rows", "orthogonal", "nonnegative_unit_rows"]


@st.composite
def problems(draw, *, n_min=2):
    """M (definite, indefinite or regularised), k and a generator."""
    n = draw(st.integers(n_min, 14))
    k = draw(st.integers(1, min(n, 8)))
    rng = np.random.default_rng(draw(seeds))
    kind = draw(st.sampled_from(["psd", "indefinite", "regularised", "negative"]))
    X = rng.standard_normal((n, max(2, n // 2)))
    if kind == "psd":
        M = X @ X.T
    elif kind == "negative":
        M = -X @ X.T
    elif kind == "regularised":
        M = regularise(DenseOperator(X @ X.T), 0.5).toarray()
    else:
        M = rng.standard_normal((n, n))
    return (M + M.T) / 2, k, rng


def start(name, rng, n, k):
    """A feasible point; scaled between 0.01 and 5 where the set allows."""
    constraint = as_constraint(name)
    H = constraint.start(rng, n, k)
    return H * 10 ** rng.uniform(-2, 0.7) if constraint.cone else H


def symmetric(rng, n):
    A = rng.standard_normal((n, n))
    return A + A.T


# Identities -------------------------------------------------------------------------


@given(seed=seeds, n=sizes, k=st.integers(1, 4), weight=st.floats(0, 10))
def test_the_regulariser_is_a_change_of_the_matrix(seed, n, k, weight):
    """Theorem 1 with its constant; the double sum is 2 tr(H^T L H)."""
    rng = np.random.default_rng(seed)
    A, H = symmetric(rng, n), rng.standard_normal((n, k))
    L = np.diag(A.sum(axis=1)) - A
    pairs = np.sum((H[:, None, :] - H[None, :, :]) ** 2, axis=2)
    smoothness = np.sum(A * pairs)
    assert smoothness == pytest.approx(2 * np.trace(H.T @ L @ H), abs=1e-8 * n**2)
    M = regularise(DenseOperator(A), weight).toarray()
    constant = 2 * weight * np.sum(A * L) - weight**2 * np.sum(L**2)
    left = objective(A, H) + weight * smoothness
    right = objective(M, H) + constant
    scale = objective(A, H) + objective(M, H) + abs(constant)
    assert left == pytest.approx(right, abs=1e-10 * scale)


@given(problem=problems())
def test_the_gradient_is_the_derivative(problem):
    M, k, rng = problem
    H = rng.standard_normal((len(M), k))
    D = rng.standard_normal(H.shape)
    t = 1e-5
    slope = (objective(M, H + t * D) - objective(M, H - t * D)) / (2 * t)
    scale = np.linalg.norm(gradient(M, H)) * np.linalg.norm(D) + objective(M, H)
    assert np.sum(gradient(M, H) * D) == pytest.approx(slope, abs=1e-5 * scale)


@given(problem=problems())
def test_the_hessian_block_of_a_column_is_the_second_derivative(problem):
    M, k, rng = problem
    H = rng.standard_normal((len(M), k))
    j, d, t = k - 1, rng.standard_normal(len(M)), 1e-5
    D = np.zeros_like(H)
    D[:, j] = d
    change = (gradient(M, H + t * D) - gradient(M, H - t * D))[:, j] / (2 * t)
    np.testing.assert_allclose(
        hessian_block(M, H, j) @ d, change, atol=1e-5 * np.abs(change).max()
    )


@given(problem=problems(), size=st.floats(0.01, 3))
def test_the_exact_expansion_has_the_midpoint_in_it(problem, size):
    """The paper's proposition has H there, and drops cubic and quartic terms."""
    M, k, rng = problem
    H = rng.standard_normal((len(M), k))
    D = size * rng.standard_normal(H.shape)
    R, middle = H @ H.T - M, H + D / 2
    rest = objective(M, H + D) - objective(M, H) - np.sum(gradient(M, H) * D)
    square = np.sum((middle @ D.T + D @ middle.T) ** 2)
    exact = 2 * np.sum(R * (D @ D.T)) + square
    scale = objective(M, H) + objective(M, H + D) + abs(exact)
    assert rest == pytest.approx(exact, abs=1e-10 * scale)
    top = max(np.linalg.eigvalsh(R)[-1], 0)
    bound = (2 * top + 4 * np.linalg.norm(middle, 2) ** 2) * np.sum(D**2)
    assert exact <= bound + 1e-9 * scale


@given(seed=seeds, n=sizes, k=st.integers(1, 5))
def test_the_identity_behind_the_split_theorem(seed, n, k):
    rng = np.random.default_rng(seed)
    H, P = rng.standard_normal((2, n, k))
    left = np.sum((P @ H.T @ H - H @ P.T @ P) * (H - P))
    mixed = (P @ H.T + H @ P.T) / 2
    right = np.sum(mixed * ((H - P) @ (H - P).T))
    right -= 0.5 * np.sum((H @ P.T - P @ H.T) ** 2)
    assert left == pytest.approx(right, abs=1e-9 * (1 + abs(left)) * n * k)


@given(problem=problems())
def test_sigma_has_the_bounds_that_need_no_iteration(problem):
    M, k, rng = problem
    H = rng.standard_normal((len(M), k)) * 10 ** rng.uniform(-1, 1)
    sigma = np.linalg.norm(H @ H.T - M, 2)
    values = np.linalg.eigvalsh(M)
    h2 = np.linalg.norm(H, 2) ** 2
    slack = 1e-9 * (1 + sigma)
    assert sigma <= max(values[-1], h2 - values[0]) + slack
    assert sigma <= np.sqrt(objective(M, H)) + slack


# Algorithm 2 ------------------------------------------------------------------------


def trajectory(M, H0, name, scale, steps):
    """The plain iteration with exact norms and no safeguard."""
    constraint = as_constraint(name)
    H = [H0]
    for _ in range(steps):
        L = curvature(M, H[-1])
        t = scale / L if L > 0 else 0.0
        H.append(constraint.project(H[-1] - t * gradient(M, H[-1]), H[-1]))
    return H


def slack(M, H):
    """A few roundings of the terms of f."""
    return 1e-12 * (np.sum(M**2) + np.sum(H**2) ** 2)


@pytest.mark.parametrize("name", CONVEX + NONCONVEX)
@pytest.mark.parametrize("scale", [0.5, 1.0])
@given(problem=problems())
def test_the_objective_never_rises(name, scale, problem):
    """1/(2L) by proof; 1/L by proof without a constraint, else never seen to fail."""
    M, k, rng = problem
    H = trajectory(M, start(name, rng, len(M), k), name, scale, 12)
    f = [objective(M, point) for point in H]
    for i in range(12):
        assert f[i + 1] <= f[i] + slack(M, H[i])


@pytest.mark.parametrize("name", CONVEX + NONCONVEX)
@given(problem=problems())
def test_the_decrease_is_sufficient_at_the_printed_step(name, problem):
    """f(H) - f(H+) >= L/2 ||H+ - H||^2, L at the start of the step; summable too."""
    M, k, rng = problem
    H = trajectory(M, start(name, rng, len(M), k), name, 0.5, 12)
    total = 0.0
    for before, after in pairwise(H):
        promised = curvature(M, before) / 2 * np.sum((after - before) ** 2)
        total += promised
        decrease = objective(M, before) - objective(M, after)
        assert decrease >= promised * (1 - 1e-9) - slack(M, before)
    assert total <= objective(M, H[0]) - objective(M, H[-1]) + 12 * slack(M, H[0])


@pytest.mark.parametrize("name", CONVEX)
@given(problem=problems())
def test_the_optimality_residual_falls_like_one_over_the_iterations(name, problem):
    """min ||A_i||^2 <= max_i [2 (l_i + 2 L_i)^2 / L_i] (f_0 - f_T) / T at 1/(2L)."""
    M, k, rng = problem
    H = trajectory(M, start(name, rng, len(M), k), name, 0.5, 15)
    constant, smallest = 0.0, np.inf
    for i, (before, after) in enumerate(pairwise(H), start=1):
        D = after - before
        L = curvature(M, before)
        sigma = np.linalg.norm(before @ before.T - M, 2)
        middle = np.linalg.norm(before + D / 2, 2)
        lipschitz = 4 * sigma + 8 * middle * np.linalg.norm(after, 2)
        difference = gradient(M, after) - gradient(M, before)
        noise = 1e-9 * (1 + np.linalg.norm(gradient(M, before)))
        assert np.linalg.norm(difference) <= lipschitz * np.linalg.norm(D) + noise
        A = difference - 2 * L * D
        constant = max(constant, 2 * (lipschitz + 2 * L) ** 2 / L)
        smallest = min(smallest, np.sum(A**2))
        gap = objective(M, H[0]) - objective(M, after)
        assert smallest <= constant * (gap + slack(M, H[0])) / i * (1 + 1e-9)


def test_a_nonconvex_map_that_is_no_projection_can_go_uphill():
    """The authors' signed maximum; why ``exact`` belongs to a constraint."""
    rises = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        M = symmetric(rng, 12)
        H = trajectory(M, start("signed_max", rng, 12, 4), "signed_max", 1.0, 30)
        f = np.array([objective(M, point) for point in H])
        rises += int(np.sum(np.diff(f) > 1e-9 * f[0]))
    assert rises > 0


@given(problem=problems())
def test_a_gradient_step_cannot_leave_an_indicator(problem):
    """For 0 <= M <= 1 no one-hot matrix moves; coordinate moves do, downhill."""
    _, k, rng = problem
    n = 12
    M = rng.random((n, n))
    M = (M + M.T) / 2
    H0 = start("one_hot_rows", rng, n, min(k, 4))
    for scale in (0.5, 1.0):
        assert np.array_equal(trajectory(M, H0, "one_hot_rows", scale, 1)[1], H0)
    fit = factorize(M, H0.shape[1], constraint="one_hot_rows", H0=H0, tol=1e-9)
    assert np.all(np.diff(fit.error) <= 1e-12)
    assert fit.constraint.contains(fit.H)
    # At the end no single row can move to a better cluster.
    for i in range(n):
        for c in range(H0.shape[1]):
            other = fit.H.copy()
            other[i] = np.eye(H0.shape[1])[c]
            assert objective(M, other) >= objective(M, fit.H) - 1e-9


@given(problem=problems())
def test_rotating_the_start_rotates_an_unconstrained_run(problem):
    M, k, rng = problem
    H0 = rng.standard_normal((len(M), k))
    Q = np.linalg.qr(rng.standard_normal((k, k)))[0]
    options = {"published": True, "max_iter": 10, "tol": 0}
    H = factorize(M, k, H0=H0, **options).H
    turned = factorize(M, k, H0=H0 @ Q, **options).H
    np.testing.assert_allclose(turned, H @ Q, atol=1e-7 * (1 + np.abs(H0).max()))


# Algorithm 1 ------------------------------------------------------------------------


@pytest.mark.parametrize("clip", [False, True])
@given(problem=problems(), mu=st.floats(0.01, 20))
def test_each_column_update_lowers_the_penalised_objective(clip, problem, mu):
    """By (||p||^2 + mu) ||h - h+||^2: exactly so without a sign constraint."""
    M, k, rng = problem
    n = len(M)
    H, P = np.abs(rng.standard_normal((2, n, k)))
    for j in range(k):
        for first, second in ((H, P), (P, H)):
            others = np.arange(k) != j
            residual = M - first[:, others] @ second[:, others].T
            b, b2 = second[:, j], second[:, j] @ second[:, j]
            column = (residual @ b + mu * b) / (b2 + mu)
            if clip:
                column = np.maximum(column, 0)
            before = penalised(M, first, second, mu)
            promised = (b2 + mu) * np.sum((column - first[:, j]) ** 2)
            first[:, j] = column
            decrease = before - penalised(M, first, second, mu)
            noise = 1e-10 * (before + 1)
            assert decrease >= promised - noise
            if not clip:
                assert decrease == pytest.approx(promised, abs=noise)


def test_the_printed_update_breaks_the_decrease_and_the_right_one_does_not():
    rises = {True: 0, False: 0}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 4))
        H0, mu = rng.standard_normal((20, 8)), 0.1
        for printed in rises:
            H = P = H0
            for _ in range(5):
                before = penalised(X @ X.T, H, P, mu)
                H, P = columnwise_sweep(X @ X.T, H, P, mu, printed=printed)
                after = penalised(X @ X.T, H, P, mu)
                rises[printed] += after > before * (1 + 1e-9)
    assert rises[False] == 0
    assert rises[True] > 0


@pytest.mark.parametrize("solver", ["columnwise", "sym_anls", "sym_hals"])
@pytest.mark.parametrize("seed", range(2))
def test_at_the_bound_the_factors_agree_in_the_limit(solver, seed):
    rng = np.random.default_rng(seed)
    M = symmetric(rng, 8) + 2 * np.eye(8)
    H0 = rng.random((8, 3))
    problem = Problem(M=as_operator(M), k=3)
    bound = coupling_bound(problem, H0)
    # The paper's own bound has the Frobenius norm of M: never smaller.
    first = np.linalg.norm(M - H0 @ H0.T)
    values = np.linalg.eigvalsh(M)
    assert bound <= 0.5 * (np.linalg.norm(M) + first - values[0]) * (1 + 1e-5)
    assert bound >= 0.5 * (np.abs(values).max() + first - values[0])
    fit = factorize(M, 3, solver=solver, H0=H0, coupling="bound", max_iter=1500, tol=0)
    gap = np.linalg.norm(fit.H - fit.P) / np.linalg.norm(fit.H)
    assert gap < 1e-5
    # Critical for the problem without a split.
    g = gradient(M, fit.H) / 4
    if solver != "columnwise":
        g = np.where(fit.H > 1e-8, g, np.minimum(g, 0))
    assert np.linalg.norm(g) < 1e-4 * np.linalg.norm(M)


@given(problem=problems())
def test_the_product_of_the_factors_stays_bounded(problem):
    """||H P^T||_F <= ||M||_F + ||M - H_0 H_0^T||_F along a decreasing run."""
    M, k, rng = problem
    H0 = rng.standard_normal((len(M), k))
    limit = np.linalg.norm(M) + np.linalg.norm(M - H0 @ H0.T)
    sizes_seen = []
    factorize(
        M,
        k,
        solver="columnwise",
        coupling=1.0,
        H0=H0,
        max_iter=10,
        tol=0,
        callback=lambda it: sizes_seen.append(np.linalg.norm(it.H @ it.P.T)),
    )
    assert max(sizes_seen) <= limit * (1 + 1e-9)


# The closed form --------------------------------------------------------------------


@given(problem=problems())
def test_the_closed_form_is_critical_and_not_beaten(problem):
    M, k, rng = problem
    H = factorize(M, k, solver="eigen").H
    values = np.linalg.eigvalsh(M)[::-1]
    best = np.sum(M**2) - np.sum(np.maximum(values[:k], 0) ** 2)
    noise = 1e-9 * (1 + np.sum(M**2))
    assert objective(M, H) == pytest.approx(best, abs=noise)
    assert np.linalg.norm(gradient(M, H)) <= noise
    for _ in range(10):
        other = H + 10 ** rng.uniform(-3, 0.5) * rng.standard_normal(H.shape)
        assert objective(M, other) >= best - noise
    if k >= np.sum(values > 0):
        positive = np.linalg.eigh(M)
        part = (positive[1] * np.maximum(positive[0], 0)) @ positive[1].T
        np.testing.assert_allclose(H @ H.T, part, atol=1e-8 * (1 + np.abs(M).max()))


@given(seed=seeds, n=sizes, weight=st.floats(0.05, 3))
def test_inertia_is_a_threshold_on_normalised_eigenvalues(seed, n, weight):
    """#{positive eigenvalues of M} = #{sigma_i(D^-1/2 A D^-1/2) > w / (1 + w)}."""
    rng = np.random.default_rng(seed)
    A = rng.random((n, n))
    A = A + A.T
    d = A.sum(axis=1)
    normalised = np.linalg.eigvalsh(A / np.sqrt(np.outer(d, d)))
    M = regularise(DenseOperator(A), weight).toarray()
    threshold = weight / (1 + weight)
    if np.min(np.abs(normalised - threshold)) < 1e-9:
        return
    count = int(np.sum(normalised > threshold))
    values = np.linalg.eigvalsh(M)
    assert int(np.sum(values > 0)) == count
    # So the unconstrained optimum has at most that rank.
    H = factorize(M, n, solver="eigen").H
    assert np.linalg.matrix_rank(H, tol=1e-7 * np.sqrt(values.max())) <= count


# Fixed points -----------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=10)
@given(seed=seeds)
def test_an_exact_nonnegative_factor_stays(solver, seed):
    rng = np.random.default_rng(seed)
    H = rng.random((12, 3)) * (rng.random((12, 3)) < 0.7)
    H[:3] += np.eye(3)
    M = H @ H.T
    fit = factorize(M, 3, solver=solver, H0=H, max_iter=5, tol=0)
    assert fit.error[-1] < 1e-18
    if solver == "eigen":
        np.testing.assert_allclose(fit.H @ fit.H.T, M, atol=1e-10)
    elif solver != "procrustes":
        # A rotation is found from singular vectors: accurate to the conditioning.
        np.testing.assert_allclose(fit.H, H, atol=1e-7)


@pytest.mark.parametrize("solver", ["projected_gradient", "columnwise", "fixed_step"])
@settings(max_examples=10)
@given(seed=seeds)
def test_every_rotation_of_the_optimum_stays_without_a_constraint(solver, seed):
    rng = np.random.default_rng(seed)
    M = symmetric(rng, 10) + 6 * np.eye(10)
    best = factorize(M, 3, solver="eigen").H
    H = best @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    fit = factorize(M, 3, solver=solver, H0=H, max_iter=5, tol=0)
    np.testing.assert_allclose(fit.H, H, atol=1e-6)
