"""Approximate neighbours of many rows, and what joins their components."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from symmf.similarity.graphs import mutual
from symmf.similarity.graphs.forest import forest_neighbours, join_many


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    X, _ = make_blobs(2500, n_features=12, centers=6, cluster_std=2.0, random_state=0)
    return X


def test_nearly_all_neighbours_are_found(points: np.ndarray) -> None:
    distance, index = forest_neighbours(points, 10)
    D = cdist(points, points)
    np.testing.assert_allclose(distance, np.take_along_axis(D, index, axis=1))
    assert (np.diff(distance, axis=1) >= 0).all()
    np.fill_diagonal(D, np.inf)
    true = np.argsort(D, axis=1)[:, :10]
    hits = [len(set(a) & set(b)) for a, b in zip(index, true, strict=True)]
    assert np.mean(hits) > 9.3
    # Nobody is a neighbour of its own, and nobody comes twice.
    assert not (index == np.arange(len(points))[:, None]).any()
    assert all(len(set(row)) == 10 for row in index)


def test_threads_change_nothing(
    points: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    one = forest_neighbours(points, 5)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    three = forest_neighbours(points, 5)
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


def test_components_name_their_nearest_others() -> None:
    X = np.array([[0.0], [1.0], [3.0], [3.5], [9.0], [9.5], [9.9]])
    component = np.array([0, 0, 1, 1, 2, 2, 2], dtype=np.int32)
    assert join_many(X, component, 3) == [(1, 2, 2.0), (2, 1, 2.0)]


def test_the_graph_of_many_rows_is_joined_and_nearly_the_exact_one(
    points: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = points * np.where(np.arange(12) < 6, 3.0, 1.0)
    exact = mutual.mutual_graph(X).S.M
    monkeypatch.setattr(mutual, "MANY_ROWS", 100)
    found = mutual.mutual_graph(X).S.M
    assert connected_components(found, directed=False)[0] == 1
    same = (found != 0).multiply(exact != 0).nnz
    assert same > 0.9 * max(found.nnz, exact.nnz)
