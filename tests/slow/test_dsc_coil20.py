import numpy as np
import pytest

from symmf.clustering import DSC
from symmf.clustering.labels import kmeans_rows
from symmf.metrics import accuracy, nmi

pytestmark = pytest.mark.slow


def test_five_objects_are_clustered_clearly_better_than_by_raw_kmeans(real_data):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    coil20 = real_data("coil20")
    rng = np.random.default_rng(0)
    deep, raw = [], []
    for trial in range(4):
        some = coil20.subset(np.sort(rng.choice(20, 5, replace=False)))
        model = DSC(5, image_shape=some.image_shape, random_state=trial)
        kmeans = kmeans_rows(some.X, 5, random_state=trial)
        model.fit(some.X)
        deep.append([f(some.y, model.labels_) for f in (accuracy, nmi)])
        raw.append([f(some.y, kmeans) for f in (accuracy, nmi)])
    # Some draws are easy for both, none is worse by deep subspace clustering.
    assert np.all(np.array(deep) >= np.array(raw))
    assert np.all(np.mean(deep, axis=0) > np.mean(raw, axis=0) + 0.08)
    assert np.mean(deep) > 0.9
