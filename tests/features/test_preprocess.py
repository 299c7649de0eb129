import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from symmf.errors import InputError, SymmfWarning
from symmf.features.preprocess import PREPROCESS, preprocess

# Steps for square images; test_images.py has their tests.
IMAGES = {"hog", "image_features", "image_similarity", "diffusion_rows"}
# They would make a sparse matrix dense, and refuse it.
CENTRING = ("centre", "standardize")
SPARSE = [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix]

matrices = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: round(x, 3)),
)
counts = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.integers(0, 5).map(float),
)


def quietly(X, steps):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SymmfWarning)
        return preprocess(X, steps)


@given(matrices, st.sampled_from(SPARSE))
@settings(max_examples=60, deadline=None)
def test_unit_rows_have_length_one_or_stay_zero(X, make):
    Z = quietly(X, ["unit_rows"])
    near = quietly(make(X), ["unit_rows"])
    assert near.format == "csr"
    assert np.allclose(near.toarray(), Z)
    zero = ~X.any(axis=1)
    assert np.allclose(np.linalg.norm(Z[~zero], axis=1), 1)
    assert not Z[zero].any()
    assert np.allclose(quietly(Z, ["unit_rows"]), Z)


@given(counts, st.sampled_from(SPARSE))
@settings(max_examples=60, deadline=None)
def test_tfidf_is_its_formula_dense_and_sparse(X, make):
    n, m = X.shape
    expected = np.zeros_like(X)
    for j in range(m):
        df = sum(X[i, j] != 0 for i in range(n))
        for i in range(n):
            expected[i, j] = X[i, j] * np.log(n / df) if df else 0
    assert np.allclose(preprocess(X, ["tfidf"]), expected)
    Z = preprocess(make(X), ["tfidf"])
    assert sparse.issparse(Z)
    assert np.allclose(Z.toarray(), expected)


@given(matrices)
@settings(max_examples=60, deadline=None)
def test_centred_columns_have_mean_zero(X):
    Z = preprocess(X, ["centre"])
    assert np.allclose(Z.mean(axis=0), 0, atol=1e-9 * (1 + np.abs(X).max()))
    assert np.allclose(Z - Z[0], X - X[0], atol=1e-6)


@pytest.mark.parametrize(
    ("step", "make"),
    [(step, np.array) for step in PREPROCESS if step not in IMAGES]
    + [
        (step, make)
        for step in PREPROCESS
        if step not in {*CENTRING, *IMAGES}
        for make in SPARSE
    ],
)
def test_steps_leave_their_input_alone_and_share_nothing_with_it(step, make):
    X = make(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0], [0.0, 0.0, 1.0]]))
    before = X.copy()
    Z = preprocess(X, [step])
    if step != "none":
        assert Z is not X
        (Z.data if sparse.issparse(Z) else Z)[:] = 7
    assert abs(X - before).sum() == 0


def test_steps_apply_in_order():
    X = np.array([[3.0, 4.0], [6.0, 8.0], [0.0, 1.0]])
    Z = preprocess(X, ["centre", "unit_rows"])
    C = X - X.mean(axis=0)
    assert np.allclose(Z, C / np.linalg.norm(C, axis=1, keepdims=True))
    assert preprocess(X, []) is X
    assert preprocess(X, ["none"]) is X
    assert np.array_equal(preprocess(X, "unit_rows"), preprocess(X, ["unit_rows"]))


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_zero_rows_are_counted_in_one_warning(make):
    X = make(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    with pytest.warns(SymmfWarning, match="2 rows are zero among 3") as caught:
        preprocess(X, ["unit_rows"])
    assert len(caught) == 1


def test_rounding_left_by_centring_counts_as_zero():
    X = np.full((3, 2), 0.1)
    X[2] = 0.1 + 1e-15
    with pytest.warns(SymmfWarning, match="3 rows are zero"):
        Z = preprocess(X, ["centre", "unit_rows"])
    assert np.isfinite(Z).all()
    assert np.abs(Z).max() < 0.01


def test_stored_zeros_and_duplicates_are_not_occurrences():
    X = sparse.csr_array(
        (np.array([0.0, 1.0, 1.0, 2.0]), [0, 1, 1, 1], [0, 1, 3, 4]), shape=(3, 2)
    )
    dense = np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 2.0]])
    assert np.allclose(preprocess(X, ["tfidf"]).toarray(), dense * np.log(3 / 2))
    assert X.nnz == 4


@pytest.mark.parametrize("step", CENTRING)
@pytest.mark.parametrize("make", SPARSE)
def test_centring_sparse_data_is_refused_with_advice(step, make):
    with pytest.raises(InputError, match=f"step '{step}'.*centred_cosine"):
        preprocess(make(np.eye(2)), [step])


def test_unknown_step_names_the_nearest_before_anything_is_computed():
    with pytest.raises(InputError, match="Did you mean 'unit_rows'"):
        preprocess(np.array([[np.nan]]), ["unit_rows", "unit_row"])
    with pytest.raises(InputError, match="negative"):
        preprocess(np.array([[1, -1]]), ["tfidf"])
