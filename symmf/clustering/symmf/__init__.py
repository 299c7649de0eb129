"""SymMF: the proposed factorization as a clusterer, with its choice of K and λ."""

from __future__ import annotations

from symmf.clustering.symmf.estimator import SymMF

__all__ = ["SymMF"]
