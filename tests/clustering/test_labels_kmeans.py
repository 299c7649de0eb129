from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from symmf.clustering.labels import kmeans_rows, litekmeans
from symmf.metrics import accuracy

GOLDEN = Path(__file__).parents[1] / "golden" / "golden_compact.h5"


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 15)
    return 10 * np.eye(4)[y] + rng.standard_normal((60, 4)), y


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


def test_litekmeans_agrees_with_scikit_learn_from_the_same_start(blobs):
    Z, _ = blobs
    start = [0, 20, 33, 50]
    model = KMeans(4, init=Z[start], n_init=1, tol=0).fit(Z)
    np.testing.assert_array_equal(
        litekmeans(Z, 4, start_rows=start).labels, model.labels_
    )


def test_the_run_with_the_least_unsquared_distance_is_kept(blobs):
    Z, _ = blobs
    rng = np.random.default_rng(3)
    starts = np.stack([rng.choice(60, 4, replace=False) for _ in range(12)])
    single = [litekmeans(Z, 4, start_rows=start).distance for start in starts]
    assert len({round(value, 6) for value in single}) > 1
    assert litekmeans(Z, 4, start_rows=starts).distance == pytest.approx(min(single))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("method", [kmeans_rows, litekmeans])
def test_planted_clusters_are_found(blobs, method, make):
    Z, y = blobs
    fit = method(make(Z), 4, random_state=0)
    labels = getattr(fit, "labels", fit)
    assert labels.dtype == np.int64
    assert accuracy(y, labels) == 1.0


def test_no_cluster_is_left_empty():
    # Both first centres of the duplicates are equal, so one is empty at once.
    Z = np.array([[0.0], [0.0], [1.0], [5.0]])
    fit = litekmeans(Z, 3, start_rows=[0, 1, 2])
    assert set(fit.labels) == {0, 1, 2}
    assert np.isfinite(fit.centres).all()


def test_as_many_clusters_as_rows():
    Z = np.arange(6.0)[:, None]
    fit = litekmeans(Z, 6, random_state=0)
    assert len(set(fit.labels)) == 6
    assert fit.distance == 0
    fit = litekmeans(np.ones((5, 2)), 5, random_state=0)
    assert len(set(fit.labels)) == 5
