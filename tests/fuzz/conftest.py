"""The command line, run in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from symmf.cli.main import main

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def symmf(capfd: pytest.CaptureFixture[str]) -> Command:
    """Run the command in this process; return exit code and all that it printed."""

    def run(*arguments: object) -> tuple[int, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return int(end.value.code or 0), out + err

    return run
