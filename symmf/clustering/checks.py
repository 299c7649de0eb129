"""What the estimators ask of their parameters and their data before they begin."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix
from symmf.common.validation import check_number, is_whole, shown
from symmf.constraints import Constraint
from symmf.distributed.rows import DistributedRows
from symmf.errors import DataError, InputError, SymmfWarning
from symmf.linalg import largest_entry
from symmf.linalg.sparse import check_sparse

# More restarts than this are a mistake.
MOST_RESTARTS = 100_000
# Parameters that are switches, and those that may be sequences.
_FLAGS = ("published", "set_diagonal", "unit_rows", "warm_start_closed_form")
_SEQUENCES = ("constraint", "image_shape", "members", "n_components")
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
        stacklevel=4,
    )
    return float(2.0 ** (-exponent)) if exponent > -1022 else float(2.0**1022)


def as_options(name: str, given: object) -> dict[str, Any]:
    """Return the parameter as a dict of options; None is none."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise InputError(
            f"{name} must be a dict of options by name, or None, not {shown(given)}."
        )
    return dict(given)


def check_kind(name: str, value: object) -> None:
    """Refuse what no parameter can be; each method looks at the values itself."""
    if name in _FLAGS:
        if not isinstance(value, bool | np.bool_ | None):
            raise InputError(f"{name} must be True or False, not {shown(value)}.")
    elif name.endswith("_options"):
        as_options(name, value)
    elif name == "callback":
        if value is not None and not callable(value):
            raise InputError(f"{name} must be a function, not {shown(value)}.")
    elif name == "random_state":
        return  # seeds.as_generator judges it
    elif isinstance(value, list | tuple | Mapping) and name in _SEQUENCES:
        return
    elif not isinstance(value, str | Real | Constraint | None):
        raise InputError(f"{name} must be a name or a number, not {shown(value)}.")


def check_restarts(number: object, name: str = "n_restarts") -> None:
    """Raise InputError unless it is a number of restarts that can end."""
    check_number(name, number, least=1, most=MOST_RESTARTS, whole=True)


def check_n_clusters(n_clusters: Any, n: int) -> None:
    """Raise InputError unless 1 <= n_clusters <= n."""
    if not is_whole(n_clusters) or not 1 <= n_clusters <= n:
        raise InputError(
            f"n_clusters must be a whole number between 1 and the number of samples, "
            f"n_samples={n}; got {shown(n_clusters)}."
        )


def check_indices(X: Any) -> None:
    """Raise InputError if the index arrays of a sparse X point outside of it.

    Compiled code reads and writes wherever they point.
    """
    if not sparse.issparse(X):
        return
    try:
        check_sparse(X)
    except DataError as error:
        raise InputError(f"X: {error}") from error


def check_squares(X: AnyMatrix) -> None:
    """Raise InputError if distances to new rows leave the range of numbers."""
    largest = largest_entry(X)
    limit = np.sqrt(np.finfo(X.dtype).max / max(X.shape[1], 1)) / 4
    if largest > limit:
        raise InputError(
            f"The entries of the new rows go up to {largest:.3g}, too large to compare "
            "with the rows of the fit. Bring them to the same units."
        )


def check_nonnegative(X: AnyMatrix, method: str) -> None:
    """Raise InputError if a method that needs X >= 0 gets a negative entry."""
    lowest = X.min()
    if lowest < 0:
        raise InputError(
            f"Negative values in data passed to {method}, which needs X >= 0 "
            f"(smallest entry {lowest:.3g}). Shift or clip the data, or use SymMF."
        )
