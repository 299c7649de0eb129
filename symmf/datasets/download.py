"""Fetching and importing the files of data sets.

A file gets its final name only after its content was checked: it is downloaded, or
converted, in the folder ``.download`` beside it and then renamed. What an interrupted
download left there is continued by the next one.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from symmf.common.sandbox import check_file
from symmf.datasets.base import DatasetSpec, RemoteFile, data_folder
from symmf.datasets.local import (
    State,
    damaged_message,
    file_path,
    file_sha256,
    file_state,
    fits,
    known_file,
)
from symmf.datasets.proof import (
    LARGEST,
    beside,
    convert_other,
    keep_proof,
    read_other,
)
from symmf.datasets.transfer import ProgressBar, SourceFailed, retrieve
from symmf.errors import DataError

logger = logging.getLogger(__name__)

# How archives begin: zip, gzip, bzip2, xz.
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")


def fetch(
    spec: DatasetSpec,
    folder: Path | None = None,
    *,
    progress: ProgressBar | None = None,
) -> list[str]:
    """Download the files of a data set that are not there and right.

    A damaged file is replaced; it is not looked into. The sources are tried in order,
    each up to three times.

    Returns
    -------
    list of str
        The addresses used; empty if nothing had to be downloaded.

    Raises
    ------
    DataError
        If no source gave a file, or the folder cannot be written.
    """
    folder = data_folder() if folder is None else folder
    files = spec.files or (known_file(spec),)
    return [
        _fetch_file(spec, file, folder / file.path, progress)
        for file in files
        if file_state(spec, file, folder) is not State.PRESENT
    ]


def _fetch_file(
    spec: DatasetSpec, file: RemoteFile, target: Path, progress: ProgressBar | None
) -> str:
    reasons = []
    with _staging(target) as staging:
        for source in file.sources:
            try:
                most = LARGEST if source.archive else file.size
                given = retrieve(source, staging, progress, most=most)
                if source.archive:
                    _install_converted(spec, file, given, target, staging)
                else:
                    _install_copy(given, target, staging)
            except SourceFailed as failure:
                reason = str(failure)
            except DataError as error:
                reason = f"not usable ({error})"
            else:
                # Another source may have begun; the file is complete now.
                _remove(staging, "*.part")
                return source.url
            finally:
                _remove(staging, "*.download")
            logger.info("%s: %s", source.url, reason)
            reasons.append(f"\n  {source.url}: {reason}")
    raise DataError(
        f"{spec.title} could not be downloaded:{''.join(reasons)}\n"
        "Run the same command again to continue, or get the file elsewhere and run "
        f"`symmf data import {spec.name} FILE` ({spec.accepts}). "
        f"It belongs in {target}."
    )


def import_file(spec: DatasetSpec, given: Path, folder: Path | None = None) -> Path:
    """Take a file the user has, after checking that it holds the right data.

    Parameters
    ----------
    spec : DatasetSpec
        The data set.
    given : Path
        Its own file, or an official archive or a folder it can be made from. It is
        only read; what is not the known file byte for byte is parsed in a child
        process.
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
    folder = data_folder() if folder is None else folder
    if spec.files:
        return _import_collection(spec, given, folder)
    file, target = known_file(spec), file_path(spec, folder)
    advice = (
        f"Give the path of {spec.accepts}, or run `symmf data fetch {spec.name}` to "
        "download it."
    )
    is_folder = _is_folder(given)
    if not is_folder:
        check_file(given, largest=LARGEST, advice=advice)
    archive = is_folder or _is_archive(given)
    if archive and spec.convert is None:
        raise DataError(
            f"{given} is a folder or an archive; {spec.title} is imported from "
            f"{spec.accepts}."
        )
    try:
        # A refused file leaves the data folder as it was.
        proof = None if archive else _prove(spec, file, given)
        with _staging(target) as staging:
            if archive:
                _install_converted(spec, file, given, target, staging)
            else:
                _install_copy(given, target, staging, proof=proof)
    except DataError as error:
        raise DataError(f"{given} was not imported. {error}") from error
    return target


def _prove(spec: DatasetSpec, file: RemoteFile, path: Path) -> str | None:
    """Return None for the known file, the SHA-256 of another with the known values."""
    if fits(path, file):
        return None
    if spec.digest is None:
        raise DataError(damaged_message(spec, file, path))
    sha256 = file_sha256(path)
    try:
        read_other(spec, path)
    except DataError as error:
        raise DataError(f"{error} {damaged_message(spec, file, path)}") from error
    return sha256


def _install_copy(
    given: Path, target: Path, staging: Path, *, proof: str | None = None
) -> None:
    """Give a copy of a right file its final name."""
    with _temporary(staging) as made:
        shutil.copyfile(given, made)
        if proof is not None and file_sha256(made) != proof:
            raise DataError(f"{given} changed while it was read.")
        _rename(made, target, proof)


def _install_converted(
    spec: DatasetSpec, file: RemoteFile, given: Path, target: Path, staging: Path
) -> None:
    """Make the file from an archive, prove its values, give it its final name."""
    with _temporary(staging) as made:
        convert_other(spec, given, made)
        try:
            proof = _prove(spec, file, made)
        except DataError as error:
            raise DataError(
                f"What it holds is not {spec.title}: the values made from it are "
                f"not the known ones. Expected is {spec.accepts}."
            ) from error
        _rename(made, target, proof)


def _rename(made: Path, target: Path, proof: str | None) -> None:
    """Put a file in its place, and what proves it beside it."""
    beside(target).unlink(missing_ok=True)
    if proof is not None:
        keep_proof(target, proof)
    made.replace(target)


def _import_collection(spec: DatasetSpec, given: Path, folder: Path) -> Path:
    """Copy the files of a collection that a folder has, each with its known bytes."""
    root = Path(spec.files[0].path).parts[0]
    if not _is_folder(given):
        raise DataError(f"{given} is not a folder. Give the path of {spec.accepts}.")
    inside = given / root if (given / root).is_dir() else given
    sources = {
        file: inside / Path(file.path).relative_to(root)
        for file in spec.files
        if file_state(spec, file, folder) is not State.PRESENT
    }
    right = {file: path for file, path in sources.items() if fits(path, file)}
    for file, path in right.items():
        target = folder / file.path
        with _staging(target) as staging:
            _install_copy(path, target, staging)
    absent = [path for file, path in sources.items() if file not in right]
    if absent:
        raise DataError(
            f"{len(right)} files were imported from {given}; {len(absent)} are not "
            f"there or not as published, the first is {absent[0]}. Run `symmf data "
            f"fetch {spec.name}` to download what is missing."
        )
    return folder / root


def _is_folder(path: Path) -> bool:
    # os.path: it does not raise for a name that no file can have.
    return os.path.isdir(path)  # noqa: PTH112


def _remove(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        path.unlink()


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(dir=folder, prefix="made-")
    os.close(handle)
    path = Path(name)
    # Others may read data files; mkstemp gives rights to the owner only.
    path.chmod(0o644)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _is_archive(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(512)
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or error}). Check its permissions."
        ) from error
    return head.startswith(_ARCHIVES) or head[257:262] == b"ustar"


@contextmanager
def _staging(target: Path) -> Iterator[Path]:
    """Give the folder ``.download`` beside ``target``; remove it if it ends empty."""
    staging = target.parent / ".download"
    try:
        staging.mkdir(parents=True, exist_ok=True)
        # Fails here, rather than after a long download, if nothing can be written.
        with tempfile.TemporaryFile(dir=staging):
            pass
        yield staging
    except OSError as error:
        raise DataError(
            f"{target} cannot be written ({error.strerror or error}). Choose a folder "
            "you may write to, with --folder or the environment variable SYMMF_DATA."
        ) from error
    finally:
        # It is not empty after an interrupted download.
        with suppress(OSError):
            staging.rmdir()
