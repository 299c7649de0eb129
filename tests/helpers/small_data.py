"""Readers of small stand-ins for data sets, importable by the process that reads."""

from __future__ import annotations

from pathlib import Path

from symmf.datasets import Dataset, cifar10, coil20

BATCH = 30 * cifar10.RECORD


def convert_coil20(given: Path, path: Path) -> None:
    """COIL-20 of 2 objects and 3 views."""
    coil20.convert(given, path, n_objects=2, n_views=3)


def read_cifar10(path: Path) -> Dataset:
    """CIFAR-10 of 2 images of each class."""
    return cifar10.read(path, n_per_class=2)


def convert_cifar10(given: Path, path: Path) -> None:
    """CIFAR-10 with a test batch of 30 images."""
    cifar10.convert(given, path, size=BATCH)
