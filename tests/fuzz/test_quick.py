"""The quick selection of the attack: nothing may fail."""

from __future__ import annotations

import pytest
from test_harness import run


@pytest.mark.parametrize("part", ["configs", "options", "imports", "files", "numerics"])
def test_nothing_fails(part: str) -> None:
    done = run("-m", "scripts.fuzz", part, "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
