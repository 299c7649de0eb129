"""Symmetric matrix factorization for clustering: M = A - lambda L ~ H H^T."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from symmf.clustering.symmf import SymMF
    from symmf.solvers import Factorization, Stop, factorize

# Public names are imported on first use, so that `symmf --help` stays fast.
_PUBLIC = {
    "Factorization": "symmf.solvers",
    "Stop": "symmf.solvers",
    "SymMF": "symmf.clustering.symmf",
    "factorize": "symmf.solvers",
}

__all__ = ["Factorization", "Stop", "SymMF", "__version__", "factorize"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'symmf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
