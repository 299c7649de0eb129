"""Numbers of any size and parameters of any kind: an answer or a sentence."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from symmf import factorize
from symmf.clustering import METHODS
from symmf.clustering.checks import safe_scale
from symmf.errors import InputError, SymmfWarning
from symmf.metrics import accuracy

# k-means is scikit-learn's own.
OURS = [name for name in METHODS if name not in ("kmeans", "dsc", "consensus")]
EXTREME = [5e-324, 1e-310, 1e-200, 1e-90, 1e90, 1e160, 1e300]


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 12)
    return np.kron(np.eye(3), np.ones((12, 4))) + 0.2 * rng.random((36, 12)), y


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("size", EXTREME)
def test_data_of_any_size_are_clustered(planted, name, size):
    X, y = planted
    # Whole multiples, so that the smallest numbers still tell the clusters apart.
    X = np.round(4 * X) * size
    with pytest.warns(SymmfWarning, match=r"multiplied by 2\*\*"):
        model = METHODS[name](3, random_state=0).fit(X)
    assert accuracy(y, model.labels_) == 1.0
    assert np.isfinite(model.objective_)


def test_infinities_of_both_signs_are_one_sentence_and_no_warning(planted):
    X = planted[0].copy()
    X[0, 0], X[1, 1] = np.inf, -np.inf
    with pytest.raises(ValueError, match="infinity"):
        METHODS["symmf"](3).fit(X)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("size", [1e-44, 1e-30, 1e20, 1e37])
def test_the_same_in_single_precision_and_for_sparse_rows(planted, name, size):
    X, y = planted
    X = sparse.csr_array((np.round(4 * X) * size).astype(np.float32))
    with pytest.warns(SymmfWarning, match=r"multiplied by 2\*\*"):
        model = METHODS[name](3, random_state=0).fit(X)
    assert accuracy(y, model.labels_) == 1.0


@given(exponent=st.integers(-190, 190))
def test_ordinary_data_are_used_as_they_are(exponent):
    X = np.array([[0.0, 2.0**exponent], [-(2.0**exponent), 1e-300]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert safe_scale(X) == 1.0
        assert safe_scale(np.zeros((3, 2))) == 1.0


@pytest.mark.filterwarnings("ignore::symmf.errors.SymmfWarning")
@given(largest=st.floats(5e-324, 1.7e308))
def test_what_is_scaled_ends_in_range_and_exactly(largest):
    scale = safe_scale(np.array([[largest, 0.0]]))
    root = np.sqrt(scale)
    assert root == 2.0 ** round(np.log2(root))
    assert 2.0**-200 <= largest * root * root <= 2.0**200


JUNK = [
    "a",
    "",
    -1,
    0,
    2.5,
    float("nan"),
    float("inf"),
    1e308,
    True,
    None,
    [],
    [1, [2, [3]]],
    {},
    {"a": 1},
    {1: 2},
    ("nonnegative", 3),
    b"x",
    1j,
    object(),
    np.array([1.0, 2.0]),
    np.float64("nan"),
]
LOOP: list[object] = []
LOOP.append(LOOP)
DEEP: list[object] = []
for _ in range(5000):
    DEEP = [DEEP]
JUNK += [LOOP, DEEP]
PARAMETERS = [
    (name, parameter)
    for name in OURS
    for parameter in inspect.signature(METHODS[name]).parameters
]


@pytest.mark.parametrize(
    ("name", "parameter"), PARAMETERS, ids=["-".join(pair) for pair in PARAMETERS]
)
def test_any_parameter_gets_an_answer_or_a_sentence(planted, name, parameter):
    X, _ = planted
    for value in JUNK:
        model = METHODS[name](3)
        quick = {"max_iter": 3, "n_init": 1, "random_state": 0}
        model.set_params(**{k: v for k, v in quick.items() if hasattr(model, k)})
        setattr(model, parameter, value)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", SymmfWarning)
            try:
                model.fit(X)
            except InputError:
                continue
        assert np.isfinite(model.objective_)


WRONG = [
    *((name, {"n_clusters": k}, "n_clusters") for name in OURS for k in (0, 37, 2.5)),
    *((name, {"random_state": -1}, "random_state must be") for name in OURS),
    ("snmf", {"n_restarts": 10**400}, "n_restarts must be a whole number"),
    ("nmf", {"labels": "best"}, "labels is one of 'argmax', 'kmeans'"),
    ("nmf", {"tol": np.nan}, "tol must be a finite number"),
    ("gnmf", {"data_weighting": "tfidf"}, "data_weighting is one of"),
    ("symnmf", {"algorithm": "pgd"}, "algorithm is one of 'auto', 'gradient'"),
    ("symhals", {"coupling": -1}, "coupling must be a finite number >= 0"),
    ("spectral", {"similarity": "rbf"}, "There is no similarity 'rbf'"),
    ("symmf", {"solver": "eigenn"}, "Did you mean 'eigen'"),
    ("symmf", {"laplacian_weight": "much"}, "unless 'auto'"),
    ("symmf", {"n_columns": 0}, "n_columns must be"),
    ("symmf", {"labels": "mergee"}, "Did you mean 'merge'"),
    ("symmf", {"similarity_options": {"feature_scale": "rang"}}, "mean 'range'"),
    ("symmf", {"similarity_options": {"neighbours": 3}}, "has no option 'neighbours'"),
    ("symmf", {"label_options": {"exponent": 1}}, "has no option 'exponent'"),
    ("symmf", {"label_options": {"noise": 1}}, "noise is True or False"),
    ("symmf", {"solver_options": {"max_seconds": -1}}, "max_seconds"),
    ("dsc", {"architecture": "deep"}, "architecture is one of"),
    ("dsc", {"architecture": "conv"}, "needs image_shape"),
    ("dsc", {"image_shape": (3, 5)}, "15 pixels"),
    ("dsc", {"image_shape": (12,)}, "height"),
    ("dsc", {"regularizer": "l0"}, "regularizer is one of"),
    ("dsc", {"threshold": 1.5}, "threshold must be"),
    ("dsc", {"tfidf": "yes"}, "tfidf is 'auto'"),
]


@pytest.mark.parametrize(("name", "parameters", "words"), WRONG)
def test_a_wrong_parameter_is_named(planted, name, parameters, words):
    if name == "dsc":
        pytest.importorskip("torch")
    with pytest.raises(InputError, match=words):
        METHODS[name](**{"n_clusters": 3, **parameters}).fit(planted[0])


@pytest.mark.parametrize("name", OURS)
def test_no_iteration_at_all_is_possible(planted, name):
    model = METHODS[name](3, random_state=0)
    if hasattr(model, "max_iter"):
        if name == "symmf":
            model.set_params(constraint="nonnegative")
        model.set_params(max_iter=0, tol=0).fit(planted[0])
        assert model.n_iter_ == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    rows=st.integers(2, 9),
    columns=st.integers(1, 4),
    name=st.sampled_from(OURS),
    data=st.data(),
)
def test_odd_tables_never_crash(rows, columns, name, data):
    """Ties, zeros, tiny and huge entries together; as many clusters as rows."""
    entry = st.sampled_from([0.0, 1.0, 2.0, 5e-324, 1e-160, 1e-9, 1e9, 1e160, 1e300])
    X = np.array(
        data.draw(
            st.lists(
                st.lists(entry, min_size=columns, max_size=columns),
                min_size=rows,
                max_size=rows,
            )
        )
    )
    k = data.draw(st.integers(1, rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SymmfWarning)
        try:
            model = METHODS[name](k, random_state=0).fit(X)
        except InputError:
            return
    assert model.labels_.shape == (rows,)
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_a_matrix_whose_squares_are_out_of_range_is_refused(size, make):
    M = make(size * np.eye(5))
    with pytest.raises(InputError, match="out of the range"):
        factorize(M, 2)


@pytest.mark.parametrize("scale", [1e160, 1e300, 1e-200, 5e-324])
def test_kmeans_refuses_what_it_cannot_square(scale):
    X = (1 + np.arange(24) % 2)[:, None] * np.full(3, scale)
    with pytest.raises(InputError, match="Divide X by"):
        METHODS["kmeans"](n_clusters=2).fit(X)


def test_rows_that_are_all_alike_are_told():
    X = np.full((6, 3), 2.0)
    with pytest.warns(SymmfWarning, match="in one cluster"):
        assert not METHODS["snmf"](n_clusters=2, random_state=0).fit(X).labels_.any()
    with pytest.raises(InputError, match="all alike"):
        METHODS["symmf"](2, random_state=0).fit(X)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"dsc"}))
def test_index_arrays_in_memory_are_checked(method):
    X = sparse.csr_array(np.random.default_rng(0).random((20, 4)))
    X.indices[0] = 9
    with pytest.raises((InputError, TypeError), match=r"damaged|[Ss]parse"):
        METHODS[method](n_clusters=2).fit(X)
