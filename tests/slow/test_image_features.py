"""Images of CIFAR-10 in colour fall into groups that resemble the classes."""

from __future__ import annotations

import numpy as np
import pytest

from symmf.clustering import METHODS
from symmf.datasets import load_dataset
from symmf.features.preprocess import preprocess
from symmf.metrics import METRICS

pytestmark = pytest.mark.slow


def test_features_learned_without_labels_find_more_than_pixels_do():
    # Three classes that no draw of the study was looked at for.
    data = load_dataset("cifar10", colour=True).subset([1, 6, 8])
    assert data.X.shape == (900, 3072)
    S = preprocess(data.X, ["image_features", "image_similarity"])
    model = METHODS["spectral"](3, similarity="diffusion", random_state=0)
    nmi = METRICS["nmi"].function
    assert nmi(data.y, model.fit(S).labels_) > 0.2
    raw = METHODS["kmeans"](3, n_init=10, random_state=0).fit(data.X)
    assert nmi(data.y, raw.labels_) < 0.2


def test_colour_and_grey_show_the_same_pictures():
    colour, grey = load_dataset("cifar10", colour=True), load_dataset("cifar10")
    luma = colour.X.reshape(-1, 1024, 3) @ [0.2989, 0.5870, 0.1140]
    np.testing.assert_allclose(luma, grey.X, atol=1e-12)
    assert colour.digest != grey.digest
