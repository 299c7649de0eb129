"""The methods of the paper's tables as scikit-learn clusterers.

``METHODS`` maps the name used in YAML files, on the command line and in tables to the
class, in the order of the paper. Importing it does not import PyTorch, which only DSC
needs and imports when it is fitted.
"""

from __future__ import annotations

from collections.abc import Callable

from symmf.clustering.base import ClusterMethod
from symmf.clustering.consensus import ConsensusSymMF
from symmf.clustering.deep_subspace import DSC
from symmf.clustering.gnmf import GNMF
from symmf.clustering.kmeans import KMeans
from symmf.clustering.nmf import NMF
from symmf.clustering.snmf import SNMF
from symmf.clustering.spectral import Spectral
from symmf.clustering.symhals import SymHALS
from symmf.clustering.symmf import SymMF
from symmf.clustering.symnmf import SymNMF

METHODS: dict[str, Callable[..., ClusterMethod]] = {
    "kmeans": KMeans,
    "nmf": NMF,
    "spectral": Spectral,
    "symhals": SymHALS,
    "snmf": SNMF,
    "symnmf": SymNMF,
    "gnmf": GNMF,
    "dsc": DSC,
    "symmf": SymMF,
    "consensus": ConsensusSymMF,
}

# Methods that need a library beside the package's own, and the extra that brings it.
REQUIRES: dict[str, tuple[str, str]] = {"dsc": ("torch", "deep")}

__all__ = [
    "DSC",
    "GNMF",
    "METHODS",
    "NMF",
    "REQUIRES",
    "SNMF",
    "ClusterMethod",
    "ConsensusSymMF",
    "KMeans",
    "Spectral",
    "SymHALS",
    "SymMF",
    "SymNMF",
]
