"""The process that parses, seen from inside.

A clean interpreter imports numpy and scipy once and forks for every request: a watcher,
which keeps the time and tells how it ended, and a worker, which parses under limits.
All of them end when whoever asked is gone.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

MESSAGE = b"R"


def serve(handle: int) -> None:
    """Answer requests until the other side closes its socket."""
    # Ctrl-C is the caller's business; its socket closes then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    import scipy.io  # noqa: F401 (what nearly every reader needs)

    import symmf.common.sandbox.transport  # noqa: F401

    requests = socket.socket(fileno=handle)
    while True:
        message, handles, _, _ = socket.recv_fds(requests, len(MESSAGE), 2)
        if not message:
            os._exit(0)
        if len(handles) == 2:
            _start(requests, *handles)
        for received in handles:
            os.close(received)


def _start(requests: socket.socket, exchange: int, status: int) -> None:
    """Fork a watcher for the request in the file ``exchange``."""
    request = json.loads(os.pread(exchange, os.fstat(exchange).st_size, 0))
    # Our own code, imported once here rather than in every worker.
    with suppress(Exception):
        importlib.import_module(request["module"])
    with suppress(OSError):
        if os.fork() == 0:
            try:
                requests.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _watch(request, exchange, status)
            finally:
                os._exit(1)


def _watch(request: dict[str, Any], exchange: int, status: int) -> None:
    """Run the worker, end it at the limit, write how it ended to ``status``."""
    worker = os.fork()
    if worker == 0:
        os.close(status)
        _work(request, exchange)
    deadline = time.monotonic() + request["seconds"]
    listener = select.poll()
    # No events asked for: it wakes when nobody reads the other end any more.
    listener.register(status, 0)
    pause, late = 1, False
    while True:
        pid, code = os.waitpid(worker, os.WNOHANG)
        if pid:
            break
        late = time.monotonic() > deadline
        if late or listener.poll(pause):
            os.kill(worker, signal.SIGKILL)
            _, code = os.waitpid(worker, 0)
            break
        pause = min(2 * pause, 50)
    ended = {"code": os.waitstatus_to_exitcode(code), "late": late}
    os.write(status, json.dumps(ended).encode())
    os._exit(0)


def _work(request: dict[str, Any], exchange: int) -> None:
    """Call the function and write what it gives; never return."""
    try:
        _silence()
        _limit(request["memory"], request["seconds"])
        try:
            _write({"value": _call(request)}, exchange)
        except BaseException as error:
            _write({"error": describe_error(error)}, exchange)
    finally:
        os._exit(0)


def _write(answer: dict[str, Any], exchange: int) -> None:
    """Put an answer in the place of what is in the file."""
    from symmf.common.sandbox.transport import encode

    os.ftruncate(exchange, 0)
    os.lseek(exchange, 0, os.SEEK_SET)
    with os.fdopen(exchange, "wb", closefd=False) as file:
        encode(answer, file.write)


def _call(request: dict[str, Any]) -> Any:
    function = getattr(importlib.import_module(request["module"]), request["name"])
    return function(Path(request["path"]), **request["options"])


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return the kinds and the text of an exception as plain data."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    reason = getattr(error, "strerror", None) if isinstance(error, OSError) else None
    return {"kinds": kinds, "text": str(error)[:2000], "reason": reason}


def _silence() -> None:
    """Keep what C code prints, and core files, away from the user."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _limit(memory: int, seconds: float) -> None:
    try:
        import resource
    except ImportError:  # pragma: no cover (not a Unix)
        return
    limits = {
        resource.RLIMIT_AS: _mapped() + memory,
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: memory,
    }
    for limit, value in limits.items():
        # A system may not know a limit, or have a lower one.
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def _mapped() -> int:
    """Return the address space this process has already."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # pragma: no cover (not Linux)
        return 1 << 30
    return pages * os.sysconf("SC_PAGE_SIZE")
