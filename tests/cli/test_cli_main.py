"""The command itself: help, and what a system can do to it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import symmf
from symmf.cli.main import COMMANDS, LazyGroup, main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    captured = capsys.readouterr()
    return end.value.code or 0, captured.out, captured.err


def test_help_is_a_command_too(capsys):
    code, page, _ = run(capsys, "help")
    assert code == 0
    assert page == run(capsys, "--help")[1]
    for name in COMMANDS:
        assert f"\n  {name} " in page
        code, out, _ = run(capsys, "help", name)
        assert code == 0
        assert out.startswith(f"Usage: symmf {name}")
    code, _, err = run(capsys, "help", "tabels")
    assert code == 2
    assert "Did you mean 'tables'?" in err


@pytest.mark.parametrize(
    ("problem", "code", "sentences"),
    [
        (MemoryError("Unable to allocate 8 TiB"), 2, ["memory (Unable to allocate 8"]),
        (MemoryError(), 2, ["There is not enough memory."]),
        (OSError(errno.ENOSPC, "No space left on device", "a/b"), 2, ["a/b could not"]),
        (OSError(errno.ENOSPC, "No space left on device"), 2, ["the folder is /"]),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 2, ["x: Permission"]),
        (OSError("odd"), 2, ["Error: odd."]),
        (KeyboardInterrupt(), 130, ["Interrupted."]),
        (click.Abort(), 130, ["Interrupted."]),
    ],
)
def test_what_the_system_refuses_is_a_sentence(
    capsys, monkeypatch, problem, code, sentences
):
    def refuse(*_):
        raise problem

    monkeypatch.setattr(LazyGroup, "get_command", refuse)
    found, _, err = run(capsys, "status")
    assert found == code
    for sentence in sentences:
        assert sentence in err
    assert not err.rstrip().endswith(":")


@pytest.mark.parametrize("then", ["time.sleep(30)", "raise ImportError('half loaded')"])
def test_an_interrupt_during_imports_is_quiet(tmp_path, then):
    (tmp_path / "click.py").write_text(
        "import os, signal, time\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(1)\n"
        f"except KeyboardInterrupt:\n    {then if 'raise' in then else 'raise'}\n"
    )
    paths = os.pathsep.join([str(tmp_path), str(Path(symmf.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-m", "symmf", "--help"],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, "Interrupted.\n", "")


def run_fresh(tmp_path, code, *arguments, **environment):
    """Run the command in a fresh interpreter, after a line of code of ours."""
    start = f"{code}\nfrom symmf.__main__ import start; start()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(symmf.__file__).parents[1]),
            **environment,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


BREAK = "import symmf.cli.main as m; m.main = lambda: {}['a\\nb']"


def test_a_defect_of_ours_is_a_sentence_with_a_code_of_its_own(tmp_path):
    done = run_fresh(tmp_path, BREAK)
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert "KeyError" in done.stderr
    assert "SYMMF_TRACEBACK=1" in done.stderr


def test_a_defect_is_shown_in_full_on_request(tmp_path):
    done = run_fresh(tmp_path, BREAK, SYMMF_TRACEBACK="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


WARN = (
    "import warnings, symmf.errors, symmf.cli.main as m\n"
    "def main():\n"
    "    warnings.warn('overflow', RuntimeWarning)\n"
    "    warnings.warn('Mind this.', symmf.errors.SymmfWarning)\n"
    "m.main = main"
)


def test_only_our_own_warnings_reach_a_user(tmp_path):
    assert run_fresh(tmp_path, WARN).stderr == "Warning: Mind this.\n"
    assert "overflow" in run_fresh(tmp_path, WARN, SYMMF_TRACEBACK="1").stderr
