"""Rows in the blocks of a dask array: where they are computed, and what is asked first.

Nothing here imports dask before it is given something made by it.
"""

from __future__ import annotations

import asyncio
import importlib
import operator
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.errors import DataError, InputError, SymmfError
from symmf.linalg.checks import first_not_finite, largest_entry

# So many partial sums are added by one task.
_FAN_IN = 8


def imported(package: str, how: str = "'symmf[dask]'") -> Any:
    """Import a package that is not always there, or say how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise InputError(
            f"--dask needs the package {package}: pip install {how}"
        ) from None


class Cluster:
    """Where tasks run: the client of ``dask.distributed`` in use, or threads here."""

    def __init__(self) -> None:
        distributed = sys.modules.get("distributed")
        self.client: Any = None
        if distributed is not None:
            scheduler = imported("dask.base").get_scheduler()
            used = getattr(scheduler, "__self__", None)
            self.client = used if isinstance(used, distributed.Client) else None

    def task(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Return a task that has not run; values and other tasks may be given."""
        return imported("dask").delayed(function, pure=False)(*given, **named)

    def keep(self, tasks: list[Any]) -> list[Any]:
        """Run tasks and leave their results with the workers.

        Without a client nothing is kept: blocks are read again whenever they are used,
        so that data larger than memory can be.
        """
        if self.client is None:
            return tasks
        return list(self._tell(self.client.persist, tasks))

    def compute(self, tasks: list[Any]) -> list[Any]:
        """Run tasks and return their results."""
        if self.client is None:
            dask = imported("dask")
            return list(self._tell(lambda given: dask.compute(*given), tasks))
        client = self.client
        return list(self._tell(lambda given: client.compute(given, sync=True), tasks))

    def shared(self, task: Any) -> Any:
        """Return a value that all blocks need: a task of the cluster, or the value.

        In one process it is computed first, so that no block waits for it in memory.
        """
        return task if self.client is not None else self.compute([task])[0]

    def total(self, parts: Sequence[Any]) -> Any:
        """Return the task that adds parts, in a fixed order, a few at a time."""
        parts = list(parts)
        while len(parts) > 1:
            parts = [
                self.task(_add, parts[i : i + _FAN_IN])
                for i in range(0, len(parts), _FAN_IN)
            ]
        return parts[0]

    def _tell(self, run: Callable[[list[Any]], Any], tasks: list[Any]) -> Any:
        """Run; what the cluster does becomes a sentence."""
        try:
            with warnings.catch_warnings():
                # V of n x k numbers travels with the tasks that multiply by it.
                warnings.filterwarnings("ignore", "Sending large graph")
                return run(tasks)
        except (Exception, asyncio.CancelledError) as error:
            kind = type(error)
            package = kind.__module__.partition(".")[0]
            if isinstance(error, ImportError) or "deserializ" in str(error):
                raise SymmfError(
                    "The dask cluster cannot read what it was sent. Its scheduler and "
                    "workers need the same versions of Python, dask and symmf as this "
                    f"process, and whatever X is made with ({kind.__name__})."
                ) from error
            if package in ("distributed", "asyncio"):
                raise SymmfError(
                    f"The dask cluster did not finish the computation ({kind.__name__}"
                    "): workers were lost, or ran out of memory, more often than they "
                    "are replaced, or the scheduler is gone. Look at its log; smaller "
                    "blocks of rows need less memory."
                ) from error
            if package == "pyarrow" or isinstance(error, FileNotFoundError):
                raise unreadable(error) from None
            raise


def unreadable(error: BaseException, what: object = "A file of the rows") -> DataError:
    """Return the error for a file that here or on a worker cannot be read."""
    return DataError(
        f"{what} cannot be read ({type(error).__name__}: {error}). Workers must see it "
        "under this path, and it must be whole."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedRows:
    """Rows of real, finite numbers in blocks that stay where they are.

    Attributes
    ----------
    blocks : list of tasks
        Each gives an array or scipy sparse matrix of floats.
    heights : list of int
        Their numbers of rows.
    largest : float
        The largest absolute value.
    sparse : bool
    """

    cluster: Cluster
    blocks: list[Any]
    heights: list[int]
    shape: tuple[int, int]
    dtype: Any
    largest: float
    sparse: bool

    @classmethod
    def of(cls, X: Any) -> DistributedRows:
        """Compute every block of a dask array once, to check it; none is kept.

        Raises
        ------
        InputError
            If it is no matrix of finite real numbers; the sentence says what to do.
        """
        cluster = Cluster()
        blocks = [cluster.task(_as_floats, block) for block in _blocks_of(X)]
        facts = cluster.compute([cluster.task(_facts, block) for block in blocks])
        filled = [i for i, fact in enumerate(facts) if fact["rows"]]
        if not filled:
            raise InputError("X has no rows.")
        first = 0
        for fact in facts:
            if fact["wrong"] is not None:
                raise InputError(
                    "Input X contains NaN or infinity (first in row "
                    f"{first + fact['wrong']}); clean or drop such rows first."
                )
            first += fact["rows"]
        facts = [facts[i] for i in filled]
        return cls(
            cluster=cluster,
            blocks=[blocks[i] for i in filled],
            heights=[fact["rows"] for fact in facts],
            shape=(first, facts[0]["columns"]),
            dtype=np.result_type(*(fact["dtype"] for fact in facts)),
            largest=max(fact["largest"] for fact in facts),
            sparse=any(fact["sparse"] for fact in facts),
        )

    def take(self, rows: npt.NDArray[np.intp]) -> AnyMatrix:
        """Return rows by their numbers, in the order asked for, in memory."""
        order = np.argsort(rows, kind="stable")
        ends = np.cumsum(self.heights)
        cuts = np.searchsorted(rows[order], ends)
        inside = [
            part - (end - height)
            for part, end, height in zip(
                np.split(rows[order], cuts[:-1]), ends, self.heights, strict=True
            )
        ]
        tasks = [
            self.cluster.task(operator.getitem, block, part)
            for block, part in zip(self.blocks, inside, strict=True)
            if len(part)
        ]
        found = self.cluster.compute(tasks)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        if self.sparse:
            return sparse.vstack([sparse.csr_array(part) for part in found])[back]
        return np.concatenate(found)[back]

    def each(self, function: Callable[[AnyMatrix], Any]) -> list[Any]:
        """Return what a function makes of every block, computed by the workers."""
        # What the function holds is sent once, as the result of a task.
        task = self.cluster.task
        known = self.cluster.shared(task(lambda: function))
        return self.cluster.compute(
            [task(operator.call, known, block) for block in self.blocks]
        )

    def kept(self) -> Self:
        """Return the same with the blocks in the memory of the workers."""
        return replace(self, blocks=self.cluster.keep(self.blocks))

    def times(self, factor: float) -> DistributedRows:
        """Return the rows multiplied by a number."""
        blocks = [self.cluster.task(_times, block, factor) for block in self.blocks]
        return replace(self, blocks=blocks, largest=self.largest * factor)

    def mean(self) -> FloatArray:
        """Return the column means."""
        sums = [self.cluster.task(_column_sums, block) for block in self.blocks]
        (total,) = self.cluster.compute([self.cluster.total(sums)])
        return np.asarray(total / self.shape[0]).astype(self.dtype)


def check_array(X: Any, name: str = "X") -> None:
    """Raise InputError unless X is a dask array of two dimensions and real numbers."""
    if hasattr(X, "to_dask_array"):
        raise InputError(
            f"{name} is a dask data frame; give {name}.to_dask_array(lengths=True)."
        )
    if not hasattr(X, "to_delayed") or not hasattr(X, "rechunk"):
        raise InputError(f"{name} must be a dask array, not a {type(X).__name__}.")
    if X.ndim != 2:
        raise InputError(f"{name} must have two dimensions; it has {X.ndim}.")
    if np.dtype(X.dtype).kind not in "fiub":
        raise InputError(f"{name} must hold real numbers; its type is {X.dtype}.")


def _blocks_of(X: Any) -> list[Any]:
    """Return row blocks; chunks of columns are joined, into blocks of a usual size."""
    check_array(X)
    if X.shape[1] == 0:
        raise InputError("X has 0 features; at least one column is needed.")
    if X.numblocks[1] > 1:
        if np.isnan(X.shape).any():
            raise InputError(
                "The columns of X are in several chunks and its number of rows is not "
                "known, so the chunks cannot be joined. Call X.compute_chunk_sizes() "
                "first, or X = X.rechunk({1: -1}) where X is made."
            )
        X = X.rechunk({0: "auto", 1: -1})
    return list(X.to_delayed()[:, 0])


def _as_floats(block: Any) -> AnyMatrix:
    """Return an array or csr array of floats; runs on a worker."""
    block = sparse.csr_array(block) if sparse.issparse(block) else np.asarray(block)
    kept = block.dtype in (np.float32, np.float64)
    return block if kept else block.astype(np.float64)


def _facts(block: AnyMatrix) -> dict[str, Any]:
    return {
        "rows": block.shape[0],
        "columns": block.shape[1],
        "dtype": block.dtype,
        "largest": largest_entry(block),
        "sparse": sparse.issparse(block),
        "wrong": first_not_finite(block),
    }


def _column_sums(block: AnyMatrix) -> FloatArray:
    return np.asarray(block.sum(axis=0, dtype=np.float64)).ravel()


def _times(block: AnyMatrix, factor: float) -> AnyMatrix:
    # In two steps: the number itself may be beyond the range of the precision.
    half = block.dtype.type(np.sqrt(factor))
    return block * half * half


def _add(parts: list[Any]) -> Any:
    total = parts[0].copy() if isinstance(parts[0], np.ndarray) else parts[0]
    for part in parts[1:]:
        total += part
    return total
