"""Copies count as often as they occur; units and the order of rows decide nothing."""

from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.model_selection import GridSearchCV

from symmf import SymMF, select
from symmf.clustering import METHODS
from symmf.errors import InputError
from symmf.metrics import ari
from symmf.similarity import build_similarity


def sizes(X, k, **options):
    return np.bincount(SymMF(k, random_state=0, **options).fit(X).labels_).tolist()


def beside_a_cloud(copies, distance, seed=0):
    cloud = np.random.default_rng(seed).normal(size=(100, 3))
    return np.vstack([cloud, np.tile([distance, 0.0, 0.0], (copies, 1))])


@pytest.mark.parametrize("copies", [10, 20, 60, 100])
@pytest.mark.parametrize("distance", [5, 50, 1000])
def test_a_group_of_equal_rows_is_a_cluster(copies, distance):
    found = sizes(beside_a_cloud(copies, distance), 2)
    assert sorted(found) == sorted([100, copies])


@pytest.mark.parametrize("levels", [20, 40])
def test_rounded_measurements_are_clustered_as_the_exact_ones(levels):
    """Most cells of the grid hold several rows, some of them more than ten."""
    X, y = make_moons(1500, noise=0.05, random_state=0)
    rounded = np.round(X / np.ptp(X) * levels)
    assert len(np.unique(rounded, axis=0)) < 500
    assert ari(y, SymMF(2, random_state=0).fit_predict(rounded)) > 0.95


def test_zeros_beside_counts():
    counts = np.random.default_rng(0).poisson(5, size=(120, 4)) + 1.0
    assert sizes(np.vstack([counts, np.zeros((100, 4))]), 2) == [120, 100]


# As many clusters as distinct rows: lambda may leave H fewer columns.
@pytest.mark.filterwarnings("ignore:With lambda")
def test_a_handful_of_rows_can_be_told_apart():
    X = np.array([[0.0], [1.0], [5.0], [7.0]])
    for n in range(1, 5):
        for k in range(1, n + 1):
            if n > 1:
                labels = SymMF(k, random_state=0).fit(X[:n]).labels_
                assert len(set(labels)) == k


@pytest.mark.filterwarnings("ignore:With lambda")
def test_few_distinct_rows_have_an_answer_for_every_possible_number():
    rng = np.random.default_rng(0)
    scale = rng.integers(1, 6, 200)[:, None].astype(float)
    binary = rng.integers(0, 2, (400, 3)).astype(float)
    for X, distinct in ((scale, 5), (binary, 8), (np.repeat([[0.3], [0.7]], 6, 0), 2)):
        for k in range(1, distinct + 1):
            labels = SymMF(k, random_state=0).fit(X).labels_
            assert len(set(labels)) == k
            of_row = {(*row, label) for row, label in zip(X, labels, strict=True)}
            assert len(of_row) == distinct
        assert select(X, random_state=0).n_clusters <= distinct
        with pytest.raises(InputError, match=f"Only {distinct} rows are distinct"):
            SymMF(distinct + 1).fit(X)


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("similarity", ["auto", "cosine", "precomputed"])
def test_weights_are_repetitions(similarity, noise):
    if noise and similarity == "precomputed":
        return
    rng = np.random.default_rng(3)
    X = make_blobs(60, 4, centers=3, random_state=1)[0]
    if similarity == "precomputed":
        X = X @ X.T
    w = rng.integers(0, 5, 60)
    rows = np.repeat(np.arange(60), w)
    longer = X[rows][:, rows] if similarity == "precomputed" else X[rows]
    options = {"noise": noise}
    model = SymMF(3, similarity=similarity, label_options=options, random_state=0)
    repeated = model.fit(longer).labels_
    np.testing.assert_array_equal(model.fit(X, sample_weight=w).labels_[rows], repeated)
    assert model.H_.shape[0] == len(model.labels_) == 60
    assert model.n_features_in_ == X.shape[1]
    cluster = model.labels_ >= 0
    np.testing.assert_array_equal(model.predict(X)[cluster], model.labels_[cluster])
    H = model.fit_transform(X, sample_weight=w)
    np.testing.assert_array_equal(H, model.H_)


def test_a_weight_moves_a_row_and_zero_leaves_it_out():
    X = beside_a_cloud(1, 50)
    w = np.ones(101, dtype=int)
    w[-1] = 40
    assert np.bincount(SymMF(2, random_state=0).fit(X, sample_weight=w).labels_)[1] == 1
    w[-1] = 0
    model = SymMF(2, random_state=0).fit(X, sample_weight=w)
    alone = SymMF(2, random_state=0).fit(X[:-1])
    np.testing.assert_array_equal(model.labels_[:-1], alone.labels_)
    assert model.labels_[-1] == alone.predict(X[-1:])[0]
    with pytest.raises(InputError, match="how often each row counts"):
        model.fit(X, sample_weight=np.full(101, 0.5))


@pytest.mark.parametrize("name", ["moons", "digits", "copies", "words"])
def test_the_order_of_rows_changes_no_partition(name):
    rng = np.random.default_rng(0)
    words = {"age": rng.normal(size=150), "city": rng.choice(list("abc"), 150)}
    X = {
        "words": lambda: pd.DataFrame(words | {"sex": rng.choice(list("fm"), 150)}),
        "moons": lambda: make_moons(300, noise=0.1, random_state=0)[0],
        "digits": lambda: load_digits().data[:500],
        "copies": lambda: beside_a_cloud(15, 4).round(1),
    }[name]()
    order = rng.permutation(len(X))
    other = X.iloc[order] if name == "words" else X[order]
    one, two = (SymMF(4, random_state=0).fit(rows).labels_ for rows in (X, other))
    assert ari(one[order], two) == 1


@pytest.mark.parametrize("factor", [10, 1000])
@pytest.mark.parametrize("features", [2, 3])
def test_units_of_few_features_do_not_decide(features, factor):
    X, y = make_blobs(300, features, centers=3, random_state=1)
    before = ari(y, SymMF(3, random_state=0).fit(X).labels_)
    X[:, 0] *= factor
    model = SymMF(3, random_state=0).fit(X)
    assert model.scale_ == "range"
    assert abs(ari(y, model.labels_) - before) < 0.01


def test_where_units_decide_the_model_says_how_much():
    X = make_blobs(200, 6, random_state=0)[0] * [1, 1, 1, 2, 2, 2]
    model = SymMF(3, random_state=0).fit(X)
    assert model.scale_ == "none"
    spread = X.std(axis=0)
    assert model.units_ratio_ == pytest.approx(spread.max() / spread.min())
    X[:, 0] *= 1e4
    assert SymMF(3, random_state=0).fit(X).units_ratio_ is None


def test_grid_search_needs_no_scorer():
    X = make_blobs(150, 3, centers=3, random_state=0)[0]
    search = GridSearchCV(SymMF(random_state=0), {"n_clusters": [2, 3, 6]}, cv=3)
    assert search.fit(X).best_params_ == {"n_clusters": 3}
    square = SymMF(3, similarity="precomputed", random_state=0).fit(X @ X.T)
    assert -1 <= square.score(X @ X.T) <= 1
    assert SymMF(1, random_state=0).fit(X).score(X) == -1


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"dsc"}))
def test_the_callers_sparse_matrix_stays_as_it_is(name):
    X = sparse.random_array((40, 12), density=0.3, rng=0, format="csr")
    # Unsorted, with an entry twice.
    indices = X.indices[::-1].copy()
    X = sparse.csr_array((X.data.copy(), indices, X.indptr), shape=X.shape)
    X.indices[1] = X.indices[0]
    before = X.nnz, X.data.copy(), X.indices.copy()
    METHODS[name](n_clusters=2, random_state=0).fit(X)
    assert X.nnz == before[0]
    np.testing.assert_array_equal(X.data, before[1])
    np.testing.assert_array_equal(X.indices, before[2])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_are_taken_and_text_columns_are_named(kind):
    frames = pytest.importorskip(kind)
    X = make_blobs(60, 3, centers=2, random_state=0)[0]
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate("abc")})
    np.testing.assert_array_equal(
        SymMF(2, random_state=0).fit(frame).labels_,
        SymMF(2, random_state=0).fit(X).labels_,
    )
    np.testing.assert_allclose(
        build_similarity(frame, "mutual_knn").toarray(),
        build_similarity(X, "mutual_knn").toarray(),
    )
    words = frames.DataFrame({"a": X[:, 0], "island": ["x"] * 60, "sex": ["y"] * 60})
    for name in ("spectral", "nmf", "consensus"):
        with pytest.raises(InputError, match="not all numbers: island, sex"):
            METHODS[name](n_clusters=2).fit(words)
    dates = frames.DataFrame({"a": X[:, 0], "day": [datetime(2022, 1, 1)] * 60})
    with pytest.raises(InputError, match="not all numbers: day"):
        build_similarity(dates, "cosine")


# No two rows of the identity are alike; of few terms many eigenvalues are 0.
@pytest.mark.filterwarnings("ignore::symmf.errors.SymmfWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("constraint", ["none", "nonnegative"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_degenerate_sparse_rows_are_placed_where_they_were(k, constraint):
    rng = np.random.default_rng(0)
    empty = sparse.random_array((40, 10), density=0.2, rng=1, format="csr").tolil()
    empty[:16] = 0
    few_terms = [
        rng.poisson(0.2, (40, 8)).astype(float),
        1.0 * (rng.random((60, 3)) < 0.3),
    ]
    for X in (sparse.eye_array(40, format="csr"), empty, *few_terms):
        X = sparse.csr_array(X)
        model = SymMF(k, constraint=constraint, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        # Rows of nothing are alike.
        assert len(set(model.labels_[X.sum(axis=1) == 0].tolist())) <= 1


def test_a_model_of_copies_places_copies_and_is_plain():
    X = beside_a_cloud(30, 20)
    model = SymMF(2, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), model.H_, atol=1e-8)
