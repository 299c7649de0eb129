"""A start from a low-rank approximation; the answer is that of M, in less time."""

import numpy as np
import pytest
from helpers.solver_cases import every_solver

from symmf import factorize
from symmf.errors import InputError
from symmf.similarity import DenseOperator, as_operator
from symmf.solvers import SOLVERS
from symmf.solvers.low_rank import LowRank, low_rank


def noisy(n=60, k=3, seed=0):
    rng = np.random.default_rng(seed)
    U, E = rng.random((n, k)), rng.standard_normal((n, n))
    return U @ U.T + 0.02 * (E + E.T)


def test_the_approximation_is_the_best_one_of_its_rank():
    M = noisy()
    found = low_rank(as_operator(M), 10, np.random.default_rng(0))
    values = np.linalg.eigvalsh(M)
    largest = values[np.argsort(-np.abs(values))[:10]]
    np.testing.assert_allclose(found.toarray(), found.toarray().T, atol=1e-12)
    missing = np.sum((M - found.toarray()) ** 2)
    assert missing == pytest.approx(np.sum(M**2) - found.fro2)
    assert missing <= 1.5 * (np.sum(M**2) - np.sum(largest**2))


def test_it_is_an_operator_like_its_array():
    rng = np.random.default_rng(1)
    found = LowRank(
        np.linalg.qr(rng.standard_normal((9, 3)))[0], np.array([2, 1, -1.0])
    )
    dense = DenseOperator(found.toarray())
    V = rng.standard_normal((9, 4))
    np.testing.assert_allclose(found.matmat(V), dense.matmat(V))
    np.testing.assert_allclose(found.diagonal(), dense.diagonal())
    np.testing.assert_allclose(found.columns([4, 2]), dense.columns([4, 2]))
    assert found.fro2 == pytest.approx(dense.fro2)
    assert found.max_entry == pytest.approx(dense.max_entry)


@every_solver
def test_every_solver_starts_from_it_and_ends_at_m(solver):
    M = noisy()
    options = {"solver": solver, "random_state": 0, "max_iter": 60}
    warm, cold = (factorize(M, 3, low_rank=rank, **options) for rank in (8, None))
    assert cold.warm_start is None
    H = warm.H if warm.P is None else (warm.H + warm.P) / 2
    error = np.sum((M - H @ H.T) ** 2) / np.sum(M**2)
    assert error <= 1.05 * cold.error[-1] + 1e-3
    if SOLVERS[solver].one_shot:
        assert warm.warm_start is None
        return
    told = warm.warm_start
    assert told.columns == 8
    assert 0 < told.error < 1
    assert warm.seconds[0] >= told.seconds > 0
    # The trace is that of M, from where the approximation has led.
    assert warm.error[0] < cold.error[0] or solver == "procrustes"


def test_products_with_m_are_saved():
    class Counting(DenseOperator):
        multiplied = 0

        def matmat(self, V):
            self.multiplied += V.shape[1]
            return super().matmat(V)

    counts = []
    for rank in (None, 13):
        M = Counting(noisy(n=300))
        options = {"constraint": "nonnegative", "acceleration": "momentum"}
        fit = factorize(
            M, 3, low_rank=rank, max_iter=3000, random_state=0, tol=1e-7, **options
        )
        assert fit.stop == "tolerance"
        counts.append(M.multiplied)
    assert counts[1] < counts[0]


def test_auto_is_for_large_arrays_only():
    options = {"low_rank": "auto", "max_iter": 2, "random_state": 0}
    assert factorize(noisy(n=80), 3, **options).warm_start is None
    assert factorize(noisy(n=1000), 3, **options).warm_start.columns == 13


@pytest.mark.parametrize("rank", [2, 61, 8.5, "yes", True])
def test_a_rank_that_cannot_be_is_refused(rank):
    with pytest.raises(InputError, match="low_rank"):
        factorize(noisy(), 3, low_rank=rank)
