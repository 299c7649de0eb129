"""Features learned on the whole data set, before a trial draws its samples."""

from __future__ import annotations

import numpy as np
import pytest

from symmf.datasets import load_dataset
from symmf.errors import ConfigError, InputError
from symmf.experiment.data import load_data
from symmf.experiment.plan import make_plans

CONFIG = """
dataset: {{name: digits, features: {steps}}}
n_clusters: 10
trials: 1
methods: [kmeans]
"""


def test_all_samples_are_turned_into_features_and_have_a_digest_of_their_own():
    plain = load_dataset("digits")
    data = load_data("digits", {"features": ["centre", "unit_rows"]})
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1)
    assert data.digest != plain.digest
    again = load_data("digits", {"features": ["centre", "unit_rows"]})
    assert data.digest == again.digest
    assert load_data("digits", {}).X.shape == plain.X.shape
    with pytest.raises(InputError, match="list of steps"):
        load_data("digits", {"features": 5})


def test_the_steps_enter_the_keys_and_wrong_ones_are_named(tmp_path):
    keys = set()
    for steps in ("unit_rows", "[centre]", "[none]"):
        path = tmp_path / "a.yaml"
        path.write_text(CONFIG.format(steps=steps))
        keys.add(make_plans([path], results=tmp_path)[0].trials[0].key)
    assert len(keys) == 3
    path.write_text(CONFIG.format(steps="unit_row"))
    with pytest.raises(ConfigError, match="unit_rows"):
        make_plans([path], results=tmp_path)
