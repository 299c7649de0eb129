"""One matrix for the comparisons of solvers."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def M(rng):
    """Mixed signs, well separated leading eigenvalues."""
    X = rng.standard_normal((18, 3)) * [3, 2, 1.5]
    noise = rng.standard_normal((18, 18))
    return X @ X.T + 0.2 * (noise + noise.T)
