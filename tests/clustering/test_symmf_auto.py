"""The default pipeline of SymMF: what it chooses, new points, labels, constraints."""

import logging

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from symmf import SymMF, accuracy
from symmf.clustering.labels import number_by_size
from symmf.errors import InputError
from symmf.similarity import build_similarity, regularise


@pytest.fixture(scope="module")
def moons():
    return make_moons(400, noise=0.06, random_state=0)


def documents(n=240, terms=300, topics=3, seed=0):
    """Counts of terms; a third of the terms belongs to each topic."""
    rng = np.random.default_rng(seed)
    y = rng.choice(topics, n, p=[0.6, 0.25, 0.15])
    rates = np.full((topics, terms), 0.05)
    for topic in range(topics):
        rates[topic, topic * 100 : topic * 100 + 100] = 0.4
    return sparse.csr_array(rng.poisson(rates[y]).astype(float)), y


def test_dense_rows_are_points_and_sparse_rows_are_text(moons):
    X, y = moons
    model = SymMF(2, random_state=0).fit(X)
    assert model.similarity_ == "mutual_knn"
    assert accuracy(y, model.labels_) == 1.0
    counts, topics = documents()
    model = SymMF(3, random_state=0).fit(counts)
    assert (model.similarity_, model.laplacian_weight_) == ("text", 0.05)
    assert model.H_.shape == (240, 6)
    assert normalized_mutual_info_score(topics, model.labels_) > 0.95
    # Dense rows are points whatever their values; text has to be asked for.
    dense = counts.toarray()
    assert SymMF(3, random_state=0).fit(dense).similarity_ == "mutual_knn"
    asked = SymMF(3, similarity="text", random_state=0).fit(dense)
    np.testing.assert_array_equal(asked.labels_, model.labels_)


def test_it_beats_what_it_was_on_digits():
    X, y = load_digits(return_X_y=True)
    assert adjusted_rand_score(y, SymMF(10, random_state=0).fit_predict(X)) > 0.8


def test_copies_share_labels_and_rows_of_H(moons):
    X, _ = moons
    twice = np.concatenate([X, X[::-1], X[:50]])
    model = SymMF(2, random_state=0).fit(twice)
    np.testing.assert_array_equal(model.labels_[:400], model.labels_[400:800][::-1])
    np.testing.assert_array_equal(model.H_[:50], model.H_[800:])
    once = SymMF(2, random_state=0).fit(X)
    assert accuracy(once.labels_, model.labels_[:400]) == 1.0


def test_few_features_with_all_the_variance_are_scaled():
    rng = np.random.default_rng(0)
    X, y = make_blobs(300, 6, centers=3, random_state=0)
    noisy = np.column_stack([X, 1e4 * rng.standard_normal(300)])
    model = SymMF(3, random_state=0).fit(noisy)
    assert model.scale_ == "range"
    assert accuracy(y, model.labels_) > 0.95
    raw = SymMF(3, similarity_options={"feature_scale": "none"}, random_state=0).fit(
        noisy
    )
    assert accuracy(y, raw.labels_) < 0.8
    assert SymMF(3, random_state=0).fit(X).scale_ == "none"


@pytest.mark.parametrize("weight", [0.0, 0.5, 3.0])
def test_lambda_does_not_change_the_labels_of_a_normalised_graph(moons, weight):
    X, _ = moons
    labels = [
        SymMF(2, laplacian_weight=w, random_state=0).fit_predict(X)
        for w in (0.5, weight)
    ]
    assert accuracy(*labels) == 1.0


# Constraints


def test_a_nonnegative_factor_starts_from_the_labels_without_it(moons):
    X, y = moons
    model = SymMF(2, constraint="nonnegative", random_state=0).fit(X)
    assert model.H_.min() >= 0
    assert model.solver_ == "projected_gradient"
    assert accuracy(y, model.labels_) == 1.0
    # What it reads is the largest entry; from a random start it is lost.
    np.testing.assert_array_equal(
        number_by_size(model.H_.argmax(axis=1)), model.labels_
    )


# New points


@pytest.mark.parametrize(
    "similarity", ["mutual_knn", "cosine", "centred_cosine", "inner_product"]
)
def test_training_rows_are_placed_where_they_were(similarity):
    X, _ = make_blobs(200, 5, centers=3, random_state=1)
    weight = 0.5 if similarity == "mutual_knn" else 0.0
    model = SymMF(
        3, similarity=similarity, laplacian_weight=weight, random_state=0
    ).fit(X)
    np.testing.assert_allclose(model.transform(X), model.H_, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_new_rows_take_the_cluster_they_lie_in():
    X, y = make_moons(800, noise=0.06, random_state=1)
    model = SymMF(2, random_state=0).fit(X[:400])
    assert accuracy(y[400:], model.predict(X[400:])) > 0.99


def test_text_is_placed_by_the_weights_of_the_training_rows():
    counts, y = documents(n=400)
    model = SymMF(3, random_state=0).fit(counts[:300])
    np.testing.assert_allclose(model.transform(counts[:300]), model.H_, atol=1e-6)
    assert normalized_mutual_info_score(y[300:], model.predict(counts[300:])) > 0.9


def test_given_similarities_of_new_rows():
    X, _ = make_blobs(90, 4, centers=3, random_state=0)
    A = build_similarity(X, "gaussian").toarray() + np.eye(90)
    model = SymMF(3, similarity="precomputed", laplacian_weight=0, random_state=0).fit(
        A
    )
    assert accuracy(model.labels_, model.predict(A)) == 1.0
    with pytest.raises(ValueError, match="features"):
        model.predict(A[:, :10])


def test_a_similarity_without_new_points_says_so():
    X, _ = make_blobs(60, 4, centers=3, random_state=0)
    model = SymMF(3, similarity="gaussian", laplacian_weight=0, random_state=0).fit(X)
    with pytest.raises(InputError, match="New points can be placed with"):
        model.predict(X)


def test_a_pipeline_gets_rows_of_H_with_names():
    X, _ = make_blobs(80, 4, centers=3, random_state=0)
    model = SymMF(3, random_state=0).set_output(transform="pandas")
    frame = make_pipeline(StandardScaler(), model).fit_transform(X)
    assert list(frame.columns) == ["symmf0", "symmf1", "symmf2"]
    assert list(model.get_feature_names_out()) == list(frame.columns)


# Labels


@pytest.mark.parametrize("labels", ["kmeans", "cluster_qr", "merge", "average"])
def test_every_reading_finds_clear_clusters(moons, labels):
    X, y = moons
    model = SymMF(2, labels=labels, random_state=0).fit(X)
    assert accuracy(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


# What it says


def test_it_says_what_it_chose(moons, caplog):
    with caplog.at_level(logging.INFO, logger="symmf"):
        SymMF(2, verbose=1, random_state=0).fit(moons[0])
    assert "similarity mutual_knn" in caplog.text


def test_the_objective_is_that_of_M(moons):
    X, _ = moons
    model = SymMF(2, random_state=0).fit(X)
    M = regularise(build_similarity(X, "mutual_knn"), 0.5).toarray()
    wanted = np.sum((M - model.H_ @ model.H_.T) ** 2)
    assert model.objective_ == pytest.approx(wanted)
    np.testing.assert_allclose(
        model.eigenvalues_, np.linalg.eigvalsh(M)[::-1][:2], atol=1e-6
    )


def test_a_callback_sees_iterates_and_can_stop(moons):
    seen = []

    def stop(iteration):
        seen.append(iteration.iteration)
        return len(seen) == 3

    model = SymMF(
        2,
        constraint="nonnegative",
        solver_options={"callback": stop},
        random_state=0,
    )
    model.fit(moons[0])
    assert model.stop_ == "callback"
    assert seen == [0, 1, 2]


def test_text_of_many_rows_learns_from_a_part():
    X, _ = documents(400)
    usual = SymMF(3, random_state=0).fit(X)
    model = SymMF(3, similarity_options={"n_landmarks": 300}, random_state=0).fit(X)
    assert (usual.n_landmarks_, model.n_landmarks_) == (None, 300)
    assert len(model.H_) == 300
    assert "n_landmarks 300" in model.matrix_
    assert accuracy(usual.labels_, model.labels_) > 0.98
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_directions_of_many_documents_are_learned_from_a_part(monkeypatch):
    X, _ = documents(400)
    usual = SymMF(3, random_state=0).fit(X)
    assert usual.H_.dtype == np.float64
    monkeypatch.setattr("symmf.features.text.LEARNED_FROM", 300)
    model = SymMF(3, random_state=0).fit(X)
    assert model.H_.dtype == np.float32
    assert accuracy(usual.labels_, model.labels_) > 0.98
    again = SymMF(3, random_state=0).fit(X)
    np.testing.assert_array_equal(again.H_, model.H_)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 12, 20])
def test_clusters_of_a_handful_of_rows_are_found(n):
    y = np.arange(n) % 2
    X = 0.3 * np.random.default_rng(n).standard_normal((n, 2)) + 8 * y[:, None]
    model = SymMF(2, random_state=0).fit(X)
    assert accuracy(y, model.labels_) == 1
    assert accuracy(y, model.predict(X + 0.01)) == 1
