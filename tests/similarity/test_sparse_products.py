"""Sparse products on several cores: the same numbers, no second copy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import symmf
from symmf.errors import InputError
from symmf.similarity import sparse_kernels as sparse_products
from symmf.similarity.operators import SparseOperator
from symmf.similarity.sparse_kernels import SparseProducts, allowed_threads, kernel


@pytest.fixture
def blocks_of_anything(monkeypatch):
    """Let small matrices be split as large ones are."""
    monkeypatch.setattr(sparse_products, "_LARGE", 0)
    return monkeypatch


def matrix(seed: int, n: int, m: int, density: float = 0.2, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, m), density=density, rng=rng, dtype=dtype)
    return sparse.csr_array(X)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    m=st.integers(1, 30),
    k=st.integers(1, 5),
    density=st.sampled_from([0.0, 0.02, 0.3, 1.0]),
    cores=st.sampled_from(["1", "2", "4", "7"]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_bits_are_those_of_one_thread(seed, n, m, k, density, cores, dtype) -> None:
    X = matrix(seed, n, m, density, dtype)
    V = np.random.default_rng(seed).standard_normal((m, k)).astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_products, "_LARGE", 0)
        patch.setenv("OMP_NUM_THREADS", cores)
        XV = SparseProducts(X).dot(V)
    assert XV.dtype == dtype
    np.testing.assert_array_equal(XV, X @ V)


def test_blocks_share_the_memory_and_the_load(blocks_of_anything) -> None:
    blocks_of_anything.setenv("OMP_NUM_THREADS", "4")
    X = matrix(0, 3000, 50)
    blocks = SparseProducts(X).blocks
    assert len(blocks) >= 4
    assert all(np.shares_memory(block.data, X.data) for block in blocks)
    assert all(np.shares_memory(block.indices, X.indices) for block in blocks)
    sizes = [block.nnz for block in blocks]
    assert sum(sizes) == X.nnz
    assert max(sizes) < 1.1 * X.nnz / len(blocks)


def test_small_matrices_stay_whole() -> None:
    assert len(SparseProducts(matrix(0, 300, 50)).blocks) == 1


def test_the_number_of_threads_follows_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert allowed_threads() == 3
    for word in ("", "many", "0"):
        monkeypatch.setenv("OMP_NUM_THREADS", word)
        assert allowed_threads() >= 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert allowed_threads() >= 1


def test_a_fit_is_the_same_on_one_core_and_on_two(blocks_of_anything) -> None:
    X = matrix(3, 200, 60)
    fits = []
    for cores in ("1", "2"):
        blocks_of_anything.setenv("OMP_NUM_THREADS", cores)
        fits.append(symmf.SymMF(4, laplacian_weight=0, random_state=0).fit(X))
    np.testing.assert_array_equal(fits[0].H_, fits[1].H_)
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)


def test_a_sparse_graph_uses_the_blocks(blocks_of_anything) -> None:
    A = matrix(5, 90, 90)
    A = sparse.csr_array(A + A.T)
    V = np.random.default_rng(0).standard_normal((90, 3))
    blocks_of_anything.setenv("OMP_NUM_THREADS", "2")
    np.testing.assert_array_equal(SparseOperator(A).matmat(V), A @ V)


def test_an_unknown_kernel_is_refused(monkeypatch) -> None:
    assert kernel() == "scipy"
    monkeypatch.setenv("SYMMF_SPARSE", "cuda")
    with pytest.raises(InputError, match=r"SYMMF_SPARSE is 'cuda'.*scipy, mkl"):
        SparseProducts(matrix(0, 5, 5))


def test_mkl_says_what_is_missing(monkeypatch) -> None:
    monkeypatch.setenv("SYMMF_SPARSE", "mkl")
    monkeypatch.setitem(sys.modules, "sparse_dot_mkl", None)
    with pytest.raises(InputError, match=r"pip install 'symmf\[mkl\]'"):
        SparseProducts(matrix(0, 5, 5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mkl_agrees_to_rounding(monkeypatch, dtype) -> None:
    monkeypatch.setenv("SYMMF_SPARSE", "mkl")
    try:
        sparse_products.mkl_product()
    except InputError:
        pytest.skip("the extra mkl is not installed")
    X = matrix(4, 200, 70, dtype=dtype)
    rng = np.random.default_rng(0)
    V, W = (rng.standard_normal((size, 5)).astype(dtype) for size in (70, 200))
    products = SparseProducts(X)
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    for ours, theirs in ((products.dot(V), X @ V), (products.tdot(W), X.T @ W)):
        assert ours.dtype == dtype
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=10 * tolerance)
    empty = SparseProducts(matrix(0, 6, 4, density=0))
    np.testing.assert_array_equal(empty.dot(np.ones((4, 2))), np.zeros((6, 2)))
    model = symmf.SymMF(4, laplacian_weight=0, random_state=0).fit(X)
    monkeypatch.delenv("SYMMF_SPARSE")
    same = symmf.SymMF(4, laplacian_weight=0, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, same.labels_)
