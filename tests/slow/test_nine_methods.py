"""Every method on real data, through the estimators themselves."""

import numpy as np
import pytest

from symmf.clustering import METHODS
from symmf.common.seeds import generator
from symmf.datasets import load_dataset
from symmf.errors import DataError
from symmf.features.preprocess import preprocess
from symmf.metrics import accuracy, nmi

pytestmark = pytest.mark.slow

TEXT = ("reuters21578", "tdt2")
CASES = [("coil20", 2), ("coil20", 10), ("cifar10", 3), *((name, 2) for name in TEXT)]
GRAPH_METHODS = ("spectral", "symhals", "snmf", "symnmf")


def subset(name, K):
    try:
        data = load_dataset(name)
    except DataError as error:
        pytest.skip(str(error))
    classes = generator(2022, name, K, "classes").choice(data.n_classes, K, False)
    return data.subset(np.sort(classes))


def configured(method, data):
    """Return the method and what it is fed, as the shipped configurations have it."""
    text = data.kind == "text"
    steps = ["tfidf", "unit_rows"] if text else ["unit_rows"]
    parameters = {"n_clusters": data.n_classes, "random_state": 0}
    if method == "kmeans":
        parameters |= {"n_init": 20, "init": "random"}
    elif method in GRAPH_METHODS and text:
        parameters["similarity"] = "cosine_knn"
    elif method == "gnmf" and text:
        parameters["weighting"] = "cosine"
    elif method == "dsc" and not text:
        small = data.name == "cifar10"
        parameters |= {
            "architecture": "conv_small" if small else "conv",
            "image_shape": (32, 32),
        }
        steps = ["none"]
    return METHODS[method](**parameters), preprocess(data.X, steps)


@pytest.mark.parametrize(("name", "K"), CASES)
@pytest.mark.parametrize("method", METHODS)
def test_a_method_clusters_real_data(name, K, method):
    if method == "dsc":
        pytest.importorskip("torch")
    data = subset(name, K)
    model, X = configured(method, data)
    labels = model.fit_predict(X)
    assert labels.shape == (data.n_samples,)
    assert set(labels) <= set(range(K))
    assert len(set(labels)) > 1
    assert accuracy(data.y, labels) >= 1 / K
    # Far above chance where classes are visible at all: CIFAR-10's are not in pixels.
    if (name, K) == ("coil20", 10):
        assert nmi(data.y, labels) > 0.5


@pytest.mark.parametrize("method", ["spectral", "symhals", "snmf", "symnmf", "symmf"])
@pytest.mark.parametrize("name", ["coil20", "reuters21578"])
def test_the_shared_similarity_on_real_data(method, name):
    data = subset(name, 2)
    steps = ["tfidf"] if name in TEXT else ["none"]
    model = METHODS[method](2, similarity="centred_cosine", random_state=0)
    labels = model.fit_predict(preprocess(data.X, steps))
    assert len(set(labels)) == 2
    assert np.isfinite(model.objective_)
