"""Mutual neighbours joined by a spanning tree; scaling; copies; searches that agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from symmf.errors import InputError
from symmf.similarity import build_similarity
from symmf.similarity.graphs import neighbours as neighbours_module
from symmf.similarity.graphs.mutual import mutual_graph
from symmf.similarity.graphs.neighbours import nearest_neighbours
from symmf.similarity.scaling import Scaling, distinct_rows, participation_ratio


def by_hand(X, q=10, local=7, floor=1e-4):
    """The graph from all distances: mutual pairs and the tree of the whole graph."""
    D = cdist(X, X)
    order = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)
    near = np.zeros(D.shape, dtype=bool)
    np.put_along_axis(near, order[:, :q], True, axis=1)
    s = np.take_along_axis(D, order, axis=1)[:, local - 1]
    s = np.maximum(s, 1e-3 * np.median(s))
    tree = minimum_spanning_tree(D).toarray() > 0
    edges = (near & near.T) | tree | tree.T
    W = np.where(edges, np.maximum(np.exp(-(D**2) / np.outer(s, s)), floor), 0.0)
    root = 1 / np.sqrt(W.sum(axis=1))
    return W * root[:, None] * root


@pytest.mark.parametrize("features", [3, 18])
@pytest.mark.parametrize("seed", range(3))
def test_the_graph_is_that_of_its_definition(seed, features):
    """The tree of the joined either-way graph is the tree of all distances."""
    X = make_blobs(150, features, centers=6, cluster_std=0.5, random_state=seed)[0]
    graph = mutual_graph(X)
    np.testing.assert_allclose(graph.S.toarray(), by_hand(X), atol=1e-12)
    assert connected_components(graph.S.M)[0] == 1
    assert np.abs(graph.S.M - graph.S.M.T).max() == 0
    values = np.linalg.eigvalsh(graph.S.toarray())
    assert values[-1] == pytest.approx(1)
    assert values[-2] < 1 - 1e-12


def test_without_the_tree_far_groups_fall_apart():
    X = np.concatenate([np.arange(12.0), 1000 + np.arange(12.0)])[:, None]
    apart = build_similarity(X, "mutual_knn", n_neighbors=3, tree=False)
    assert connected_components(apart.M)[0] == 2
    joined = build_similarity(X, "mutual_knn", n_neighbors=3)
    assert connected_components(joined.M)[0] == 1


@pytest.mark.parametrize("option", [{"n_neighbors": 0}, {"weight_floor": 2}])
def test_wrong_options_get_a_sentence(option):
    with pytest.raises(InputError, match=next(iter(option))):
        build_similarity(np.eye(5), "mutual_knn", **option)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_very_few_rows(n):
    S = build_similarity(np.arange(float(n))[:, None] ** 2, "mutual_knn")
    assert connected_components(S.M)[0] == 1


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.booleans())
def test_distinct_rows_are_those_of_a_dictionary(values, single):
    X = np.array([[v, -v, 0.0] for v in values], np.float32 if single else np.float64)
    first, copy_of = distinct_rows(X)
    assert values == [values[first[i]] for i in copy_of]
    assert len(set(values)) == len(first)
    # Their order is that of the rows themselves.
    ordered = X[first].tolist()
    assert ordered == sorted(ordered)


def test_the_range_rule():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 8))
    assert participation_ratio(X) > 0.9
    X[:, 0] *= 1e3
    assert participation_ratio(X) == pytest.approx(1 / 8, abs=0.01)
    scaling = Scaling.of(X)
    low, high = np.quantile(X, [0.05, 0.95], axis=0)
    np.testing.assert_allclose(scaling.sizes, high - low)
    rare = np.column_stack([X, np.arange(200) == 7])
    assert Scaling.of(rare, "range").sizes[-1] == pytest.approx(4 * rare[:, -1].std())
    assert Scaling.of(np.ones((5, 2)), "range").apply(np.ones((5, 2))).max() == 1


@pytest.mark.parametrize(("features", "route"), [(3, "_TREE_ROWS"), (12, "_MANY_ROWS")])
def test_every_search_finds_the_same_neighbours(features, route, monkeypatch):
    X = np.random.default_rng(0).standard_normal((120, features))
    X[7] = X[3]
    slow = nearest_neighbours(X, 5)
    monkeypatch.setattr(neighbours_module, route, 50)
    fast = nearest_neighbours(X, 5)
    # Rows 3 and 7 are one point: which of them comes first is free.
    same = (fast.index == slow.index) | np.isin(fast.index, [3, 7])
    assert same.all()
    np.testing.assert_allclose(fast.squared_distance, slow.squared_distance, atol=1e-12)
    assert fast.squared_distance[7, 0] == 0


@pytest.mark.parametrize("groups", [1, 12])
@pytest.mark.parametrize("features", [3, 12, 40])
def test_nearest_rows_are_those_of_all_distances(features, groups):
    rng = np.random.default_rng(0)
    centres = 1e3 + 30 * rng.standard_normal((groups, features))
    X, Y = (
        centres[rng.integers(groups, size=n)] + rng.standard_normal((n, features))
        for n in (600, 50)
    )
    Y[0] = X[5]
    D = cdist(Y, X)
    near = nearest_neighbours(X, 4, Y)
    np.testing.assert_array_equal(near.index, np.argsort(D, axis=1)[:, :4])
    distance = np.sqrt(near.squared_distance)
    np.testing.assert_allclose(distance, np.sort(D, axis=1)[:, :4], atol=1e-12)
    assert distance[0, 0] == 0
