"""What a solver refuses, and in which words."""

import numpy as np
import pytest
from helpers.solver_cases import every_solver, planted, start

from symmf import factorize
from symmf.constraints import CONSTRAINTS
from symmf.errors import InputError
from symmf.solvers import SOLVERS


@every_solver
def test_a_start_that_does_not_fit_is_refused(solver):
    M, _ = planted()
    with pytest.raises(InputError, match="H0 must have shape"):
        factorize(M, 3, solver=solver, H0=start(k=2))
    with pytest.raises(InputError, match="H0 has NaN"):
        factorize(M, 3, solver=solver, H0=np.full((24, 3), np.nan))
    if not SOLVERS[solver].split:
        with pytest.raises(InputError, match="no second factor"):
            factorize(M, 3, solver=solver, P0=start())


@every_solver
def test_a_set_it_cannot_handle_is_refused_in_a_sentence(solver):
    M, _ = planted()
    refused = [name for name in CONSTRAINTS if name not in SOLVERS[solver].constraints]
    for name in refused:
        if name == "none":
            # A method that is nonnegative by construction need not be told.
            factorize(M, 3, solver=solver, constraint="none", max_iter=1)
            continue
        with pytest.raises(InputError, match=f"'{name}'"):
            factorize(M, 3, solver=solver, constraint=name)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"M": np.ones((24, 5))}, "square"),
        ({"max_iter": -1}, "max_iter"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"max_iter": "many"}, "max_iter"),
        ({"tol": -1e-3}, "tol"),
        ({"tol": float("nan")}, "tol"),
        ({"tol": "small"}, "tol"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"max_seconds": "long"}, "max_seconds"),
        ({"start": "unifrom"}, "Did you mean 'uniform'"),
        ({"solver": "newtn"}, "Did you mean 'newton'"),
        ({"constraint": "signed_max"}, "published=True"),
        ({"H0": "zeros"}, "array of real numbers"),
        ({"H0": np.ones((24, 3)) + 1j}, "array of real numbers"),
        ({"publishd": True}, "Did you mean 'published'"),
        ({"solver": SOLVERS["newton"](), "method": "cg"}, "Not used: method"),
        *(({"k": k}, "k must be") for k in (0, -1, 25, 2.0, True, "3", None)),
        ({"step_scale": "half"}, "step_scale"),
        ({"step_scale": 0.0}, "step_scale"),
        ({"sigma": "free"}, "sigma"),
        ({"acceleration": "heavy"}, "acceleration"),
        ({"solver": "admm", "rho": "ten"}, "rho"),
        ({"solver": "admm", "rho": 0.0}, "rho"),
        ({"solver": "sym_anls", "coupling": True}, "coupling"),
        ({"solver": "sym_anls", "coupling": "adaptive"}, "coupling"),
        ({"solver": "sym_anls", "coupling": float("nan")}, "coupling"),
        ({"solver": "sym_hals", "coupling": None}, "coupling"),
        ({"solver": "sym_hals", "order": "rows"}, "order"),
        ({"solver": "symnmf_anls", "coupling": "bound"}, "coupling"),
        ({"solver": "columnwise", "coupling": -1.0}, "coupling"),
        ({"solver": "columnwise", "coupling": "strong"}, "'adaptive'"),
        ({"solver": "columnwise", "sigma_n": "exact"}, "sigma_n"),
        ({"solver": "newton", "method": "lu"}, "method"),
        ({"solver": "fixed_step", "step": -1.0}, "step"),
        ({"solver": "fixed_step", "step": "long"}, "step"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_in_a_sentence(more, match):
    with pytest.raises(InputError, match=match):
        factorize(**{"M": planted()[0], "k": 3, **more})
