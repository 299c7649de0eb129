"""The quick selection of the attack: nothing may fail."""

from __future__ import annotations

import pytest
from helpers.attack import run

from scripts.fuzz import faults
from scripts.fuzz.parts import PARTS


@pytest.mark.parametrize("part", [name for name, part in PARTS.items() if part.quick])
def test_nothing_fails(part: str) -> None:
    if PARTS[part].faults and not faults.available():
        pytest.skip("calls are made to fail on Linux, with a C compiler")
    done = run("-m", "scripts.fuzz", part, "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
