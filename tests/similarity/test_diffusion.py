"""The diffusion of a graph of given similarities."""

from __future__ import annotations

import numpy as np
import pytest

from symmf.errors import InputError
from symmf.similarity import build_similarity
from symmf.similarity.graphs import self_tuning


def unit_rows(n: int = 40) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(n, 5))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_it_is_the_power_of_the_self_tuning_graph_of_unit_rows():
    X = unit_rows()
    S = self_tuning(X, n_neighbors=10, local_neighbor=7).toarray()
    A = build_similarity(X @ X.T, "diffusion", steps=6).toarray()
    np.testing.assert_allclose(A, np.linalg.matrix_power(S, 6), atol=1e-10)


def test_what_does_not_fit_gets_a_sentence():
    X = unit_rows()
    with pytest.raises(InputError, match="square matrix of similarities"):
        build_similarity(X, "diffusion")
    with pytest.raises(InputError, match="even"):
        build_similarity(X @ X.T, "diffusion", steps=3)
    with pytest.raises(InputError, match="at most 1"):
        build_similarity(3 * X @ X.T, "diffusion")
