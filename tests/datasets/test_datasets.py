import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from symmf.datasets import DATASETS, Dataset, data_folder, get_spec, load_dataset
from symmf.datasets.synthetic import KINDS, exact_factor_matrix
from symmf.errors import DataError, InputError


def make(X, y, **options):
    options = {"name": "made", "title": "Made", "kind": "vector", **options}
    return Dataset.from_arrays(X, y, **options)


@st.composite
def datasets(draw):
    y = draw(st.lists(st.integers(3, 8), min_size=1, max_size=12))
    X = np.arange(3.0 * len(y)).reshape(-1, 3)
    return make(sparse.csr_array(X) if draw(st.booleans()) else X, y)


@given(datasets(), st.data())
@settings(max_examples=60, deadline=None)
def test_subset_keeps_all_samples_of_its_classes_in_order(data, drawn):
    every = list(range(data.n_classes))
    classes = drawn.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    part = data.subset(classes)
    rows = np.flatnonzero(np.isin(data.y, classes))
    assert abs(part.X - data.X[rows]).sum() == 0
    assert [classes[j] for j in part.y] == data.y[rows].tolist()
    assert part.class_ids == tuple(data.class_ids[c] for c in classes)
    assert sorted(set(part.y.tolist())) == list(range(len(classes)))
    if classes == every:
        assert part.digest == data.digest


@given(datasets())
@settings(max_examples=40, deadline=None)
def test_labels_are_contiguous_and_ids_give_the_originals(data):
    assert set(data.y.tolist()) == set(range(data.n_classes))
    assert data.y.dtype == np.int64
    again = make(data.X, [data.class_ids[j] for j in data.y])
    assert again.digest == data.digest


@pytest.mark.parametrize("classes", [[], [0, 0], [2], [-1]])
def test_impossible_subsets_are_refused(classes):
    with pytest.raises(InputError, match="made"):
        make(np.eye(2), [0, 1]).subset(classes)


def test_subset_of_a_similarity_drops_columns_too():
    M, _ = exact_factor_matrix(n=12, k=3)
    data = load_dataset("synthetic", n=12, k=3)
    rows = np.flatnonzero(data.y == 1)
    assert np.array_equal(data.subset([1]).X, M[np.ix_(rows, rows)])


def test_digest_sees_values_labels_shape_and_kind_of_storage():
    X, y = np.arange(6.0).reshape(2, 3), [0, 1]
    reference = make(X, y).digest
    assert make(np.asfortranarray(X), y).digest == reference
    assert make(X.astype(np.int32), np.array(y, np.uint8)).digest == reference
    others = [
        make(X + 1e-15, y),
        make(X, [1, 0]),
        make(X.reshape(1, 6), [0]),
        make(sparse.csr_array(X), y),
    ]
    assert len({reference, *(d.digest for d in others)}) == 5


def test_digest_of_sparse_data_does_not_depend_on_their_history():
    X = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    unsorted = sparse.csr_array(
        (np.array([2.0, 1.0, 3.0]), [2, 1, 0], [0, 2, 3]), shape=(2, 3)
    )
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    digests = {make(S, [0, 1]).digest for S in (sparse.csc_matrix(X), unsorted, wide)}
    assert len(digests) == 1
    assert unsorted.indices.tolist() == [2, 1, 0]


def holding(value):
    return np.array([[1.0, 0.0], [0.0, 1.0], [2.0, value]])


def damaged():
    X = sparse.csr_array(np.eye(3))
    X.indices[0] = 99
    return X


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (holding(np.nan), [0, 1, 1], r"NaN or infinite.* row 2"),
        (sparse.csr_array(holding(-np.inf)), [0, 1, 1], r"NaN or infinite.* row 2"),
        (np.zeros((0, 3)), [], "one label for each row"),
        (np.zeros((2, 0)), [0, 1], "one label for each row"),
        (np.eye(2), [0], "one label for each row"),
        (damaged(), [0, 1, 2], "damaged"),
        (np.eye(2) * 1e160, [0, 1], "Multiply all by a constant"),
        (sparse.csr_array(np.eye(2) * 5e-324), [0, 1], "Multiply all by a constant"),
        (np.eye(2), ["a", "b"], "whole numbers"),
        (np.eye(2), [0.5, 1], "whole numbers"),
        (np.eye(2), [np.inf, 1], "whole numbers"),
        (np.eye(2), [5, 5], "all is noise"),
    ],
)
def test_what_is_no_data_set_is_refused(X, y, sentence):
    with pytest.raises(DataError, match=sentence):
        make(X, y, noise=5)


def test_dataset_survives_pickling():
    data = load_dataset("synthetic", kind="planted", sparse=True)
    assert pickle.loads(pickle.dumps(data)).digest == data.digest


@pytest.mark.parametrize("name", DATASETS)
def test_registry_entries_are_complete(name):
    spec = DATASETS[name]
    assert spec.name == name
    assert spec.title
    assert spec.description
    assert spec.licence
    for file in spec.all_files:
        assert file.path.startswith(f"{name}/")
        assert spec.accepts
        assert file.sources
        assert len(file.sha256) == 64
        for source in file.sources:
            assert source.url.startswith("http")
            kind, _, value = (source.archive or f"sha256:{'0' * 64}").partition(":")
            assert len(value) == {"sha256": 64, "md5": 32}[kind]


def test_noise_belongs_to_no_class_and_stays_only_with_all():
    data = make(np.arange(12.0).reshape(6, 2), [0, 4, 4, 7, 0, 9], noise=0)
    assert data.y.tolist() == [-1, 0, 0, 1, -1, 2]
    assert data.class_ids == (4, 7, 9)
    assert data.is_scored.tolist() == [False, True, True, True, False, True]
    assert data.subset([2, 0]).y.tolist() == [1, 1, 0]
    whole = data.subset([2, 1, 0])
    assert whole.y.tolist() == [-1, 2, 2, 1, -1, 0]
    assert np.array_equal(whole.X, data.X)


def test_digits_are_images_between_zero_and_one():
    data = load_dataset("digits")
    spec = DATASETS["digits"]
    found = (data.n_classes, data.n_samples, data.n_features)
    assert found == (spec.n_classes, spec.n_samples, spec.n_features)
    assert data.X.min() == 0
    assert data.X.max() == 1
    assert data.X[0].reshape(data.image_shape).shape == (8, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_synthetic_data_follow_their_seed(kind):
    first = load_dataset("synthetic", kind=kind, seed=1)
    assert load_dataset("synthetic", kind=kind, seed=1).digest == first.digest
    assert load_dataset("synthetic", kind=kind, seed=2).digest != first.digest
    assert first.name == "synthetic"


@pytest.mark.parametrize("k", [1, 5, 33])
def test_exact_factor_has_the_same_bits_in_whatever_order_it_is_summed(k):
    M, U = exact_factor_matrix(n=40, k=k)
    # Without rounding anywhere: rational arithmetic gives the same numbers.
    rows = [[Fraction(value) for value in row] for row in U]
    for i, j in np.ndindex(M.shape):
        assert Fraction(M[i, j]) == sum(
            a * b for a, b in zip(rows[i], rows[j], strict=True)
        )


def test_noise_makes_an_exact_factor_inexact_and_keeps_it_symmetric():
    exact, noisy = (
        load_dataset("synthetic", kind="exact_factor", n=40, k=3, noise=noise)
        for noise in (0.0, 0.1)
    )
    E = noisy.X - exact.X
    assert np.array_equal(E, E.T)
    assert 0.08 < E.std() < 0.12
    assert np.array_equal(noisy.y, exact.y)
    with pytest.raises(InputError, match="noise"):
        load_dataset("synthetic", kind="exact_factor", noise=-1.0)


def test_exact_factor_is_symmetric_of_rank_k_with_labels_of_u():
    data = load_dataset("synthetic", kind="exact_factor", n=30, k=4, seed=3)
    M, U = exact_factor_matrix(n=30, k=4, seed=3)
    assert data.kind == "matrix"
    assert np.array_equal(data.X, M)
    assert np.array_equal(M, M.T)
    assert np.linalg.matrix_rank(M) == 4
    assert np.array_equal(data.y, np.argmax(U, axis=1))
    assert U.min() >= 0
    assert U.max() < 1


@pytest.mark.parametrize("is_sparse", [False, True])
def test_planted_clusters_are_nearer_to_their_own_centre(is_sparse):
    data = load_dataset("synthetic", kind="planted", n=90, k=3, sparse=is_sparse)
    X = data.X.toarray() if is_sparse else data.X
    assert sparse.issparse(data.X) == is_sparse
    centres = np.stack([X[data.y == j].mean(axis=0) for j in range(3)])
    distances = np.linalg.norm(X[:, None] - centres, axis=2)
    assert np.array_equal(np.argmin(distances, axis=1), data.y)
    assert np.bincount(data.y).tolist() == [30, 30, 30]
    if is_sparse:
        assert set(X.sum(axis=1)) == {50.0}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "planetd"}, "Did you mean 'planted'"),
        ({"kind": "two_moons", "k": 3}, "has no option 'k'"),
        ({"n": 0}, "n must be a whole number >= 1 and <= 400,000,000, not 0"),
        ({"n": True}, "not True"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"n": 3, "k": 4}, "4 clusters need at least 4 samples"),
        ({"kind": "planted", "m": 2, "k": 3}, "m = 2 and k = 3"),
        ({"kind": "planted", "noise": -1}, "noise must be a finite number >= 0"),
        ({"kind": "planted", "noise": 2, "sparse": True}, ">= 0 and <= 1, not 2"),
        ({"kind": "planted", "sparse": "no"}, "sparse must be true or false"),
        ({"n": 10**5}, "would take 80 GB"),
        ({"kind": "planted", "noise": 10**400}, "noise must be a finite number"),
    ],
)
def test_bad_options_get_a_sentence(options, sentence):
    with pytest.raises(InputError, match=sentence):
        load_dataset("synthetic", **options)


def test_unknown_names_get_the_nearest():
    with pytest.raises(InputError, match="Did you mean 'coil20'"):
        get_spec("coil_20")
    with pytest.raises(InputError, match=r"has no option 'n'.*It takes none"):
        load_dataset("digits", n=3)


def test_data_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SYMMF_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv("SYMMF_DATA", "")
    assert data_folder().name == "datasets"
    monkeypatch.setenv("SYMMF_DATA", "~nosuchuser/x")
    with pytest.raises(InputError, match="there is no such user"):
        data_folder()
    monkeypatch.delenv("SYMMF_DATA")
    monkeypatch.setattr("symmf.datasets.base.checkout", lambda: None)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)
    assert data_folder() == tmp_path / "symmf" / "datasets"
