"""Every solver on every form of M, and on problems at the edge."""

import numpy as np
import pytest
from helpers.solver_cases import (
    every_pair,
    every_solver,
    implicit,
    options,
    planted,
    start,
)
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from symmf import factorize
from symmf.errors import InputError
from symmf.solvers import SOLVERS, Stop


@every_pair
def test_dense_sparse_and_implicit_agree(solver, constraint):
    M = implicit()
    dense = M.toarray()
    dense = (dense + dense.T) / 2
    H0 = start(n=40)
    more = {"H0": H0, "max_iter": 6, "tol": 0, "random_state": 0}
    fits = [
        factorize(form, 3, **more, **options(solver, constraint))
        for form in (
            dense,
            sparse.csr_array(dense),
            M,
            aslinearoperator(dense),
        )
    ]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.error, fits[0].error, atol=1e-8)
        if solver == "eigen":
            np.testing.assert_allclose(fit.H @ fit.H.T, fits[0].H @ fits[0].H.T)
        else:
            np.testing.assert_allclose(fit.H, fits[0].H, atol=1e-7)


@every_pair
def test_nothing_n_by_n_is_formed_for_an_implicit_matrix(
    solver, constraint, monkeypatch
):
    M = implicit(n=1100, m=30)
    monkeypatch.setattr(type(M), "toarray", _refuse)
    product, columns = type(M)._matmat, type(M).columns

    def narrow_product(self, V):
        assert V.shape[1] < 550, "a product with half the identity, or more"
        return product(self, V)

    def few_columns(self, index):
        assert np.size(index) < 550, "half of the columns, or more"
        return columns(self, index)

    monkeypatch.setattr(type(M), "_matmat", narrow_product)
    monkeypatch.setattr(type(M), "columns", few_columns)
    more = options(solver, constraint)
    if solver == "newton":
        with pytest.raises(InputError, match="formed"):
            factorize(M, 3, **more)
        more["method"] = "cg"
    fit = factorize(M, 3, random_state=0, max_iter=2, **more)
    assert fit.H.shape == (1100, 3)


def _refuse(*_):
    raise InputError("The matrix was formed.")


@every_pair
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_in_is_precision_out(solver, constraint, dtype):
    M, _ = planted()
    more = {"H0": start(), "max_iter": 10, "tol": 0, "random_state": 0}
    more |= options(solver, constraint)
    fit = factorize(M.astype(dtype), 3, **more)
    assert fit.H.dtype == dtype
    if fit.P is not None:
        assert fit.P.dtype == dtype
    # Traces are double precision whatever the factors are.
    assert fit.error.dtype == np.float64
    double = factorize(M, 3, **more)
    np.testing.assert_allclose(fit.error, double.error, atol=2e-3)


@every_pair
@pytest.mark.parametrize("dtype", [np.int64, np.float16, bool])
def test_other_numbers_are_taken_as_double_precision(solver, constraint, dtype):
    M = (np.add.outer(np.arange(6), np.arange(6)) % 2 == 0).astype(dtype)
    more = options(solver, constraint)
    fit = factorize(M, 2, random_state=0, max_iter=2, **more)
    assert fit.H.dtype == np.float64


RNG = np.random.default_rng(0)
LOW = RNG.standard_normal((9, 2))
AWKWARD = {
    "one by one": (np.array([[2.0]]), 1),
    "two by two, k = 1": (np.array([[2.0, -1.0], [-1.0, 1.0]]), 1),
    "two by two, k = 2": (np.array([[2.0, -1.0], [-1.0, 1.0]]), 2),
    "k = 1": (LOW @ LOW.T, 1),
    "k = n": (LOW @ LOW.T + np.eye(9), 9),
    "zero": (np.zeros((6, 6)), 2),
    "negative definite": (-LOW @ LOW.T - np.eye(9), 3),
    "rank below k": (LOW @ LOW.T, 5),
    "identity": (np.eye(7), 3),
    "tiny entries": (1e-20 * (LOW @ LOW.T), 3),
    "huge entries": (1e20 * (LOW @ LOW.T), 3),
    "empty row": (np.diag([3.0, 2.0, 0.0, 1.0]), 2),
}


@pytest.mark.parametrize("problem", AWKWARD)
@every_pair
def test_awkward_problems_end_well(solver, constraint, problem):
    run_awkward(solver, constraint, problem, np.float64)


@pytest.mark.parametrize("problem", AWKWARD)
@every_solver
def test_awkward_problems_end_well_in_single_precision(solver, problem):
    run_awkward(solver, SOLVERS[solver].constraints[0], problem, np.float32)


def run_awkward(solver, constraint, problem, dtype):
    M, k = AWKWARD[problem]
    if dtype == np.float32 and "entries" in problem:
        # ||M||^2 and H H^T H must fit in single precision.
        M = M * (1e12 if problem.startswith("tiny") else 1e-12)
    more = options(solver, constraint)
    if solver in ("sym_anls", "sym_hals", "snmpbb"):
        # A coupling given as a number is in the units of M, and so is SymNMF's.
        more["coupling"] = "bound"
    if solver == "symnmf_anls":
        more["coupling"] = float(np.abs(M).max())
    fit = factorize(M.astype(dtype), k, random_state=0, max_iter=60, **more)
    assert fit.stop in Stop
    assert np.isfinite(fit.H).all()
    assert np.isfinite(fit.error).all()
    assert fit.stop != Stop.diverged
    if fit.constraint.cone and fit.constraint.exact and solver != "procrustes":
        # The zero matrix is feasible with error 1: nothing should end far above it.
        floor = 1.0 if M.any() else 0.0
        assert fit.error[-1] <= max(floor, fit.error[0]) * (1 + 1e-5) + 1e-5
