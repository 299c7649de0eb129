import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symmf.linalg import (
    BlockPower,
    dense_objective,
    inner,
    largest_eigenvalue,
    norms,
    residual_operator,
    smallest_eigenvalue,
    spectral_norm,
    top_eigenpairs,
    trace_objective,
    trace_split_objective,
)
from symmf.similarity import as_operator

seeds = st.integers(0, 2**32 - 1)


def symmetric(seed, n):
    M = np.random.default_rng(seed).standard_normal((n, n))
    return M + M.T


@given(seed=seeds, n=st.integers(1, 15), k=st.integers(1, 5))
def test_objectives_from_traces_are_the_objectives(seed, n, k):
    M = symmetric(seed, n)
    rng = np.random.default_rng(seed)
    H, P = rng.standard_normal((2, n, k))
    fro2 = np.sum(M**2)
    split = np.linalg.norm(M - H @ P.T) ** 2
    own = np.linalg.norm(M - H @ H.T) ** 2
    # Differences of terms as large as ||M||^2 + ||H||^4: a few roundings of those.
    atol = 1e-13 * (fro2 + np.sum(H**2) ** 2 + np.sum(P**2) ** 2)
    assert trace_objective(fro2, H, M @ H) == pytest.approx(own, abs=atol)
    assert trace_objective(fro2, H, M @ H, H.T @ H) == pytest.approx(own, abs=atol)
    assert trace_split_objective(fro2, H, P, M @ P) == pytest.approx(split, abs=atol)
    assert dense_objective(M, H) == pytest.approx(own, rel=1e-12)
    assert dense_objective(M, H, P) == pytest.approx(split, rel=1e-12)


def test_the_dense_twin_resolves_what_traces_cannot():
    H = np.random.default_rng(0).random((20, 5))
    M = H @ H.T
    near = H * (1 + 1e-12)
    exact = np.linalg.norm(M - near @ near.T) ** 2
    assert dense_objective(M, near) == pytest.approx(exact, rel=1e-3)
    # 1e-16 of ||M||^2 is far more than the objective here.
    assert abs(trace_objective(np.sum(M**2), near, M @ near) - exact) > 0.5 * exact


def test_single_precision_is_summed_in_double_precision():
    A = np.full((1000, 100), 0.1, np.float32)
    assert inner(A, A) == pytest.approx(1e5 * float(np.float32(0.1)) ** 2, rel=1e-12)


@pytest.fixture(params=["dense", "lanczos"])
def route(request, monkeypatch):
    """Both routes on the same small matrices."""
    if request.param == "lanczos":
        monkeypatch.setattr(norms, "DENSE_EIGEN_LIMIT", 5)
    return request.param


@pytest.mark.parametrize("seed", range(5))
def test_spectral_norms(route, seed):
    M = symmetric(seed, 40)
    H = np.random.default_rng(seed).standard_normal((40, 3))
    operator = as_operator(M)
    assert spectral_norm(operator) == pytest.approx(np.linalg.norm(M, 2), rel=1e-10)
    expected = np.linalg.norm(H @ H.T - M, 2)
    assert spectral_norm(operator, H) == pytest.approx(expected, rel=1e-10)
    R = residual_operator(operator, H)
    np.testing.assert_allclose(R @ np.eye(40), H @ H.T - M, atol=1e-12)
    assert largest_eigenvalue(H.T @ H) == pytest.approx(np.linalg.norm(H, 2) ** 2)
    del route


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shift", [-30.0, 0.0, 30.0])
def test_the_smallest_eigenvalue_is_a_lower_bound(route, seed, shift):
    M = symmetric(seed, 40) + shift * np.eye(40)
    values = np.linalg.eigvalsh(M)
    found = smallest_eigenvalue(as_operator(M))
    assert found <= values[0] + 1e-9
    slack = 1e-9 if route == "dense" else 2e-3 * np.abs(values).max()
    assert found >= values[0] - slack


def special(name, n=40):
    U = np.random.default_rng(0).standard_normal((n, 3))
    return {
        "zero": np.zeros((n, n)),
        "identity": np.eye(n),
        "minus identity": -np.eye(n),
        "low rank": U @ U.T,
        "minus low rank": -U @ U.T,
    }[name]


@pytest.mark.parametrize(
    "name", ["zero", "identity", "minus identity", "low rank", "minus low rank"]
)
@pytest.mark.parametrize("k", [1, 4, 40])
def test_special_matrices(route, name, k):
    """Repeated and zero eigenvalues, where Lanczos alone stops or does not end."""
    M = special(name)
    operator = as_operator(M)
    values = np.linalg.eigvalsh(M)
    size = np.abs(values).max()
    assert spectral_norm(operator) == pytest.approx(size, abs=1e-8)
    assert smallest_eigenvalue(operator) <= values[0] + 1e-8
    found, vectors = top_eigenpairs(operator, k, np.random.default_rng(0))
    np.testing.assert_allclose(found, values[::-1][:k], atol=1e-7 * (1 + size))
    np.testing.assert_allclose(M @ vectors, vectors * found, atol=1e-6 * (1 + size))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)
    del route


@pytest.mark.parametrize("seed", range(5))
def test_the_top_eigenpairs_are_the_algebraic_ones(route, seed):
    M = symmetric(seed, 40) - 20 * np.eye(40)
    values = np.linalg.eigvalsh(M)[::-1]
    assert abs(values[-1]) > abs(values[0])
    rng = np.random.default_rng(0)
    found, vectors = top_eigenpairs(as_operator(M), 4, rng, tol=0)
    np.testing.assert_allclose(found, values[:4], rtol=1e-9)
    np.testing.assert_allclose(M @ vectors, vectors * found, atol=1e-7)
    del route


def test_the_block_estimate_is_a_close_lower_bound():
    for seed in range(10):
        M = symmetric(seed, 60)
        H = np.random.default_rng(seed).standard_normal((60, 3))
        V = np.linalg.qr(np.random.default_rng(seed + 100).standard_normal((60, 2)))[0]
        power = BlockPower(V)
        for _ in range(60):
            power.update(H, M @ power.V)
        exact = np.linalg.norm(H @ H.T - M, 2)
        assert power.value <= exact * (1 + 1e-10)
        assert power.value >= 0.95 * exact
        assert power.update(H, M @ power.V) >= power.value


def test_the_block_estimate_handles_eigenvalues_of_both_signs():
    """A single vector oscillates between +1 and -1; a block does not."""
    M = np.diag([1.0, -1.0] + [0.1] * 20)
    H = np.zeros((22, 1))
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((22, 2)))[0]
    power = BlockPower(V)
    for _ in range(20):
        power.update(H, M @ power.V)
    assert power.value == pytest.approx(1.0, rel=1e-6)


def test_the_block_estimate_of_zero_is_zero():
    V = np.eye(5)[:, :2].copy()
    power = BlockPower(V)
    assert power.update(np.zeros((5, 1)), np.zeros((5, 2))) == 0.0
    assert np.isfinite(power.V).all()
