"""Cases of which the verdict is known; run as a program, it prints the counts."""

from __future__ import annotations

import json
import os
import random
import sys
import time
import warnings
from pathlib import Path

from scripts.fuzz.harness import Case, Part, Session, attack


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


CASES = {
    "accepted": lambda _: Case(steps=[["--version"]]),
    "clean": lambda _: Case(steps=[["nosuch"]]),
    "crashes": lambda _: Case(steps=[crash]),
    "hangs": lambda _: Case(steps=[["--version"], hang], seconds=0.5),
    "long": lambda _: Case(steps=[long], seconds=0.5, may_be_long=True),
    "tracebacks": lambda _: Case(steps=[fail]),
    "warning": lambda _: Case(steps=[warn]),
    "silent": lambda _: Case(steps=[silent]),
    "odd code": lambda _: Case(steps=[odd_code]),
    "lost": lambda _: Case(steps=[["--version"]], judge=lambda _: "gone"),
    "defect": lambda _: 1 / 0,
    "session": lambda _: Session(tried=7),
    "blamed": lambda _: blamed(),
}


def blamed() -> Session:
    session = Session(tried=3)
    session.look("it", 0, "fine", allowed=(0,))
    session.look("it", 1, "not allowed", allowed=(0,))
    return session


def make(_: random.Random, folder: Path) -> Case | Session:
    return CASES[sys.argv[1]](folder)  # type: ignore[return-value]


if __name__ == "__main__":
    tally = attack(Part(name="x", what="", make=make), seed=0, indices=range(1))
    sys.stdout.write(json.dumps(tally.counts))
