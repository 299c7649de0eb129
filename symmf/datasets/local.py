"""The files in the data folder: what state they are in, opening and verifying them.

A file is right if its SHA-256 is the known one; only then is it parsed in this process.
A file of other bytes is right if an import proved that it holds the known values: its
SHA-256 lies beside it. Any other file is damaged and is never parsed.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from symmf.common.sandbox import read_in_child
from symmf.datasets.arrays import digest_arrays
from symmf.datasets.base import Dataset, DatasetSpec, RemoteFile
from symmf.errors import DataError

# A file or archive of more bytes is not read; the official ones have less than 200 MB.
LARGEST = 1_000_000_000


class State(Enum):
    """What is found in the data folder."""

    BUILT_IN = "built in"
    PRESENT = "present"
    INCOMPLETE = "incomplete"
    MISSING = "missing"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What :func:`verify` found: the data sets, the SHA-256 if there is one file."""

    data: tuple[Dataset, ...]
    sha256: str | None
    original: bool


def known_file(spec: DatasetSpec) -> RemoteFile:
    """Return ``spec.file``, or raise ``DataError`` for data without a file."""
    if spec.file is None:
        raise DataError(
            f"The data set {spec.name!r} needs no file: it is there as soon as symmf "
            "is installed."
        )
    return spec.file


def file_path(spec: DatasetSpec, folder: Path) -> Path:
    """Return where the file of ``spec`` lies or should lie."""
    return folder / known_file(spec).path


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, or nothing if it cannot be read."""
    # Opening a named pipe would wait for a writer.
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    return ""


def fits(path: Path, file: RemoteFile) -> bool:
    """Whether ``path`` is the known file; it is hashed only if its size is right."""
    right_size = path.is_file() and path.stat().st_size == file.size
    return right_size and file_sha256(path) == file.sha256


def proof_of(path: Path) -> Path:
    """Return where the SHA-256 of a proven file lies, in the form of ``sha256sum``."""
    return path.with_name(f"{path.name}.sha256")


def is_proven(path: Path) -> bool:
    """Whether ``path`` is the file that an import proved to hold the known values."""
    proof = proof_of(path)
    if not proof.is_file():
        return False
    return proof.read_bytes().startswith(f"{file_sha256(path)} ".encode())


def state(spec: DatasetSpec, folder: Path) -> State:
    """Return whether the files are there and right; nothing is parsed."""
    found = {file_state(spec, file, folder) for file in spec.all_files}
    if not found:
        return State.BUILT_IN
    if State.DAMAGED in found:
        return State.DAMAGED
    return found.pop() if len(found) == 1 else State.INCOMPLETE


def file_state(spec: DatasetSpec, file: RemoteFile, folder: Path) -> State:
    """Return whether one file is there and right."""
    path = folder / file.path
    if not os.path.lexists(path):
        return State.MISSING
    right = fits(path, file) or (spec.digest is not None and is_proven(path))
    return State.PRESENT if right else State.DAMAGED


def open_data(spec: DatasetSpec, folder: Path, **options: Any) -> Dataset:
    """Load a data set from its files in ``folder``, one of a collection by options.

    Raises
    ------
    DataError
        If a file is missing or damaged; the sentence says what to do.
    """
    files = (known_file(spec),) if spec.needs is None else spec.needs(**options)
    states = {file: file_state(spec, file, folder) for file in files}
    missing = [folder / f.path for f in files if states[f] is State.MISSING]
    if missing:
        raise DataError(missing_message(spec, missing))
    for file in files:
        if states[file] is State.DAMAGED:
            raise DataError(damaged_message(spec, file, folder / file.path))
    if spec.needs is not None:
        return spec.read(folder, **options)
    path = file_path(spec, folder)
    if spec.digest is not None and proof_of(path).exists():
        return read_other(spec, path)
    return spec.read(path, **options)


def read_other(spec: DatasetSpec, path: Path) -> Dataset:
    """Load a file of unknown bytes that must hold the known values.

    Raises
    ------
    DataError
        If it cannot be read, or gives other values.
    """
    module, name = spec.read.__module__, spec.read.__name__
    found = read_in_child(_values, path, largest=LARGEST, module=module, name=name)
    digest = digest_arrays(found["X"], found["y"])
    if digest != spec.digest:
        raise DataError(f"{path} holds other values than {spec.title}.")
    shape = found.pop("image_shape")
    return Dataset(
        **found, image_shape=None if shape is None else tuple(shape), digest=digest
    )


def _values(path: Path, *, module: str, name: str) -> dict[str, Any]:
    data = getattr(importlib.import_module(module), name)(path)
    names = ("name", "X", "y", "title", "kind", "image_shape", "class_ids")
    return {field: getattr(data, field) for field in names}


def verify(spec: DatasetSpec, folder: Path) -> Verification:
    """Compare checksums, load, and compare with the known sizes.

    For the paper's four data sets the sizes are its Table I (classes, samples,
    dimensions).

    Raises
    ------
    DataError
        If a file is missing or damaged, or the sizes differ.
    """
    if spec.files:
        found = tuple(open_data(spec, folder, **options) for options in spec.members)
        return Verification(data=found, sha256=None, original=True)
    if spec.file is None:
        data, sha256 = spec.read(), None
    else:
        data = open_data(spec, folder)
        sha256 = file_sha256(file_path(spec, folder))
    known = (spec.n_classes, spec.n_samples, spec.n_features)
    sizes = (data.n_classes, data.n_samples, data.n_features)
    if known not in (sizes, (None, None, None)):
        raise DataError(
            f"The data set {spec.name!r} has {sizes[0]} classes, {sizes[1]} samples "
            f"and {sizes[2]} dimensions; expected are {known[0]}, {known[1]} and "
            f"{known[2]}."
        )
    original = spec.file is None or sha256 == spec.file.sha256
    return Verification(data=(data,), sha256=sha256, original=original)


def missing_message(spec: DatasetSpec, paths: Sequence[Path]) -> str:
    """Say which file goes where and which commands put it there."""
    others = f" (and {len(paths) - 1} more)" if paths[1:] else ""
    return (
        f"The data set {spec.name!r} is not downloaded: {paths[0]}{others} is missing. "
        f"{_how_to_get(spec)}"
    )


def damaged_message(spec: DatasetSpec, known: RemoteFile, path: Path) -> str:
    """Say what the file is, what it should be and which commands replace it."""
    if not path.is_file():
        what = "is not a regular file"
    elif path.stat().st_size != known.size:
        what = f"has {path.stat().st_size} bytes"
    else:
        what = f"has sha256 {file_sha256(path) or '(unknown: check its permissions)'}"
    return (
        f"{path} is damaged, or another file than that of {spec.title}: it {what}, "
        f"expected are {known.size} bytes with sha256 {known.sha256}. "
        f"{_how_to_get(spec)}"
    )


def _how_to_get(spec: DatasetSpec) -> str:
    return (
        f"Run `symmf data fetch {spec.name}` to download it, or "
        f"`symmf data import {spec.name} FILE` with a file you have ({spec.accepts})."
    )
