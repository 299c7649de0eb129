"""Whether to believe clusters, without knowing classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from symmf.app.task import Task
from symmf.common.notation import FloatArray, LabelArray
from symmf.similarity.graphs.neighbours import nearest_neighbours

# Silhouettes and pictures are made of at most so many samples, and fits are repeated.
MOST = 1500
_NEIGHBOURS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Evidence for a clustering; None where it cannot be had.

    Attributes
    ----------
    silhouette : float
        Mean silhouette of the rows of H: between -1 and 1.
    error : float
        ||M - H H^T||_F^2 / ||M||_F^2.
    cut : float
        Share of the links between neighbours that join different clusters.
    stability : float
        Mean adjusted Rand index between this clustering and those of random parts of
        the samples (80 %), each with a start of its own.
    """

    silhouette: float | None = None
    error: float | None = None
    cut: float | None = None
    stability: float | None = None


def factor_rows(model: Any, task: Task) -> FloatArray | None:
    """Return unit rows of the factor, or of what was clustered if there is none."""
    H = getattr(model, "H_", None)
    if H is None:
        H = getattr(model, "V_", None)
    Z = H if H is not None else task.rows
    if Z is None or sparse.issparse(Z):
        return None
    Z = np.asarray(Z, dtype=np.float64)
    if H is None:
        return Z
    norms = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z / np.maximum(norms, 1e-300))


def cut_share(task: Task, model: Any, labels: LabelArray) -> float | None:
    """Return which share of the links between neighbours leaves its cluster."""
    if task.data.kind == "graph":
        links = sparse.coo_array(task.data.X)
        apart = labels[links.row] != labels[links.col]
        total = float(links.data.sum())
        return float(links.data[apart].sum()) / total if total else None
    Z = task.rows if task.rows is not None else task.X
    if Z.shape[0] > 20_000 or task.rows is None:
        return None
    points = getattr(model, "_new_points", None)
    if task.data.kind == "rows" and points is not None:
        Z = points.scaling.apply(Z)
    near = nearest_neighbours(Z, min(_NEIGHBOURS, Z.shape[0] - 1)).index
    return float(np.mean(labels[near] != labels[:, None]))


def in_words(quality: Quality) -> list[str]:
    """Say what the numbers mean, in a sentence each."""
    said = []
    if quality.silhouette is not None:
        how = _step(quality.silhouette, (0.25, 0.5), ("weak", "moderate", "clear"))
        said.append(f"Separation is {how} (silhouette {quality.silhouette:.2f} of 1).")
    if quality.cut is not None:
        said.append(
            f"{quality.cut:.0%} of the links between neighbours join different "
            "clusters."
        )
    if quality.stability is not None:
        how = _step(quality.stability, (0.6, 0.85), ("shaky", "fair", "stable"))
        said.append(
            f"Clusters are {how}: parts of the data give the same ones to "
            f"{quality.stability:.2f} of 1."
        )
    return said


def _step(value: float, limits: tuple[float, float], words: tuple[str, ...]) -> str:
    return words[sum(value >= limit for limit in limits)]
