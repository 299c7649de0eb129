"""``factorize``: one entry to every solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np

from symmf.common.seeds import RandomState, as_generator
from symmf.common.validation import (
    check_name,
    check_number,
    check_options,
)
from symmf.constraints import ConstraintLike, as_constraint
from symmf.distributed.operators import operator_of
from symmf.errors import InputError
from symmf.linalg.threads import one_thread
from symmf.similarity.operators import SymmetricOperator
from symmf.solvers._loop import run
from symmf.solvers._start import first_factor, given_factor
from symmf.solvers.base import Callback, Factorization, Problem, Solver, Start
from symmf.solvers.low_rank import columns_for, warm_start
from symmf.solvers.registry import SOLVERS, SolverName

# Below this a squared norm has lost digits.
_SMALLEST = 1e-290


def factorize(
    M: Any,
    k: int,
    *,
    solver: SolverName | str | Solver = "projected_gradient",
    constraint: ConstraintLike = "none",
    H0: Any = None,
    P0: Any = None,
    max_iter: int = 300,
    tol: float = 1e-6,
    random_state: RandomState = None,
    start: str | None = None,
    n_starts: int = 1,
    low_rank: int | Literal["auto"] | None = None,
    max_seconds: float | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> Factorization:
    r"""Factor a symmetric matrix, M ~ H H^T with H of k columns in a chosen set.

    .. math:: \min_{H \in \mathcal{H}} \|M - HH^T\|_F^2

    Parameters
    ----------
    M : ndarray, scipy sparse matrix or symmetric operator, (n, n)
        Any signs; never modified.
    k : int
        Number of columns, 1 <= k <= n.
    solver : str or Solver
        A key of ``symmf.solvers.SOLVERS``, or a solver object.
    constraint : str, (str, parameters) or Constraint
        The set H lies in; not needed for methods that are nonnegative by construction.
    H0, P0 : (n, k) arrays, optional
        The exact start; P0 defaults to H0 for split methods.
    max_iter : int
    tol : float
        Stop when the objective f has fallen by at most ``tol * (||M||_F^2 - f)`` twice
        in a row, and the projected gradient is at most ``sqrt(tol)`` times ||M H||_F
        (some solvers have a test of their own, and say so). 0 disables it: exactly
        ``max_iter`` iterations run.
    random_state : int, Generator, RandomState or None
        For the start, and for solvers that draw random numbers.
    start : {"normal", "scaled", "uniform", "symm_mean"}, optional
        How H0 is drawn when it is not given; the solver's own choice by default.
    n_starts : int
        Number of random starts; the fit with the smallest error is returned.
    low_rank : int or "auto", optional
        Factor an approximation of M of this rank first, and continue with M itself from
        there: fewer products with a dense M. ``auto`` does so, with k + 10, for arrays
        of at least 1,000 rows.
    max_seconds : float, optional
        Stop a run on M after this much solver time.
    callback : callable, optional
        Gets an ``Iteration`` after every iterate; returning True stops.
    **options
        Fields of the solver: ``published``, ``step_scale``, ``coupling`` ...

    Returns
    -------
    Factorization
        ``H``, ``P``, the traces ``error``, ``split_error`` and ``seconds``,
        ``n_iter`` and the reason in ``stop``.

    Raises
    ------
    InputError
        If an argument is not valid; the message names it.
    Interrupted
        On Ctrl-C. A KeyboardInterrupt whose ``fit`` holds the result so far.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> U = rng.random((30, 3))
    >>> fit = factorize(U @ U.T, 3, constraint="nonnegative", random_state=0)
    >>> fit.H.shape, bool(fit.error[-1] < 1e-2)
    ((30, 3), True)
    """
    operator = operator_of(M)
    n = operator.shape[0]
    _check_sizes(n, k, max_iter, tol, max_seconds)
    _check_range(operator)
    method = as_solver(solver, options)
    asked = as_constraint(constraint)
    if asked.published_only and not method.published:
        raise InputError(
            f"The set {asked.name!r} reproduces a fault of the released code; "
            "it needs published=True."
        )
    problem = Problem(
        M=operator,
        k=int(k),
        constraint=method.choose(asked),
        tol=float(tol),
    )
    problem.constraint.check(n, problem.k)
    method.check(problem)
    if P0 is not None and not method.split:
        raise InputError(f"{method.title} has no second factor; leave P0 out.")
    check_number("n_starts", n_starts, least=1, whole=True)
    columns = None if method.one_shot else columns_for(problem, low_rank)
    rng = as_generator(random_state)

    def fit() -> Factorization:
        first = first_factor(problem, method, H0, start, rng)
        second = None
        if method.split:
            second = first.copy() if P0 is None else given_factor("P0", P0, problem)
        begin = Start(H=first, P=second, rng=rng)
        warm = None
        if columns is not None:
            begin, warm = warm_start(method, problem, begin, columns, int(max_iter))
        found = run(
            method,
            problem,
            begin,
            max_iter=int(max_iter),
            max_seconds=max_seconds,
            callback=callback,
        )
        if warm is None:
            return found
        return replace(found, warm_start=warm, seconds=found.seconds + warm.seconds)

    with one_thread():
        fits = [fit() for _ in range(n_starts)]
    return min(fits, key=lambda one: float(one.error[-1]))


def as_solver(solver: str | Solver, options: Mapping[str, Any]) -> Solver:
    """Turn a name and options into a solver; a wrong name gets the nearest one."""
    if isinstance(solver, Solver):
        if options:
            raise InputError(
                "Options belong to a solver given by name; the object given already "
                f"has its own. Not used: {', '.join(options)}."
            )
        return solver
    kind = SOLVERS[check_name("solver", solver, SOLVERS)]
    known = [field.name for field in fields(kind)]
    check_options(f"Solver {solver!r}", options, known)
    return kind(**options)


def _check_sizes(
    n: int, k: int, max_iter: int, tol: float, max_seconds: float | None
) -> None:
    check_number("k", k, least=1, most=n, whole=True)
    check_number("max_iter", max_iter, least=0, whole=True)
    check_number("tol", tol, least=0)
    if max_seconds is not None:
        check_number("max_seconds", max_seconds, above=0)


def _check_range(M: SymmetricOperator) -> None:
    """Refuse entries whose squares overflow, or vanish although they are not zero."""
    with np.errstate(all="ignore"):
        fro2 = M.fro2
        if _SMALLEST <= fro2 < np.inf:
            return
        # The zero matrix is valid; an implicit one is recognised by a product.
        signs = np.where(np.arange(M.shape[0]) % 3, 1, -1).astype(M.dtype)[:, None]
        if fro2 < _SMALLEST and not np.any(M.matmat(signs)):
            return
    if np.isnan(fro2):
        raise InputError(
            "M has entries that are not numbers. If it is a similarity of rows, look "
            "whether they are all alike, or choose another similarity."
        )
    size = "large" if fro2 >= 1 else "small"
    raise InputError(
        f"The entries of M are so {size} that their squares are out of the range of "
        "floating-point numbers. Multiply M by a constant: H only scales with its root."
    )
