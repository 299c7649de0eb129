"""The methods of the paper's tables as scikit-learn clusterers.

``METHODS`` maps the name used in YAML files, on the command line and in tables to the
class, in the order of the paper. Importing it does not import PyTorch, which only DSC
needs and imports when it is fitted.
"""

from __future__ import annotations

from collections.abc import Callable

from symmf.clustering.base import ClusterMethod
from symmf.clustering.baselines.dsc.estimator import DSC
from symmf.clustering.baselines.gnmf import GNMF
from symmf.clustering.baselines.kmeans import KMeans
from symmf.clustering.baselines.nmf import NMF
from symmf.clustering.baselines.snmf import SNMF
from symmf.clustering.baselines.spectral import Spectral
from symmf.clustering.baselines.symhals import SymHALS
from symmf.clustering.baselines.symnmf import SymNMF
from symmf.clustering.symmf.consensus import ConsensusSymMF
from symmf.clustering.symmf.estimator import SymMF

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

# Methods that need an optional library, and the extra that installs it.
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
