import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from symmf.clustering.baselines.dsc import affinity as module
from symmf.clustering.baselines.dsc.affinity import (
    closed_form_coefficients,
    leading_eigenpairs,
    subspace_affinity,
    threshold_columns,
)
from symmf.clustering.baselines.spectral import njw_embedding
from symmf.clustering.labels import kmeans_rows
from symmf.metrics import accuracy

entries = st.floats(-10, 10, allow_subnormal=False).map(lambda x: round(x, 3))
squares = st.integers(1, 9).flatmap(lambda n: arrays(float, (n, n), elements=entries))


def independent_subspaces(rng, *, k=3, dimension=2, each=20, features=12):
    """Rows on k linear subspaces that meet in the origin only, in random order."""
    y = np.repeat(np.arange(k), each)
    X = np.vstack(
        [
            rng.standard_normal((each, dimension))
            @ rng.standard_normal((dimension, features))
            for _ in range(k)
        ]
    )
    order = rng.permutation(len(y))
    return X[order], y[order]


@given(C=squares, threshold=st.floats(0.01, 1.0), min_keep=st.integers(1, 4))
def test_the_threshold_keeps_its_share_and_no_more(C, threshold, min_keep):
    before = C.copy()
    kept = threshold_columns(C, threshold, min_keep)
    assert np.array_equal(C, before)
    assert np.all((kept == C) | (kept == 0))
    for column, short in zip(C.T, kept.T, strict=True):
        mass, count = np.abs(column).sum(), np.count_nonzero(short)
        assert np.abs(short).sum() >= threshold * mass * (1 - 1e-12)
        assert count >= min(min_keep, np.count_nonzero(column))
        if threshold < 1 and count > min_keep:
            smallest = np.abs(short[short != 0]).min()
            rest = np.abs(short).sum() - smallest
            assert rest < threshold * mass * (1 + 1e-12)
        dropped = np.abs(column[(short == 0) & (column != 0)])
        if dropped.size and count:
            assert dropped.max() <= np.abs(short[short != 0]).min()


def test_the_threshold_works_across_its_blocks(monkeypatch):
    C = np.random.default_rng(0).standard_normal((7, 7))
    whole = threshold_columns(C, 0.3, 2)
    monkeypatch.setattr(module, "_BLOCK", 3)
    assert np.array_equal(threshold_columns(C, 0.3, 2), whole)


@pytest.mark.parametrize("threshold", [0.04, 0.6])
def test_the_threshold_is_the_same_whether_few_or_all_entries_are_sorted(
    monkeypatch, threshold
):
    # Of 150 entries the largest 64 hold 4 percent of the sum but not 60.
    C = np.random.default_rng(0).uniform(0.8, 1, (150, 9)).astype(np.float32)
    few = threshold_columns(C, threshold, 2)
    monkeypatch.setattr(module, "_FEW", 1000)
    assert np.array_equal(threshold_columns(C, threshold, 2), few)
    assert few.dtype == np.float32


@given(
    C=squares,
    k=st.integers(1, 3),
    threshold=st.sampled_from([0.04, 0.5, 1.0]),
    diagonal=st.booleans(),
    power=st.sampled_from([0.5, 1.0, 4.0, 8.0]),
)
def test_the_affinity_is_symmetric_within_zero_and_one(
    C, k, threshold, diagonal, power
):
    before = C.copy()
    A = subspace_affinity(
        C,
        k,
        threshold=threshold,
        subspace_dim=2,
        set_diagonal=diagonal,
        power=power,
    )
    assert np.array_equal(C, before)
    assert np.array_equal(A, A.T)
    assert A.min() >= 0
    assert A.max() <= 1
    assert np.array_equal(np.diag(A), np.ones(len(C)))


def test_the_rank_is_what_the_subspaces_need():
    # K = 2 lines: two blocks of rank one. With rank 3 of 12 nothing is lost, and the
    # affinity is one within a block and zero across.
    C = np.kron(np.eye(2), np.ones((6, 6)) / 6)
    A = subspace_affinity(C, 2, threshold=1.0, subspace_dim=1, set_diagonal=False)
    assert np.allclose(A, np.kron(np.eye(2), np.ones((6, 6))))


def test_lanczos_agrees_with_dense(monkeypatch):
    rng = np.random.default_rng(1)
    S = rng.standard_normal((60, 60))
    S = S + S.T
    w, U = leading_eigenpairs(S, 7)
    monkeypatch.setattr(module, "DENSE_LIMIT", 10)
    v, V = leading_eigenpairs(S, 7)
    assert np.allclose(np.sort(w), np.sort(v))
    assert np.allclose((U * w) @ U.T, (V * v) @ V.T)


def test_no_copy_of_a_repeated_eigenvalue_is_missed(monkeypatch):
    monkeypatch.setattr(module, "DENSE_LIMIT", 10)
    S = np.kron(np.eye(6), np.ones((12, 12)) / 12)
    w, U = leading_eigenpairs(S, 6)
    assert np.allclose(w, 1)
    assert np.allclose(U @ U.T, S)


def test_a_failure_of_lanczos_is_covered_by_dense(monkeypatch):
    def fails(*_args, **_options):
        raise module.ArpackError(-9999)

    monkeypatch.setattr(module, "DENSE_LIMIT", 10)
    monkeypatch.setattr(module, "eigsh", fails)
    w, _ = leading_eigenpairs(np.diag(np.arange(40.0)), 3)
    assert np.allclose(w, [39, 38, 37])


@pytest.mark.parametrize("shape", [(9, 4), (5, 8)])
def test_the_closed_form_is_the_minimiser(shape):
    Z = np.random.default_rng(2).standard_normal(shape)
    lambda1, lambda2 = 0.7, 3.0
    C = closed_form_coefficients(Z, lambda1, lambda2)
    gradient = 2 * lambda1 * C - lambda2 * (Z - C @ Z) @ Z.T
    assert np.abs(gradient).max() < 1e-12
    K = Z @ Z.T
    direct = K @ np.linalg.inv(K + 2 * lambda1 / lambda2 * np.eye(len(K)))
    assert np.allclose(C, direct)


@pytest.mark.parametrize("seed", range(5))
def test_independent_subspaces_are_recovered_exactly(seed):
    rng = np.random.default_rng(seed)
    X, y = independent_subspaces(rng, dimension=3, features=14)
    A = subspace_affinity(
        closed_form_coefficients(X, 1.0, 150.0),
        3,
        threshold=1.0,
        subspace_dim=3,
        set_diagonal=False,
    )
    labels = kmeans_rows(njw_embedding(A, 3, rng)[1], 3, random_state=0)
    assert accuracy(y, labels) == 1.0


def test_every_part_of_an_affinity_is_seen_however_long_it_is():
    # Six rings of 110 samples, each joined to its next four: the eigenvalue 1 six times
    # and, because rings are long, many others within a hundredth of it.
    ring = sum(np.roll(np.eye(110), step, axis=1) for step in range(-4, 5))
    A = np.kron(np.eye(6), ring)
    _, E = njw_embedding(A, 6, np.random.default_rng(0))
    assert np.allclose(E @ E.T, np.kron(np.eye(6), np.ones((110, 110))), atol=1e-3)
