"""The command ``symmf``, also ``python -m symmf``: quiet when it is interrupted.

Nothing but this file stands between the first line of the package and the first import
of a library, so that Ctrl-C during the imports ends as Ctrl-C during the work does.
A defect of ours is reported in a sentence too; with ``SYMMF_TRACEBACK=1`` in the
environment it is shown in full, as are warnings of libraries.
"""

import io
import os
import signal
import sys
import warnings
from types import FrameType

INTERRUPTED = 130
# What sysexits.h calls EX_SOFTWARE.
DEFECT = 70
TRACEBACK = "SYMMF_TRACEBACK"
# Of address space, for the libraries alone.
LEAST_MEMORY = 600 << 20


def start() -> None:
    """Run the command line; exit with its code."""
    _open_streams()
    _check_memory()
    # Figures go to files: no window is wanted, whatever a shell has set.
    os.environ["MPLBACKEND"] = "agg"
    pressed = _notice_interrupts()
    in_full = bool(os.environ.get(TRACEBACK))
    if not in_full and not sys.warnoptions:
        warnings.showwarning = _show_own
    try:
        from symmf.cli.main import main

        main()
    except BaseException as problem:
        # Interrupted imports may fail with any error, from C code too.
        if pressed and not isinstance(problem, SystemExit):
            os.write(2, b"Interrupted.\n")
            os._exit(INTERRUPTED)
        if in_full or not isinstance(problem, Exception):
            raise
        _write(_defect(problem))
        sys.exit(DEFECT)


def _open_streams() -> None:
    """Give closed streams (``<&-``, ``>&-``) an end that is nowhere.

    Else the next file that is opened would take the place of the stream, and what is
    meant for a terminal would be written into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)

    # A terminal or file that cannot hold a character gets its escape: \u03bb.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _check_memory() -> None:
    """Refuse a limit of memory below which numpy waits for ever when it is loaded."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit.
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEMORY:
        _write(
            f"Error: Processes are limited to {limit >> 20} MB of memory (ulimit -v); "
            f"symmf needs at least {LEAST_MEMORY >> 20} MB. Raise the limit.\n"
        )
        sys.exit(2)


def _write(text: str) -> None:
    """Write to the error stream, which may be full."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        pass


def _defect(problem: Exception) -> str:
    """Say that something happened that should not; what was written stays whole."""
    what = ascii(str(problem))[1:-1][:300]
    kind = type(problem).__name__
    return (
        f"Error: An unexpected error occurred ({kind}: {what}). This is a bug in "
        "symmf; finished results are kept. Please report it with the command you "
        f"typed. With {TRACEBACK}=1 in the environment the traceback is shown.\n"
    )


def _show_own(
    message: Warning | str,
    category: type[Warning],
    filename: str,  # noqa: ARG001 - the signature of the standard library
    lineno: int,  # noqa: ARG001
    file: object = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Show a warning of ours as a sentence; those of libraries are not for users."""
    if category.__module__.partition(".")[0] == "symmf":
        from symmf.common.texts import terminal_text

        _write(f"Warning: {terminal_text(message)}\n")


def _notice_interrupts() -> list[int]:
    """Return a list that is empty until Ctrl-C was pressed, or an end was asked for."""
    pressed: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        pressed.append(number)
        raise KeyboardInterrupt

    # Under nohup, or in the background, a signal is ignored, and stays so.
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    if hasattr(signal, "SIGHUP"):  # Windows has none.
        usual[signal.SIGHUP] = signal.SIG_DFL
    for number, handler in usual.items():
        if signal.getsignal(number) is handler:
            signal.signal(number, interrupt)
    return pressed


if __name__ == "__main__":
    start()
