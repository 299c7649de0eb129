import numpy as np
import pytest

from symmf.clustering.labels import argmax_rows, cluster_qr, kmeans_rows, unit_rows


def blobs(n=60, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return 10 * np.eye(k)[y] + rng.standard_normal((n, k)), y


def test_kmeans_depends_on_its_seed_alone():
    Z = np.random.default_rng(0).standard_normal((80, 4))
    first = kmeans_rows(Z, 6, n_init=2, random_state=1)
    assert np.array_equal(first, kmeans_rows(Z, 6, n_init=2, random_state=1))
    rng = np.random.default_rng(1)
    assert np.array_equal(first, kmeans_rows(Z, 6, n_init=2, random_state=rng))


def test_fewer_distinct_rows_than_clusters_is_no_error():
    labels = kmeans_rows(np.ones((6, 2)), 3, random_state=0)
    assert len(labels) == 6


def test_argmax_takes_the_first_of_equal_entries():
    H = np.array([[1.0, 3.0, 3.0], [0.0, 0.0, 0.0], [5.0, 0.0, 1.0]])
    assert argmax_rows(H).tolist() == [1, 0, 0]
    MH = np.array([[9.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 9.0, 0.0]])
    # Only the empty row is decided by M H.
    assert argmax_rows(H, MH).tolist() == [1, 2, 0]
    assert argmax_rows(H).dtype == np.int64


def inertia(Z, labels):
    groups = (Z[labels == c] for c in np.unique(labels))
    return sum(float(((G - G.mean(axis=0)) ** 2).sum()) for G in groups)


@pytest.mark.parametrize("seed", range(5))
def test_kmeans_from_pivoted_qr_is_no_worse_than_that_start(seed):
    Z, _ = blobs(n=90, k=6, seed=seed)
    Z = unit_rows(Z + 4 * np.random.default_rng(seed).standard_normal(Z.shape))
    start = cluster_qr(Z, 6)
    assert len(set(start.tolist())) == 6
    # Without restarts the seed has no say.
    one, two = (
        kmeans_rows(Z, 6, n_init=1, init="cluster_qr", random_state=s) for s in (0, 1)
    )
    np.testing.assert_array_equal(one, two)
    more = kmeans_rows(Z, 6, n_init=8, init="cluster_qr", random_state=0)
    assert inertia(Z, more) <= inertia(Z, one) + 1e-12
    assert inertia(Z, one) <= inertia(Z, start) + 1e-12


def test_fewer_columns_than_clusters_leave_kmeans_its_own_starts():
    Z, _ = blobs(n=80, k=4)
    same = [
        kmeans_rows(Z[:, :2], 4, n_init=3, init=init, random_state=0)
        for init in ("cluster_qr", "k-means++")
    ]
    np.testing.assert_array_equal(*same)
