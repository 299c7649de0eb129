"""The routes of the block eigensolver, against LAPACK."""

import numpy as np
import pytest
from scipy import sparse

from symmf.linalg import norms, solve_eigenpairs
from symmf.linalg.eigen import blocks as _blocks
from symmf.linalg.eigen import pairs as eigenpairs
from symmf.linalg.eigen.davidson import chebyshev_davidson
from symmf.linalg.eigen.graph import of_components
from symmf.similarity import build_similarity, regularise
from symmf.similarity.graphs.normalise import NormalisedGraph
from symmf.similarity.operators import Shifted, SparseOperator, as_operator
from symmf.similarity.transforms import normalised_cut


@pytest.fixture(autouse=True)
def no_dense_route(monkeypatch):
    monkeypatch.setattr(norms, "DENSE_EIGEN_LIMIT", 5)


def ring_graph(sizes, seed=0):
    """Rings with random weights, one component each, all rows normalised."""
    rng = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        W = np.zeros((size, size))
        for step in (1, 2, 5):
            i = np.arange(size)
            W[i, (i + step) % size] = rng.uniform(0.2, 1.0, size)
        blocks.append(sparse.coo_array(W + W.T))
    W = sparse.csr_array(sparse.block_diag(blocks))
    return normalised_cut(SparseOperator(W))


@pytest.mark.parametrize("thin", [True, False], ids=["inverse_iteration", "davidson"])
@pytest.mark.parametrize("sizes", [[400], [150, 120, 90], [60] * 7])
def test_both_routes_for_graphs_agree_with_lapack(thin, sizes):
    S = ring_graph(sizes)
    assert isinstance(S, NormalisedGraph)
    S.thin_factor = thin
    k = 8
    wanted = np.linalg.eigvalsh(S.toarray())[::-1][:k]
    found = solve_eigenpairs(S, k, np.random.default_rng(0), tol=1e-9)
    assert found.route == ("inverse_iteration" if thin else "chebyshev_davidson")
    np.testing.assert_allclose(found.values, wanted, atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(
        S.matmat(found.vectors), found.vectors * found.values, atol=1e-6
    )


@pytest.mark.parametrize("thin", [True, False])
def test_same_seed_same_bits_and_what_the_default_accuracy_means(thin):
    S = ring_graph([300, 200])
    S.thin_factor = thin
    one, two = (solve_eigenpairs(S, 6, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.vectors, two.vectors)
    assert one.residual <= 1e3 * eigenpairs.CLUSTERING_ACCURACY
    wanted = np.linalg.eigvalsh(S.toarray())[::-1][:6]
    # Ritz values err by the square of the residual over a gap.
    np.testing.assert_allclose(one.values, wanted, atol=1e-6)


def test_one_solve_serves_every_lambda():
    S = NormalisedGraph(ring_graph([250, 200]).M, of_graph=True)
    base = solve_eigenpairs(S, 4, np.random.default_rng(0))
    for weight in (0.5, 10.0):
        M = regularise(S, weight)
        assert isinstance(M, Shifted)
        found = solve_eigenpairs(M, 4, np.random.default_rng(0))
        np.testing.assert_array_equal(found.vectors, base.vectors)
        np.testing.assert_allclose(
            found.values, (1 + weight) * base.values - weight, atol=1e-12
        )
        dense = (1 + weight) * S.toarray() - weight * np.eye(450)
        np.testing.assert_allclose(M.toarray(), dense, atol=1e-14)
        assert M.fro2 == pytest.approx(np.sum(dense**2))
        np.testing.assert_allclose(M.diagonal(), np.diag(dense))
        np.testing.assert_allclose(M.columns([3, 7]), dense[:, [3, 7]])
        assert M.eigenvalue_floor <= np.linalg.eigvalsh(dense)[0] + 1e-12


def test_the_scaled_laplacian_of_the_graph_is_that_of_the_scaled_graph():
    """D^-1/2 (W - lambda L_W) D^-1/2 = (1 + lambda) S - lambda I."""
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((12, 12)), 1)
    W += W.T
    d = W.sum(axis=1)
    M = (W - 0.7 * (np.diag(d) - W)) / np.sqrt(np.multiply.outer(d, d))
    S = normalised_cut(SparseOperator(sparse.csr_array(W)))
    ours = NormalisedGraph(S.M, of_graph=True).regularised(0.7).toarray()
    np.testing.assert_allclose(ours, M, atol=1e-14)
    assert not np.allclose(regularise(S, 0.7).toarray(), M, atol=1e-3)


@pytest.mark.parametrize("copies", [2, 6, 9])
def test_every_copy_is_found_by_products_alone(copies):
    rng = np.random.default_rng(copies)
    Q = np.linalg.qr(rng.standard_normal((120, 120)))[0]
    values = np.concatenate([[3.0], np.full(copies, 2.0), rng.uniform(-2.5, 1.5, 200)])
    values = values[:120]
    M = (Q * values) @ Q.T
    k = copies + 2
    operator = as_operator((M + M.T) / 2)
    found = solve_eigenpairs(operator, k, np.random.default_rng(0))
    assert found.route == "chebyshev_davidson"
    np.testing.assert_allclose(found.values, np.sort(values)[::-1][:k], atol=1e-8)


def test_many_samples_with_few_features_take_the_small_gram_matrix():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((300, 10))
    operator = build_similarity(F, "inner_product")
    found = solve_eigenpairs(operator, 4, rng)
    assert found.route == "gram"
    wanted = np.linalg.eigvalsh(F @ F.T)[::-1][:4]
    np.testing.assert_allclose(found.values, wanted)
    np.testing.assert_allclose(
        F @ (F.T @ found.vectors), found.vectors * found.values, atol=1e-9
    )


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-9), (np.float32, 1e-4)])
def test_few_features_less_a_diagonal_begin_near_the_answer(dtype, tol):
    rng = np.random.default_rng(0)
    Z = np.abs(rng.standard_normal((400, 30))).astype(dtype) * np.linspace(3, 1, 30)
    M = regularise(build_similarity(Z.astype(dtype), "scaled_gram"), 0.05)
    found = solve_eigenpairs(M, 5, rng, tol=tol)
    assert found.route == "chebyshev_davidson"
    assert found.residual <= tol
    wanted = np.linalg.eigvalsh(M.toarray().astype(float))[::-1][:5]
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=10 * tol)
    assert found.vectors.dtype == dtype
    # From a random block it takes far more.
    start = rng.standard_normal((400, 13)).astype(dtype)
    far = chebyshev_davidson(M.matmat, start, 5, tol, rng, size=np.abs)
    assert found.n_products < far.n_products


def test_components_give_their_eigenvectors_without_a_search():
    S = ring_graph([30, 50, 20, 40])
    found = solve_eigenpairs(S, 3, np.random.default_rng(0))
    assert found.route == "components"
    np.testing.assert_array_equal(found.values, np.ones(3))
    np.testing.assert_allclose(S.matmat(found.vectors), found.vectors, atol=1e-14)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-14)
    # The largest components first; each column lives on one of them.
    rows = [np.flatnonzero(column) for column in found.vectors.T]
    assert [len(row) for row in rows] == [50, 40, 30]


def test_a_vertex_without_edges_is_no_component():
    W = np.zeros((12, 12))
    W[:4, :4] = W[4:9, 4:9] = 1.0
    S = normalised_cut(SparseOperator(sparse.csr_array(W - np.diag(np.diag(W)))))
    vectors, count = of_components(S.M, S.root_degrees, 5)
    assert count == 2
    assert vectors.shape == (12, 2)
    assert not vectors[9:].any()


@pytest.mark.parametrize("thin", [True, False])
def test_components_and_the_rest_are_what_lapack_finds(thin):
    S = ring_graph([150, 120, 90, 60])
    S.thin_factor = thin
    k = 9
    found = solve_eigenpairs(S, k, np.random.default_rng(0), tol=1e-9)
    wanted = np.linalg.eigvalsh(S.toarray())[::-1][:k]
    np.testing.assert_allclose(found.values, wanted, atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-9)


def test_a_block_of_full_rank_needs_no_householder(monkeypatch):
    def never(*_):
        raise AssertionError("Householder for a well-conditioned block")

    rng = np.random.default_rng(0)
    monkeypatch.setattr(np.linalg, "qr", never)
    # Columns of very different lengths, as after an inverse iteration.
    W = rng.standard_normal((80, 6)) * np.logspace(0, 8, 6)
    Q = _blocks.orthonormal(W, rng)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-13)
    np.testing.assert_allclose(Q @ (Q.T @ W), W, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sizes", [[400], [60] * 7, [30] * 20])
def test_a_dense_graph_is_factored_and_agrees_with_lapack(sizes, dtype):
    S = as_operator(ring_graph(sizes).M.toarray().astype(dtype))
    S.is_normalised_graph = True
    found = solve_eigenpairs(S, 8, np.random.default_rng(0))
    assert found.route == "inverse_iteration"
    wanted = np.linalg.eigvalsh(S.M.astype(float))[::-1][:8]
    # Residuals are at most 1e-3 (single precision: 1e-2) of 1 - mu_k, errors of values
    # their squares over a gap.
    atol = 1e-6 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(found.values, wanted, atol=atol)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(8), atol=1e-5)
    R = S.matmat(found.vectors) - found.vectors * found.values
    assert np.linalg.norm(R, axis=0).max() < 1e-3


def test_a_large_dense_graph_is_filtered(monkeypatch):
    monkeypatch.setattr(eigenpairs, "_DENSE_FACTOR_LIMIT", 100)
    S = as_operator(ring_graph([200, 180]).M.toarray())
    S.is_normalised_graph = True
    assert (
        solve_eigenpairs(S, 8, np.random.default_rng(0)).route == "chebyshev_davidson"
    )
