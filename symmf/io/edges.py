"""A list of edges as a graph: two columns of nodes, and perhaps one of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symmf.errors import DataError
from symmf.io.sniff import is_number, number
from symmf.io.table import Table


def graph_of(table: Table) -> tuple[Any, list[str]]:
    """Return the adjacency matrix (csr, symmetric) and the names of the nodes.

    An edge counts both ways; weights of an edge that is listed several times add up,
    and so do its two directions if both are listed. Without a third column every edge
    weighs 1. Nodes are in the order of their numbers, or of their first mention.

    Raises
    ------
    DataError
        If there are other than two or three columns, a weight is negative, the sum of
        weights is too large, or no edge joins two nodes.
    """
    columns = len(table.names)
    if columns not in (2, 3):
        raise DataError(
            f"{table.source} has {columns} columns; a list of edges has two (from, to) "
            "or three (from, to, weight)."
        )
    left, right = table.texts(0), table.texts(1)
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        if not a or not b:
            raise DataError(
                f"{table.source}, line {table.lines[i]}: a node is missing."
            )
    names = list(
        dict.fromkeys(node for pair in zip(left, right, strict=True) for node in pair)
    )
    if all(name.isascii() and name.isdigit() for name in names):
        names.sort(key=int)
    place = {name: i for i, name in enumerate(names)}
    rows = np.array([place[node] for node in left])
    others = np.array([place[node] for node in right])
    weights = _weights(table) if columns == 3 else np.ones(table.n)
    n = len(names)
    if n < 3:
        raise DataError(f"{table.source} has {n} nodes; a graph needs at least 3.")
    keep = rows != others
    W = sparse.csr_array((weights[keep], (rows[keep], others[keep])), shape=(n, n))
    W = sparse.csr_array(W + W.T)
    W.sum_duplicates()
    if not np.isfinite(W.data).all():
        raise DataError(
            f"{table.source}: the weights of an edge that is listed several times add "
            "up to more than a number can hold. Divide all weights by a power of ten."
        )
    if not W.data.any():
        raise DataError(
            f"{table.source} has no edge with a weight that joins two different nodes."
        )
    return W, names


def _weights(table: Table) -> Any:
    column = table.columns[2]
    if isinstance(column, list):
        wrong = next((i for i, cell in enumerate(column) if not is_number(cell)), None)
        if wrong is not None:
            raise DataError(
                f"{table.source}, line {table.lines[wrong]}, column "
                f"{table.names[2]!r}: {column[wrong][:40]!r} is no weight."
            )
        column = np.array([number(cell) for cell in column])
    if column.min() < 0:
        i = int(column.argmin())
        raise DataError(
            f"{table.source}, line {table.lines[i]}: the weight is {column[i]:g}; "
            "weights of edges are not negative."
        )
    return column
