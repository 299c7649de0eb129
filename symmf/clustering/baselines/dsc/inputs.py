"""What the networks of deep subspace clustering are fed: images, text, vectors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.errors import InputError, SymmfWarning
from symmf.features.preprocess import tfidf
from symmf.features.text import are_counts
from symmf.linalg.eigen.singular import singular_directions

# Rounds of the subspace iteration.
_ROUNDS = 7


def full_image_shape(
    image_shape: Sequence[int] | None, n_features: int
) -> tuple[int, int, int]:
    """Return (height, width, channels), checked against the number of features."""
    if image_shape is None:
        raise InputError(
            "A convolutional architecture needs image_shape, the (height, width) of "
            'the images in the rows of X; or use architecture="dense".'
        )
    sides = tuple(int(side) for side in image_shape)
    if len(sides) not in (2, 3) or min(sides) < 1:
        raise InputError(
            "image_shape is (height, width) or (height, width, channels), all "
            f"positive, not {sides}."
        )
    height, width, channels = (*sides, 1)[:3]
    if height * width * channels != n_features:
        raise InputError(
            f"image_shape={sides} has {height * width * channels} pixels but X has "
            f"{n_features} features. Give the shape of one row of X."
        )
    return height, width, channels


def image_inputs(X: AnyMatrix, image_shape: tuple[int, int, int]) -> FloatArray:
    """Return the rows as (n, channels, height, width), with entries in [0, 1]."""
    if sparse.issparse(X):
        X = X.toarray()
    low, high = float(X.min()), float(X.max())
    if low < 0.0 or high > 1.0:
        low = min(low, 0.0)
        warnings.warn(
            f"DSC maps the pixels from [{low:g}, {high:g}] to [0, 1]; give images in "
            "[0, 1] to avoid this.",
            SymmfWarning,
            stacklevel=3,
        )
        X = (X - low) / max(high - low, np.finfo(X.dtype).tiny)
    images: FloatArray = X.reshape(-1, *image_shape).transpose(0, 3, 1, 2)
    return images.astype(np.float32, order="C")


def vector_inputs(
    X: AnyMatrix,
    *,
    lsa_dim: int,
    weight: bool | Literal["auto"],
    rng: np.random.Generator,
) -> FloatArray:
    """Reduce to unit rows with min(lsa_dim, n // 2) features at most, by an SVD.

    ``weight`` tells whether tf-idf weights are applied first; ``"auto"`` applies them
    to counts.
    """
    if weight == "auto":
        weight = sparse.issparse(X) and are_counts(X)
    X = normalize(tfidf(X) if weight else X)
    n, m = X.shape
    dimension = max(1, min(lsa_dim, n // 2))
    if dimension < m:
        _, V = singular_directions(X, dimension, _ROUNDS, rng)
        X = normalize(np.asarray(X @ V))
    dense = X.toarray() if sparse.issparse(X) else X
    return np.ascontiguousarray(dense, dtype=np.float32)
