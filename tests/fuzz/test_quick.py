"""The quick selection of the attack: nothing may fail."""

from __future__ import annotations

import pytest
from helpers.attack import run

from scripts.fuzz import faults
from scripts.fuzz.parts import FAULTS, PARTS

QUICK = [name for name, part in PARTS.items() if part.quick]


@pytest.mark.parametrize("part", QUICK)
def test_nothing_fails(part: str) -> None:
    attack(part, "--quick")


@pytest.mark.slow
@pytest.mark.parametrize("part", QUICK)
def test_nothing_fails_in_more_cases(part: str) -> None:
    attack(part, "--count", str(8 * PARTS[part].quick))


def attack(part: str, *how_many: str) -> None:
    if part in FAULTS and not faults.available():
        pytest.skip("calls are made to fail on Linux, with a C compiler")
    done = run("-m", "scripts.fuzz", part, *how_many)
    assert done.returncode == 0, done.stdout + done.stderr
