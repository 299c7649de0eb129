"""The command ``symmf``, also ``python -m symmf``: quiet when it is interrupted.

Nothing but this file stands between the first line of the package and the first import
of a library, so that Ctrl-C during the imports ends as Ctrl-C during the work does.
"""

import os
import signal
from types import FrameType

INTERRUPTED = 130


def start() -> None:
    """Run the command line; exit with its code."""
    pressed = _notice_interrupts()
    try:
        from symmf.cli.main import main

        main()
    except BaseException as problem:
        # Interrupted imports may fail with any error, from C code too.
        if not pressed or isinstance(problem, SystemExit):
            raise
        os.write(2, b"Interrupted.\n")
        os._exit(INTERRUPTED)


def _notice_interrupts() -> list[int]:
    """Return a list that is empty until Ctrl-C was pressed, or an end was asked for."""
    pressed: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        pressed.append(number)
        raise KeyboardInterrupt

    # Under nohup, or in the background, a signal is ignored, and stays so.
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    for number, handler in usual.items():
        if signal.getsignal(number) is handler:
            signal.signal(number, interrupt)
    return pressed


if __name__ == "__main__":
    start()
