"""A command of the program in this process."""

from __future__ import annotations

import pytest

from symmf.cli.main import main


def symmf(capfd, *arguments):
    """Run a command; return exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    captured = capfd.readouterr()
    assert "Traceback" not in captured.out + captured.err
    return end.value.code or 0, captured.out, captured.err
