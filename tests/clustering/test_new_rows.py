"""New rows of either storage, precision and size go where the fitted ones went."""

import numpy as np
import pytest
from scipy import sparse

from symmf import SymMF
from symmf.clustering import METHODS
from symmf.errors import InputError


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("similarity", ["auto", "mutual_knn", "cosine"])
@pytest.mark.parametrize("m", [4, 30])
def test_new_rows_may_be_dense_or_sparse(rng, stored, similarity, m):
    X = rng.random((40, m)) * (np.arange(m) % 3 + 1)
    X[X < 0.4] = 0
    model = SymMF(2, similarity=similarity, laplacian_weight=0, random_state=0)
    model.fit(stored(X))
    for given in (X, sparse.csr_array(X)):
        np.testing.assert_array_equal(model.predict(given), model.labels_)


def test_sparse_new_rows_are_scaled_as_the_others(rng):
    X = rng.random((40, 3)) * [1, 1000, 1]
    options = {"feature_scale": "range"}
    model = SymMF(
        2, similarity="cosine", similarity_options=options, laplacian_weight=0
    ).fit(X)
    few = model.transform(sparse.csr_array(X))
    np.testing.assert_allclose(few, model.transform(X))


@pytest.mark.parametrize("method", ["symmf", "kmeans"])
def test_new_rows_far_beyond_the_others_are_refused(rng, method):
    X = rng.random((40, 3))
    model = METHODS[method](n_clusters=2).fit(X)
    for ask in (model.predict, model.transform):
        with pytest.raises(InputError, match="go up to"):
            ask(1e300 * X)


@pytest.mark.parametrize("fitted", [np.float32, np.float64])
@pytest.mark.parametrize("new", [np.float32, np.float64])
def test_kmeans_takes_new_rows_of_either_precision(rng, fitted, new):
    X = rng.random((40, 3)).astype(np.float32)
    model = METHODS["kmeans"](n_clusters=2, random_state=0).fit(X.astype(fitted))
    np.testing.assert_array_equal(model.predict(X.astype(new)), model.labels_)


def test_kmeans_takes_long_index_arrays(rng):
    X = sparse.csr_array(rng.random((20, 4)))
    expected = METHODS["kmeans"](n_clusters=3, random_state=0).fit(X).labels_
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    model = METHODS["kmeans"](n_clusters=3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.predict(X), expected)
