"""What labels would give: out-of-fold predictions, nothing seen twice."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from symmf.clustering.ceilings import CLASSIFIERS, PAIRWISE, Ceiling
from symmf.errors import InputError


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_finds_the_flowers(name, iris):
    X, y = iris
    if name in PAIRWISE:
        X = np.exp(-(cdist(X, X) ** 2))
    predicted = Ceiling(3, classifier=name, random_state=0).fit(X, y).labels_
    assert (predicted == y).mean() > 0.88


def test_noise_has_no_ceiling_above_chance(iris):
    """A model that saw its own samples would score 1 here."""
    _, y = iris
    X = np.random.default_rng(0).standard_normal((150, 5))
    predicted = Ceiling(3, classifier="nearest", random_state=0).fit(X, y).labels_
    assert (predicted == y).mean() < 0.5


def test_the_same_seed_gives_the_same_predictions(iris):
    X, y = iris
    fits = [Ceiling(classifier="linear_svm", random_state=3).fit(X, y) for _ in "ab"]
    assert np.array_equal(fits[0].labels_, fits[1].labels_)


def test_sparse_rows(iris):
    X, y = iris
    dense = Ceiling(classifier="nearest", random_state=0).fit(X, y).labels_
    rows = sparse.csr_array(X)
    assert np.array_equal(
        Ceiling(classifier="nearest", random_state=0).fit(rows, y).labels_, dense
    )
    with pytest.raises(InputError, match="lsa"):
        Ceiling(classifier="shrunk_lda").fit(rows, y)


def test_refusals(iris):
    X, y = iris
    with pytest.raises(InputError, match="Did you mean 'nearest'"):
        Ceiling(classifier="nearst").fit(X, y)
    with pytest.raises(InputError, match="give y"):
        Ceiling().fit(X)
    with pytest.raises(InputError, match="at least 2 samples"):
        Ceiling().fit(X[:51], y[:51])
    with pytest.raises(InputError, match=r"X is 150 x 4\. Add a step"):
        Ceiling(classifier="kernel_svm").fit(X, y)
    with pytest.raises(InputError, match="n_splits"):
        Ceiling(n_splits=1).fit(X, y)
