"""Files that are either wholly there or not there at all."""

from __future__ import annotations

import os
from pathlib import Path

from symmf.errors import InputError

TEMPORARY = ".tmp"


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write beside the final name, flush to the disk, then rename.

    After a crash at any moment ``path`` holds the old content or the new one.
    """
    data = content.encode() if isinstance(content, str) else content
    beside = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_stale_temporaries(folder: Path) -> int:
    """Remove what a killed writer left beside its files; return how many.

    A temporary file of another process that is still alive is not stale.
    """
    removed = 0
    for path in folder.glob(f".*{TEMPORARY}"):
        if not _is_alive(path.name.removesuffix(TEMPORARY).rpartition(".")[2]):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


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


def make_writable(folder: Path) -> None:
    """Make a folder if needed and try to write in it, or raise a sentence."""
    probe = folder / f".probe.{os.getpid()}{TEMPORARY}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"Results cannot be written to {folder}: {error.strerror}. "
            "Make the folder writable or choose another one with --results."
        ) from None
