"""Opening the file of a data set, and telling what is wrong with it.

A file is right if its SHA-256 is the known one. A MATLAB file is right as well if it
gives the known values: the same matrix may come in another container, as after an
import of official images.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from symmf.datasets.base import Dataset, DatasetSpec, RemoteFile
from symmf.errors import DataError


class State(Enum):
    """What is found in the data folder."""

    BUILT_IN = "built in"
    PRESENT = "present"
    MISSING = "missing"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What :func:`verify` found: the data, and the SHA-256 if there is a file."""

    data: Dataset
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


def state(spec: DatasetSpec, folder: Path) -> State:
    """Look whether the file is there and right."""
    if spec.file is None:
        return State.BUILT_IN
    path = file_path(spec, folder)
    if not path.is_file():
        return State.MISSING
    try:
        if file_sha256(path) != spec.file.sha256:
            open_path(spec, path)
    except (DataError, OSError):
        return State.DAMAGED
    return State.PRESENT


def open_file(spec: DatasetSpec, folder: Path, **options: Any) -> Dataset:
    """Load the data set from its place in ``folder``, or raise ``DataError``."""
    path = file_path(spec, folder)
    if not path.is_file():
        raise DataError(missing_message(spec, folder))
    return open_path(spec, path, **options)


def open_path(spec: DatasetSpec, path: Path, **options: Any) -> Dataset:
    """Load the data set from any file that holds its values, or raise ``DataError``."""
    try:
        data = spec.read(path, **options)
    except DataError as error:
        raise DataError(damaged_message(spec, path, str(error))) from error
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or error}). Check its permissions."
        ) from error
    # The digest is at hand, so the file's checksum is computed only if need be.
    if data.digest != spec.digest and file_sha256(path) != known_file(spec).sha256:
        raise DataError(damaged_message(spec, path, "It was cut off or altered."))
    return data


def verify(spec: DatasetSpec, folder: Path) -> Verification:
    """Recompute the checksum, load, and compare with the known sizes.

    For the paper's four data sets the sizes are its Table I (classes, samples,
    dimensions).

    Raises
    ------
    DataError
        If the file is missing or damaged, or the sizes differ.
    """
    if spec.file is None:
        data, sha256, original = spec.read(), None, True
    else:
        data = open_file(spec, folder)
        sha256 = file_sha256(file_path(spec, folder))
        original = sha256 == spec.file.sha256
    known = (spec.n_classes, spec.n_samples, spec.n_features)
    found = (data.n_classes, data.n_samples, data.n_features)
    if known != (None, None, None) and known != found:
        raise DataError(
            f"The data set {spec.name!r} has {found[0]} classes, {found[1]} samples "
            f"and {found[2]} dimensions; expected are {known[0]}, {known[1]} and "
            f"{known[2]}."
        )
    return Verification(data=data, sha256=sha256, original=original)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    import pooch

    return str(pooch.file_hash(str(path), alg="sha256"))


def missing_message(spec: DatasetSpec, folder: Path) -> str:
    """Say which file goes where and which commands put it there."""
    return (
        f"The data set {spec.name!r} is not there: {file_path(spec, folder)} is "
        "missing. "
        f"{how_to_get(spec)}"
    )


def damaged_message(spec: DatasetSpec, path: Path, reason: str) -> str:
    """Say what the file is, what it should be and which commands replace it."""
    known = known_file(spec)
    try:
        found = f"{path.stat().st_size} bytes with sha256 {file_sha256(path)}"
    except OSError as error:
        found = f"unreadable ({error.strerror or error})"
    return (
        f"{path} is not the {spec.title} file: it is {found}, expected are "
        f"{known.size} bytes with sha256 {known.sha256}. {reason} {how_to_get(spec)}"
    )


def how_to_get(spec: DatasetSpec) -> str:
    """Return the sentence with the two commands."""
    return (
        f"Run `symmf data fetch {spec.name}` to download it, or "
        f"`symmf data import {spec.name} FILE` with a file you have ({spec.accepts})."
    )
