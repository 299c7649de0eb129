from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel

from symmf.errors import InputError
from symmf.similarity import (
    Gram,
    RowFeatures,
    as_operator,
    build_similarity,
    regularise,
)
from symmf.similarity import transforms as transforms_module
from symmf.similarity.graphs import neighbours as neighbours_module
from symmf.similarity.graphs.neighbours import (
    nearest_neighbours,
    smallest,
    squared_distance_blocks,
)
from symmf.similarity.graphs.self_tuning import (
    cosine_knn,
    default_neighbours,
    gaussian,
    neighbour_graph,
    self_tuning,
)
from symmf.similarity.transforms import (
    clip_nonnegative,
    normalised_cut,
    without_diagonal,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "golden_compact.h5"


@pytest.fixture(scope="module")
def golden():
    with h5py.File(GOLDEN) as file:
        yield file


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def brute_force(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


# The published graphs


def test_squared_distances_follow_the_golden_ones(golden):
    X = golden["digits/inputs/data"][:]
    D = np.vstack([block for _, block in squared_distance_blocks(X)])
    np.testing.assert_allclose(D, golden["digits/kuang_graph/dist2"][:], atol=1e-13)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("scale_dist3", {"n_neighbors": "all", "ncut": False}),
        ("scale_dist3_knn", {"ncut": False}),
        ("ncut", {}),
    ],
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_self_tuning_is_the_golden_graph(golden, name, options, make):
    A = self_tuning(make(golden["digits/inputs/data"][:]), **options).toarray()
    np.testing.assert_allclose(A, golden["digits/kuang_graph"][name][:], atol=1e-13)
    np.testing.assert_array_equal(A, A.T)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("W", {"weighting": "binary"}),
        ("W_heat_t1", {"weighting": "heat", "heat_scale": 1.0}),
        ("W_cosine", {"weighting": "cosine"}),
    ],
)
def test_neighbour_graph_is_the_golden_one(golden, name, options):
    W = neighbour_graph(golden["gnmf/inputs/X"][:].T, **options).toarray()
    np.testing.assert_allclose(W, golden["gnmf/inputs"][name][:], atol=1e-13)


# Neighbours


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("block", [1, 70, 10**6])
def test_neighbours_are_exact_and_ties_go_to_the_smallest_index(
    rng, make, block, monkeypatch
):
    X = rng.integers(0, 3, (60, 3)).astype(float)
    monkeypatch.setattr(neighbours_module, "_WHOLE_ROWS", 0)
    monkeypatch.setattr(neighbours_module, "_BLOCK_ENTRIES", block)
    near = nearest_neighbours(make(X), 7)
    D = brute_force(X)
    np.fill_diagonal(D, np.inf)
    wanted = np.argsort(D, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(near.index, wanted)
    np.testing.assert_array_equal(
        near.squared_distance, np.take_along_axis(D, wanted, axis=1)
    )


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_cosines_of_rows_that_share_nothing_are_exactly_zero(rng, make):
    X = rng.random((30, 4))
    X[[3, 17]] = 0
    X[5:9, :2] = X[9:12, 2:] = 0
    A = cosine_knn(make(X), n_neighbors=20, ncut=False).toarray()
    assert not A[[3, 17]].any()
    assert not A[5:9, 9:12].any()
    unit = X / np.maximum(np.linalg.norm(X, axis=1), 1e-300)[:, None]
    i, j = np.nonzero(A)
    np.testing.assert_allclose(A[i, j], (unit @ unit.T)[i, j], atol=1e-15)


def test_a_large_offset_does_not_blur_distances(rng):
    X = rng.standard_normal((40, 5))
    near, far = nearest_neighbours(X, 5), nearest_neighbours(X + 1e6, 5)
    np.testing.assert_array_equal(near.index, far.index)
    np.testing.assert_allclose(far.squared_distance, near.squared_distance, rtol=1e-7)


def test_single_precision_is_searched_in_double(rng):
    X = rng.standard_normal((50, 4)).astype(np.float32)
    near = nearest_neighbours(X, 4)
    D = brute_force(X.astype(float))
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(near.index, np.argsort(D, axis=1)[:, :4])


def test_there_are_never_more_than_n_minus_1_neighbours():
    assert nearest_neighbours(np.eye(3), 10).index.shape == (3, 2)
    assert nearest_neighbours(np.eye(1), 10).index.shape == (1, 0)


# Graphs


@pytest.mark.parametrize(
    "graph",
    [gaussian, self_tuning, cosine_knn, neighbour_graph],
    ids=lambda graph: graph.__name__,
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_graphs_are_nonnegative_symmetric_and_hollow(rng, graph, make):
    X = rng.random((70, 6))
    A = graph(make(X)).toarray()
    np.testing.assert_array_equal(A, A.T)
    assert A.min() >= 0
    assert not A.diagonal().any()
    assert np.isfinite(A).all()


def test_every_row_has_its_neighbours(rng):
    X = rng.random((100, 4))
    assert (np.count_nonzero(neighbour_graph(X).toarray(), axis=1) >= 5).all()
    q = default_neighbours(100)
    assert q == 7
    assert (np.count_nonzero(self_tuning(X).toarray(), axis=1) >= q).all()


def test_duplicates_get_weight_one_and_nothing_breaks():
    X = np.repeat(np.arange(3.0)[:, None] * 10, 9, axis=0)
    W = self_tuning(X, ncut=False).toarray()
    same = X == X.T
    np.testing.assert_array_equal(W[~same], 0)
    assert set(np.unique(W)) == {0.0, 1.0}
    assert np.isfinite(self_tuning(X).toarray()).all()
    assert np.isfinite(gaussian(X).toarray()).all()
    assert np.isfinite(gaussian(np.ones((5, 2))).toarray()).all()


def test_cosine_knn_keeps_cosines_of_nearest_rows(rng):
    X = rng.standard_normal((40, 3))
    W = cosine_knn(X, n_neighbors=4, ncut=False).toarray()
    cosines = cosine_similarity(X)
    kept = W > 0
    np.testing.assert_allclose(W[kept], cosines[kept])
    np.fill_diagonal(cosines, -2)
    best = np.argmax(cosines, axis=1)
    assert kept[np.arange(40), best].all()


def test_gaussian_agrees_with_scikit_learn(rng):
    X = rng.standard_normal((30, 4))
    wanted = rbf_kernel(X, gamma=1 / (2 * 1.7**2))
    np.fill_diagonal(wanted, 0)
    np.testing.assert_allclose(gaussian(X, scale=1.7).toarray(), wanted, atol=1e-14)
    D = np.sqrt(brute_force(X))
    s = np.median(D[np.triu_indices(30, 1)])
    np.testing.assert_allclose(
        gaussian(X).toarray(), gaussian(X, scale=s).toarray(), atol=1e-12
    )


def test_heat_kernel_takes_the_mean_distance_with_the_diagonal(rng):
    X = rng.random((30, 4))
    t = np.sqrt(brute_force(X)).mean()
    np.testing.assert_allclose(
        neighbour_graph(X, weighting="heat").toarray(),
        neighbour_graph(X, weighting="heat", heat_scale=t).toarray(),
    )


# Operators made from operators


def operators(rng):
    X = rng.random((25, 6)) - 0.2
    Y = sparse.csr_array(np.where(rng.random((25, 8)) < 0.4, rng.random((25, 8)), 0))
    S = abs(rng.standard_normal((25, 25)))
    return {
        "dense": as_operator(S + S.T),
        "csr": as_operator(sparse.csr_array(np.where(S + S.T > 2, S + S.T, 0))),
        "gram": Gram(RowFeatures(X + 0.2)),
        "sparse gram": Gram(RowFeatures(Y, unit=True)),
        "centred gram": Gram(RowFeatures(Y, centre=True, unit=True)),
        "regularised": regularise(Gram(RowFeatures(X)), 0.5),
    }


NAMES = ["dense", "csr", "gram", "sparse gram", "centred gram", "regularised"]


def check_like(operator, wanted, rng):
    V = rng.standard_normal((len(wanted), 3))
    np.testing.assert_allclose(operator.toarray(), wanted, atol=1e-12)
    np.testing.assert_allclose(operator.matmat(V), wanted @ V, atol=1e-12)
    np.testing.assert_allclose(operator.diagonal(), wanted.diagonal(), atol=1e-12)
    np.testing.assert_allclose(operator.fro2, np.sum(wanted**2), atol=1e-12)
    np.testing.assert_allclose(operator.columns([3, 7]), wanted[:, [3, 7]], atol=1e-12)
    np.testing.assert_allclose(operator.max_entry, wanted.max(), atol=1e-12)
    assert np.linalg.eigvalsh(wanted)[0] >= operator.eigenvalue_floor - 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_rows_scaled_and_diagonals_dropped_match_the_dense_matrix(rng, name):
    A, s = operators(rng)[name], rng.random(25)
    before = A.toarray()
    hollow = before.copy()
    np.fill_diagonal(hollow, 0)
    check_like(without_diagonal(A), hollow, rng)
    check_like(transforms_module.rescale(A, s), before * np.outer(s, s), rng)
    np.testing.assert_array_equal(A.toarray(), before)


@pytest.mark.parametrize("name", ["dense", "csr", "gram", "sparse gram"])
@pytest.mark.parametrize("hollow", [False, True])
def test_normalised_cut_matches_the_dense_matrix(rng, name, hollow):
    A = operators(rng)[name]
    if hollow:
        A = without_diagonal(A)
    dense = A.toarray()
    d = dense.sum(axis=1)
    scale = np.where(d > 1e-12, 1 / np.sqrt(np.maximum(d, 1e-12)), 0)
    N = normalised_cut(A)
    check_like(N, dense * np.outer(scale, scale), rng)
    assert np.abs(np.linalg.eigvalsh(N.toarray())).max() <= 1 + 1e-12


def test_normalised_cut_leaves_an_isolated_vertex_alone():
    A = np.zeros((4, 4))
    A[:2, :2] = A[2, 2] = 1
    for matrix in (A, sparse.csr_array(A)):
        N = normalised_cut(as_operator(matrix)).toarray()
        assert not N[3].any()
        np.testing.assert_allclose(N[:2, :2], 0.5)


def test_normalised_cut_refuses_negative_degrees(rng):
    X = rng.standard_normal((20, 3))
    with pytest.raises(InputError, match="row sums >= 0"):
        normalised_cut(build_similarity(X, "centred_cosine"))


def test_clipping_copies_nothing_that_is_nonnegative(rng):
    for name in ("dense", "csr", "gram", "sparse gram"):
        A = operators(rng)[name]
        assert clip_nonnegative(A) is A


def test_clipping_is_the_positive_part(rng):
    X = rng.standard_normal((30, 4))
    A = X @ X.T
    part = np.maximum(A, 0)
    made = sparse.csr_array(A), A, Gram(RowFeatures(X))
    for matrix in made:
        np.testing.assert_allclose(
            clip_nonnegative(as_operator(matrix)).toarray(), part, atol=1e-13
        )


def test_clipping_refuses_what_does_not_fit(rng, monkeypatch):
    monkeypatch.setattr(transforms_module, "DENSE_BYTES", 100)
    with pytest.raises(InputError, match="Clipping this similarity"):
        clip_nonnegative(Gram(RowFeatures(rng.standard_normal((30, 4)))))


# Sentences


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("selftuning", {}, "Did you mean 'self_tuning'"),
        ("self_tuning", {"neighbors": 3}, "Did you mean 'n_neighbors'"),
        ("cosine", {"scale": 3}, "It takes none"),
        ("self_tuning", {"n_neighbors": 0}, "whole number >= 1"),
        ("self_tuning", {"local_neighbor": 0}, "local_neighbor must be"),
        ("gaussian", {"scale": -1}, "number > 0"),
        ("gaussian", {"scale": "mean"}, "one of 'median'"),
    ],
)
def test_wrong_options_get_a_sentence(rng, name, options, sentence):
    with pytest.raises(InputError, match=sentence):
        build_similarity(rng.random((10, 2)), name, **options)


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 140), st.integers(3, 90)),
        elements=st.integers(0, 60).map(float),
        fill=st.integers(0, 3).map(float),
    ),
    st.integers(0, 3),
)
def test_smallest_are_those_of_a_stable_sort(D, q):
    index, value = smallest(D, q)
    expected = np.argsort(D, axis=1, kind="stable")[:, :q]
    assert np.array_equal(index, expected)
    assert np.array_equal(value, np.take_along_axis(D, expected, axis=1))
