"""Files that are either wholly there or not there at all: the one atomic writer.

And the reader of small files that anyone may have put there.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from symmf.common.texts import csv_cell, plain_text
from symmf.errors import DataError, InputError, SymmfError

if TYPE_CHECKING:
    import pandas as pd

TEMPORARY = ".tmp"
# Tables and descriptions; the largest committed one has two megabytes.
LARGEST_READ = 1 << 30
RUN_AGAIN = "Run the experiment again: finished trials are kept."
_OTHER_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def check_file(path: Path, *, largest: int, advice: str = "") -> int:
    """Return the size of a regular file that may be opened.

    Parameters
    ----------
    path
        A file, or a link to one. It is not opened: opening a named pipe would wait for
        a writer.
    largest
        Number of bytes above which it is refused.
    advice
        A sentence that says what to do, for the end of the message.

    Raises
    ------
    DataError
        If it is not there, is no file, cannot be read or is too large.

    Examples
    --------
    >>> check_file(Path("/dev/null"), largest=10)
    Traceback (most recent call last):
    symmf.errors.DataError: /dev/null is a device, not a file.
    """
    end = f" {advice}" if advice else ""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise DataError(f"{path} does not exist.{end}") from None
    # A NUL in the name, or a name that the file system cannot spell.
    except ValueError:
        raise DataError(f"{str(path)!r} cannot be the name of a file.{end}") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataError(
            f"{path} cannot be read ({reason}). Check the path and its permissions."
        ) from None
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        what = _OTHER_KINDS.get(kind, "something else")
        raise DataError(f"{path} is {what}, not a file.{end}")
    if found.st_size > largest:
        raise DataError(
            f"{path} has {in_units(found.st_size)}; files of more than "
            f"{in_units(largest)} are not read here.{end}"
        )
    if not os.access(path, os.R_OK):
        raise DataError(
            f"{path} cannot be read (Permission denied). Check its permissions."
        )
    return found.st_size


def in_units(size: float) -> str:
    """Return a number of bytes for a person.

    Examples
    --------
    >>> in_units(999), in_units(2.5e9)
    ('999 bytes', '2.5 GB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} bytes"


def damaged(path: Path, why: object, remedy: str = RUN_AGAIN) -> DataError:
    """Return the error for a file of our own that is not what we wrote.

    Parameters
    ----------
    path
        The file.
    why
        What is wrong with it: a clause, or the exception of its parser.
    remedy
        A sentence that says what to do.

    Examples
    --------
    >>> print(damaged(Path("trials.csv"), "it lacks the column key"))
    trials.csv is damaged: it lacks the column key. Run the experiment again: ...
    """
    if isinstance(why, OSError) and why.strerror:
        why = why.strerror
    reason = plain_text(why)[:300].rstrip(". ")
    if isinstance(why, Exception):
        reason = f"{reason} ({type(why).__name__})".strip()
    return DataError(f"{path} is damaged: {reason}. {remedy}")


@contextmanager
def own_file(path: Path, remedy: str = RUN_AGAIN) -> Iterator[None]:
    """Turn whatever a parser raises on a file of our own into :func:`damaged`.

    Our own files are parsed without checks; content that we did not write may make a
    parser, or what uses its result, fail in any way.

    Examples
    --------
    >>> with own_file(Path("facts.json")):
    ...     {"n": 3}["k"]
    Traceback (most recent call last):
    symmf.errors.DataError: facts.json is damaged: 'k' (KeyError). Run the ...
    """
    try:
        yield
    except (SymmfError, MemoryError):
        raise
    except Exception as error:
        raise damaged(path, error, remedy) from error


def write_atomically(path: Path, content: bytes | str, *, sync: bool = True) -> None:
    """Write to a temporary name, flush to the disk, then rename.

    After a crash at any moment ``path`` holds the old content or the new one. The
    temporary file is created exclusively: no link under its name is followed.
    Without ``sync`` that holds for a crash of this process alone; for one of the
    machine the caller flushes later, file and then folder: :func:`sync_to_disk`.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = _temporary(path)
    try:
        with temporary.open("xb", buffering=0) as file:
            _write_all(file.fileno(), data)
            if sync:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            # A full disk names no file; nobody knows the temporary one.
            error.filename, error.filename2 = str(path), None
        raise
    if sync:
        sync_to_disk(path.parent)


def sync_to_disk(path: Path) -> None:
    """Make the content of a file, or the names in a folder, survive a loss of power."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder.
        return
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
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    if found.st_size > largest:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return path.read_bytes()


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
            "Free some space, or choose another place with --out."
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
    """Remove the temporary files of killed writers; return how many.

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
    probe = _temporary(folder / "probe")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"Results cannot be written to {folder}: {error.strerror}. "
            "Make the folder writable or choose another one with --results."
        ) from None


def _temporary(path: Path) -> Path:
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
    except (PermissionError, OverflowError):
        return True
    except ProcessLookupError:
        return False
    return True
