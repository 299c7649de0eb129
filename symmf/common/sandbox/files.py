"""Which paths may be opened at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from symmf.errors import DataError

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
        raise DataError(unreadable(path, error)) from None
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


def unreadable(path: Path, error: OSError) -> str:
    """Return the sentence for a file that the system does not let us read."""
    reason = error.strerror or type(error).__name__
    return f"{path} cannot be read ({reason}). Check the path and its permissions."


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
