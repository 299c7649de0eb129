"""The diffusion of a graph of given similarities."""

from __future__ import annotations

import numpy as np
import pytest

from symmf.errors import InputError
from symmf.similarity import build_similarity
from symmf.similarity.graphs import diffusion
from symmf.similarity.graphs.self_tuning import self_tuning


def unit_rows(n: int = 40) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(n, 5))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def diffusion_rows(S: np.ndarray, **options: int) -> np.ndarray:
    return diffusion.diffusion_rows(S, np.random.default_rng(0), **options)


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


def test_rows_have_the_gram_matrix_of_the_best_factor():
    X = unit_rows(60)
    S = X @ X.T
    A = build_similarity(S, "diffusion", steps=6).toarray()
    values, vectors = np.linalg.eigh(A)
    H = vectors[:, -5:] * np.sqrt(values[-5:])
    H /= np.linalg.norm(H, axis=1, keepdims=True)
    rows = diffusion_rows(S, n_columns=5)
    assert rows.shape == (60, 5)
    np.testing.assert_allclose(rows @ rows.T, H @ H.T, atol=1e-8)


def test_rows_do_not_depend_on_how_many_are_searched_at_a_time(monkeypatch):
    S = unit_rows().astype(np.float32)
    S = S @ S.T
    before = diffusion_rows(S), build_similarity(S, "diffusion").toarray()
    monkeypatch.setattr(diffusion, "_ROWS", 7)
    after = diffusion_rows(S), build_similarity(S, "diffusion").toarray()
    for one, two in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, two)


def test_rows_of_more_samples_than_the_similarity_holds(monkeypatch):
    S = unit_rows()
    S = S @ S.T
    monkeypatch.setattr("symmf.similarity.transforms.DENSE_BYTES", 100)
    assert diffusion_rows(S, n_columns=50).shape == (40, 40)
    with pytest.raises(InputError, match="fit in memory"):
        build_similarity(S, "diffusion")


def test_rows_of_what_are_no_similarities_get_a_sentence():
    with pytest.raises(InputError, match=r"step 'diffusion_rows'.*not 40 x 5"):
        diffusion_rows(unit_rows())
    with pytest.raises(InputError, match=r"step 'diffusion_rows'.*at most 1"):
        diffusion_rows(3 * np.eye(4))


def test_rows_of_a_larger_graph_are_those_of_its_eigenvectors():
    # Above the size of dense solvers, so the filtered subspace finds them. Loose: the
    # solver stops at what clustering needs.
    X = unit_rows(400)
    S = np.minimum(X @ X.T, 1)
    graph = self_tuning(X, n_neighbors=10, local_neighbor=7).toarray()
    values, vectors = np.linalg.eigh(graph)
    H = vectors[:, -4:] * values[-4:] ** 3
    H /= np.linalg.norm(H, axis=1, keepdims=True)
    rows = diffusion_rows(S, n_columns=4)
    np.testing.assert_allclose(rows @ rows.T, H @ H.T, atol=1e-2)
