"""The process from which workers are forked, seen from outside.

Importing numpy, scipy and scikit-learn takes over a second and a hundred megabytes.
It is done once, in a clean interpreter without threads, and every worker is a fork of
that: workers start in milliseconds and share the memory. The caller itself cannot be
forked safely: it may hold threads and BLAS or PyTorch state.

The standard library's ``multiprocessing`` has such a server too (start method
``forkserver``). Limits, kills and captured output could be had with it, as they are the
workers' and the pool's business. What it cannot give, read in Python 3.11's source:

- The environment of the workers. Its server inherits ours, so one BLAS thread and a
  fixed hash seed, which must be set before numpy is loaded, would have to be set in the
  caller's own process, a notebook or a dask worker, while its threads read them.
- The main module stays out. Each of its children runs the caller's main module once
  more under another name; a script without a guard would start its study again in
  every worker.
- Imports that fail are told. Its preloading drops an ImportError and does not hand on
  ``sys.path``, so a broken installation shows as slow workers or as failed trials; here
  the server's own output is in the error.
- A server per pool that ends with the pool. There, one server per process stays with
  its memory until the process ends, beside a process that tracks resources.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from typing import IO

from symmf.errors import SymmfError
from symmf.experiment.run.worker import FORK, NUMBER, WAIT

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_TAIL = 2000


class ForkServer:
    """Starts the clean interpreter and asks it for forks; usable from many threads."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _bootstrap(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                start_new_session=True,
                env=_environment(),
            )

    @property
    def alive(self) -> bool:
        """Whether it can still fork."""
        return self._process.poll() is None

    def fork(self, connection: int, errors: int) -> int:
        """Start a worker that serves ``connection``; return its process number."""
        try:
            with self._lock:
                message = FORK + struct.pack(NUMBER, 0)
                socket.send_fds(self._control, [message], [connection, errors])
                return self._answer()
        except OSError:
            self._process.wait()
            raise SymmfError(
                "Worker processes cannot be started: the one they are made from ended "
                f"with exit code {self._process.returncode}.\n{read_tail(self._errors)}"
            ) from None

    def wait(self, pid: int) -> int:
        """Return the exit code of a worker that has ended, negative for a signal."""
        try:
            with self._lock:
                self._control.sendall(WAIT + struct.pack(NUMBER, pid))
                return self._answer()
        except OSError:
            return -signal.SIGKILL

    def _answer(self) -> int:
        answer = self._control.recv(struct.calcsize(NUMBER))
        if not answer:
            raise BrokenPipeError
        number: int = struct.unpack(NUMBER, answer)[0]
        return number

    def close(self) -> None:
        """End it."""
        self._control.close()
        if self.alive:
            self._process.kill()
        self._process.wait()
        self._errors.close()


def read_tail(file: IO[bytes]) -> str:
    """Return the last lines that were written to a file by another process."""
    handle = file.fileno()
    size = os.fstat(handle).st_size
    return os.pread(handle, _TAIL, max(0, size - _TAIL)).decode(errors="replace")


def _bootstrap(handle: int) -> str:
    return (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from symmf.experiment.run.worker import fork_workers; "
        f"fork_workers({handle})"
    )


def _environment() -> dict[str, str]:
    """Return the workers' environment: one BLAS thread until told otherwise.

    The hash seed is fixed too, so that no order of a set can reach a result.
    """
    return {
        **os.environ,
        **dict.fromkeys(_THREAD_VARIABLES, "1"),
        "PYTHONHASHSEED": "0",
    }
