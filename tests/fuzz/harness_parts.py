"""Cases of which the verdict is known; run as a program, it prints what was found."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings

from scripts.fuzz.harness import Case, Tally, attack
from scripts.fuzz.process import Ended


def crash() -> None:
    os.abort()


def hang() -> None:
    time.sleep(60)


def long() -> int:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        sys.stdout.write("Interrupted.")
    return 130


def fail() -> None:
    raise KeyError("x")


def warn() -> None:
    warnings.simplefilter("always")
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def silent() -> int:
    return 2


def odd_code() -> int:
    sys.stdout.write("something\n")
    return 9


def lose(case: Case) -> None:
    case.run("--version")
    case.blame("lost", "gone")


def divide(_: Case) -> None:
    raise ZeroDivisionError


def strike(case: Case) -> None:
    case.tried = 7


def blamed(case: Case) -> None:
    case.tried = 3
    case.look("it", Ended(0, "fine"), (0,))
    case.look("it", Ended(1, "not allowed"), (0,))


CASES = {
    "accepted": lambda case: case.run("--version"),
    "clean": lambda case: case.run("nosuch"),
    "crashes": lambda case: case.run(crash),
    "hangs": lambda case: [case.run("--version"), case.run(hang, seconds=0.5)],
    "long": lambda case: case.run(long, seconds=0.5, may_be_long=True),
    "tracebacks": lambda case: case.run(fail),
    "warning": lambda case: case.run(warn),
    "silent": lambda case: case.run(silent),
    "odd code": lambda case: case.run(odd_code),
    "lost": lose,
    "defect": divide,
    "strikes": strike,
    "blamed": blamed,
}


def live(case: Case) -> None:
    list(CASES.values())[case.index](case)


if __name__ == "__main__":
    for index, name in enumerate(CASES):
        tally = Tally(part="x", what="", seed=0)
        list(attack(live, tally, [index]))
        found = {verdict: n for verdict, n in tally.counts.items() if n}
        sys.stdout.write(json.dumps([name, found]) + "\n")
