import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.solvers import nnls_by_subsets
from scipy.optimize import lsq_linear, nnls

from symmf.solvers import _nnls as module
from symmf.solvers._nnls import nnls_bpp


def problem(seed, rows, k, q):
    rng = np.random.default_rng(seed)
    A, Y = rng.standard_normal((rows, k)), rng.standard_normal((rows, q))
    return A, Y


def assert_optimal(Q, B, Z, tol=1e-9):
    """The KKT conditions, which are sufficient because the problem is convex."""
    Y = Q @ Z - B
    scale = max(1.0, np.abs(B).max())
    assert Z.min(initial=0.0) >= 0
    assert Y.min(initial=0.0) >= -tol * scale
    assert np.abs(Z * Y).max(initial=0.0) <= tol * scale


@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 8),
    extra=st.integers(0, 6),
    q=st.integers(1, 6),
)
def test_agrees_with_the_active_set_method_of_scipy(seed, k, extra, q):
    A, Y = problem(seed, k + extra, k, q)
    Q, B = A.T @ A + 1e-6 * np.eye(k), A.T @ Y
    Z = nnls_bpp(Q, B)
    assert_optimal(Q, B, Z)
    C = np.vstack([A, 1e-3 * np.eye(k)])
    for j in range(q):
        expected, residual = nnls(C, np.concatenate([Y[:, j], np.zeros(k)]))
        ours = np.linalg.norm(C @ Z[:, j] - np.concatenate([Y[:, j], np.zeros(k)]))
        assert ours <= residual * (1 + 1e-9) + 1e-12
        # The minimiser itself is as well determined as Q is conditioned.
        error = 1e-12 * np.linalg.cond(Q) * (1 + np.abs(expected).max())
        np.testing.assert_allclose(Z[:, j], expected, atol=error)


def test_agrees_with_bounded_least_squares_of_scipy():
    A, Y = problem(3, 12, 6, 5)
    Z = nnls_bpp(A.T @ A, A.T @ Y)
    for j in range(5):
        expected = lsq_linear(A, Y[:, j], (0, np.inf), method="bvls").x
        np.testing.assert_allclose(Z[:, j], expected, atol=1e-8)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4))
def test_agrees_with_trying_all_supports(seed, k):
    A, Y = problem(seed, k + 3, k, 1)
    Q, B = A.T @ A + 1e-3 * np.eye(k), A.T @ Y
    np.testing.assert_allclose(
        nnls_bpp(Q, B)[:, 0], nnls_by_subsets(Q, B[:, 0]), atol=1e-8
    )


@given(seed=st.integers(0, 2**32 - 1))
def test_a_warm_start_changes_the_way_and_not_the_end(seed):
    rng = np.random.default_rng(seed)
    A, Y = problem(seed, 9, 6, 40)
    Q, B = A.T @ A, A.T @ Y
    cold = nnls_bpp(Q, B)
    for Z0 in (cold, rng.random(B.shape), np.zeros_like(B), -np.ones_like(B)):
        np.testing.assert_allclose(nnls_bpp(Q, B, Z0), cold, atol=1e-9)


def test_columns_do_not_influence_each_other():
    A, Y = problem(0, 30, 20, 300)
    Q, B = A.T @ A, A.T @ Y
    Z = nnls_bpp(Q, B)
    assert_optimal(Q, B, Z)
    alone = np.hstack([nnls_bpp(Q, B[:, [j]]) for j in range(0, 300, 25)])
    np.testing.assert_allclose(alone, Z[:, ::25], atol=1e-11)


def test_many_unknowns_need_more_than_one_word_per_pattern():
    A, Y = problem(1, 90, 70, 8)
    Q, B = A.T @ A, A.T @ Y
    Z = nnls_bpp(Q, B)
    assert_optimal(Q, B, Z)
    np.testing.assert_allclose(Z[:, 0], nnls(A, Y[:, 0])[0], atol=1e-9)


def test_one_factorization_serves_all_columns_of_a_pattern(monkeypatch):
    calls = []
    solve = module.dposv
    monkeypatch.setattr(module, "dposv", lambda *a: calls.append(1) or solve(*a))
    Q = np.eye(3) + 0.1
    # All positive: one round from the empty set, one pattern, 500 columns.
    nnls_bpp(Q, Q @ np.random.default_rng(0).random((3, 500)) + 1)
    assert len(calls) == 1


def test_the_active_set_method_takes_over_when_pivoting_does_not_end(monkeypatch):
    monkeypatch.setattr(module, "_ROUNDS", 0)
    A, Y = problem(5, 9, 6, 7)
    Q, B = A.T @ A, A.T @ Y
    Z = nnls_bpp(Q, B)
    assert_optimal(Q, B, Z)


def test_the_backup_rule_alone_reaches_the_solution(monkeypatch):
    monkeypatch.setattr(module, "_FULL_EXCHANGES", 0)
    monkeypatch.setattr(module, "_ROUNDS", 200)
    A, Y = problem(6, 12, 8, 30)
    Q, B = A.T @ A, A.T @ Y
    assert_optimal(Q, B, nnls_bpp(Q, B))


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_singular_matrix_still_gives_a_minimiser(rank):
    rng = np.random.default_rng(rank)
    A, Y = rng.random((10, rank)) @ rng.random((rank, 5)), rng.random((10, 6))
    Q, B = A.T @ A, A.T @ Y
    Z = nnls_bpp(Q, B)
    assert np.isfinite(Z).all()
    # The ridge of 1e-10 is what the optimality conditions may be off by.
    assert_optimal(Q, B, Z, tol=1e-6)


def test_a_zero_column_of_the_factor_gets_zero():
    A = np.array([[1.0, 0.0], [2.0, 0.0]])
    Z = nnls_bpp(A.T @ A, A.T @ np.ones((2, 3)), np.ones((2, 3)))
    np.testing.assert_allclose(Z, [[0.6] * 3, [0.0] * 3], atol=1e-9)


def test_scale_does_not_matter():
    A, Y = problem(2, 9, 6, 20)
    Q, B = A.T @ A, A.T @ Y
    Z = nnls_bpp(Q, B)
    for size in (1e-12, 1e12):
        np.testing.assert_allclose(nnls_bpp(Q, size * B), size * Z, rtol=1e-9)
        np.testing.assert_allclose(nnls_bpp(size * Q, B), Z / size, rtol=1e-9)


def test_single_precision_in_single_precision_out():
    A, Y = (array.astype(np.float32) for array in problem(2, 9, 6, 20))
    Q, B = A.T @ A, A.T @ Y
    Z = nnls_bpp(Q, B)
    assert Z.dtype == np.float32
    expected = nnls_bpp(Q.astype(float), B.astype(float))
    np.testing.assert_allclose(Z, expected, atol=1e-6)


def test_inputs_are_not_modified():
    A, Y = problem(2, 9, 6, 20)
    Q, B, Z0 = A.T @ A, A.T @ Y, np.ones((6, 20))
    copies = Q.copy(), B.copy(), Z0.copy()
    nnls_bpp(Q, B, Z0)
    for array, copy in zip((Q, B, Z0), copies, strict=True):
        assert np.array_equal(array, copy)


def test_no_columns_is_no_work():
    assert nnls_bpp(np.eye(3), np.zeros((3, 0))).shape == (3, 0)
