"""Data sets: the paper's four, one that ships with scikit-learn, and made data.

Adding one is a new file with a ``SPEC`` and a line in ``DATASETS``; the key is the name
in YAML files and on the command line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from symmf.datasets import cifar10, coil20, digits, reuters21578, synthetic, tdt2
from symmf.datasets.base import (
    Dataset,
    DatasetSpec,
    RemoteFile,
    Source,
    data_folder,
    nearest,
)
from symmf.datasets.local import open_file
from symmf.errors import InputError

DATASETS: dict[str, DatasetSpec] = {
    "coil20": coil20.SPEC,
    "cifar10": cifar10.SPEC,
    "reuters21578": reuters21578.SPEC,
    "tdt2": tdt2.SPEC,
    "digits": digits.SPEC,
    "synthetic": synthetic.SPEC,
}

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetSpec",
    "RemoteFile",
    "Source",
    "data_folder",
    "get_spec",
    "load_dataset",
]


def get_spec(name: str) -> DatasetSpec:
    """Return an entry of ``DATASETS``; ``InputError`` gives the nearest name."""
    if name not in DATASETS:
        raise InputError(
            f"There is no data set {name!r}; there are {', '.join(DATASETS)}."
            f"{nearest(name, DATASETS)}"
        )
    return DATASETS[name]


def load_dataset(
    name: str, *, folder: str | Path | None = None, **options: Any
) -> Dataset:
    """Load a data set by name, checked against its known content.

    Parameters
    ----------
    name : str
        Key of ``DATASETS``.
    folder : path, optional
        Folder of data files; default :func:`data_folder`.
    **options
        For ``synthetic``: ``kind``, ``n``, ``k``, ``seed`` and others, see
        :mod:`symmf.datasets.synthetic`. For ``cifar10``: ``colour``.

    Raises
    ------
    InputError
        If the name or an option is not known.
    DataError
        If the file is missing or damaged; the sentence says what to do.

    Examples
    --------
    >>> digits = load_dataset("digits")
    >>> digits.n_classes, digits.n_samples, digits.n_features
    (10, 1797, 64)
    >>> load_dataset("synthetic", kind="two_moons", n=10).X.shape
    (10, 2)
    """
    spec = get_spec(name)
    for option in options:
        if option not in spec.options:
            known = (
                f"it has {', '.join(spec.options)}" if spec.options else "it has none"
            )
            raise InputError(
                f"The data set {name!r} has no option {option!r}; {known}."
                f"{nearest(option, spec.options)}"
            )
    if spec.file is None:
        return spec.read(**options)
    place = Path(folder) if folder is not None else data_folder()
    return open_file(spec, place, **options)
