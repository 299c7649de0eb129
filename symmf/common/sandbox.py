"""Parse untrusted files in a child process, so that nothing can crash.

Readers of binary formats are C code that trusts what it reads: a damaged file can make
them crash, take all memory or never end. :func:`read_in_child` runs such a reader in a
process of its own with limits and hands back plain data; whatever goes wrong there is a
:class:`~symmf.errors.DataError` with a sentence.

>>> from symmf.common.sandbox import check_file, read_in_child
>>> arrays = read_in_child(read_arrays, Path("points.mat"))  # doctest: +SKIP

``read_arrays(path, **options)`` is any function at the top level of a module. What it
may return is said in :func:`symmf.common.codec.save`; nothing is ever unpickled.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from symmf import errors
from symmf.common.files import check_file, in_units
from symmf.common.texts import plain_text
from symmf.errors import DataError, SymmfError

__all__ = ["LARGEST", "check_file", "read_in_child"]

LARGEST = 16 << 30
# Time grows with the file: no format takes a second for a megabyte.
_SECONDS, _BYTES_PER_SECOND = 60.0, 1e6
_TEXT = 300
# The child ends itself at its limit; where it cannot, it is ended this much later.
_STARTS_WITHIN = 30.0


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
        Further arguments, as JSON can hold them.

    Returns
    -------
    numbers, texts, None, arrays, sparse matrices, or lists and dicts of them
        Sparse matrices are csr arrays with checked indices.

    Raises
    ------
    SymmfError
        An error of this package that the function raised, as it is.
    DataError
        If the child crashed, took too much memory or time, or failed in any other way.

    Notes
    -----
    A call costs the start of an interpreter and the imports of the reader, about a
    third of a second. The child ends at its time limit even if this process is killed.
    """
    # os.path: it does not raise for a name that no file can have.
    is_folder = os.path.isdir(path)  # noqa: PTH112
    size = 0 if is_folder else check_file(path, largest=largest)
    request: dict[str, Any] = {
        "module": function.__module__,
        "name": function.__name__,
        "path": str(path.absolute()),
        "options": options,
        "memory": _half_of_memory() if memory is None else memory,
        "seconds": _SECONDS + size / _BYTES_PER_SECOND if seconds is None else seconds,
    }
    with _exchange_file() as exchange:
        code = _run_child(path, request, exchange)
        if code != 0:
            raise _crash(path, code, request)
        return _answer(path, exchange, request)


def _exchange_file() -> IO[bytes]:
    """Return a file without a name, in memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("symmf"), "w+b")
    return tempfile.TemporaryFile()  # pragma: no cover (not Linux)


def _run_child(path: Path, request: dict[str, Any], exchange: IO[bytes]) -> int:
    """Run this module as a program that writes to ``exchange``; return how it ended."""
    try:
        return subprocess.run(
            [sys.executable, "-P", "-m", "symmf.common.sandbox"],
            input=json.dumps(request).encode(),
            stdout=exchange,
            stderr=subprocess.DEVNULL,
            timeout=request["seconds"] + _STARTS_WITHIN,
            # The same modules as here; threads would cost memory, and save no time.
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(sys.path)}
            | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        raise _too_long(path, request) from None
    except OSError as error:
        raise SymmfError(
            "The process that reads files could not be started "
            f"({error.strerror}). Free some memory, or end other processes, and try "
            "again."
        ) from error


def _answer(path: Path, exchange: IO[bytes], request: dict[str, Any]) -> Any:
    from symmf.common import codec

    exchange.seek(0)
    try:
        answer = codec.load(exchange)
        if "value" in answer:
            return answer["value"]
        error = answer["error"]
    except Exception as problem:
        # The child parsed a file that may be forged: it may have written anything.
        raise DataError(
            f"{path} is damaged: its reader returned something unexpected "
            f"({type(problem).__name__})."
        ) from problem
    raise _as_error(path, error, request)


def _as_error(path: Path, error: dict[str, Any], request: dict[str, Any]) -> SymmfError:
    """Return the exception that stands for the one the child met."""
    text = plain_text(error["text"])
    for kind in error["kinds"]:
        known: type[SymmfError] | None = getattr(errors, kind, None)
        if known is not None:
            named = path.name in error["text"]
            return known(error["text"] if named else f"{path}: {error['text']}")
        if kind == "ImportError":
            return DataError(
                f"{path} is read with a package that is missing ({text}). Install it: "
                "pip install 'symmf[io]'"
            )
        if kind == "MemoryError":
            return _too_large(path, request)
        if kind == "OSError" and error["reason"]:
            return DataError(f"{path} cannot be read ({plain_text(error['reason'])}).")
    return DataError(
        f"{path} cannot be read; it is damaged or of another format "
        f"({error['kinds'][0]}: {text[:_TEXT]})."
    )


def _crash(path: Path, code: int, request: dict[str, Any]) -> DataError:
    """Return the error for a child that ended without an answer."""
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    if how in ("SIGALRM", "SIGXCPU"):
        return _too_long(path, request)
    if how in ("SIGKILL", "SIGXFSZ"):
        return _too_large(path, request)
    return DataError(
        f"{path} is damaged: it made its reader crash ({how}). Get the file again, or "
        "export it again from the program it came from."
    )


def _too_long(path: Path, request: dict[str, Any]) -> DataError:
    return DataError(
        f"{path} was not read: its reader was stopped after {request['seconds']:g} "
        "seconds. The file is damaged, or larger than can be read here."
    )


def _too_large(path: Path, request: dict[str, Any]) -> DataError:
    return DataError(
        f"{path} does not fit in memory: reading it took more than "
        f"{in_units(request['memory'])}. The file is damaged, or needs a larger "
        "machine."
    )


def _half_of_memory() -> int:
    if not hasattr(os, "sysconf"):  # Windows; there is no limit of memory either.
        return 1 << 40
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


# In the child


def _main() -> None:
    """Call the function that standard input names; write what it gives."""
    from symmf.common import codec

    request = json.load(sys.stdin)
    # Standard output is the exchange file: what a reader prints goes elsewhere.
    with os.fdopen(os.dup(1), "w+b") as exchange:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            # Our own code: its imports do not count against the limits.
            function = getattr(
                importlib.import_module(request["module"]), request["name"]
            )
            _limit(request["memory"], request["seconds"])
            value = function(Path(request["path"]), **request["options"])
            codec.save(exchange, {"value": value})
        except BaseException as error:
            exchange.seek(0)
            exchange.truncate()
            codec.save(exchange, {"error": _describe(error)})
    # What C code left behind may crash an orderly end.
    os._exit(0)


def _describe(error: BaseException) -> dict[str, Any]:
    return {
        "kinds": [kind.__name__ for kind in type(error).__mro__],
        "text": str(error)[:2000],
        "reason": getattr(error, "strerror", None),
    }


def _limit(memory: int, seconds: float) -> None:
    """Limit memory, time and files; no core is left for the user to find."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows; the caller alone watches the time.
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
    # Both end the process, whichever code runs.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _mapped() -> int:
    """Return the address space this process has already."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # pragma: no cover (not Linux)
        return 1 << 30
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    _main()
