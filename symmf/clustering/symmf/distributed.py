"""What ``SymMF`` does with a dask array: rows stay where they are.

Inner products of rows need nothing but products with blocks of them, which the workers
compute. Neighbours of a row can be in any block, so graphs of neighbours, and text
features, are made of rows in memory only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from symmf.common.notation import FloatArray
from symmf.distributed.operators import DistributedGram, DistributedMatrix
from symmf.distributed.rows import DistributedRows
from symmf.errors import InputError, SymmfWarning
from symmf.similarity import SymmetricOperator

if TYPE_CHECKING:
    from symmf.clustering.symmf.prepare import NewPoints

Distributed: TypeAlias = DistributedRows | DistributedMatrix
# The similarities of rows that stay on a cluster, as centre and unit of the rows.
_GRAMS = {
    "centred_cosine": (True, True),
    "cosine": (False, True),
    "inner_product": (False, False),
}


def rows_of(X: Any, *, precomputed: bool) -> Distributed:
    """Check a dask array without bringing it here; see the two classes."""
    return DistributedMatrix(X) if precomputed else DistributedRows.of(X)


def check_similarity(similarity: str) -> str:
    """Return the similarity for rows on a cluster, where ``auto`` is centred cosines.

    A warning says so: it is not what the same rows get in memory.

    Raises
    ------
    InputError
        If the similarity needs rows in memory.
    """
    if similarity == "auto":
        warnings.warn(
            "X is a dask array, so similarity='auto' is centred_cosine: graphs of "
            "neighbours and text features, which 'auto' uses for rows in memory, need "
            "all rows at once. Give similarity='centred_cosine' if that is meant, or "
            "X.compute() if the rows fit in memory.",
            SymmfWarning,
            stacklevel=6,
        )
        return "centred_cosine"
    if similarity not in (*_GRAMS, "precomputed"):
        raise InputError(
            f"similarity={similarity!r} needs all rows in memory, and X is a dask "
            f"array. Use {', '.join(_GRAMS)} or precomputed, or give X.compute() if "
            "the rows fit in memory."
        )
    return similarity


def distributed_similarity(X: Distributed, similarity: str) -> SymmetricOperator:
    """Build the similarity of rows on a cluster."""
    if isinstance(X, DistributedMatrix):
        return X
    centre, unit = _GRAMS[similarity]
    return DistributedGram(X, centre=centre, unit=unit)


def extend_distributed(new_points: NewPoints, rows: DistributedRows) -> FloatArray:
    """Return rows of H for rows on a cluster; a block at a time, on workers."""
    cluster = rows.cluster
    # Inside a function: dask would look into a dataclass for tasks.
    known = cluster.shared(cluster.task(lambda: new_points.extend))
    tasks = [cluster.task(_extended, known, block) for block in rows.blocks]
    return np.concatenate(cluster.compute(tasks))


def _extended(extend: Callable[[Any], FloatArray], block: Any) -> FloatArray:
    return extend(block)
