"""Labels from a factor: k-means, pivoted QR, merging, the largest entries."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans

from symmf.clustering.labels import (
    argmax_rows,
    cluster_qr,
    kmeans_rows,
    litekmeans,
    merge_path,
    merge_rows,
    number_by_size,
    unit_rows,
)
from symmf.metrics import accuracy

GOLDEN = Path(__file__).parents[1] / "golden" / "golden_compact.h5"


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


@pytest.mark.parametrize(
    ("case", "rows"), [("H", "digits/matrixFac/H"), ("data", "digits/inputs/data")]
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_litekmeans_follows_the_published_one(case, rows, make):
    with h5py.File(GOLDEN) as file:
        Z, run = file[rows][:], file[f"digits/litekmeans_{case}"]
        start = run["start_idx_1based"][:].astype(int) - 1
        fit = litekmeans(make(Z), 3, start_rows=start)
        np.testing.assert_array_equal(fit.labels, run["labels"][:] - 1)
        np.testing.assert_allclose(fit.centres, run["center"][:], atol=1e-14)


def test_litekmeans_agrees_with_scikit_learn_from_the_same_start():
    Z, _ = blobs(k=4)
    start = [0, 20, 33, 50]
    model = KMeans(4, init=Z[start], n_init=1, tol=0).fit(Z)
    np.testing.assert_array_equal(
        litekmeans(Z, 4, start_rows=start).labels, model.labels_
    )


def test_the_run_with_the_least_unsquared_distance_is_kept():
    Z, _ = blobs(k=4)
    rng = np.random.default_rng(3)
    starts = np.stack([rng.choice(60, 4, replace=False) for _ in range(12)])
    single = [litekmeans(Z, 4, start_rows=start).distance for start in starts]
    assert len({round(value, 6) for value in single}) > 1
    assert litekmeans(Z, 4, start_rows=starts).distance == pytest.approx(min(single))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("method", [kmeans_rows, litekmeans])
def test_planted_clusters_are_found(method, make):
    Z, y = blobs(k=4)
    fit = method(make(Z), 4, random_state=0)
    labels = getattr(fit, "labels", fit)
    assert labels.dtype == np.int64
    assert accuracy(y, labels) == 1.0


@pytest.mark.parametrize(
    ("Z", "k", "start"),
    [
        # Both first centres of the copies are equal, so one is empty at once.
        ([0.0, 0.0, 1.0, 5.0], 3, [0, 1, 2]),
        (np.arange(6.0), 6, None),
        (np.ones(5), 5, None),
    ],
)
def test_no_cluster_is_left_empty(Z, k, start):
    fit = litekmeans(np.reshape(Z, (-1, 1)), k, start_rows=start, random_state=0)
    assert set(fit.labels) == set(range(k))
    assert np.isfinite(fit.centres).all()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40))
def test_equal_partitions_get_equal_numbers(labels):
    labels = np.array(labels)
    renamed = (labels * 5 + 3) % 7
    np.testing.assert_array_equal(number_by_size(labels), number_by_size(renamed))
    assert accuracy(labels, number_by_size(labels)) == 1.0


def test_merging_keeps_a_small_cluster_that_balance_would_split():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [600, 60, 30])
    angle = np.array([0.0, 1.2, 2.4])[y] + rng.normal(0, 0.25, 690)
    Z = np.column_stack([np.cos(angle), np.sin(angle)])
    found = merge_rows(Z, 3, random_state=0)
    assert accuracy(y, found.labels) > 0.9
    np.testing.assert_array_equal(
        np.unique(found.centre_labels), np.unique(found.labels)
    )


def test_one_merging_gives_nested_partitions():
    Z = np.random.default_rng(0).standard_normal((80, 4))
    path = merge_path(Z, [3, 6], exponent=0.2, cap=10, random_state=0)
    coarse, fine = path[3].labels, path[6].labels
    for c in np.unique(fine):
        assert len(np.unique(coarse[fine == c])) == 1


def test_average_linkage_is_that_of_cosines():
    Z = np.random.default_rng(1).standard_normal((40, 5))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    ours = merge_rows(Z, 4, exponent=0).labels
    theirs = fcluster(linkage(Z, "average", metric="cosine"), 4, "maxclust")
    assert accuracy(theirs, ours) == 1.0


def test_pivoted_qr_needs_no_start():
    H = np.kron(np.eye(3), np.ones((5, 1))) + 0.05
    assert accuracy(np.repeat([0, 1, 2], 5), cluster_qr(H, 3)) == 1.0
