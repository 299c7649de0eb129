"""Importing files that the user has: the data set's own, or an official archive.

A file that is not the known one byte for byte is parsed in a child process only. If it
holds the known values it is as good, and its SHA-256 is written beside it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from symmf.common.files import check_file, write_atomically
from symmf.common.sandbox import read_in_child
from symmf.datasets.base import DatasetSpec, RemoteFile, data_folder
from symmf.datasets.local import (
    LARGEST,
    State,
    damaged_message,
    file_path,
    file_sha256,
    file_state,
    fits,
    known_file,
    proof_of,
    read_other,
)
from symmf.errors import DataError

# How archives begin: zip, gzip, bzip2, xz.
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")


def import_file(spec: DatasetSpec, given: Path, folder: Path | None = None) -> Path:
    """Take a file the user has, after checking that it holds the right data.

    Parameters
    ----------
    spec : DatasetSpec
        The data set.
    given : Path
        Its own file, or an official archive or a folder it can be made from; it stays
        as it is.
    folder : Path, optional
        Folder of data files; default :func:`~symmf.datasets.data_folder`.

    Returns
    -------
    Path
        Where the data set's file is now; the folder of a collection.

    Raises
    ------
    DataError
        If the file is not there or does not hold the data set.
    """
    folder = data_folder(folder)
    # os.path: it does not raise for a name that no file can have.
    is_folder = os.path.isdir(given)  # noqa: PTH112
    if spec.files:
        if not is_folder:
            raise DataError(
                f"{given} is not a folder. Give the path of {spec.accepts}."
            )
        return _import_collection(spec, given, folder)
    file, target = known_file(spec), file_path(spec, folder)
    if not is_folder:
        advice = (
            f"Give the path of {spec.accepts}, or run `symmf data fetch {spec.name}` "
            "to download it."
        )
        check_file(given, largest=LARGEST, advice=advice)
    archive = is_folder or _is_archive(given)
    if archive and spec.convert is None:
        raise DataError(
            f"{given} is a folder or an archive; {spec.title} is imported from "
            f"{spec.accepts}."
        )
    try:
        with writing(target):
            install(spec, file, given, target, archive=archive)
    except DataError as error:
        raise DataError(f"{given} was not imported. {error}") from error
    return target


def _import_collection(spec: DatasetSpec, given: Path, folder: Path) -> Path:
    """Copy the files of a collection that a folder has, each with its known bytes."""
    root = Path(spec.files[0].path).parts[0]
    inside = given / root if (given / root).is_dir() else given
    sources = {
        file: inside / Path(file.path).relative_to(root)
        for file in spec.files
        if file_state(spec, file, folder) is not State.PRESENT
    }
    right = {file: path for file, path in sources.items() if fits(path, file)}
    for file, path in right.items():
        with writing(folder / file.path):
            install(spec, file, path, folder / file.path)
    absent = [path for file, path in sources.items() if file not in right]
    if absent:
        raise DataError(
            f"{len(right)} files were imported from {given}; {len(absent)} are not "
            f"there or not as published, the first is {absent[0]}. Run `symmf data "
            f"fetch {spec.name}` to download what is missing."
        )
    return folder / root


def install(
    spec: DatasetSpec,
    file: RemoteFile,
    given: Path,
    target: Path,
    *,
    archive: bool = False,
) -> None:
    """Put a copy of a right file in its place, or the file made from an archive.

    Raises
    ------
    DataError
        If it does not hold the known values; then nothing is written.
    """
    if archive:
        assert spec.convert is not None
        with tempfile.TemporaryDirectory() as place:
            made = Path(place) / target.name
            read_in_child(spec.convert, given, largest=LARGEST, path=str(made))
            try:
                install(spec, file, made, target)
            except DataError as error:
                raise DataError(
                    f"What it holds is not {spec.title}: the values made from it are "
                    f"not the known ones. Expected is {spec.accepts}."
                ) from error
        return
    content = given.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    proof = proof_of(target)
    if sha256 != file.sha256:
        damaged = damaged_message(spec, file, given)
        if spec.digest is None:
            raise DataError(damaged)
        try:
            read_other(spec, given)
        except DataError as error:
            raise DataError(f"{error} {damaged}") from error
        if file_sha256(given) != sha256:
            raise DataError(f"{given} changed while it was read.")
    target.parent.mkdir(parents=True, exist_ok=True)
    proof.unlink(missing_ok=True)
    if sha256 != file.sha256:
        write_atomically(proof, f"{sha256}  {target.name}\n")
    write_atomically(target, content)


def _is_archive(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(512)
    return head.startswith(_ARCHIVES) or head[257:262] == b"ustar"


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Say in a sentence that the data folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{target} cannot be written ({error.strerror or error}). Choose a folder "
            "you may write to, with --folder or the environment variable SYMMF_DATA."
        ) from error
