"""Many rows: landmarks of them, on the same graph, and a place for every row."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_circles

from symmf import SymMF, accuracy
from symmf.clustering.symmf import landmarks
from symmf.clustering.symmf.landmarks import condense, in_blocks, learned_from
from symmf.clustering.symmf.model_file import Model, for_new_samples
from symmf.errors import InputError
from symmf.metrics import ari


def some(p, **options):
    return {"n_landmarks": p, **options}


@pytest.mark.parametrize(
    ("features", "k", "expected"), [(2, 2, 20_000), (4, 2, 5000), (4, 70, 7000)]
)
def test_few_features_get_the_most_landmarks(features, k, expected) -> None:
    X = np.zeros((21_000, features))
    rng = np.random.default_rng(0)
    assert learned_from(X, k, None, rng, condensed=True).n_landmarks == expected


@pytest.fixture
def rings():
    X, y = make_circles(4000, noise=0.04, factor=0.4, random_state=0)
    return X, y


def test_shapes_are_those_of_the_full_graph(rings) -> None:
    X, y = rings
    whole = SymMF(2, random_state=0).fit(X)
    model = SymMF(2, similarity_options=some(500), random_state=0).fit(X)
    assert whole.n_landmarks_ is None
    assert model.n_landmarks_ == len(model.H_) <= 500
    assert ari(y, model.labels_) > ari(y, whole.labels_) - 0.02
    assert model.matrix_ == f"M: mutual_knn, n_landmarks {len(model.H_)}, lambda 0.5"


@pytest.mark.parametrize("width", [3, 12])
def test_unequal_blobs(width) -> None:
    sizes = [3000, 800, 200]
    X, y = make_blobs(sizes, width, centers=None, cluster_std=0.6, random_state=4)
    model = SymMF(3, similarity_options=some(400), random_state=0).fit(X)
    assert ari(y, model.labels_) > 0.98
    assert np.bincount(model.labels_).argmax() == 0


def test_rows_of_the_fit_are_placed_as_new_ones_are(rings) -> None:
    X, _ = rings
    model = SymMF(2, similarity_options=some(400), random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(X[::-7]), model.labels_[::-7])
    assert model.transform(X).shape == (len(X), 2)
    H = SymMF(2, similarity_options=some(400), random_state=0).fit_transform(X)
    np.testing.assert_array_equal(H, model.transform(X))


def test_all_rows_as_landmarks_are_the_usual_fit(rings) -> None:
    X, _ = rings
    usual = SymMF(2, random_state=0).fit(X[:600])
    model = SymMF(2, similarity_options=some(600), random_state=0).fit(X[:600])
    assert model.n_landmarks_ is None
    np.testing.assert_array_equal(model.H_, usual.H_)


def test_many_rows_in_memory_have_landmarks_of_themselves(monkeypatch, rings) -> None:
    X, y = np.hstack([rings[0], np.zeros((4000, 2))]), rings[1]
    monkeypatch.setattr(landmarks, "MANY_ROWS", 3000)
    monkeypatch.setattr(landmarks, "_FEWEST", 500)
    model = SymMF(2, random_state=0).fit(X)
    assert len(model.H_) == 500
    assert accuracy(y, model.labels_) > 0.98
    auto = SymMF("auto", random_state=0).fit(X)
    assert len(auto.labels_) == len(X)


def test_a_model_keeps_landmarks_and_no_rows(rings) -> None:
    X = np.hstack([rings[0], np.zeros((len(rings[0]), 20))])
    model = SymMF(2, similarity_options=some(200), random_state=0).fit(X)
    slim = Model(kind="rows", n_clusters=2, estimator=for_new_samples(model))
    bound = 200 * (X.shape[1] + 40) * 8 + len(X) * 8 + 20_000
    assert len(pickle.dumps(slim)) < bound < X.nbytes
    with pytest.raises(InputError, match="rows of the fit"):
        slim.estimator.predict_proba(X)


@pytest.mark.parametrize("constraint", ["nonnegative", "none"])
def test_a_constraint_holds_for_landmarks(rings, constraint) -> None:
    X, y = rings
    options = some(400)
    model = SymMF(
        2, constraint=constraint, similarity_options=options, random_state=0
    ).fit(X)
    assert accuracy(y, model.labels_) > 0.98


def test_copies_are_one_landmark_that_counts_them() -> None:
    T = np.repeat([[0.0, 1.0], [5.0, 5.0], [0.0, 0.9]], [7, 2, 1], axis=0)
    T = T[np.random.default_rng(0).permutation(10)]
    B, counts = condense(T, 10)
    order = np.lexsort(B.T)
    np.testing.assert_array_equal(B[order], [[0.0, 0.9], [0.0, 1.0], [5.0, 5.0]])
    np.testing.assert_array_equal(counts[order], [1, 7, 2])
    with pytest.raises(InputError, match=r"Only 3 rows are distinct.*n_clusters is 4"):
        SymMF(4, similarity_options=some(10)).fit(np.tile(T, (5, 1)))


def test_means_of_the_rows_nearest_to_the_first_ones() -> None:
    rng = np.random.default_rng(0)
    T = rng.standard_normal((200, 6))
    B, counts = condense(T, 20)
    D = ((T[:, None] - T[None, :20]) ** 2).sum(axis=2)
    nearest = D.argmin(axis=1)
    expected = [T[nearest == j].mean(axis=0) for j in range(20)]
    expected, sizes = np.array(expected), np.bincount(nearest)
    order = np.lexsort(expected.T[::-1])
    np.testing.assert_allclose(B, expected[order], atol=1e-12)
    np.testing.assert_array_equal(counts, sizes[order])


@pytest.mark.parametrize("as_sparse", [False, True])
def test_blocks_are_put_together(monkeypatch, as_sparse) -> None:
    monkeypatch.setattr(landmarks, "_BLOCK_ROWS", 7)
    X = np.arange(60.0).reshape(20, 3)
    rows = sparse.csr_array(X) if as_sparse else X
    got = in_blocks(lambda block: block.sum(axis=1), rows)
    np.testing.assert_array_equal(got, X.sum(axis=1))


def test_landmarks_of_other_similarities_are_refused(rings) -> None:
    given = {"similarity": "cosine", "similarity_options": some(50)}
    with pytest.raises(InputError, match="n_landmarks is for mutual_knn"):
        SymMF(2, **given).fit(rings[0])


def test_memberships_and_evidence_are_of_all_rows(rings) -> None:
    X, _ = rings
    model = SymMF(2, similarity_options=some(300), random_state=0).fit(X[:900])
    assert model.membership_.shape == (900, 2)
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert model.evidence_.sentence
    with pytest.raises(InputError, match=r"'refine': True.* looks at all rows"):
        model.set_params(label_options={"refine": True}).fit(X[:900])
