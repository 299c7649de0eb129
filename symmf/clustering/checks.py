"""What the estimators ask of their parameters and their data before they begin."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from symmf.common.notation import AnyMatrix
from symmf.common.validation import check_number, is_whole, shown
from symmf.constraints import Constraint
from symmf.distributed.rows import DistributedRows
from symmf.errors import InputError, SymmfWarning
from symmf.linalg import largest_entry
from symmf.solvers import Solver

# What a parameter may be, and in words; names are checked where they are used.
_SINGLE = str | Real | Constraint | None
_KINDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(
        ("published", "set_diagonal", "warm_start_closed_form"),
        (bool | np.bool_ | None, "True or False"),
    ),
    **dict.fromkeys(
        ("similarity_options", "label_options", "solver_options"),
        (Mapping | None, "a dict of options by name, or None"),
    ),
    **dict.fromkeys(
        ("constraint", "image_shape", "n_components"),
        (_SINGLE | list | tuple, "a name, a number or a list"),
    ),
    "members": (list | tuple | None, "a list of clusterers"),
    "solver": (str | Solver, "the name of a solver, or a solver"),
    "random_state": (object, "a seed"),
}
# Bounds of numbers. More restarts than those are a mistake.
_WHOLE = {"least": 1, "whole": True}
_BOUNDS: dict[str, dict[str, Any]] = {
    name: bounds
    for names, bounds in (
        ("n_init n_restarts n_starts", {"most": 100_000, **_WHOLE}),
        ("batch_size blocks lsa_dim min_keep n_finetune subspace_dim", _WHOLE),
        ("max_iter n_pretrain start_iter", {"least": 0, "whole": True}),
        ("lambda1 pretrain_tol tol", {"least": 0}),
        ("lambda2 learning_rate power", {"least": 1e-12}),
        ("graph_weight", {"least": 0, "most": 1e100}),
        ("heat_scale", {"above": 0}),
        ("threshold", {"least": 1e-12, "most": 1}),
    )
    for name in names.split()
}
# Data within this factor of one are used as they are.
RANGE = {"float64": 2.0**200, "float32": 2.0**40}


def safe_scale(X: AnyMatrix) -> float:
    """Return the power of two that brings extreme data to entries of order one.

    It is 1 for all data whose fourth powers are in range, and for zeros. It is even, so
    that its root is exact.
    """
    largest = X.largest if isinstance(X, DistributedRows) else largest_entry(X)
    range_ = RANGE[np.dtype(X.dtype).name]
    if largest == 0 or 1 / range_ <= largest <= range_:
        return 1.0
    exponent = 2 * (int(np.frexp(largest)[1]) // 2)
    warnings.warn(
        f"The entries of X go up to {largest:.3g}; they were multiplied by "
        f"2**{-exponent} before clustering, and objective_ is that of the scaled data.",
        SymmfWarning,
        stacklevel=3,
    )
    return float(2.0 ** (-exponent)) if exponent > -1022 else float(2.0**1022)


def check_parameters(model: Any) -> None:
    """Raise InputError if a parameter of an estimator is one that it cannot have."""
    for name, value in model.get_params(deep=False).items():
        kind, words = _KINDS.get(name, (_SINGLE, "a name or a number"))
        odd = isinstance(value, Mapping) and not all(
            isinstance(key, str) for key in value
        )
        if odd or not isinstance(value, kind):
            raise InputError(f"{name} must be {words}, not {shown(value)}.")
        usual = value is None and getattr(type(model), name, None) is None
        if name in _BOUNDS and not usual:
            check_number(name, value, **_BOUNDS[name])


def check_n_clusters(n_clusters: Any, n: int) -> None:
    """Raise InputError unless 1 <= n_clusters <= n."""
    if not is_whole(n_clusters) or not 1 <= n_clusters <= n:
        raise InputError(
            f"n_clusters must be a whole number between 1 and the number of samples, "
            f"n_samples={n}; got {shown(n_clusters)}."
        )


def check_range(X: AnyMatrix, *, new: bool = False) -> None:
    """Raise InputError if squares of entries leave the range of numbers.

    ``new`` rows are compared with those of a fit, beside which they may be small.
    """
    largest, limit = largest_entry(X), RANGE[np.dtype(X.dtype).name]
    if largest <= limit and (new or largest == 0 or largest >= 1 / limit):
        return
    power = max(int(np.floor(np.log10(largest))), -300)
    advice = f"Divide X by 1e{power}: the clusters stay the same."
    raise InputError(
        f"The entries of X go up to {largest:.3g} in size, and their squares are out "
        "of the range of numbers. "
        + ("Bring X to the units of the fit." if new else advice)
    )


def check_nonnegative(X: AnyMatrix, method: str) -> None:
    """Raise InputError if a method that needs X >= 0 gets a negative entry."""
    lowest = X.min()
    if lowest < 0:
        raise InputError(
            f"Negative values in data passed to {method}, which needs X >= 0 "
            f"(smallest entry {lowest:.3g}). Shift or clip the data, or use SymMF."
        )
