"""What the paper proves about Algorithm 2, corrected where it is wrong."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.theory_cases import problems, seeds, sizes, start, symmetric
from hypothesis import given
from hypothesis import strategies as st
from reference.solvers import curvature, gradient, hessian_block, objective

from symmf import factorize
from symmf.constraints import as_constraint
from symmf.similarity import DenseOperator, regularise

CONVEX = ["none", "nonnegative", "l1_rows", "simplex_rows"]
NONCONVEX = ["unit_rows", "sparse_rows", "orthogonal", "nonnegative_unit_rows"]


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
