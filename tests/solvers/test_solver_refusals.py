"""What a solver refuses, and in which words."""

import numpy as np
import pytest
from helpers.solver_cases import every_solver, planted, start
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from symmf import factorize
from symmf.constraints import CONSTRAINTS
from symmf.errors import InputError
from symmf.solvers import SOLVERS


@every_solver
def test_nan_is_refused(solver):
    M, _ = planted()
    M[3, 4] = M[4, 3] = np.nan
    for bad in (M, sparse.csr_array(M), aslinearoperator(M)):
        with pytest.raises(InputError, match=r"NaN"):
            factorize(bad, 3, solver=solver)


@every_solver
def test_a_matrix_that_is_not_symmetric_is_refused(solver):
    M, _ = planted()
    M[3, 4] += 1
    for bad in (M, sparse.csr_array(M), aslinearoperator(M)):
        with pytest.raises(InputError, match="not symmetric"):
            factorize(bad, 3, solver=solver)
    with pytest.raises(InputError, match="square"):
        factorize(M[:, :5], 3, solver=solver)


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
def test_an_unknown_option_gets_the_nearest_name(solver):
    M, _ = planted()
    with pytest.raises(InputError, match="Did you mean 'published'"):
        factorize(M, 3, solver=solver, publishd=True)


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


@every_solver
@pytest.mark.parametrize("k", [0, -1, 25, 2.0, True, "3", None])
def test_k_must_be_between_1_and_n(solver, k):
    M, _ = planted()
    with pytest.raises(InputError, match="k must be"):
        factorize(M, k, solver=solver)


@pytest.mark.parametrize(
    ("more", "match"),
    [
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
        ({"step_scale": "half"}, "step_scale"),
        ({"solver": "admm", "rho": "ten"}, "rho"),
        ({"solver": "sym_anls", "coupling": True}, "coupling"),
        ({"solver": SOLVERS["newton"](), "method": "cg"}, "Not used: method"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(more, match):
    M, _ = planted()
    with pytest.raises(InputError, match=match):
        factorize(M, 3, **more)


def test_index_arrays_that_point_outside_are_refused():
    M = sparse.csr_array(np.eye(12) + 1)
    M.indices[0] = 99
    with pytest.raises(InputError, match="damaged"):
        factorize(M, 2)
