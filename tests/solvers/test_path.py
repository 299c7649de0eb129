"""Warm starts along a grid of lambda reach the same solutions for less work."""

from __future__ import annotations

import numpy as np
import pytest

import symmf
from symmf.errors import InputError
from symmf.similarity import build_similarity, regularise
from symmf.solvers.path import factorize_path

GRID = [0.5, 0.0, 0.1, 0.2, 0.05]


@pytest.fixture(scope="module")
def similarity():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((4, 12))
    X = np.repeat(centres, 30, axis=0) + 0.4 * rng.standard_normal((120, 12))
    return build_similarity(X, "centred_cosine")


@pytest.mark.parametrize("options", [{}, {"acceleration": "momentum"}])
def test_same_objective_as_cold_closed_form(similarity, options) -> None:
    fits = factorize_path(
        similarity, 4, GRID, tol=1e-10, max_iter=3000, random_state=0, **options
    )
    for weight, fit in zip(GRID, fits, strict=True):
        best = symmf.factorize(regularise(similarity, weight), 4, solver="eigen")
        # Unconstrained local minima are global, so the path may not stay above.
        assert fit.error[-1] == pytest.approx(best.error[-1], rel=1e-5)


def test_costs_less_than_cold_starts(similarity) -> None:
    warm = sum(
        fit.n_iter
        for fit in factorize_path(
            similarity, 4, GRID, acceleration="momentum", random_state=0
        )
    )
    cold = sum(
        symmf.factorize(
            regularise(similarity, weight), 4, acceleration="momentum", random_state=0
        ).n_iter
        for weight in GRID
    )
    assert warm < 0.7 * cold


def test_the_closed_form_is_taken_where_nothing_speaks_against_it(similarity) -> None:
    def iterations(**options) -> list[int]:
        fits = factorize_path(similarity, 4, GRID, random_state=0, **options)
        return [fit.n_iter for fit in fits]

    assert iterations() == iterations(constraint="none", tol=1e-4) == [1] * len(GRID)
    assert max(iterations(step_scale=0.5)) > 1
    assert max(iterations(constraint="nonnegative")) > 1


def test_other_solvers_and_sets(similarity) -> None:
    fits = factorize_path(
        similarity, 4, [0.0, 0.3], solver="sym_hals", max_iter=20, random_state=0
    )
    assert all(fit.H.min() >= 0 for fit in fits)
    fits = factorize_path(
        similarity, 4, [0.0, 0.3], constraint="unit_rows", max_iter=5, random_state=0
    )
    np.testing.assert_allclose(np.linalg.norm(fits[1].H, axis=1), 1)


def test_an_empty_grid_is_refused(similarity) -> None:
    with pytest.raises(InputError, match="at least one"):
        factorize_path(similarity, 4, [])
