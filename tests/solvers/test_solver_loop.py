"""What the loop around every solver promises: trace, limits, callbacks."""

import numpy as np
import pytest
from helpers.solver_cases import every_pair, every_solver, options, planted, run

from symmf import factorize
from symmf.similarity.operators import as_operator
from symmf.solvers import SOLVERS, Interrupted, Stop
from symmf.solvers.base import Iterate


@every_pair
def test_the_trace_is_complete(solver, constraint):
    M, _ = planted(noise=0.3)
    seen = []
    fit = run(solver, constraint, noise=0.3, max_iter=9, callback=seen.append)
    expected = 1 if SOLVERS[solver].one_shot else 9
    assert fit.n_iter == expected
    assert len(fit.error) == len(fit.seconds) == len(seen) == expected + 1
    assert (np.diff(fit.seconds) >= 0).all()
    assert (fit.split_error is not None) == SOLVERS[solver].split
    assert (fit.P is not None) == SOLVERS[solver].split
    for it, error in zip(seen, fit.error, strict=True):
        dense = np.sum((M - it.H @ it.H.T) ** 2) / np.sum(M**2)
        assert it.error == error
        np.testing.assert_allclose(error, dense, rtol=1e-9, atol=1e-15)
    if fit.split_error is not None:
        for it, error in zip(seen, fit.split_error, strict=True):
            dense = np.sum((M - it.H @ it.P.T) ** 2) / np.sum(M**2)
            np.testing.assert_allclose(error, dense, rtol=1e-9, atol=1e-15)
    assert np.array_equal(fit.H, seen[-1].H)


@every_pair
def test_without_a_tolerance_exactly_max_iter_iterations_run(solver, constraint):
    """Even at a standstill, which an exact factor is for most of them."""
    H = np.eye(3)[np.arange(12) % 3]
    for M in (H @ H.T, np.zeros((12, 12))):
        fit = factorize(M, 3, H0=H, max_iter=30, tol=0, **options(solver, constraint))
        if SOLVERS[solver].one_shot:
            assert (fit.n_iter, fit.stop) == (1, Stop.tolerance)
        else:
            assert (fit.n_iter, fit.stop) == (30, Stop.max_iter)


@every_pair
def test_a_tolerance_ends_the_run(solver, constraint):
    fit = run(solver, constraint, noise=0.3, max_iter=20_000, tol=1e-3)
    if fit.constraint.exact:
        assert fit.stop in (Stop.tolerance, Stop.stalled)
        assert fit.n_iter < 20_000


@every_pair
def test_a_callback_can_stop(solver, constraint):
    fit = run(solver, constraint, callback=lambda it: it.iteration == 1)
    assert (fit.n_iter, fit.stop) == (1, Stop.callback)


@every_solver
def test_what_a_callback_does_to_its_arrays_changes_nothing(solver):
    def spoil(it):
        it.H[:] = np.nan
        if it.P is not None:
            it.P[:] = np.nan

    spoiled = run(solver, max_iter=5, callback=spoil)
    assert np.array_equal(spoiled.H, run(solver, max_iter=5).H)


@every_pair
def test_the_time_limit_is_honoured(solver, constraint, monkeypatch):
    """With a clock that advances a second at each look."""
    from symmf.solvers import _loop as loop

    ticks = iter(range(10**6))
    monkeypatch.setattr(loop.time, "perf_counter", lambda: float(next(ticks)))
    fit = run(solver, constraint, max_seconds=2.5)
    if SOLVERS[solver].one_shot:
        assert fit.stop == Stop.tolerance
        return
    # Iterates 0, 1, 2 take one second each; the third second passes the limit.
    assert (fit.stop, fit.n_iter) == (Stop.time, 2)
    assert fit.seconds.tolist() == [1.0, 2.0, 3.0]


@every_solver
def test_ctrl_c_hands_over_what_there_is(solver):
    last = 0 if SOLVERS[solver].one_shot else 3

    def press(it):
        if it.iteration == last + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run(solver, callback=press)
    assert isinstance(caught.value, Interrupted)
    fit = caught.value.fit
    assert fit.stop == Stop.interrupted
    # The callback is asked after an iterate is kept.
    assert fit.n_iter == last + 1
    assert len(fit.error) == len(fit.seconds) == fit.n_iter + 1
    assert np.array_equal(fit.H, run(solver, max_iter=last + 1).H)


def test_ctrl_c_in_mid_iteration_gives_the_last_whole_one(monkeypatch):
    M, _ = planted()
    operator = as_operator(M)
    product, calls = operator.matmat, iter(range(100))

    def interrupted(V):
        if next(calls) == 6:
            raise KeyboardInterrupt
        return product(V)

    monkeypatch.setattr(operator, "matmat", interrupted)
    with pytest.raises(Interrupted) as caught:
        factorize(operator, 3, solver="fixed_step", random_state=0)
    fit = caught.value.fit
    assert 0 < fit.n_iter == len(fit.error) - 1
    assert np.isfinite(fit.H).all()


def test_the_tolerance_must_be_met_twice_in_a_row():
    """Along falls of 1, 0, 1, 0, 0 hundredths: the single still step does not stop."""
    values = [1.0, 0.99, 0.99, 0.98, 0.98, 0.98, 0.5]

    class Scripted(SOLVERS["projected_gradient"]):
        def iterates(self, problem, start):
            for value in values:
                yield Iterate(start.H, merit=value * problem.M.fro2)

        def is_stationary(self, _problem, _iterate):
            return True

    M, _ = planted()
    fit = factorize(M, 3, solver=Scripted(), random_state=0, tol=1e-3)
    assert (fit.n_iter, fit.stop) == (5, Stop.tolerance)


def test_a_fit_is_shown_on_one_line():
    shown = repr(run("projected_gradient", max_iter=4))
    assert "\n" not in shown
    assert len(shown) < 100
    assert "projected_gradient" in shown
    assert "4 iterations" in shown


def test_of_several_starts_the_one_with_the_smallest_error_is_kept():
    M, _ = planted()
    rng = np.random.default_rng(3)
    options = {"constraint": "nonnegative", "max_iter": 5, "tol": 0}
    single = [factorize(M, 3, random_state=rng, **options) for _ in range(4)]
    best = min(single, key=lambda fit: fit.error[-1])
    fit = factorize(M, 3, n_starts=4, random_state=np.random.default_rng(3), **options)
    assert np.array_equal(fit.H, best.H)
