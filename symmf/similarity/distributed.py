r"""A Gram operator whose rows live on a Dask cluster.

With row blocks F_1 .. F_p of F, the product

.. math:: A V = F (F^T V), \qquad F^T V = \sum_i F_i^T V_i

is a map and a reduce: blocks stay on their workers, V and the result on the client.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from symmf.errors import InputError
from symmf.notation import AnyMatrix, FloatArray
from symmf.similarity.operators import EXACT_NORM_LIMIT, SymmetricOperator
from symmf.similarity.row_features import centred_squared_norms


class DistributedGram(SymmetricOperator):
    """A = F F^T for rows of F held by the workers of a ``dask.distributed`` client.

    Parameters
    ----------
    X : dask array chunked by rows, or sequence of row blocks
        Blocks are arrays or scipy sparse matrices; they are sent (or computed) once.
    client : distributed.Client
    centre, unit : bool
        Subtract the column means; scale rows to unit length. Both stay implicit.
    """

    def __init__(
        self, X: Any, client: Any, *, centre: bool = True, unit: bool = True
    ) -> None:
        self.client = client
        self.blocks = _place(X, client)
        facts = client.gather(client.map(_facts, self.blocks))
        self.heights = [fact["rows"] for fact in facts]
        n, dtype = sum(self.heights), np.result_type(*(fact["dtype"] for fact in facts))
        if n == 0 or len({fact["columns"] for fact in facts}) != 1:
            raise InputError(
                "Row blocks must have the same number of columns and at least one row "
                "between them."
            )
        super().__init__(n, dtype)
        self.fro2_exact = n <= EXACT_NORM_LIMIT
        self.mu: FloatArray | None = None
        if centre:
            self.mu = (sum(fact["sum"] for fact in facts) / n).astype(self.dtype)
        norms = np.concatenate(
            client.gather(client.map(_squared_norms, self.blocks, mu=self.mu))
        )
        self.scale: FloatArray | None = None
        self._squared = norms
        if unit:
            root = np.sqrt(norms)
            self.scale = np.divide(
                1.0, root, out=np.zeros_like(root), where=root > 1e-12
            ).astype(self.dtype)
            self._squared = norms * self.scale.astype(np.float64) ** 2

    def _split(self, V: FloatArray) -> list[FloatArray]:
        return np.split(V, np.cumsum(self.heights)[:-1])

    def _matmat(self, V: FloatArray) -> FloatArray:
        V = np.asarray(V, dtype=self.dtype)
        scaled = V if self.scale is None else self.scale[:, None] * V
        partial = self.client.map(
            _transposed_product, self.blocks, self._split(scaled), pure=False
        )
        Y = sum(self.client.gather(partial))
        if self.mu is not None:
            Y = Y - np.outer(self.mu, scaled.sum(axis=0))
        products = self.client.map(
            _product, self.blocks, Y=self.client.scatter(Y, broadcast=True), pure=False
        )
        out = np.concatenate(self.client.gather(products))
        if self.mu is not None:
            out -= self.mu @ Y
        if self.scale is not None:
            out *= self.scale[:, None]
        return np.asarray(out)

    def diagonal(self) -> FloatArray:
        """Return the squared row norms."""
        return self._squared.astype(self.dtype)

    @property
    def eigenvalue_floor(self) -> float:
        """F F^T is positive semidefinite."""
        return 0.0


def _place(X: Any, client: Any) -> list[Any]:
    """Return one future per row block, its data on a worker."""
    if hasattr(X, "to_delayed"):
        if X.ndim != 2:
            raise InputError(f"X must have two dimensions; it has {X.ndim}.")
        X = X.rechunk({1: -1})
        futures: list[Any] = client.compute(list(X.to_delayed()[:, 0]))
        return futures
    if not isinstance(X, Sequence) or not X:
        raise InputError("X must be a dask array or a sequence of row blocks.")
    return list(client.scatter(list(X), hash=False))


def _facts(block: AnyMatrix) -> dict[str, Any]:
    dtype = block.dtype if block.dtype in (np.float32, np.float64) else np.float64
    total = np.asarray(block.sum(axis=0), dtype=np.float64).ravel()
    return {
        "rows": block.shape[0],
        "columns": block.shape[1],
        "sum": total,
        "dtype": dtype,
    }


def _squared_norms(block: AnyMatrix, mu: FloatArray | None) -> FloatArray:
    if sparse.issparse(block):
        squares = np.asarray(block.multiply(block).sum(axis=1), np.float64).ravel()
    else:
        squares = np.einsum("ij,ij->i", block, block, dtype=np.float64)
    if mu is not None:
        mean = mu.astype(np.float64)
        to_mu = np.asarray(block @ mean).ravel()
        return centred_squared_norms(squares, to_mu, mean, mu.dtype)
    return np.asarray(squares)


def _transposed_product(block: AnyMatrix, V: FloatArray) -> FloatArray:
    return np.asarray(block.T @ V)


def _product(block: AnyMatrix, Y: FloatArray) -> FloatArray:
    return np.asarray(block @ Y)
