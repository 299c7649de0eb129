r"""Normalised graphs, S = D^-1/2 W D^-1/2, and M = a S + b I.

With L_W = D - W the regulariser of W, scaled as W is, is that of S by the identity:

.. math:: D^{-1/2} (W - \lambda L_W) D^{-1/2} = (1 + \lambda) S - \lambda I .

Its eigenvectors are those of S for every lambda.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.similarity.operators import Shifted, SparseOperator, SymmetricOperator

#: Up to so many features neighbour graphs have small separators: measured, one sparse
#: factorization then takes less time than a polynomial filter.
THIN_FEATURES = 3
# Up to so many rows a sparse factor of any graph of neighbours is cheap.
_SMALL_GRAPH = 1500


class NormalisedGraph(SparseOperator):
    """A sparse S = D^-1/2 W D^-1/2 with W >= 0: its eigenvalues lie in [-1, 1].

    Parameters
    ----------
    S : scipy sparse matrix
    of_graph : bool
        Regularise with the Laplacian of W, scaled as W is, that is with I - S, and
        not with that of S as if S were the graph.
    thin_factor : bool, optional
        Whether a sparse factorization stays sparse; for small graphs by default.
    root_degrees : (n,) array, optional
        Roots of the row sums of W, which give the eigenvectors of the eigenvalue 1.
    """

    is_normalised_graph = True

    def __init__(
        self,
        S: AnyMatrix,
        *,
        of_graph: bool = False,
        thin_factor: bool | None = None,
        root_degrees: FloatArray | None = None,
    ) -> None:
        super().__init__(S)
        self.of_graph = of_graph
        self.root_degrees = root_degrees
        small = self.shape[0] <= _SMALL_GRAPH
        self.thin_factor = small if thin_factor is None else thin_factor

    @property
    def eigenvalue_floor(self) -> float:
        """-1."""
        return -1.0

    def regularised(self, weight: float) -> SymmetricOperator:
        """Return (1 + weight) S - weight I, or S - weight L_S."""
        if not self.of_graph:
            return super().regularised(weight)
        return Shifted(self, 1 + weight, -weight)


def normalised(
    W: Any,
    counts: FloatArray | None = None,
    *,
    of_graph: bool = False,
    thin_factor: bool | None = None,
) -> NormalisedGraph:
    r"""Return D^-1/2 W D^-1/2 of a sparse W >= 0; a row without edges stays zero.

    Where vertex i stands for m_i vertices, each joined as W says, the eigenvectors of
    their larger graph follow from those of

    .. math:: D^{-1/2} R W R D^{-1/2}, \qquad d = W m, \quad R = \mathrm{diag}(m)^{1/2},

    with rows divided by the root of m. ``counts`` is m.
    """
    m = np.ones(W.shape[0]) if counts is None else counts
    degrees = np.asarray(W @ m)
    scale = np.divide(np.sqrt(m), np.sqrt(degrees), out=0 * m, where=degrees > 0)
    return NormalisedGraph(
        scaled(W, scale),
        of_graph=of_graph,
        thin_factor=thin_factor,
        root_degrees=np.sqrt(m * degrees),
    )


def scaled(W: Any, scale: FloatArray) -> Any:
    """Return S W S of a sparse W, S = diag(scale); exactly symmetric if W is."""
    W = sparse.csr_array(W, copy=True)
    W.data *= scale[rows_of_entries(W)] * scale[W.indices]
    return W


def rows_of_entries(W: Any) -> npt.NDArray[np.intp]:
    """Return the row of every stored entry of a CSR matrix."""
    return np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
