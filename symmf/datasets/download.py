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

from symmf.datasets.base import DatasetSpec, data_folder
from symmf.datasets.local import (
    State,
    file_path,
    file_sha256,
    known_file,
    open_path,
    state,
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
) -> str | None:
    """Download the file of a data set unless it is there and right.

    The sources are tried in order, each up to three times.

    Returns
    -------
    str or None
        The address used; None if nothing had to be downloaded.

    Raises
    ------
    DataError
        If no source gave the file, or the folder cannot be written.
    """
    folder = data_folder() if folder is None else folder
    target = file_path(spec, folder)
    if state(spec, folder) is State.PRESENT:
        return None
    reasons = []
    with _staging(target) as staging:
        for source in known_file(spec).sources:
            try:
                given = retrieve(source, staging, progress)
                if not source.archive:
                    _check(spec, given)
                _install(spec, given, target, staging, archive=source.archive)
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
        only read.
    folder : Path, optional
        Folder of data files; default :func:`~symmf.datasets.data_folder`.

    Returns
    -------
    Path
        Where the data set's file is now.

    Raises
    ------
    DataError
        If the file is not there or does not hold the data set.
    """
    target = file_path(spec, data_folder() if folder is None else folder)
    if not given.exists():
        raise DataError(
            f"There is no file {given}. Give the path of {spec.accepts}, or run "
            f"`symmf data fetch {spec.name}` to download it."
        )
    archive = given.is_dir() or _is_archive(given)
    if archive and spec.convert is None:
        raise DataError(
            f"{given} is a folder or an archive; {spec.title} is imported from "
            f"{spec.accepts}."
        )
    try:
        # A refused file leaves the data folder as it was.
        if not archive:
            _check(spec, given)
        with _staging(target) as staging:
            _install(spec, given, target, staging, archive=archive)
    except DataError as error:
        raise DataError(f"{given} was not imported. {error}") from error
    return target


def _install(
    spec: DatasetSpec, given: Path, target: Path, staging: Path, *, archive: bool
) -> None:
    """Give the content of ``given`` its final name; an archive is checked first."""
    with _temporary(staging) as made:
        if archive and spec.convert is not None:
            spec.convert(given, made)
            try:
                open_path(spec, made)
            except DataError as error:
                raise DataError(
                    f"What it holds is not {spec.title}: the values made from it are "
                    f"not the known ones. Expected is {spec.accepts}."
                ) from error
        else:
            shutil.copyfile(given, made)
        made.replace(target)


def _check(spec: DatasetSpec, path: Path) -> None:
    """Raise ``DataError`` unless ``path`` is the known file or holds its values."""
    if file_sha256(path) != known_file(spec).sha256:
        open_path(spec, path)


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
