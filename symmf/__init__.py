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
_PUBLIC = {
    "CONSTRAINTS": "symmf.constraints",
    "Factorization": "symmf.solvers",
    "METHODS": "symmf.clustering",
    "SIMILARITIES": "symmf.similarity",
    "SOLVERS": "symmf.solvers",
    "Selection": "symmf.clustering.symmf.select",
    "Stop": "symmf.solvers",
    "ConsensusSymMF": "symmf.clustering.symmf.consensus",
    "Dataset": "symmf.datasets",
    "SymMF": "symmf.clustering.symmf.estimator",
    "accuracy": "symmf.metrics",
    "ari": "symmf.metrics",
    "build_similarity": "symmf.similarity",
    "factorize": "symmf.solvers",
    "factorize_path": "symmf.solvers.path",
    "load_dataset": "symmf.datasets",
    "nmi": "symmf.metrics",
    "regularise": "symmf.similarity",
    "select": "symmf.clustering.symmf.select",
}

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
