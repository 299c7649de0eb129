"""Calling a reader in a child process, seen from outside."""

from __future__ import annotations

import atexit
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from symmf import errors
from symmf.common.sandbox.files import check_file, in_units
from symmf.common.sandbox.server import MESSAGE
from symmf.common.texts import plain_text
from symmf.errors import DataError, SymmfError

LARGEST = 16 << 30
# Time grows with the file: no format takes a second for a megabyte.
_SECONDS, _BYTES_PER_SECOND = 60.0, 1e6
_TEXT = 300


def read_in_child(
    function: Callable[..., Any],
    path: Path,
    /,
    *,
    memory: int | None = None,
    seconds: float | None = None,
    largest: int = LARGEST,
    **options: Any,
) -> Any:
    """Return ``function(path, **options)``, computed in a process with limits.

    Parameters
    ----------
    function
        A function at the top level of an importable module.
    path
        The file. Named pipes, devices, sockets and files above ``largest`` bytes are
        refused unopened; a folder is allowed.
    memory
        Bytes the child may take; default half of the machine's memory.
    seconds
        Time it may take; default 60 seconds and one for each megabyte.
    largest
        Number of bytes above which the file is refused.
    **options
        Further arguments, plain data.

    Returns
    -------
    numbers, texts, bytes, None, arrays, sparse matrices, or lists and dicts of them
        Sparse matrices have been checked. Arrays can be written to.

    Raises
    ------
    SymmfError
        An error of this package that the function raised, as it is.
    DataError
        If the child crashed, took too much memory or time, or failed in any other way.

    Notes
    -----
    The first call costs the start of an interpreter (a third of a second), later ones
    a fork (a few milliseconds). Where processes cannot be forked, as on Windows, the
    function runs in this process and only its exceptions are turned into sentences.
    """
    # os.path: it does not raise for a name that no file can have.
    is_folder = os.path.isdir(path)  # noqa: PTH112
    size = 0 if is_folder else check_file(path, largest=largest)
    limit = _half_of_memory() if memory is None else memory
    time = _SECONDS + size / _BYTES_PER_SECOND if seconds is None else seconds
    if not hasattr(os, "fork"):  # pragma: no cover (Windows)
        return _call_here(function, path, options)
    request = {
        "module": function.__module__,
        "name": function.__name__,
        "path": str(path.absolute()),
        "options": options,
        "memory": limit,
        "seconds": time,
    }
    with _exchange_file() as exchange:
        exchange.write(json.dumps(request).encode())
        exchange.flush()
        ended = _ask(exchange.fileno())
        if ended["late"] or ended["code"] != 0:
            raise DataError(_crashed(path, ended, limit, time))
        return _answer(path, exchange.fileno(), limit)


def _ask(exchange: int) -> dict[str, Any]:
    """Hand the request to the server; return how the worker ended."""
    for _ in range(2):
        text = _try_to_ask(exchange)
        if text:
            ended: dict[str, Any] = json.loads(text)
            return ended
        # It is gone: the next one may do better.
        close_server()
    raise SymmfError(
        "The process that reads files could not be started, or was killed. Free some "
        "memory, or end other processes, and try again."
    )


def _try_to_ask(exchange: int) -> bytes:
    """Return what the watcher says at the end; nothing if there was none."""
    ours, theirs = os.pipe()
    try:
        try:
            _server().send(exchange, theirs)
        except OSError:
            return b""
        finally:
            os.close(theirs)
        with os.fdopen(ours, "rb", closefd=False) as status:
            return status.read()
    finally:
        os.close(ours)


def _answer(path: Path, handle: int, memory: int) -> Any:
    from symmf.common.sandbox.transport import decode

    size = os.fstat(handle).st_size
    try:
        if size == 0:
            raise ValueError("nothing was handed back")
        # A private view: no copy is made, and arrays can be written to.
        answer = decode(mmap.mmap(handle, size, access=mmap.ACCESS_COPY))
        error = answer.get("error")
        if error is None:
            return answer["value"]
    except DataError as problem:
        raise DataError(f"{path}: {problem}") from problem
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as problem:
        raise DataError(
            f"{path} is damaged: its reader did not hand back what it should "
            f"({type(problem).__name__})."
        ) from problem
    raise _as_error(path, error, memory)


def _as_error(path: Path, error: dict[str, Any], memory: int) -> SymmfError:
    """Return the exception that stands for the one the worker met."""
    text = plain_text(error["text"])
    for kind in error["kinds"]:
        known = getattr(errors, kind, None)
        if isinstance(known, type) and issubclass(known, SymmfError):
            named = path.name in error["text"]
            return known(error["text"] if named else f"{path}: {error['text']}")
        if kind == "MemoryError":
            return DataError(_too_large(path, memory))
        if kind == "OSError" and error["reason"]:
            return DataError(f"{path} cannot be read ({plain_text(error['reason'])}).")
    return DataError(
        f"{path} cannot be read; it is damaged or of another format "
        f"({error['kinds'][0]}: {text[:_TEXT]})."
    )


def _crashed(path: Path, ended: dict[str, Any], memory: int, seconds: float) -> str:
    code = ended["code"]
    if ended["late"] or code == -signal.SIGXCPU:
        return (
            f"{path} was not read: its reader was stopped after {seconds:g} seconds. "
            "The file is damaged, or larger than can be read here."
        )
    if code in (-signal.SIGKILL, -signal.SIGXFSZ):
        return _too_large(path, memory)
    try:
        how = signal.Signals(-code).name
    except ValueError:
        how = f"exit code {code}"
    return (
        f"{path} is damaged: it made its reader crash ({how}). Get the file again, or "
        "write it anew with the program it came from."
    )


def _too_large(path: Path, memory: int) -> str:
    return (
        f"{path} does not fit in memory: reading it took more than "
        f"{in_units(memory)}. The file is damaged, or needs a larger machine."
    )


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (ValueError, OSError, AttributeError):  # pragma: no cover
        return 4 << 30


def _exchange_file() -> Any:
    """Return a file without a name, in memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("symmf"), "w+b")
    return tempfile.TemporaryFile()  # pragma: no cover (not Linux)


def _call_here(
    function: Callable[..., Any], path: Path, options: dict[str, Any]
) -> Any:  # pragma: no cover (Windows)
    from symmf.common.sandbox.server import describe_error

    try:
        return function(path, **options)
    except Exception as error:
        raise _as_error(path, describe_error(error), _half_of_memory()) from error


class _Server:
    """The interpreter that forks, started when it is first needed."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._socket, theirs = socket.socketpair()
        with theirs:
            code = (
                f"import sys; sys.path[:] = {sys.path!r}; "
                "from symmf.common.sandbox.server import serve; "
                f"serve({theirs.fileno()})"
            )
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                # A fork is safe only in a process without threads.
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )

    def send(self, exchange: int, status: int) -> None:
        socket.send_fds(self._socket, [MESSAGE], [exchange, status])

    def close(self) -> None:
        self._socket.close()
        # A fork of this process shares the socket, but not the child.
        if self.owner == os.getpid():
            self._process.kill()
            self._process.wait()


_lock = threading.Lock()
_current: _Server | None = None


def _server() -> _Server:
    """Return the server that runs, or a new one."""
    global _current
    with _lock:
        if _current is None:
            _current = _Server()
        return _current


@atexit.register
def close_server() -> None:
    """End the server, if there is one; the next call starts another."""
    global _current
    with _lock:
        if _current is not None:
            _current.close()
            _current = None
