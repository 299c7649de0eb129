"""The part that kills runs: what it waits for."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from scripts.fuzz import kills
from scripts.fuzz.harness import Case


def test_one_that_has_ended_has_no_birth() -> None:
    assert kills.born(os.getpid()) == kills.born(os.getpid()) != ""
    child = os.fork()
    if child == 0:
        os._exit(0)
    limit = time.monotonic() + 10
    while kills.born(child) and time.monotonic() < limit:
        time.sleep(0.01)
    assert kills.born(child) == ""  # dead, and not yet waited for
    os.waitpid(child, 0)
    assert kills.born(child) == ""


def test_what_ends_between_two_looks_is_neither_struck_nor_waited_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:

    class Run:
        pid, returncode = os.getpid(), 0
        looks = iter((False, True, True))

        def ends_within(self, _: float) -> bool:
            return next(self.looks)

    gone = 2**22 + 1  # above the largest number a process can have
    struck = []
    monkeypatch.setattr(kills, "descendants", lambda _: [gone])
    monkeypatch.setattr(kills, "_begun", lambda _: 0)
    monkeypatch.setattr(os, "kill", lambda pid, _: struck.append(pid))
    case = Case(0, random.Random(1), tmp_path)
    began = time.monotonic()
    kills._strike(case, Run(), tmp_path, 0.0)  # type: ignore[arg-type]
    assert struck == [os.getpid()]
    assert case.detail == ""
    assert time.monotonic() - began < 60


def test_a_run_may_end_by_any_of_the_strikes_it_met() -> None:
    assert kills._expected(set()) == {0}
    assert kills._expected({"worker", "run"}) == {0, 1, 2, -9}
    assert 2 not in kills._expected({"terminate"})
