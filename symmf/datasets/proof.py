"""Files that are not the known ones, read only where they can do no harm.

The same values may come in another file, as after an import of official images. Such a
file is parsed in a child process, and what it gives is compared with the known digest.
Its SHA-256 is then kept beside it, so that later commands know it without parsing.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from symmf.common.files import write_atomically
from symmf.common.sandbox import read_in_child
from symmf.datasets.arrays import digest_arrays
from symmf.datasets.base import Dataset, DatasetSpec
from symmf.errors import DataError

# The official archives have less than 200 MB.
LARGEST = 1_000_000_000


def read_other(spec: DatasetSpec, path: Path) -> Dataset:
    """Load a file of unknown bytes that must hold the known values.

    Raises
    ------
    DataError
        If it cannot be read, or gives other values.
    """
    module, name = spec.read.__module__, spec.read.__name__
    found = read_in_child(_values, path, largest=LARGEST, module=module, name=name)
    shape = found.pop("image_shape")
    data = Dataset(
        **found,
        image_shape=None if shape is None else tuple(shape),
        digest=digest_arrays(found["X"], found["y"]),
    )
    if spec.digest is None or data.digest != spec.digest:
        raise DataError(f"{path} holds other values than {spec.title}.")
    return data


def _values(path: Path, *, module: str, name: str) -> dict[str, Any]:
    data = getattr(importlib.import_module(module), name)(path)
    names = ("name", "X", "y", "title", "kind", "image_shape", "class_ids")
    return {field: getattr(data, field) for field in names}


def convert_other(spec: DatasetSpec, given: Path, made: Path) -> None:
    """Write the data set's own file from an archive or folder, in a child process."""
    assert spec.convert is not None
    read_in_child(
        _convert,
        given,
        largest=LARGEST,
        module=spec.convert.__module__,
        name=spec.convert.__name__,
        made=str(made),
    )


def _convert(given: Path, *, module: str, name: str, made: str) -> None:
    getattr(importlib.import_module(module), name)(given, Path(made))


def beside(path: Path) -> Path:
    """Return where the SHA-256 of a proven file is kept, as ``sha256sum -c`` reads."""
    return path.with_name(f"{path.name}.sha256")


def keep_proof(path: Path, sha256: str) -> None:
    """Write down that the file of this SHA-256 holds the known values."""
    write_atomically(beside(path), f"{sha256}  {path.name}\n")


def kept_proof(path: Path) -> str | None:
    """Return the SHA-256 that was written down, if any."""
    note = beside(path)
    with suppress(OSError, ValueError):
        if note.is_file() and note.stat().st_size < 500:
            words = note.read_text("ascii").split()
            return words[0] if words else None
    return None
