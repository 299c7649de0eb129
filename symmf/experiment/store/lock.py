"""A lock on a results folder that dies with the process that holds it."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from symmf.common.files import own_file, read_text
from symmf.errors import InputError, SymmfError
from symmf.experiment.store.layout import LOCK_FILE
from symmf.experiment.values import now

try:
    import fcntl
except ModuleNotFoundError as error:
    raise InputError(
        "Studies need Linux or macOS (on Windows: WSL), whose locks and processes they "
        "use. SymMF, factorize, symmf cluster and symmf select work here."
    ) from error


class FolderLock:
    """Holds a folder for one run; a second one is told who has it.

    The kernel drops the lock when the holder ends, however it ends, so a lock is
    never stale. The file stays; only the kernel's lock on it counts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._handle: int | None = None

    def __enter__(self) -> Self:
        from symmf.experiment.store.folder import writing

        path = self.folder / LOCK_FILE
        with writing(path), ExitStack() as stack:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            stack.callback(os.close, handle)
            self._acquire(handle)
            who = {"pid": os.getpid(), "host": socket.gethostname(), "since": now()}
            os.ftruncate(handle, 0)
            who["command"] = " ".join(sys.argv)
            os.pwrite(handle, json.dumps(who).encode(), 0)
            stack.pop_all()
        self._handle = handle
        return self

    def _acquire(self, handle: int, attempts: int = 4) -> None:
        # `is_locked` takes the lock for an instant; that is no reason to give up.
        for _ in range(attempts):
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.05)
        raise InputError(
            f"{self.folder} is in use by {holder_sentence(self.folder)}. "
            "Wait until it has finished, or stop it; then repeat the command."
        )

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            with suppress(OSError):
                os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None


def is_locked(folder: Path) -> bool:
    """Tell whether a run holds the folder now."""
    try:
        with (folder / LOCK_FILE).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is no lock
        return False
    return False


def holder_sentence(folder: Path) -> str:
    """Say in words who holds the lock of a folder."""
    try:
        with own_file(folder / LOCK_FILE):
            who = json.loads(read_text(folder / LOCK_FILE))
            return (
                f"another run (process {who['pid']} on {who['host']}, since "
                f"{who['since']})"
            )
    except SymmfError:  # it is about to write who it is
        return "another run"
