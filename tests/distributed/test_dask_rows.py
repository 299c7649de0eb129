"""Rows of dask arrays: the same clusters as in memory, and the rows stay away."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

import symmf
from symmf import SymMF
from symmf.clustering import NMF
from symmf.distributed.operators import DistributedGram, DistributedMatrix
from symmf.errors import InputError, SymmfWarning
from symmf.similarity import build_similarity
from symmf.similarity.row_features import RowFeatures

dask = pytest.importorskip("dask", reason="the extra 'dask' is absent")
da = pytest.importorskip("dask.array")

GRAMS = ("centred_cosine", "cosine", "inner_product")


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture
def X():
    return make_blobs(90, centers=4, n_features=6, random_state=3)[0]


def blocks(X, rows=25):
    """A dask array with uneven last block and the dtype of X."""
    return da.from_array(X, chunks=(rows, -1))


def sparse_blocks(X, cuts):
    parts = [dask.delayed(part) for part in cuts]
    meta = sparse.csr_matrix((0, 0), dtype=X.dtype)
    return da.concatenate(
        [
            da.from_delayed(p, part.shape, dtype=X.dtype, meta=meta)
            for p, part in zip(parts, cuts, strict=True)
        ]
    )


@pytest.mark.parametrize("similarity", GRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_fit_in_memory_to_rounding(X, similarity, dtype) -> None:
    X = X.astype(dtype)
    given = {"similarity": similarity, "laplacian_weight": 0.01, "random_state": 0}
    near, far = SymMF(4, **given).fit(X), SymMF(4, **given).fit(blocks(X))
    scale = float(np.square(near.H_).sum())
    slack = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(
        far.H_ @ far.H_.T, near.H_ @ near.H_.T, atol=slack * scale
    )
    assert far.H_.dtype == dtype
    np.testing.assert_array_equal(far.labels_, near.labels_)
    assert far.error_ == pytest.approx(near.error_, abs=slack)
    assert far.similarity_ == similarity


@pytest.mark.parametrize("similarity", GRAMS)
def test_operators_have_all_of_the_matrix(X, similarity) -> None:
    centre, unit = similarity == "centred_cosine", similarity != "inner_product"
    far = DistributedGram(blocks(X, 17), centre=centre, unit=unit)
    near = build_similarity(X, similarity)
    whole = near.toarray()
    np.testing.assert_allclose(far.toarray(), whole, atol=1e-12 * abs(whole).max())
    np.testing.assert_allclose(far.diagonal(), np.diag(whole), rtol=1e-12)
    assert far.fro2 == pytest.approx(near.fro2, rel=1e-12)
    assert far.max_entry == pytest.approx(whole.max(), rel=1e-12)


@pytest.mark.parametrize("centre", [True, False])
def test_more_features_than_rows_and_sparse_blocks(monkeypatch, centre) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((40, 130), density=0.1, rng=rng, format="csr")
    name = "centred_cosine" if centre else "cosine"
    near = build_similarity(X.toarray(), name)
    array = sparse_blocks(X, [sparse.csr_matrix(X[:15]), sparse.csr_matrix(X[15:])])
    near_dense = DistributedGram(blocks(X.toarray(), 9), centre=centre)
    assert near_dense.fro2 == pytest.approx(near.fro2, rel=1e-12)
    # No sparse row is made dense.
    monkeypatch.setattr(RowFeatures, "rows", pytest.fail)
    far = DistributedGram(array, centre=centre)
    for one in (far, near_dense):
        np.testing.assert_allclose(one.toarray(), near.toarray(), atol=1e-12)
    assert far.fro2 == pytest.approx(near.fro2, rel=1e-12)


def test_a_mean_far_from_zero_costs_no_more_digits(X) -> None:
    far = DistributedGram(blocks(X + 1e7))
    near = build_similarity(X + 1e7, "centred_cosine")
    # The mean itself is rounded at 1e7 eps; squares of 1e7 would leave errors of 1e-2.
    np.testing.assert_allclose(far.toarray(), near.toarray(), atol=1e-8)


@pytest.mark.parametrize("chunks", [(30, 30), (17, 90), (25, 40)])
def test_factorize_takes_a_square_dask_array(X, chunks) -> None:
    M = X @ X.T
    array = da.from_array(M, chunks=chunks)
    operator = DistributedMatrix(array)
    np.testing.assert_array_equal(operator.diagonal(), np.diag(M))
    assert operator.fro2 == pytest.approx(float(np.square(M).sum()), rel=1e-12)
    assert operator.max_entry == M.max()
    H0 = np.random.default_rng(1).standard_normal((90, 3))
    given = {"H0": H0, "max_iter": 15, "tol": 0, "random_state": 0}
    near, far = symmf.factorize(M, 3, **given), symmf.factorize(array, 3, **given)
    np.testing.assert_allclose(far.H, near.H, atol=1e-9 * abs(near.H).max())
    np.testing.assert_allclose(far.error, near.error, atol=1e-10)


def test_precomputed_and_sparse_chunks(X) -> None:
    M = np.maximum(build_similarity(X, "cosine").toarray(), 0)
    M[M < 0.9] = 0
    parts = [sparse.csr_matrix(M[:50]), sparse.csr_matrix(M[50:])]
    given = {"similarity": "precomputed", "laplacian_weight": 0, "random_state": 0}
    near = SymMF(4, **given).fit(M)
    for array in (sparse_blocks(M, parts), da.from_array(M, chunks=32)):
        far = SymMF(4, **given).fit(array)
        np.testing.assert_allclose(far.H_ @ far.H_.T, near.H_ @ near.H_.T, atol=1e-9)
        np.testing.assert_array_equal(far.labels_, near.labels_)


def test_new_rows_are_placed_block_by_block(X) -> None:
    given = {"similarity": "centred_cosine", "random_state": 0}
    near, far = SymMF(4, **given).fit(X), SymMF(4, **given).fit(blocks(X))
    np.testing.assert_array_equal(far.predict(blocks(X, 40)), near.predict(X))
    np.testing.assert_allclose(far.transform(blocks(X, 40)), far.transform(X))
    again = pickle.loads(pickle.dumps(far))
    np.testing.assert_array_equal(again.predict(X), far.labels_)
    with pytest.raises(ValueError, match="5 features, but SymMF is expecting 6"):
        far.predict(blocks(X[:, :5]))


@pytest.mark.parametrize("rows", [11, 30, 90])
def test_few_rows_get_the_fit_in_memory(X, rows) -> None:
    near = SymMF(4, random_state=0).fit(X)
    far = SymMF(4, random_state=0).fit(blocks(X, rows))
    assert far.similarity_ == "mutual_knn"
    np.testing.assert_array_equal(far.H_, near.H_)
    np.testing.assert_array_equal(far.labels_, near.labels_)
    np.testing.assert_array_equal(far.predict(blocks(X, 17)), near.predict(X))


@pytest.mark.parametrize(
    ("rows", "scheduler"), [(100, "threads"), (333, "synchronous"), (2000, "threads")]
)
def test_landmarks_do_not_depend_on_blocks(rows, scheduler) -> None:
    X, y = make_blobs(2000, centers=4, n_features=6, random_state=3)
    given = {"similarity_options": {"n_landmarks": 150}, "random_state": 0}
    near = SymMF(4, **given).fit(X)
    with dask.config.set(scheduler=scheduler):
        far = SymMF(4, **given).fit(blocks(X, rows))
    assert far.n_landmarks_ == near.n_landmarks_ == 150
    np.testing.assert_array_equal(far.H_, near.H_)
    np.testing.assert_array_equal(far.labels_, near.labels_)
    assert symmf.accuracy(y, far.labels_) > 0.99


@pytest.mark.parametrize("n_landmarks", [None, 150])
def test_sparse_rows_are_texts(n_landmarks) -> None:
    rng = np.random.default_rng(0)
    rates = np.kron(np.eye(3), np.full(30, 0.3)) + 0.02
    y = rng.integers(3, size=400)
    X = sparse.csr_matrix(rng.poisson(rates[y]).astype(float))
    array = sparse_blocks(X, [X[:120], X[120:130], X[130:]])
    options = {} if n_landmarks is None else {"n_landmarks": n_landmarks}
    given = {"similarity_options": options, "random_state": 0}
    near, far = SymMF(3, **given).fit(X), SymMF(3, **given).fit(array)
    assert far.similarity_ == "text"
    np.testing.assert_array_equal(far.labels_, near.labels_)
    np.testing.assert_array_equal(far.predict(array), near.predict(X))
    assert symmf.accuracy(y, far.labels_) > 0.95


def test_extreme_values_are_scaled_as_in_memory(X) -> None:
    given = {"similarity": "inner_product", "laplacian_weight": 0, "random_state": 0}
    fits = []
    for data in (X * 1e150, blocks(X * 1e150)):
        with pytest.warns(SymmfWarning, match="were multiplied by"):
            fits.append(SymMF(4, **given).fit(data))
    np.testing.assert_allclose(fits[0].objective_, fits[1].objective_, rtol=1e-6)
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)


def test_rows_of_unknown_number_and_empty_blocks(X) -> None:
    array = blocks(X)
    some = array[array[:, 0] < np.sort(X[:25, 0])[0]]  # the first block is empty
    assert np.isnan(some.shape[0])
    kept = X[X[:, 0] < np.sort(X[:25, 0])[0]]
    given = {"similarity": "cosine", "laplacian_weight": 0, "random_state": 0}
    np.testing.assert_array_equal(
        SymMF(2, **given).fit(some).labels_, SymMF(2, **given).fit(kept).labels_
    )


def refusals(X):
    nan = X.copy()
    nan[61, 2] = np.nan
    array = blocks(X)
    unknown = array[array[:, 0] > 0]
    gram = SymMF(2, similarity="cosine")
    square = da.from_array(X @ X.T, chunks=30)
    wrong = square.compute()
    wrong[5, 80] += 1
    return {
        r"first in row 61": lambda: gram.fit(blocks(nan)),
        r"gaussian.* needs all rows in memory.*X\.compute\(\)": lambda: SymMF(
            2, similarity="gaussian"
        ).fit(array),
        "divide X before": lambda: SymMF(
            2, similarity="cosine", similarity_options={"feature_scale": "range"}
        ).fit(array),
        "Did you mean 'cosine'": lambda: SymMF(2, similarity="cosin").fit(array),
        "NMF needs its rows in memory": lambda: NMF(2).fit(array),
        "select clusters parts": lambda: symmf.select(array),
        "two dimensions; it has 1": lambda: gram.fit(array[:, 0]),
        "real numbers": lambda: gram.fit(array.astype(complex)),
        r"compute_chunk_sizes\(\) first": lambda: gram.fit(
            da.concatenate([unknown, unknown], axis=1, allow_unknown_chunksizes=True)
        ),
        "n_samples=90; got 91": lambda: SymMF(91, similarity="cosine").fit(array),
        "minimum of 2": lambda: SymMF(1, similarity="cosine").fit(array[:1]),
        "must be a square matrix": lambda: symmf.factorize(array, 2),
        "NaN or infinite": lambda: symmf.factorize(square / 0 * 0, 2),
        "not symmetric": lambda: symmf.factorize(da.from_array(wrong, chunks=40), 2),
        "M's chunks are not known": lambda: symmf.factorize(
            square[square[:, 0] > 0], 2
        ),
        "options|option": lambda: SymMF(
            2, similarity="cosine", similarity_options={"power": 2}
        ).fit(array),
    }


@pytest.mark.parametrize("sentence", list(refusals(np.ones((90, 6)))))
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_refusals_are_sentences(X, sentence) -> None:
    with pytest.raises(InputError, match=sentence):
        refusals(X)[sentence]()


def test_rows_are_never_all_here() -> None:
    n, m, k = 10_000, 200, 2  # 16 MB of rows in blocks of 0.8 MB
    one = np.random.default_rng(0).standard_normal((500, m))
    X = da.map_blocks(one.copy, chunks=((500,) * (n // 500), (m,)), dtype=float)
    with dask.config.set(scheduler="synchronous"):
        DistributedGram(X[:500])  # what is imported on the way is not counted
        tracemalloc.start()
        try:
            far = DistributedGram(X)
            assert far.matmat(np.ones((n, k))).shape == (n, k)
            assert far.fro2 > 0
            assert far.diagonal().shape == (n,)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    # A block and its copies, partial sums of F^T F, and a few arrays of n x k.
    assert peak < n * m * 8 / 2


def test_a_model_keeps_no_rows() -> None:
    n, m, k = 300, 200, 2
    X = blocks(np.random.default_rng(0).standard_normal((n, m)), 50)
    model = SymMF(
        k, similarity="centred_cosine", random_state=0, label_options={"n_init": 1}
    ).fit(X)
    assert len(pickle.dumps(model)) < 6 * (n + m) * k * 8 + 4000
