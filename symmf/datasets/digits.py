"""Digits: handwritten digits of 8 x 8 pixels, which ship inside scikit-learn.

======== ======= ==========
classes  samples dimensions
10       1797    64
======== ======= ==========

Pixels are divided by 16, so that they lie in [0, 1]. Nothing is downloaded.
"""

from __future__ import annotations

from symmf.datasets.base import Dataset, DatasetSpec


def read() -> Dataset:
    """Load all digits."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return Dataset.from_arrays(
        X / 16, y, name="digits", title="Digits", kind="image", image_shape=(8, 8)
    )


SPEC = DatasetSpec(
    name="digits",
    title="Digits",
    description="handwritten digits, grey images of 8 x 8 pixels",
    licence="CC BY 4.0 (UCI); part of scikit-learn",
    citation="E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI "
    "Machine Learning Repository, 1998",
    read=read,
    n_classes=10,
    n_samples=1797,
    n_features=64,
)
