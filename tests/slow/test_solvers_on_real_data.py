"""Solvers at the size of the paper's data sets."""

import tracemalloc

import numpy as np
import pytest

from symmf import factorize
from symmf.similarity import build_similarity, regularise
from symmf.solvers import SOLVERS

pytestmark = pytest.mark.slow


@pytest.fixture
def reuters(real_data):
    """M = A - L / 2 of 8213 documents, implicit."""
    X = real_data("reuters21578").X
    return regularise(build_similarity(X, "centred_cosine"), 0.5)


@pytest.fixture
def coil20(real_data):
    return regularise(build_similarity(real_data("coil20").X, "centred_cosine"), 0.5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_memory_stays_far_below_n_by_n(reuters, solver):
    n = reuters.shape[0]
    # Norms of the matrix are computed in blocks of rows before the measurement.
    assert reuters.fro2 > 0
    assert reuters.max_entry > 0
    more = {"method": "cg"} if solver == "newton" else {}
    if solver in ("coordinate_descent", "bsum"):
        more["callback"] = lambda it: it.iteration == 0
    tracemalloc.start()
    fit = factorize(
        reuters, 20, solver=solver, max_iter=2, tol=0, random_state=0, **more
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.isfinite(fit.H).all()
    assert peak < 0.25 * 8 * n * n


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("projected_gradient", {"acceleration": "momentum", "max_iter": 2000}),
        ("projected_gradient", {"acceleration": "line_search", "max_iter": 2000}),
        ("columnwise", {"max_iter": 300}),
    ],
)
def test_unconstrained_solvers_reach_the_closed_form(coil20, solver, options):
    best = factorize(coil20, 20, solver="eigen").error[-1]
    fit = factorize(coil20, 20, solver=solver, random_state=0, tol=1e-9, **options)
    assert best - 1e-9 <= fit.error[-1] <= best + 2e-3


def test_nonnegative_solvers_beat_their_starts_on_a_mixed_sign_matrix(coil20):
    """They end at similar errors, none of them at the zero matrix (error 1)."""
    found = {}
    for solver, options in {
        "newton": {"method": "cg"},
        "symnmf_anls": {},
        "sym_anls": {"coupling": 100.0},
        "sym_hals": {"coupling": 100.0},
        "projected_gradient": {"constraint": "nonnegative"},
    }.items():
        fit = factorize(
            coil20, 20, solver=solver, max_iter=150, tol=0, random_state=0, **options
        )
        found[solver] = fit.error[-1]
    assert max(found.values()) < 0.6, found
