"""Leading singular directions, against LAPACK."""

import numpy as np
import pytest
from scipy import sparse

from symmf.linalg.eigen.singular import singular_directions


def matrix(n, m, values, seed=0):
    """A matrix with the given singular values and random directions."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, len(values))))[0]
    V = np.linalg.qr(rng.standard_normal((m, len(values))))[0]
    return (U * values) @ V.T


@pytest.mark.parametrize("shape", [(300, 90), (90, 300), (25, 200), (200, 25)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_they_are_those_of_lapack(shape, form):
    X = matrix(*shape, 0.5 ** np.arange(20))
    values, V = singular_directions(form(X), 6, 7, np.random.default_rng(0))
    _, s, Vt = np.linalg.svd(X)
    np.testing.assert_allclose(values, s[:6], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(V * Vt[:6].T, axis=0)), 1.0, atol=1e-9)
    np.testing.assert_allclose(V.T @ V, np.eye(6), atol=1e-9)
    assert (V[np.abs(V).argmax(axis=0), np.arange(6)] > 0).all()


def test_same_generator_same_bits():
    X = matrix(200, 300, 0.9 ** np.arange(100))
    one, two = (
        singular_directions(X, 8, 5, np.random.default_rng(3))[1] for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("shape", [(300, 90), (90, 300), (6, 8)])
def test_directions_that_are_not_there_are_zero(shape):
    X = matrix(*shape, np.array([2.0, 1.0]))
    values, V = singular_directions(X, 5, 7, np.random.default_rng(0))
    np.testing.assert_allclose(values, [2, 1, 0, 0, 0], atol=1e-6)
    assert not V[:, 2:].any()
    # The block is found in single precision.
    np.testing.assert_allclose(X @ V @ V.T, X, atol=1e-6)


def test_nothing_but_zeros():
    values, V = singular_directions(np.zeros((80, 60)), 4, 7, np.random.default_rng(0))
    assert not values.any()
    assert not V.any()
