"""Data sets: the paper's four, one of scikit-learn, a benchmark suite, and made data.

Adding one is a new file with a ``SPEC`` and a line in ``DATASETS``; the key is the name
in YAML files and on the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from symmf.common.notation import AnyMatrix, LabelArray
from symmf.common.validation import check_name, check_options
from symmf.datasets import (
    cifar10,
    clustbench,
    coil20,
    digits,
    reuters21578,
    synthetic,
    tdt2,
)
from symmf.datasets.base import (
    Dataset,
    DatasetSpec,
    RemoteFile,
    Source,
    data_folder,
)
from symmf.datasets.local import missing_message, open_data
from symmf.errors import InputError

DATASETS: dict[str, DatasetSpec] = {
    "coil20": coil20.SPEC,
    "cifar10": cifar10.SPEC,
    "reuters21578": reuters21578.SPEC,
    "tdt2": tdt2.SPEC,
    "digits": digits.SPEC,
    "clustbench": clustbench.SPEC,
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
    "load_wider",
    "missing_files",
]


def get_spec(name: str) -> DatasetSpec:
    """Return an entry of ``DATASETS``; ``InputError`` gives the nearest name."""
    return DATASETS[check_name("data set", name, DATASETS)]


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
        :mod:`symmf.datasets.synthetic`; for ``clustbench``: ``set`` and ``labels``;
        for ``cifar10``: ``colour``.

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
    check_options(f"The data set {name!r}", options, list(spec.options))
    if not spec.all_files:
        return spec.read(**options)
    return open_data(spec, data_folder(folder), **options)


def missing_files(name: str, options: Sequence[Mapping[str, Any]]) -> str:
    """Say which files of a data set, read with these options, are not there.

    Returns
    -------
    str
        A sentence on how to get them; empty if nothing is missing.
    """
    spec, folder = get_spec(name), data_folder()
    files = [spec.file] if spec.file is not None else []
    if spec.needs is not None:
        for given in options:
            files += spec.needs(**{n: given[n] for n in given if n in spec.options})
    paths = dict.fromkeys(folder / file.path for file in files)
    missing = [path for path in paths if not path.exists()]
    return missing_message(spec, missing) if missing else ""


def load_wider(
    name: str, which: str, *, folder: str | Path | None = None, **options: Any
) -> tuple[AnyMatrix, LabelArray]:
    """Return more samples than a data set has, and the places of its own among them.

    For features that learn from samples without labels. The file is that of
    :func:`load_dataset`, which checks it.

    Raises
    ------
    InputError
        If there is nothing of that name.
    """
    spec = get_spec(name)
    if not spec.wider:
        raise InputError(f"The data set {name!r} has no more samples to learn from.")
    read = spec.wider[check_name(f"batch of samples of {name!r}", which, spec.wider)]
    assert spec.file is not None
    return read(data_folder(folder) / spec.file.path, **options)
