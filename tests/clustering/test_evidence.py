"""Verdicts, outliers, memberships and refinement, against independent routes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.neighbors import LocalOutlierFactor

from symmf import SymMF, ari
from symmf.clustering.symmf.evidence import Evidence
from symmf.clustering.symmf.membership import matched
from symmf.clustering.symmf.number import count_communities
from symmf.clustering.symmf.structure import Structure
from symmf.errors import InputError


@pytest.fixture(scope="module")
def touching():
    return make_blobs(240, 4, centers=3, cluster_std=3.0, random_state=3)


@pytest.fixture(scope="module")
def fitted(touching):
    return SymMF(3, random_state=0).fit(touching[0])


CLEAR = Structure(verdict="clear", depth=5.0, eigengap=4.0)
WEAK = Structure(verdict="weak", depth=1.2, eigengap=0.5)
NONE = Structure(verdict="none", depth=0.1, eigengap=0.5)


@pytest.mark.parametrize(
    ("structure", "stability", "verdict"),
    [
        (CLEAR, 0.99, "clear"),
        (CLEAR, 0.7, "weak"),
        (CLEAR, 0.3, "none"),
        (WEAK, 0.99, "weak"),
        (NONE, 0.99, "none"),
        (None, 0.99, "clear"),
        (NONE, None, "none"),
        (None, None, None),
    ],
)
def test_the_verdict_is_that_of_the_weakest_evidence(structure, stability, verdict):
    found = Evidence(n_clusters=2, structure=structure, stability=stability)
    assert found.verdict == verdict
    heads = {"clear": "Clear", "weak": "Weak", "none": "No evidence", None: "Whether"}
    # Without a test against chance, that they come back is all that can be said.
    untested = structure is None and verdict == "clear"
    assert found.sentence.startswith("Stable" if untested else heads[verdict])


def test_parts_of_a_curve_are_told_to_be_parts():
    along = Structure(verdict="weak", depth=1.8, eigengap=1.0, along=True)
    said = [
        Evidence(n_clusters=2, structure=structure, stability=0.99).sentence
        for structure in (along, WEAK)
    ]
    assert ["may be parts of it" in sentence for sentence in said] == [True, False]


def test_a_number_that_nothing_supports_is_said_to_be_unreliable():
    unstable = Evidence(n_clusters=4, chosen=True, stability=0.3, best=4, runner_up=3)
    assert str(unstable).startswith("No evidence for these clusters: they change")
    assert "second best: 3, but do not rely on it: give the number you need" in (
        unstable.number
    )


def test_noise_is_told_to_be_noise_whatever_k_was_asked_for():
    X = np.random.default_rng(0).random((150, 3))
    for k in (3, "auto"):
        found = SymMF(k, random_state=0).fit(X).evidence_
        assert found.verdict == "none"
        assert "data without clusters look the same" in found.sentence


def test_clear_clusters_are_told_to_be_clear():
    X, _ = make_blobs(200, 3, centers=4, cluster_std=0.5, random_state=1)
    found = SymMF("auto", random_state=0).fit(X).evidence_
    assert (found.n_clusters, found.verdict, found.chosen) == (4, "clear", True)
    assert found.stability > 0.95
    assert found.silhouette > 0.6
    assert "K = 4 was chosen" in found.number


def test_stability_of_words_is_that_of_the_same_similarity():
    rng, y = np.random.default_rng(1), np.repeat([0, 1, 2], 40)
    words = np.array(list("abc"))[y]
    table = pd.DataFrame(
        {
            name: np.where(rng.random(120) < 0.1, rng.choice(words, 120), words)
            for name in ("colour", "shape", "size", "taste")
        }
    ).assign(weight=y + rng.normal(size=120))
    found = SymMF(3, random_state=0).fit(table).evidence_
    assert found.structure is None
    assert found.stability > 0.9


def test_memberships_sum_to_one_and_follow_the_labels(fitted, touching):
    P = fitted.membership_
    assert P.shape == (240, 3)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert np.mean(P.argmax(axis=1) == fitted.labels_) > 0.97
    np.testing.assert_allclose(fitted.predict_proba(touching[0]), P)


def test_sure_rows_keep_their_cluster_when_others_are_left_out(fitted, touching):
    X, sure, kept = touching[0], [], []
    for seed in range(4):
        rows = np.sort(np.random.default_rng(90 + seed).choice(240, 192, replace=False))
        alone = SymMF(3, random_state=seed).fit_predict(X[rows])
        again = matched(fitted.labels_[rows], alone, 3)
        sure.append(fitted.membership_[rows].max(axis=1))
        kept.append(again == fitted.labels_[rows])
    sure, kept = np.concatenate(sure), np.concatenate(kept)
    # Other parts than those of the calibration; a row counts up to four times.
    assert np.mean(kept) == pytest.approx(np.mean(sure), abs=0.06)
    assert np.mean(kept[sure > 0.95]) > np.mean(kept[sure < 0.8]) + 0.1


def test_outliers_have_the_local_outlier_factor_and_may_be_noise(touching):
    X = np.concatenate([touching[0], [[60.0, 0, 0, 0], [0, -70, 0, 0]]])
    model = SymMF(3, label_options={"noise": True}, random_state=0).fit(X)
    each = [
        -LocalOutlierFactor(n_neighbors=q).fit(X).negative_outlier_factor_
        for q in (10, 15, 20)
    ]
    expected = np.max(each, axis=0)
    np.testing.assert_allclose(model.outlier_score_, expected)
    np.testing.assert_array_equal(model.labels_ == -1, expected > 1.5)
    assert (model.labels_[-2:] == -1).all()
    with pytest.raises(InputError, match="noise is for rows"):
        SymMF(2, similarity="precomputed", label_options={"noise": True}).fit(X @ X.T)


def test_refinement_separates_touching_groups_of_unequal_size():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(0, 2, (300, 3)), rng.normal(0, 0.5, (60, 3)) + 3.5])
    y = np.repeat([0, 1], [300, 60])
    plain = SymMF(2, random_state=0).fit(X)
    refined = SymMF(2, label_options={"refine": True}, random_state=0).fit(X)
    assert ari(y, refined.labels_) >= max(0.8, ari(y, plain.labels_))
    # Long tails are described by no mixture of two Gaussians: labels stay.
    tails = np.exp(1.5 * rng.normal(size=(300, 2)))
    both = [
        SymMF(2, label_options={"refine": refine}, random_state=0).fit_predict(tails)
        for refine in (False, True)
    ]
    np.testing.assert_array_equal(*both)


def test_a_copy_elsewhere_keeps_answers_and_few_rows(fitted):
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.outlier_score_, fitted.outlier_score_)
    X = np.random.default_rng(0).normal(size=(2100, 2))
    large = SymMF(2, random_state=0).fit(X)
    known = large.outlier_score_
    copy = pickle.loads(pickle.dumps(large))
    np.testing.assert_array_equal(copy.outlier_score_, known)
    with pytest.raises(InputError, match="rows of the fit"):
        copy.evidence_  # noqa: B018


def test_rows_that_count_several_times_have_one_answer_each(touching):
    weights = np.random.default_rng(0).integers(0, 4, 240)
    model = SymMF(3, random_state=0).fit(touching[0], sample_weight=weights)
    assert model.membership_.shape == (240, 3)
    assert model.outlier_score_.shape == (240,)
    assert model.evidence_.stability > 0.5


def test_models_can_be_compared_without_classes():
    from sklearn.model_selection import GridSearchCV

    X, _ = make_blobs(150, 3, centers=3, cluster_std=0.5, random_state=2)
    search = GridSearchCV(SymMF(random_state=0), {"n_clusters": [2, 3, 5]}, cv=2)
    assert search.fit(X).best_params_ == {"n_clusters": 3}


@pytest.mark.parametrize("seed", range(5))
def test_communities_of_a_planted_graph_are_counted(seed):
    rng = np.random.default_rng(seed)
    block = np.repeat(range(3), 40)
    for inside, outside, count in ((0.25, 0.02, 3), (0.1, 0.1, 1)):
        chance = np.where(block[:, None] == block, inside, outside)
        edges = np.triu(rng.random((120, 120)) < chance, 1)
        graph = sparse.csr_array((edges | edges.T).astype(float))
        assert count_communities(graph) == count


def test_sparse_rows_have_memberships_too():
    rng = np.random.default_rng(0)
    rates = np.kron(np.eye(3), np.ones(20)) * 0.6 + 0.03
    X = sparse.csr_array(rng.poisson(rates[np.repeat([0, 1, 2], 30)]).astype(float))
    model = SymMF(3, random_state=0).fit(X)
    P = model.predict_proba(X)
    assert P.shape == (90, 3)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert model.evidence_.structure is None
    assert model.outlier_score_.shape == (90,)
