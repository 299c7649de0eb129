"""A similarity that several fits ask for is built once, and stays the same."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from symmf.clustering import METHODS, SymMF
from symmf.similarity import build_similarity
from symmf.similarity.share import Sharing, shared

ALGORITHMS = ("gradient", "newton", "anls")


@pytest.fixture
def X():
    return np.random.default_rng(0).random((40, 5))


def test_equal_rows_and_options_share_what_was_built(X):
    sharing = Sharing()
    with sharing:
        first = build_similarity(X, "self_tuning", n_neighbors=5)
    with sharing:
        assert build_similarity(X.copy(), "self_tuning", n_neighbors=5) is first
        assert build_similarity(X, "self_tuning", n_neighbors=6) is not first
        assert build_similarity(X + 1, "self_tuning", n_neighbors=5) is not first
        assert build_similarity(X, "cosine_knn", n_neighbors=5) is not first


def test_without_sharing_everything_is_built(X):
    assert build_similarity(X, "cosine") is not build_similarity(X, "cosine")


def test_the_time_of_a_fit_is_as_if_it_had_built_its_similarity(X):
    def slow(rows):
        time.sleep(0.05)
        return rows

    sharing, seconds = Sharing(), []
    for _ in range(2):
        start = time.perf_counter()
        with sharing:
            shared(slow, X)
        seconds.append(time.perf_counter() - start + sharing.saved)
        assert sharing.seconds == pytest.approx(0.05, abs=0.03)
    assert seconds == pytest.approx([0.05, 0.05], abs=0.03)
    with sharing:
        assert sharing.seconds is None


def test_the_latest_are_kept_up_to_a_number_of_bytes(X):
    sharing, built = Sharing(most_bytes=2 * X.nbytes + 1000), []

    def copy(rows, name):
        built.append(name)
        return rows.copy()

    with sharing:
        for name in "abacab":
            shared(copy, X, name=name)
    assert "".join(built) == "abcb"


def test_what_has_no_known_size_is_not_kept(X):
    with Sharing():
        made = [shared(lambda rows: lambda v: rows @ v, X) for _ in range(2)]
    assert made[0] is not made[1]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_labels_do_not_depend_on_sharing(X, kind):
    models = [
        make(3, similarity=name, random_state=0)
        for make in (SymMF, METHODS["symnmf"])
        for name in ("self_tuning", "cosine_knn")
    ]
    alone = [model.fit(kind(X)).labels_ for model in models]
    sharing, shared_labels = Sharing(), []
    for model in models + models:
        with sharing:
            shared_labels.append(model.fit(kind(X)).labels_)
    np.testing.assert_array_equal(shared_labels, alone + alone)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["self_tuning", "cosine_knn", "cosine"])
def test_no_fit_changes_what_is_shared(X, name):
    sharing, V = Sharing(), np.random.default_rng(1).standard_normal((40, 3))

    def seen():
        with sharing:
            A = build_similarity(X, name)
        # To the last bit: sums depend on the order in which entries are stored.
        return A, A.matmat(V).tobytes()

    before = seen()
    models = [METHODS[m](3, similarity=name) for m in ("symhals", "snmf", "spectral")]
    models += [METHODS["symnmf"](3, similarity=name, algorithm=a) for a in ALGORITHMS]
    models += [SymMF(3, similarity=name, laplacian_weight=w) for w in (0, 0.5)]
    for model in models:
        with sharing:
            model.set_params(random_state=0).fit(X.copy())
        assert seen() == before, model
