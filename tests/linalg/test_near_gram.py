"""Eigenpairs of F F^T less a diagonal against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

from symmf.linalg import solve_eigenpairs
from symmf.linalg.eigen import pairs as eigenpairs
from symmf.linalg.eigen.near_gram import near_gram
from symmf.similarity import build_similarity, regularise


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-9), (np.float32, 1e-5)])
def test_pairs_are_those_of_the_dense_matrix(dtype: type, tol: float) -> None:
    rng = np.random.default_rng(0)
    F = rng.standard_normal((400, 20)) * np.linspace(3, 1, 20)
    shift = rng.random(400)
    M = F @ F.T - np.diag(shift)
    single = F.astype(dtype)
    d = shift[:, None].astype(dtype)

    def product(V: np.ndarray) -> np.ndarray:
        return single @ (single.T @ V) - d * V

    found = near_gram(product, single, 6, 10, tol)
    values, vectors = np.linalg.eigh(M)
    assert found.residual <= tol
    np.testing.assert_allclose(found.values, values[::-1][:6], rtol=tol)
    cosines = np.abs(np.sum(found.vectors * vectors[:, ::-1][:, :6], axis=0))
    # Vectors are off by a residual over a gap, cosines by its square.
    np.testing.assert_allclose(cosines, 1, atol=1e-6)
    assert found.vectors.dtype == dtype


def test_it_is_taken_for_many_rows_and_default_accuracy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Z = np.abs(np.random.default_rng(0).standard_normal((700, 40)))
    M = regularise(build_similarity(Z, "scaled_gram"), 0.05)
    usual = solve_eigenpairs(M, 5, np.random.default_rng(0))
    assert usual.route == "krylov"
    monkeypatch.setattr(eigenpairs, "_MANY_ROWS", 600)
    found = solve_eigenpairs(M, 5, np.random.default_rng(0))
    assert found.route == "near_gram"
    # An eigenvalue lies within the residual of a Ritz value.
    np.testing.assert_allclose(found.values, usual.values, rtol=0, atol=1e-4)
    # Who asks for accuracy gets it.
    assert solve_eigenpairs(M, 5, np.random.default_rng(0), tol=0).route == "krylov"


def test_a_basis_that_lost_rank_is_no_harm() -> None:
    F = np.repeat(np.random.default_rng(0).standard_normal((200, 4)), 3, axis=1)
    found = near_gram(lambda V: F @ (F.T @ V), F, 3, 8, 1e-8)
    np.testing.assert_allclose(found.values, np.linalg.svd(F)[1][:3] ** 2)
