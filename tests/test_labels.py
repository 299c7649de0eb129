import numpy as np
import pytest
from scipy import sparse

from symmf.labels import argmax_rows, kmeans_rows
from symmf.metrics import accuracy


def blobs(n=60, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return 10 * np.eye(k)[y] + rng.standard_normal((n, k)), y


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)
def test_kmeans_finds_blobs(form):
    Z, y = blobs()
    labels = kmeans_rows(form(Z), 3, random_state=0)
    assert labels.dtype == np.int64
    assert accuracy(y, labels) == 1.0


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
