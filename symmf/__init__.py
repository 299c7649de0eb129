"""Symmetric matrix factorization for clustering: M = A - lambda L ~ H H^T."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

if TYPE_CHECKING:
    from symmf import metrics
    from symmf.clustering import METHODS
    from symmf.clustering.symmf.consensus import ConsensusSymMF
    from symmf.clustering.symmf.estimator import SymMF
    from symmf.clustering.symmf.select import Selection, select
    from symmf.constraints import CONSTRAINTS
    from symmf.datasets import Dataset, load_dataset
    from symmf.metrics import accuracy, ari, nmi
    from symmf.similarity import SIMILARITIES, build_similarity, regularise
    from symmf.solvers import SOLVERS, Factorization, Stop, factorize
    from symmf.solvers.path import factorize_path

# Public names are imported on first use, so that `symmf --help` stays fast.
_MODULES = {
    "symmf.clustering": ("METHODS",),
    "symmf.clustering.symmf.consensus": ("ConsensusSymMF",),
    "symmf.clustering.symmf.estimator": ("SymMF",),
    "symmf.clustering.symmf.select": ("Selection", "select"),
    "symmf.constraints": ("CONSTRAINTS",),
    "symmf.datasets": ("Dataset", "load_dataset"),
    "symmf.metrics": ("accuracy", "ari", "nmi"),
    "symmf.similarity": ("SIMILARITIES", "build_similarity", "regularise"),
    "symmf.solvers": ("SOLVERS", "Factorization", "Stop", "factorize"),
    "symmf.solvers.path": ("factorize_path",),
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "CONSTRAINTS",
    "METHODS",
    "SIMILARITIES",
    "SOLVERS",
    "ConsensusSymMF",
    "Dataset",
    "Factorization",
    "Selection",
    "Stop",
    "SymMF",
    "__version__",
    "accuracy",
    "ari",
    "build_similarity",
    "factorize",
    "factorize_path",
    "load_dataset",
    "metrics",
    "nmi",
    "regularise",
    "select",
]


def __getattr__(name: str) -> Any:
    if name == "metrics":  # a module of its own, and so it stays
        return importlib.import_module("symmf.metrics")
    if name in _PUBLIC:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'symmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
