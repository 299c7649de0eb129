"""Algorithm 2's own parts: the safeguard, the momentum, the bound on the step."""

import numpy as np
import pytest

from symmf import factorize
from symmf.similarity.operators import DenseOperator, as_operator
from symmf.solvers import Problem, Start
from symmf.solvers._points import Momentum, Point
from symmf.solvers._step_bound import StepBound


@pytest.mark.parametrize("share", [-3e-5, 3e-5], ids=["too little", "rises"])
def test_a_step_that_gains_too_little_is_halved(share):
    """M = 2, H = 1: f = 1, gradient -4, L = 12, so H+ = 1 + step_scale / 3.

    H+ = sqrt(3) has f = 1 again. Just beside it the gain is below 1e-4 |H+ - H|^2 / t,
    about 3e-4; half the step gains nearly everything.
    """
    step_scale = 3 * (np.sqrt(3) - 1) * (1 + share)
    whole = (2 - (1 + step_scale / 3) ** 2) ** 2
    assert abs(whole - 1) < 2.9e-4
    assert (whole > 1) == (share > 0)
    fit = factorize(
        [[2.0]], 1, H0=[[1.0]], step_scale=step_scale, max_iter=1, tol=0, random_state=0
    )
    assert fit.H[0, 0] == pytest.approx(1 + step_scale / 6, rel=1e-12)
    assert fit.error[1] < 0.02 * fit.error[0]


def test_the_speed_of_the_momentum_is_nesterov_s():
    """beta_i = (theta_i - 1) / theta_{i+1}, theta' = (1 + sqrt(1 + 4 theta^2)) / 2."""
    rng = np.random.default_rng(0)
    momentum = Momentum(active=True)

    def point():
        H = rng.standard_normal((6, 2))
        return Point(H, 2 * H, H.T @ H, 0.0)

    last, new = point(), point()
    assert momentum.extrapolate(last) is last  # nothing to go beyond yet
    theta = 1.0
    for _ in range(5):
        momentum.remember(last)
        following = (1 + np.sqrt(1 + 4 * theta**2)) / 2
        beta = (theta - 1) / following
        y = momentum.extrapolate(new)
        np.testing.assert_allclose(y.H, new.H + beta * (new.H - last.H), rtol=1e-14)
        np.testing.assert_allclose(y.MH, 2 * y.H, rtol=1e-14)
        np.testing.assert_allclose(y.G, y.H.T @ y.H, rtol=1e-14)
        theta, last, new = following, new, point()
    assert beta > 0.5
    momentum.restart()
    momentum.remember(last)
    assert momentum.extrapolate(new) is new


def test_without_momentum_nothing_is_remembered():
    momentum = Momentum(active=False)
    H = np.ones((3, 1))
    momentum.remember(Point(H, H, H.T @ H))
    assert momentum.previous is None


def test_a_step_follows_the_gradient():
    rng = np.random.default_rng(1)
    H = rng.standard_normal((8, 3))
    point = Point(H, rng.standard_normal((8, 3)), H.T @ H)
    gradient = 4 * (H @ point.G - point.MH)
    np.testing.assert_allclose(point.step(0.1), H - 0.1 * gradient, atol=1e-12)


@pytest.mark.parametrize("sigma", ["estimate", "exact", "bound"])
def test_the_curvature_is_an_upper_bound(sigma):
    """4 ||H H^T - M|| + 8 ||H||^2, exactly so where it is asked for."""
    rng = np.random.default_rng(2)
    M = rng.standard_normal((40, 40))
    M = M + M.T
    H = rng.standard_normal((40, 3))
    problem = Problem(M=as_operator(M), k=3)
    bound = StepBound(problem, Start(H=H, rng=rng), sigma)
    exact = 4 * np.linalg.norm(H @ H.T - M, 2) + 8 * np.linalg.norm(H, 2) ** 2
    # The estimate has a margin of 5 % on sigma, and sees it from below.
    least = 0.95 if sigma == "estimate" else 1 - 1e-12
    assert bound.curvature() >= least * exact
    if sigma == "exact":
        assert bound.curvature() == pytest.approx(exact)


@pytest.mark.parametrize("acceleration", ["none", "momentum"])
@pytest.mark.parametrize("constraint", ["none", "nonnegative"])
def test_an_iteration_takes_hardly_more_than_one_product(constraint, acceleration):
    """The estimate of the norm rides on it, and steps are seldom halved."""

    class Counting(DenseOperator):
        columns_multiplied = 0

        def matmat(self, V):
            self.columns_multiplied += V.shape[1]
            return super().matmat(V)

    X = np.random.default_rng(0).standard_normal((300, 20))
    M, k, iterations = Counting(X @ X.T), 10, 100
    more = {"constraint": constraint, "acceleration": acceleration}
    fit = factorize(M, k, random_state=0, max_iter=iterations, tol=0, **more)
    assert fit.n_iter == iterations
    assert M.columns_multiplied <= 1.3 * k * iterations
