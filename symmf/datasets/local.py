"""Opening the file of a data set, and telling what is wrong with it.

A file is right if its SHA-256 is the known one; only then is it parsed in this process.
A file that was proven to hold the known values (see :mod:`symmf.datasets.proof`) is
right as well. Any other file is damaged and is not looked into.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from symmf.datasets.base import Dataset, DatasetSpec, RemoteFile
from symmf.datasets.proof import LARGEST, kept_proof, read_other
from symmf.errors import DataError


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


def file_path(spec: DatasetSpec, folder: Path) -> Path:
    """Return where the file of ``spec`` lies or should lie."""
    return folder / known_file(spec).path


def known_file(spec: DatasetSpec) -> RemoteFile:
    """Return ``spec.file``, or raise ``DataError`` for data without a file."""
    if spec.file is None:
        raise DataError(
            f"The data set {spec.name!r} needs no file: it is there as soon as symmf "
            "is installed."
        )
    return spec.file


def fits(path: Path, file: RemoteFile) -> bool:
    """Whether ``path`` is the known file; it is hashed only if its size is right."""
    try:
        regular = path.is_file() and path.stat().st_size == file.size
        return regular and file_sha256(path) == file.sha256
    except OSError:
        return False


def is_proven(path: Path) -> bool:
    """Whether ``path`` is the file that was proven to hold the known values."""
    proof = kept_proof(path)
    try:
        small = path.is_file() and path.stat().st_size <= LARGEST
        return proof is not None and small and file_sha256(path) == proof
    except OSError:
        return False


def state(spec: DatasetSpec, folder: Path) -> State:
    """Look whether the files are there and right; nothing is parsed."""
    found = {file_state(spec, file, folder) for file in spec.all_files}
    if not found:
        return State.BUILT_IN
    if State.DAMAGED in found:
        return State.DAMAGED
    return found.pop() if len(found) == 1 else State.INCOMPLETE


def file_state(spec: DatasetSpec, file: RemoteFile, folder: Path) -> State:
    """Look whether one file is there and right."""
    path = folder / file.path
    if not os.path.lexists(path):
        return State.MISSING
    right = fits(path, file) or (spec.digest is not None and is_proven(path))
    return State.PRESENT if right else State.DAMAGED


def open_file(spec: DatasetSpec, folder: Path, **options: Any) -> Dataset:
    """Load the data set from its place in ``folder``, or raise ``DataError``."""
    file = known_file(spec)
    path = folder / file.path
    if not os.path.lexists(path):
        raise DataError(missing_message(spec, [path]))
    if not fits(path, file):
        if spec.digest is not None and is_proven(path):
            return read_other(spec, path)
        raise DataError(damaged_message(spec, file, path))
    try:
        data = spec.read(path, **options)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or error}). Check its permissions."
        ) from error
    return data


def open_member(spec: DatasetSpec, folder: Path, **options: Any) -> Dataset:
    """Load one data set of a collection, its files checked first."""
    assert spec.needs is not None
    files = spec.needs(**options)
    paths = [folder / file.path for file in files]
    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:
        raise DataError(missing_message(spec, missing))
    for file, path in zip(files, paths, strict=True):
        if not fits(path, file):
            raise DataError(damaged_message(spec, file, path))
    return spec.read(folder, **options)


def verify(spec: DatasetSpec, folder: Path) -> Verification:
    """Recompute the checksums, load, and compare with the known sizes.

    For the paper's four data sets the sizes are its Table I (classes, samples,
    dimensions).

    Raises
    ------
    DataError
        If a file is missing or damaged, or the sizes differ.
    """
    if spec.files:
        found = (open_member(spec, folder, **options) for options in spec.members)
        return Verification(data=tuple(found), sha256=None, original=True)
    if spec.file is None:
        data, sha256, original = spec.read(), None, True
    else:
        data = open_file(spec, folder)
        sha256 = file_sha256(file_path(spec, folder))
        original = sha256 == spec.file.sha256
    known = (spec.n_classes, spec.n_samples, spec.n_features)
    sizes = (data.n_classes, data.n_samples, data.n_features)
    if known != (None, None, None) and known != sizes:
        raise DataError(
            f"The data set {spec.name!r} has {sizes[0]} classes, {sizes[1]} samples "
            f"and {sizes[2]} dimensions; expected are {known[0]}, {known[1]} and "
            f"{known[2]}."
        )
    return Verification(data=(data,), sha256=sha256, original=original)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def missing_message(spec: DatasetSpec, paths: Iterable[Path]) -> str:
    """Say which file goes where and which commands put it there."""
    first, *more = paths
    others = f" (and {len(more)} more)" if more else ""
    return (
        f"The data set {spec.name!r} is not there: {first}{others} is missing. "
        f"{how_to_get(spec)}"
    )


def damaged_message(spec: DatasetSpec, known: RemoteFile, path: Path) -> str:
    """Say what the file is, what it should be and which commands replace it."""
    return (
        f"{path} is damaged, or another file than that of {spec.title}: it "
        f"{_what_it_is(path, known)}, expected are {known.size} bytes with sha256 "
        f"{known.sha256}. {how_to_get(spec)}"
    )


def _what_it_is(path: Path, known: RemoteFile) -> str:
    try:
        if not path.is_file():
            return "is not a regular file"
        size = path.stat().st_size
        if size != known.size:
            return f"has {size} bytes"
        return f"has sha256 {file_sha256(path)}"
    except OSError as error:
        return f"cannot be read ({error.strerror or error}; check its permissions)"


def how_to_get(spec: DatasetSpec) -> str:
    """Return the sentence with the two commands."""
    return (
        f"Run `symmf data fetch {spec.name}` to download it, or "
        f"`symmf data import {spec.name} FILE` with a file you have ({spec.accepts})."
    )
