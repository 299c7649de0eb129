import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import solvers as reference
from scipy.optimize import minimize_scalar

from symmf import factorize
from symmf.solvers.coordinate_descent import quartic_minimiser


@given(a=st.floats(-50, 50), b=st.floats(-50, 50))
def test_the_quartic_of_an_entry_is_minimised(a, b):
    x = quartic_minimiser(a, b)
    value = x**4 / 4 + a * x**2 / 2 + b * x
    grid = np.linspace(0, 12, 4001)
    assert x >= 0
    assert value <= np.min(grid**4 / 4 + a * grid**2 / 2 + b * grid) + 1e-9 * (
        1 + abs(value)
    )


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e90])
def test_the_quartic_minimiser_knows_no_scale(scale):
    """x -> c x takes (a, b) to (c^2 a, c^3 b)."""
    for a, b in ((-3.0, 1.0), (-3.0, -1.0), (2.0, -1.0), (2.0, 1.0), (-3.0, 0.0)):
        expected = quartic_minimiser(a, b)
        found = quartic_minimiser(a * scale**2, b * scale**3)
        assert found == pytest.approx(expected * scale, rel=1e-6, abs=0)


def test_one_sweep_of_coordinate_descent(M, rng):
    """Against a minimisation of f itself over each entry."""
    H = rng.random((18, 3))
    fit = factorize(M, 3, solver="coordinate_descent", H0=H, max_iter=1, tol=0)
    for i in range(18):
        for j in range(3):

            def f(x, i=i, j=j):
                H[i, j] = x
                return reference.objective(M, H)

            grid = np.linspace(0, 15, 600)
            near = grid[np.argmin([f(x) for x in grid])]
            bounds = (max(0, near - 0.1), near + 0.1)
            H[i, j] = minimize_scalar(f, bounds=bounds, method="bounded").x
    np.testing.assert_allclose(fit.H, H, atol=1e-3)
    assert fit.error[1] * np.sum(M**2) <= reference.objective(M, H) + 1e-6
