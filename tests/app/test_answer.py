"""Answers, groups, pages, models as files: checked by independent routes."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from symmf.app.answer import answer
from symmf.app.choice import select_for
from symmf.app.evidence import cut_share
from symmf.app.groups import shown_number
from symmf.app.model import model_of
from symmf.app.output import clusters_csv
from symmf.app.page import render_page
from symmf.app.stages import Stages
from symmf.app.task import make_task
from symmf.clustering.symmf.model_file import load_model, save_model
from symmf.errors import DataError, InputError
from symmf.io.matrix import UserMatrix


def blobs(n=120, k=3, seed=0):
    X, y = make_blobs(n, 4, centers=k, cluster_std=0.8, random_state=seed)
    return UserMatrix(X=X, y=y.astype(np.int64), names=["a", "b", "c", "d"])


@pytest.fixture(scope="module")
def found():
    return answer(make_task(blobs()), 3)


def test_a_clear_clustering_is_told_to_be_one(found):
    evidence = found.evidence
    assert evidence.verdict == "clear"
    assert evidence.stability > 0.95
    assert evidence.silhouette > 0.5
    assert found.cut < 0.05
    assert found.scores["AC"] == 1.0
    assert not found.outliers.any()
    assert found.membership.min() > 0.5


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("method", ["symmf", "kmeans"])
def test_very_few_rows_have_a_page(method, n):
    task = make_task(UserMatrix(X=np.eye(n), y=None), method=method)
    few = answer(task, 2)
    assert few.evidence.stability is None
    assert "not tested" in render_page(few, title="few", command="")


@pytest.mark.parametrize("method", ["symmf", "kmeans"])
def test_noise_is_not_told_to_be_clusters_by_any_method(method):
    X = np.random.default_rng(0).random((150, 6))
    task = make_task(UserMatrix(X=X, y=None), method=method)
    noise = answer(task, 5)
    assert noise.evidence.verdict == "none"
    assert noise.evidence.number.startswith("If there must be clusters, K = ")
    page = render_page(noise, title="noise", command="symmf cluster noise.csv -k 5")
    assert "No evidence for these clusters" in page
    assert "relative error" not in page
    auto = answer(task, "auto")
    assert (auto.n_clusters, auto.evidence.chosen) == (1, True)
    assert "No clusters were found" in render_page(auto, title="noise", command="")


def test_outliers_may_belong_to_no_cluster():
    data = blobs()
    X = np.concatenate([data.X, [[90.0, 0, 0, 0]]])
    task = make_task(UserMatrix(X=X, y=None, names=data.names))
    marked = answer(task, 3, parameters={"label_options": {"noise": True}})
    assert marked.labels[-1] == -1
    assert marked.outliers[-1]
    assert sum(group.size for group in marked.groups) == np.sum(marked.labels >= 0)
    page = render_page(marked, title="t", command="")
    assert "1 outlier, samples far from all others" in page
    assert "Outliers belong to no cluster." in page


@pytest.mark.parametrize(
    ("factors", "shown"),
    [
        ([1] + [40] * 11, "may dominate the result"),
        ([1] * 11 + [1e4], "were divided by their ranges"),
        ([1] * 12, None),
    ],
)
def test_the_page_says_what_became_of_units(factors, shown):
    X, _ = make_blobs(120, 12, centers=3, random_state=0)
    task = make_task(UserMatrix(X=X * factors, y=None))
    page = render_page(answer(task, 3), title="t", command="")
    assert (shown is None) == ("times as much as" not in page)
    assert shown is None or shown in page
    left = make_task(task.data, standardize=False)
    assert "times as much as" not in render_page(answer(left, 3), title="", command="")


def test_stages_are_told_and_timed():
    told = []
    stages = Stages(told.append)
    answer(make_task(blobs()), 3, stages=stages)
    assert told == list(stages.seconds) == ["clustering", "evidence"]
    assert min(stages.seconds.values()) > 0


def test_the_cut_counts_neighbours_in_other_clusters(found):
    X, labels = found.task.data.X, np.arange(120) % 2
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1)[:, :10]
    expected = np.mean(labels[near] != labels[:, None])
    assert cut_share(found.task, X, labels) == pytest.approx(expected)


def test_communities_of_a_graph_are_counted():
    rng = np.random.default_rng(1)
    block = np.repeat(range(3), 40)
    chance = np.where(block[:, None] == block, 0.25, 0.02)
    edges = np.triu(rng.random((120, 120)) < chance, 1)
    W = sparse.csr_array((edges | edges.T).astype(float))
    task = make_task(UserMatrix(X=W, y=None, kind="graph"))
    found = answer(task, "auto")
    assert found.n_clusters == 3
    assert found.evidence.by_rule == {"bethe_hessian": 3, "eigengap": 3}
    assert select_for(task, n_subsamples=0).n_clusters == 3


def test_the_cut_of_a_graph_is_the_share_of_its_weight():
    W = sparse.csr_array(np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]], dtype=float))
    data = UserMatrix(X=W, y=None, kind="graph")
    share = cut_share(make_task(data), None, np.array([0, 0, 1]))
    assert share == pytest.approx(1 / 3)


def test_groups_have_centres_in_the_units_of_the_data(found):
    X = found.task.data.X
    for group in found.groups:
        rows = found.labels == group.number
        assert group.size == rows.sum()
        np.testing.assert_allclose(group.centre, X[rows].mean(axis=0))
        assert set(group.typical) <= set(np.flatnonzero(rows))
        trait = group.traits[0]
        j = found.task.data.names.index(trait.name)
        assert trait.mean == pytest.approx(X[rows, j].mean())
        assert trait.off == pytest.approx((trait.mean - X[:, j].mean()) / X[:, j].std())


def test_means_of_dates_are_dates():
    X = np.add(blobs().X, [18600, 0, 0, 0])
    data = UserMatrix(X=X, names=["day", "b", "c", "d"], dates=["day"])
    groups = answer(make_task(data), 3, check_stability=False).groups
    days = [t.shown for group in groups for t in group.traits if t.name == "day"]
    assert days
    assert all(day.startswith("2020-12-") for day in days)


def test_standardized_columns_have_mean_0_and_deviation_1():
    task = make_task(blobs(), standardize=True)
    np.testing.assert_allclose(task.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(task.X.std(axis=0), 1)


def test_a_model_predicts_as_the_estimator_does(found, tmp_path):
    save_model(tmp_path / "m.npz", model_of(found))
    model = load_model(tmp_path / "m.npz")
    new = UserMatrix(X=blobs(60, seed=0).X + 0.01, y=None)
    np.testing.assert_array_equal(model.predict(new), found.model.predict(new.X))
    with pytest.raises(InputError, match="4 columns"):
        model.predict(UserMatrix(X=np.ones((2, 3)), y=None))
    with pytest.raises(InputError, match="made of rows"):
        model.predict(UserMatrix(X=None, y=None, kind="documents", documents=["a"]))


def test_damaged_and_foreign_models_are_sentences(found, tmp_path):
    path = tmp_path / "m.npz"
    save_model(path, model_of(found))
    whole = path.read_bytes()
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole), size=50):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with suppress(DataError):
            # Bytes that no reader needs, such as the dates of the archive's members.
            assert load_model(path).n_clusters == 3
    for content in (whole[:-500], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"m\.npz is damaged.*--save"):
            load_model(path)
    np.savez(path, **arrays | {"format": np.array("symmf cluster model, version 1")})
    with pytest.raises(DataError, match=r"version 1.*not.*version 2.*--save"):
        load_model(path)
    for content in (b"", b"x,y\n1,2\n"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"m\.npz cannot be used"):
            load_model(path)


def test_names_that_are_formulas_become_texts():
    data = UserMatrix(X=None, y=None, ids=["@a", "-1"], id_name="cluster")
    text = clusters_csv(data, np.array([0, 1]))
    assert text == "cluster,cluster_\n'@a,0\n-1,1\n"
    about = {"outliers": [False, True], "membership": np.array([0.91, 0.5])}
    text = clusters_csv(UserMatrix(X=None, y=None), np.array([0, -1]), **about)
    assert text == "row,outlier,membership,cluster\n1,0,0.910,0\n2,1,0.500,-1\n"


def test_numbers_for_people():
    assert shown_number(0) == "0"
    assert shown_number(-1234.5678) == "-1,235"
    assert shown_number(0.012345) == "0.01235"


def test_images_and_documents_are_no_similarities():
    data = UserMatrix(X=None, y=None, kind="documents", documents=["a b", "c d"])
    with pytest.raises(InputError, match="--precomputed"):
        make_task(data, precomputed=True)
