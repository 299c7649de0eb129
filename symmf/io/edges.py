"""A list of edges as a graph: two columns of nodes, and perhaps one of weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse

from symmf.common.notation import FloatArray
from symmf.errors import DataError
from symmf.io.columns import as_feature
from symmf.io.samples import UserMatrix
from symmf.io.table import Table


def graph_of(table: Table) -> UserMatrix:
    """Return the graph: its adjacency matrix (csr, symmetric) and names of the nodes.

    An edge counts both ways; weights of an edge that is listed several times add up,
    and so do its two directions if both are listed. Without a third column every edge
    weighs 1. Nodes are in the order of their numbers, or of their first mention.

    Raises
    ------
    DataError
        If there are other than two or three columns, a weight is negative, the sum of
        weights is too large, or no edge joins two nodes.
    """
    if table.indexed:
        # Of pandas; it names the lines.
        table = replace(
            table, names=table.names[1:], columns=table.columns[1:], indexed=False
        )
    width = len(table.names)
    if width not in (2, 3):
        raise DataError(
            f"{table.source} has {width} columns; a list of edges has two (from, to) "
            "or three (from, to, weight)."
        )
    ends = np.array([table.texts(0), table.texts(1)], dtype=object)
    if not ends.all():
        i = int(np.argmin(ends.astype(bool).all(axis=0)))
        raise DataError(f"{table.where(i, int(bool(ends[0, i])))}: a node is missing.")
    codes, names = pd.factorize(ends.ravel(order="F"))
    if all(name.isascii() and name.isdigit() for name in names):
        order = sorted(range(len(names)), key=lambda i: int(names[i]))
        codes, names = np.argsort(order)[codes], names[order]
    rows, others = codes[::2], codes[1::2]
    weights = _weights(table) if width == 3 else np.ones(table.n)
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
    return UserMatrix(
        X=W, kind="graph", ids=list(names), id_name="node", notes=table.notes
    )


def _weights(table: Table) -> FloatArray:
    """Return the third column, of finite numbers that are not negative."""
    weights, kind = as_feature(table.columns[2], comma=table.comma)
    if isinstance(weights, list) or kind == "dates":
        cells = table.texts(2)
        kinds = (as_feature([cell], comma=table.comma)[1] for cell in cells)
        i = next((i for i, one in enumerate(kinds) if one in ("words", "dates")), 0)
        raise DataError(f"{table.where(i, 2)}: {cells[i][:40]!r} is not a weight.")
    wrong = ~(weights >= 0) | np.isinf(weights)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"{table.where(i, 2)}: the weight is {weights[i]:g}; weights of edges are "
            "numbers that are not negative."
        )
    return weights
