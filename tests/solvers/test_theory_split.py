"""What the paper proves about Algorithm 1 and the closed form; fixed points."""

import numpy as np
import pytest
from helpers.theory_cases import problems, seeds, sizes, symmetric
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.solvers import columnwise_sweep, gradient, objective, penalised

from symmf import factorize
from symmf.similarity import DenseOperator, as_operator, regularise
from symmf.solvers import SOLVERS, Problem
from symmf.solvers._coupling import coupling_bound

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
