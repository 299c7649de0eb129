r"""The graph of mutual neighbours, joined by a spanning tree.

Two rows are joined if each is among the q nearest of the other, which keeps clusters of
different density apart; a minimum spanning tree keeps the graph connected, so that its
eigenvalue 1 is simple. Weights are self-tuning,

.. math:: w_{ij} = \max\big(\exp(-d_{ij}^2 / (s_i s_j)),\ 10^{-4}\big) .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_number
from symmf.similarity.graphs.neighbours import (
    Neighbours,
    check_ranks,
    directed,
    nearest_neighbours,
    squared_distance_blocks,
    tree_pays,
)
from symmf.similarity.graphs.normalise import (
    THIN_FEATURES,
    NormalisedGraph,
    normalised,
    rows_of_entries,
)

# A local scale is at least this share of the median one.
_SCALE_FLOOR = 1e-3
# Where no tree is of use all distances are kept up to so many rows, 72 MB, because
# joining components asks for them again.
_FEW_ROWS = 3000
# Up to so many rows a sparse factor of a graph in three dimensions fits in memory.
_THIN_ROWS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MutualGraph:
    """The graph with what new rows need to be related to it.

    Attributes
    ----------
    S : NormalisedGraph
        D^-1/2 W D^-1/2.
    degrees : (n,) array
        Row sums of W.
    local_scale : (n,) array
        s_i.
    counts : (n,) array
        How many samples each row is.
    """

    S: NormalisedGraph
    degrees: FloatArray
    local_scale: FloatArray
    counts: FloatArray


def mutual_knn(
    X: AnyMatrix,
    *,
    n_neighbors: int = 10,
    local_neighbor: int = 7,
    weight_floor: float = 1e-4,
    tree: bool = True,
) -> NormalisedGraph:
    """Return the normalised graph of mutual neighbours, joined by a spanning tree.

    Parameters
    ----------
    X : (n, m) array or scipy sparse matrix
        Rows should be distinct.
    n_neighbors : int
        q, at most half of the rows.
    local_neighbor : int
        Which neighbour gives the local scale s_i; at most a third of the rows.
    weight_floor : float
        Smallest weight of an edge.
    tree : bool
        Add the edges of the spanning tree.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> S = mutual_knn(X, n_neighbors=2)
    >>> S.M[[2]].indices.tolist()
    [0, 1, 3]
    """
    return mutual_graph(
        X,
        n_neighbors=n_neighbors,
        local_neighbor=local_neighbor,
        weight_floor=weight_floor,
        tree=tree,
    ).S


def mutual_graph(
    X: AnyMatrix,
    *,
    n_neighbors: int = 10,
    local_neighbor: int = 7,
    weight_floor: float = 1e-4,
    tree: bool = True,
    counts: Any = None,
) -> MutualGraph:
    """Return :func:`mutual_knn` with degrees and local scales.

    Parameters
    ----------
    X, n_neighbors, local_neighbor, weight_floor, tree
        As there.
    counts : (n,) array, optional
        Rows are distinct, and each stands for so many samples, which count in the
        degrees. As many copies as there are samples in the q nearest rows are a cluster
        of their own: they are joined to each other with weight 1, and to other rows by
        the tree alone. (Where measurements are rounded all rows have copies, and no
        more than their neighbours.) Where half of the rows are fewer than q, each is
        joined to itself.
    """
    check_ranks(n_neighbors=n_neighbors, local_neighbor=local_neighbor)
    check_number("weight_floor", weight_floor, least=0, most=1)
    n = X.shape[0]
    m = np.ones(n) if counts is None else np.asarray(counts, dtype=np.float64)
    if n == 1:
        one = np.ones(1)
        S = NormalisedGraph(sparse.csr_array([[1.0]]), of_graph=True)
        return MutualGraph(S=S, degrees=one, local_scale=one, counts=m)
    q, local = few_rows(n, n_neighbors, local_neighbor)
    most = max(q, local)
    D = _all_squares(X, most)
    if D is None:
        found = nearest_neighbours(X, most)
    else:
        found = Neighbours.of_blocks([(np.arange(n), D)], n, most)
    index = found.index[:, :q]
    dense = (m > 1) & (m >= m[index].sum(axis=1))
    s = found.local_scales(local, floor=0.0)
    s[dense] = np.minimum(s[dense], np.median(s[index[dense]], axis=1))
    s = np.maximum(s, max(_SCALE_FLOOR * float(np.median(s)), 1e-300))
    # A distance of 0 would be no edge.
    distance = np.maximum(np.sqrt(found.squared_distance[:, :q]), 1e-300)
    near = directed(index, distance)
    near.sort_indices()
    # The smaller of both directions is 0 where one is missing.
    edges = sparse.csr_array(near.minimum(sparse.csr_array(near.T)))
    edges.data[_across(edges, dense)] = 0.0
    edges.eliminate_zeros()
    if tree:
        edges = sparse.csr_array(edges.maximum(_spanning_tree(X, D, near)))
    _weigh(edges, s, weight_floor)
    # The tree joins one copy to one row, whatever the number of copies.
    single = _across(edges, dense)
    edges.data[single] /= (m[rows_of_entries(edges)] * m[edges.indices])[single]
    edges.eliminate_zeros()
    if counts is not None:
        # Of few rows each joins itself too: else M has few positive eigenvalues.
        own = dense * (1 - 1 / m) if q == n_neighbors else np.ones(n)
        edges = sparse.csr_array(edges + sparse.diags_array(own))
        edges.eliminate_zeros()
    thin = X.shape[1] <= THIN_FEATURES or None
    if n > _THIN_ROWS and X.shape[1] == THIN_FEATURES:
        thin = False
    S = normalised(edges, m, of_graph=True, thin_factor=thin)
    return MutualGraph(S=S, degrees=edges @ m, local_scale=s, counts=m)


def _spanning_tree(X: AnyMatrix, D: FloatArray | None, near: Any) -> Any:
    """Return the edges of the minimum spanning tree of all rows, both ways.

    It is that of the pairs of neighbours, once their components are joined.
    """
    joined = _join(X, D, sparse.csr_array(near.maximum(near.T)))
    # Older versions of scipy's tree take 32-bit indices alone.
    joined.indices = joined.indices.astype(np.int32, copy=False)
    joined.indptr = joined.indptr.astype(np.int32, copy=False)
    tree = sparse.csr_array(minimum_spanning_tree(joined))
    return tree.maximum(tree.T)


def _weigh(edges: Any, s: FloatArray, weight_floor: float) -> None:
    """Turn distances into self-tuning weights, in place."""
    weights = np.exp(-(edges.data**2) / (s[rows_of_entries(edges)] * s[edges.indices]))
    edges.data = np.maximum(weights, weight_floor)


def _across(edges: Any, dense: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which stored edges join a row of many copies to one of few."""
    return np.asarray(dense[rows_of_entries(edges)] != dense[edges.indices])


def few_rows(n: int, n_neighbors: int, local_neighbor: int) -> tuple[int, int]:
    """Return neighbours and local neighbour for n rows, of which some are few.

    Of a handful of rows ten neighbours are all of them, and the seventh is in another
    cluster: half of the rows are neighbours at most, the local one in the first third.
    """
    return max(1, min(n_neighbors, n // 2)), max(1, min(local_neighbor, n // 3))


def _all_squares(X: AnyMatrix, q: int) -> FloatArray | None:
    """Return all squared distances where a search would compute them, and they fit."""
    if sparse.issparse(X) or X.shape[0] > _FEW_ROWS or tree_pays(X, q):
        return None
    ((_, D),) = squared_distance_blocks(X)
    return D


def _nearest_pair(
    X: AnyMatrix, D: FloatArray | None, inside: Any, outside: Any
) -> tuple[int, int, float]:
    """Return the nearest pair of a row inside and one outside, and its distance."""
    if D is not None:
        between = D[np.ix_(inside, outside)]
        i, j = divmod(int(between.argmin()), len(outside))
        return int(inside[i]), int(outside[j]), float(np.sqrt(between[i, j]))
    near = nearest_neighbours(X[outside], 1, X[inside])
    best = int(np.argmin(near.squared_distance))
    length = float(np.sqrt(near.squared_distance[best, 0]))
    return int(inside[best]), int(outside[near.index[best, 0]]), length


def _join(X: AnyMatrix, D: FloatArray | None, graph: Any) -> Any:
    """Join components by their nearest pairs until there is one (Boruvka 1926)."""
    while True:
        count, component = connected_components(graph, directed=False)
        if count == 1:
            return graph
        largest = int(np.argmax(np.bincount(component)))
        pairs = [
            _nearest_pair(X, D, *map(np.flatnonzero, (component == c, component != c)))
            for c in range(count)
            if c != largest
        ]
        i, j, d = (np.array(column) for column in zip(*pairs, strict=True))
        more = sparse.csr_array((np.maximum(d, 1e-300), (i, j)), shape=graph.shape)
        # Two components may name the same pair; the larger of equal values is it.
        graph = sparse.csr_array(graph.maximum(more.maximum(more.T)))
