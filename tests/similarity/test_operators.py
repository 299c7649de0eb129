import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from symmf.errors import InputError
from symmf.similarity import (
    SIMILARITIES,
    DenseOperator,
    Gram,
    LaplacianRegularised,
    RowFeatures,
    SparseOperator,
    as_operator,
    build_similarity,
    regularise,
)
from symmf.similarity import operators as module
from symmf.similarity.row_features import scaled_rows

seeds = st.integers(0, 2**32 - 1)
shapes = st.tuples(st.integers(1, 12), st.integers(1, 9))


def data(seed, n, m):
    """Nonnegative, sparse, with an empty row now and then."""
    rng = np.random.default_rng(seed)
    return rng.random((n, m)) * (rng.random((n, m)) < 0.5)


@pytest.mark.parametrize("n", [1, 255, 256, 600])
@pytest.mark.parametrize("centre", [False, True])
def test_products_of_all_sparse_rows_are_those_of_some(n, centre):
    X = data(n, n, 40)
    features = RowFeatures(sparse.csr_array(X), centre=centre, unit=True)
    whole = features.gram_rows(np.arange(n))
    np.testing.assert_allclose(whole, whole.T, atol=0 if not centre else 1e-15, rtol=0)
    some = np.arange(n)[::-1]
    np.testing.assert_allclose(whole[some], features.gram_rows(some), atol=1e-14)


def explicit_rows(X, centre, unit):
    """What RowFeatures stands for."""
    F = X - X.mean(axis=0) if centre else X.copy()
    if unit:
        norms = np.linalg.norm(F, axis=1)
        # A row equal to the mean is rounding, and stands for zero.
        zero = norms <= 1e-7
        F = np.where(zero[:, None], 0, F / np.where(zero, 1, norms)[:, None])
    return F


def forms(seed=0, n=11, m=6):
    """Every operator, with the matrix it stands for."""
    X = data(seed, n, m)
    F = explicit_rows(X, True, True)
    A = F @ F.T
    gram = Gram(RowFeatures(sparse.csr_array(X), centre=True, unit=True))
    M = 1.7 * A - 0.7 * np.diag(A.sum(axis=1))
    yield "dense", DenseOperator(A), A
    yield "sparse", SparseOperator(sparse.csr_array(A)), A
    yield "gram", gram, A
    yield "gram of dense rows", Gram(RowFeatures(X, centre=True, unit=True)), A
    yield "regularised", LaplacianRegularised(gram, 0.7), M
    yield "wrapped", as_operator(aslinearoperator(A)), A


FORMS = [name for name, *_ in forms()]


@pytest.fixture(params=FORMS)
def form(request):
    return next(rest for name, *rest in forms() if name == request.param)


def test_products_match_the_matrix(form):
    M, expected = form
    rng = np.random.default_rng(0)
    V, v = rng.standard_normal((11, 4)), rng.standard_normal(11)
    np.testing.assert_allclose(M.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(M.matmat(V), expected @ V, atol=1e-12)
    np.testing.assert_allclose(M @ V, expected @ V, atol=1e-12)
    np.testing.assert_allclose(M @ v, expected @ v, atol=1e-12)
    np.testing.assert_allclose(M.matvec(v), expected @ v, atol=1e-12)
    np.testing.assert_allclose(M.rmatvec(v), expected @ v, atol=1e-12)
    np.testing.assert_allclose(M.T @ V, expected @ V, atol=1e-12)
    np.testing.assert_allclose(v @ M, v @ expected, atol=1e-12)


def test_facts_match_the_matrix(form):
    M, expected = form
    np.testing.assert_allclose(M.diagonal(), np.diagonal(expected), atol=1e-12)
    np.testing.assert_allclose(M.degrees, expected.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(M.columns([0, 7, 3]), expected[:, [0, 7, 3]], atol=1e-12)
    assert M.fro2 == pytest.approx(np.sum(expected**2), rel=1e-12)
    assert M.max_entry == pytest.approx(expected.max(), rel=1e-12)
    assert M.eigenvalue_floor <= np.linalg.eigvalsh(expected)[0] + 1e-12
    assert M.fro2_exact


def test_row_blocks_cover_the_matrix_once(form, monkeypatch):
    M, expected = form
    monkeypatch.setattr(module, "_BLOCK_ROWS", 3)
    rows = np.concatenate([index for index, _ in M.row_blocks()])
    blocks = np.vstack([block for _, block in M.row_blocks()])
    assert rows.tolist() == list(range(11))
    np.testing.assert_allclose(blocks, expected, atol=1e-12)


def test_a_product_does_not_modify_its_argument(form):
    M, _ = form
    V = np.random.default_rng(0).standard_normal((11, 3))
    before = V.copy()
    first = M.matmat(V)
    assert np.array_equal(V, before)
    # Nor does it hand out memory that the next product overwrites.
    kept = first.copy()
    M.matmat(2 * V)
    assert np.array_equal(first, kept)


@given(
    seed=seeds,
    shape=shapes,
    centre=st.booleans(),
    unit=st.booleans(),
    dense=st.booleans(),
)
def test_implicit_rows_match_explicit_ones(seed, shape, centre, unit, dense):
    X = data(seed, *shape)
    F = explicit_rows(X, centre, unit)
    features = RowFeatures(
        X if dense else sparse.csr_array(X), centre=centre, unit=unit
    )
    rng = np.random.default_rng(seed)
    V, W = rng.standard_normal((shape[1], 2)), rng.standard_normal((shape[0], 2))
    np.testing.assert_allclose(features.dot(V), F @ V, atol=1e-7)
    np.testing.assert_allclose(features.tdot(W), F.T @ W, atol=1e-7)
    np.testing.assert_allclose(
        features.squared_norms(), np.sum(F**2, axis=1), atol=1e-7
    )
    rows = np.arange(0, shape[0], 2)
    np.testing.assert_allclose(features.gram_rows(rows), F[rows] @ F.T, atol=1e-7)
    assert features.gram_fro2() == pytest.approx(np.sum((F @ F.T) ** 2), abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_rows_equal_to_the_mean_become_zero_and_not_noise(dtype, scale):
    rng = np.random.default_rng(0)
    row = rng.random(50)
    away = rng.random((4, 50))
    X = scale * np.vstack([row, row, row + away, row - away]).astype(dtype)
    for form in (X, sparse.csr_array(X)):
        features = RowFeatures(form, centre=True, unit=True)
        norms = features.squared_norms()
        np.testing.assert_allclose(norms, [0, 0, *[1] * 8], atol=1e-3)
        rows = features.dot(np.eye(50, dtype=dtype))
        np.testing.assert_allclose(np.sum(rows**2, axis=1), norms, atol=1e-3)


@given(seed=seeds, n=st.integers(1, 10), weight=st.floats(0, 5))
def test_the_norm_formula_of_a_regularised_matrix(seed, n, weight):
    """(1+w)^2 ||A||^2 - 2 w (1+w) sum A_ii d_i + w^2 sum d_i^2, any signs."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A = A + A.T
    D = np.diag(A.sum(axis=1))
    M = A - weight * (D - A)
    for operator in (
        LaplacianRegularised(DenseOperator(A), weight),
        regularise(DenseOperator(A), weight),
        regularise(SparseOperator(sparse.csr_array(A)), weight),
    ):
        assert operator.fro2 == pytest.approx(np.sum(M**2), rel=1e-9)
        np.testing.assert_allclose(operator.toarray(), M, atol=1e-9)
        np.testing.assert_allclose(operator.diagonal(), np.diagonal(M), atol=1e-9)


def test_no_regularisation_is_the_similarity_itself():
    A = DenseOperator(np.eye(3))
    assert regularise(A, 0.0) is A
    for weight in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="lambda"):
            regularise(A, weight)


def test_the_norm_of_a_very_large_matrix_is_estimated(monkeypatch):
    X = sparse.csr_array(data(0, 300, 20))
    exact = Gram(RowFeatures(X, unit=True)).fro2
    monkeypatch.setattr(module, "EXACT_NORM_LIMIT", 100)
    estimated = Gram(RowFeatures(X, unit=True))
    assert not estimated.fro2_exact
    assert not regularise(estimated, 0.5).fro2_exact
    # 32 random vectors: a standard deviation of about ||A^2|| / ||A||^2 / 4.
    assert estimated.fro2 == pytest.approx(exact, rel=0.5)
    assert estimated.fro2 == Gram(RowFeatures(X, unit=True)).fro2


def test_similarities_by_name_match_their_definitions():
    X = data(1, 9, 5) + 0.1
    expected = {
        "inner_product": X @ X.T,
        "cosine": explicit_rows(X, False, True) @ explicit_rows(X, False, True).T,
        "centred_cosine": explicit_rows(X, True, True) @ explicit_rows(X, True, True).T,
    }
    for name, A in expected.items():
        for form in (X, sparse.csr_array(X)):
            found = build_similarity(form, name)
            np.testing.assert_allclose(found.toarray(), A, atol=1e-12)
            assert found.dtype == np.float64
    tall = np.vstack([X] * 40)
    assert isinstance(build_similarity(tall, "cosine"), Gram)


# as_operator ------------------------------------------------------------------------


def test_data_are_not_copied():
    A = np.eye(4)
    assert np.shares_memory(as_operator(A).M, A)
    operator = as_operator(A)
    assert as_operator(operator) is operator


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(dtype):
    A = np.eye(4, dtype=dtype)
    for form in (A, sparse.csr_array(A), aslinearoperator(A)):
        operator = as_operator(form)
        assert operator.dtype == dtype
        assert operator.matmat(np.ones((4, 2), dtype)).dtype == dtype
        assert operator.columns([1]).dtype == dtype


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_every_sparse_format_is_taken(kind):
    A = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    for container in (sparse.coo_array, sparse.coo_matrix):
        operator = as_operator(container(A).asformat(kind))
        assert isinstance(operator, SparseOperator)
        np.testing.assert_allclose(operator.toarray(), A)


@pytest.mark.parametrize(
    ("M", "match"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(3), "square"),
        (np.ones((0, 0)), "square"),
        (np.array([["a", "b"], ["b", "a"]]), "real numbers"),
        (np.eye(2) * 1j, "real numbers"),
        (sparse.csr_array(np.eye(2) * 1j), "real numbers"),
        (np.array([[1.0, np.inf], [np.inf, 1.0]]), "row 0"),
        (sparse.csr_array([[1.0, np.nan], [np.nan, 1.0]]), "NaN"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (sparse.csr_array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (aslinearoperator(np.array([[1.0, 2.0], [0.0, 1.0]])), "not symmetric"),
        (aslinearoperator(np.full((2, 2), np.nan)), "NaN"),
        (aslinearoperator(np.ones((2, 3))), "square"),
    ],
)
def test_what_is_not_a_symmetric_matrix_is_refused(M, match):
    with pytest.raises(InputError, match=match):
        as_operator(M)


def test_rounding_does_not_make_a_matrix_asymmetric():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        X = rng.standard_normal((50, 20)).astype(dtype)
        A = 1.5 * (X @ X.T) - 0.5 * np.diag((X @ X.T).sum(axis=1))
        A[np.triu_indices(50)] *= 1 + 4 * np.finfo(dtype).eps
        as_operator(A.astype(dtype))
        as_operator(sparse.csr_array(A.astype(dtype)))


def test_an_operator_without_a_type_is_taken_as_double_precision():
    class Doubling(LinearOperator):
        def __init__(self):
            super().__init__(dtype=None, shape=(3, 3))

        def _matmat(self, V):
            return 2 * V

    assert as_operator(Doubling()).dtype == np.float64


@pytest.mark.parametrize("columns", [0, 1, 4, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", ["C", "F", "strided"])
def test_few_columns_are_multiplied_as_many_are(columns, dtype, form):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((30, 30))
    M = (M + M.T).astype(dtype)
    V = rng.standard_normal((30, columns)).astype(dtype)
    wanted = M @ V
    if form == "strided":
        wide = np.zeros((60, 60), dtype)
        wide[::2, ::2] = M
        M = wide[::2, ::2]
    product = DenseOperator(np.asarray(M, order=None if form == "strided" else form))
    found = product.matmat(V)
    assert found.dtype == dtype
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, atol=100 * np.finfo(dtype).eps)


def test_scaled_rows_are_a_matrix_of_their_own():
    X = sparse.random_array((20, 9), density=0.4, rng=np.random.default_rng(0)).tocsr()
    scale = np.linspace(-1.0, 2.0, 20)
    scaled = scaled_rows(X, scale)
    np.testing.assert_array_equal(scaled.toarray(), scale[:, None] * X.toarray())
    for mine, theirs in ((scaled.indices, X.indices), (scaled.indptr, X.indptr)):
        np.testing.assert_array_equal(mine, theirs)
        assert not np.shares_memory(mine, theirs)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_similarity_of_ones_own_may_return_a_matrix(monkeypatch, kind):
    monkeypatch.setitem(
        SIMILARITIES, "mine", lambda X, power=2: kind((X @ X.T) ** power)
    )
    A = build_similarity(data(0, 6, 3), "mine", power=3)
    assert np.allclose(A.toarray(), (data(0, 6, 3) @ data(0, 6, 3).T) ** 3)
    regularise(A, 0.5)
