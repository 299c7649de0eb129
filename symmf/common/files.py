"""Files that are either wholly there or not there at all: the one atomic writer.

And the reader of small files that anyone may have put there.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from symmf.common.texts import csv_cell
from symmf.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

TEMPORARY = ".tmp"
# Tables and descriptions; the largest committed one has two megabytes.
LARGEST_READ = 1 << 30


def write_atomically(path: Path, content: bytes | str, *, sync: bool = True) -> None:
    """Write beside the final name, flush to the disk, then rename.

    After a crash at any moment ``path`` holds the old content or the new one. The file
    beside it is made exclusively, so a link planted under its name is not followed.
    Without ``sync`` that holds for a crash of this process alone; for one of the
    machine the caller flushes later, file and then folder: :func:`sync_to_disk`.
    """
    data = content.encode() if isinstance(content, str) else content
    beside = _beside(path)
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            _write_all(handle, data)
            if sync:
                os.fsync(handle)
        finally:
            os.close(handle)
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            # A full disk does not say which; nobody knows the name beside it.
            error.filename, error.filename2 = str(path), None
        raise
    if sync:
        sync_to_disk(path.parent)


def sync_to_disk(path: Path) -> None:
    """Make the content of a file, or the names in a folder, survive a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_file(path: Path, *, largest: int = LARGEST_READ) -> bytes:
    """Return the content of a regular file.

    Opening a named pipe would wait for a writer, and a device may never end: both are
    refused, as is a file above ``largest`` bytes.

    Raises
    ------
    OSError
        If it is not there, is no file, cannot be read or is too large.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        if found.st_size > largest:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def read_text(path: Path, *, largest: int = LARGEST_READ) -> str:
    """Return the UTF-8 text of a regular file; see :func:`read_file`.

    Raises
    ------
    OSError, UnicodeDecodeError
        If it is no file that can be read, or is not UTF-8.
    """
    return read_file(path, largest=largest).decode("utf-8")


def write_bytes(path: Path, data: bytes) -> Path:
    """Write a file for the user, its folder made if need be, or raise a sentence."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{path} could not be written: {reason}. "
            "Make room or choose another place with --out."
        ) from error
    return path


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 with Unix line ends, whole or not at all."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))


def csv_text(frame: pd.DataFrame) -> str:
    """Return a frame as CSV: six significant digits, empty for NaN.

    The last bits of a mean may differ between processors; six digits do not. A label
    that a spreadsheet would run as a formula begins with an apostrophe.
    """
    guarded = {
        name: [csv_cell(cell) if isinstance(cell, str) else cell for cell in column]
        for name, column in frame.select_dtypes(exclude="number").items()
    }
    shown = frame.assign(**{str(name): cells for name, cells in guarded.items()})
    return str(shown.to_csv(index=False, lineterminator="\n", float_format="%.6g"))


def remove_stale_temporaries(folder: Path) -> int:
    """Remove what a killed writer left beside its files; return how many.

    A temporary file of another process that is still alive is not stale.
    """
    removed = 0
    for path in folder.glob(f".*{TEMPORARY}"):
        pid = path.name.removesuffix(TEMPORARY).rpartition(".")[2].partition("-")[0]
        if not _is_alive(pid):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def make_writable(folder: Path) -> None:
    """Make a folder if needed and try to write in it, or raise a sentence."""
    probe = _beside(folder / "probe")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"Results cannot be written to {folder}: {error.strerror}. "
            "Make the folder writable or choose another one with --results."
        ) from None


def _beside(path: Path) -> Path:
    """Return a name that no other writer has: name, process, random part."""
    unique = f"{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f".{path.name[:200]}.{unique}{TEMPORARY}")


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _is_alive(pid: str) -> bool:
    if not pid.isdecimal() or int(pid) == os.getpid():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
