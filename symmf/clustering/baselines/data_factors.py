"""What NMF and GNMF share: factors of the data X ~ V U^T, run by the common loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from scipy import sparse

from symmf.clustering.base import Clusterer, History
from symmf.clustering.checks import RANGE
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_choice
from symmf.linalg import largest_entry
from symmf.similarity.row_features import scaled_rows
from symmf.solvers import Stop
from symmf.solvers._loop import drive
from symmf.solvers.base import PATIENCE

# From so many entries on, dense X are not in the processor's cache.
_LARGE = 2**18
_IN_RANGE = RANGE["float32"]


class DataIterate(Protocol):
    """An iterate, whose objective is worked out when it is asked for."""

    @property
    def objective(self) -> float:
        """The value of the objective."""
        ...


Some = TypeVar("Some", bound=DataIterate)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFit(Generic[Some]):
    """The last iterate, the trace, and why the run ended."""

    last: Some
    history: History
    stop: Stop


class DataFactors(Clusterer):
    """Base of the methods that factor nonnegative data X ~ V U^T."""

    needs_nonnegative = True

    data_weighting: str

    def _weighted(self, X: AnyMatrix) -> AnyMatrix:
        """Return what is factored."""
        check_choice("data_weighting", self.data_weighting, ("ncut", "none"))
        return ncut_weighted(X) if self.data_weighting == "ncut" else X

    def _store_factors(
        self, fit: DataFit[Any], U: FloatArray, V: FloatArray, matrix: str, solver: str
    ) -> None:
        """Keep the factors, unit columns of U, and how they were reached."""
        self.U_, self.V_ = unit_columns(U, V)
        objective = fit.last.objective
        self._store_run(matrix, solver, fit.stop, objective, fit.history)


def run_data_factors(
    X: AnyMatrix,
    iterates: Iterator[Some],
    settled: Callable[[int, Some], bool],
    max_iter: int,
) -> DataFit[Some]:
    """Run until ``settled`` or ``max_iter``; the clock leaves out the objective."""
    scale = squared_norm(X) or 1.0
    errors: list[float] = []
    seconds: list[float] = []
    kept: list[Some] = []

    def look(iteration: int, iterate: Some, clock: float) -> Stop | None:
        errors.append(iterate.objective / scale)
        seconds.append(clock)
        kept[:] = [iterate]
        if settled(iteration, iterate):
            return Stop.tolerance
        return Stop.max_iter if iteration == max_iter else None

    stop = drive(iterates, look)
    history = History(error=np.array(errors), seconds=np.array(seconds))
    return DataFit(last=kept[0], history=history, stop=stop)


def small_decrease(tol: float) -> Callable[[int, DataIterate], bool]:
    """Tell when the objective has fallen by at most this share twice in a row."""
    before, small_steps = np.inf, 0

    def settled(_iteration: int, iterate: DataIterate) -> bool:
        nonlocal before, small_steps
        now = iterate.objective
        small = tol > 0 and before - now <= tol * now
        small_steps = small_steps + 1 if small else 0
        before = now
        return small_steps >= PATIENCE

    return settled


def transposed(X: AnyMatrix) -> AnyMatrix:
    """Return X^T, ready for products."""
    return sparse.csr_array(X.T) if sparse.issparse(X) else X.T


@dataclass(frozen=True, slots=True, eq=False)
class Single:
    """Dense rows in single precision, for products with factors in double."""

    X: FloatArray
    single: FloatArray

    def __matmul__(self, V: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            product = np.asarray(self.single @ V.astype(np.float32), dtype=np.float64)
        # What makes up for a column that dies may be too large for single precision.
        return product if np.isfinite(product).all() else self.X @ V


def for_products(X: AnyMatrix) -> tuple[Any, Any]:
    """Return X and X^T for products with thin factors, to about seven digits.

    Such a product takes the time of reading X: half of it in single precision.
    """
    plain = sparse.issparse(X) or X.dtype != np.float64 or X.size < _LARGE
    if plain or not 1 / _IN_RANGE <= largest_entry(X) <= _IN_RANGE:
        return X, transposed(X)
    single = X.astype(np.float32)
    return Single(X, single), Single(X.T, single.T)


def squared_norm(X: AnyMatrix) -> float:
    """Return ||X||_F^2 of a dense or sparse matrix."""
    values = X.data if sparse.issparse(X) else X
    return float(np.sum(np.square(values, dtype=np.float64)))


def unit_columns(U: FloatArray, V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (U, V) with unit columns of U and V U^T unchanged; zeros stay zero."""
    norms = np.linalg.norm(U, axis=0)
    return np.divide(U, norms, out=np.zeros_like(U), where=norms > 0), V * norms


def ncut_weighted(X: AnyMatrix) -> AnyMatrix:
    """Return the rows x_i / sqrt(w_i) with w = X X^T 1, the degrees of the graph X X^T.

    A row of degree zero is left at zero.

    Examples
    --------
    >>> ncut_weighted(np.array([[2.0, 0.0], [0.0, 3.0]]))
    array([[1., 0.],
           [0., 1.]])
    """
    total = np.asarray(X.sum(axis=0)).ravel()
    w = np.asarray(X @ total, dtype=np.float64).ravel()
    scale = np.divide(1.0, np.sqrt(w), out=np.zeros_like(w), where=w > 0)
    if sparse.issparse(X):
        return scaled_rows(sparse.csr_array(X), scale.astype(X.dtype))
    return X * scale.astype(X.dtype)[:, None]
