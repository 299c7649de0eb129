"""Column updates of two nonnegative factors, with and without extrapolation."""

from itertools import islice

import numpy as np
import pytest
from helpers.solver_cases import planted

from symmf import factorize
from symmf.errors import InputError
from symmf.solvers._hals import accelerated_hals, sweep, sweeps
from symmf.solvers._nnls import nnls_bpp


def objective(V, Q, B):
    return np.sum((V @ V.T) * Q) - 2 * np.sum(V * B)


def test_a_sweep_minimises_over_each_row_in_turn():
    rng = np.random.default_rng(0)
    C = rng.random((9, 3))
    Q, B, V = C.T @ C, 3 * rng.random((3, 7)), rng.random((3, 7))
    wanted = V.copy()
    for j in range(3):
        others = [i for i in range(3) if i != j]
        wanted[j] = np.maximum(0, (B[j] - Q[j, others] @ wanted[others]) / Q[j, j])
        # No row of zeros may stay: it is put back at rounding level.
        assert wanted[j].any()
    sweep(V, Q, B)
    np.testing.assert_allclose(V, wanted, atol=1e-14)


def test_many_sweeps_reach_the_least_squares_solution():
    rng = np.random.default_rng(1)
    C = rng.random((20, 4))
    Q, B = C.T @ C, rng.standard_normal((4, 30))
    V = rng.random((4, 30))
    for _ in range(400):
        sweep(V, Q, B)
    np.testing.assert_allclose(V, nnls_bpp(Q, B), atol=1e-8)


def test_sweeps_end_when_little_moves():
    rng = np.random.default_rng(2)
    Q, B = np.eye(3), rng.random((3, 5))
    # With Q = I one sweep is the solution; a second one sees that.
    V = sweeps(rng.random((3, 5)), Q, B, 50)
    np.testing.assert_allclose(V, B)
    assert objective(V, Q, B) == pytest.approx(-np.sum(B**2))


@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_the_objective_is_that_of_the_pair_and_never_rises(mu):
    rng = np.random.default_rng(3)
    X = rng.random((15, 15))
    X = X + X.T
    start = rng.random((4, 15)), rng.random((4, 15))
    run = accelerated_hals(
        lambda U: (X @ U.T).T,
        lambda V: (X.T @ V.T).T,
        *start,
        total=np.sum(X**2),
        mu=mu,
    )
    ends = []
    for pair in islice(run, 60):
        F = np.sum((X - pair.V.T @ pair.U) ** 2) + mu * np.sum((pair.V - pair.U) ** 2)
        assert pytest.approx(F, rel=1e-10) == pair.objective
        np.testing.assert_allclose(pair.XU, (X @ pair.U.T).T)
        np.testing.assert_allclose(pair.XTV, (X.T @ pair.V.T).T)
        assert min(pair.V.min(), pair.U.min()) >= 0
        ends.append(pair.objective)
    assert (np.diff(ends) <= 1e-12 * ends[0]).all()


def test_extrapolation_saves_steps_at_the_same_objective():
    M, _ = planted(noise=0.3)
    more = {"solver": "sym_hals", "random_state": 0, "max_iter": 5000, "tol": 1e-9}
    plain = factorize(M, 3, **more)
    fast = factorize(M, 3, acceleration="extrapolation", **more)
    assert fast.n_iter < plain.n_iter
    assert fast.error[-1] == pytest.approx(plain.error[-1], rel=1e-4)


def test_extrapolation_is_refused_where_it_is_not_defined():
    with pytest.raises(InputError, match="order='factors'"):
        factorize(
            np.eye(5),
            2,
            solver="sym_hals",
            order="columns",
            acceleration="extrapolation",
        )
