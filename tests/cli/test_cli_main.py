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
from symmf.cli.main import COMMANDS, LazyGroup


def test_help_is_a_command_too(run):
    code, page, _ = run("help")
    assert code == 0
    assert page == run("--help")[1]
    for name in COMMANDS:
        assert f"\n  {name} " in page
        code, out, _ = run("help", name)
        assert code == 0
        assert out.startswith(f"Usage: symmf {name}")
    code, _, err = run("help", "tabels")
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
        (ImportError("x.so: failed to map segment"), 2, ["not enough memory (x.so"]),
        (KeyboardInterrupt(), 130, ["Interrupted."]),
        (click.Abort(), 130, ["Interrupted."]),
    ],
)
def test_what_the_system_refuses_is_a_sentence(
    run, monkeypatch, problem, code, sentences
):
    def refuse(*_):
        raise problem

    monkeypatch.setattr(LazyGroup, "get_command", refuse)
    found, _, err = run("status")
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


def in_shell(command, folder, before=""):
    """Run symmf with the redirections of a shell, and what it does before."""
    done = subprocess.run(
        f"{before} {sys.executable} -m symmf {command}",
        shell=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(symmf.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_closed_standard_input_is_empty(tmp_path):
    code, text = in_shell("cluster - -k 2 <&-", tmp_path)
    assert code == 3
    assert "Standard input is empty" in text


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_matter(tmp_path, closed):
    rows = [f"{i % 3}.5,{i % 2}.25,{i}.125" for i in range(12)]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    code, text = in_shell(f"cluster a.csv -k 2 --out out.csv {closed}", tmp_path)
    assert code == 0, text
    # Nothing that was meant for the terminal went into the file.
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.count(",") for line in lines] == [2] * 13


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "expected"), [("cluster nosuch.csv -k 2", 3), ("cluster", 2)]
)
def test_the_exit_code_tells_where_nothing_else_can(tmp_path, command, expected):
    assert in_shell(f"{command} 2>/dev/full", tmp_path) == (expected, "")


def test_errors_show_names_and_messages_as_text(symmf, tmp_path):
    odd = "a\u202e\x07"
    table, folder, plugin = tmp_path / "a.csv", tmp_path / odd, tmp_path / "p.py"
    table.write_text(f"{odd},b\n1,2\nx,5\n3,4\n5,1\n")
    folder.mkdir()
    plugin.write_text("raise RuntimeError('\\u202e\\x07')")
    for expected, words in (
        (3, ("cluster", tmp_path / f"{odd}.csv", "-k", 2)),
        (3, ("cluster", table, "-k", 2, "--categories", "error")),
        (2, ("cluster", "a.csv", "--out", folder)),
        (2, ("run", "quickstart", "--plugin", plugin)),
    ):
        code, text = symmf(*words)
        assert code == expected
        assert "\\u202e\\x07" in text
        assert not {"\u202e", "\x07"} & set(text)


def test_a_character_that_the_output_cannot_hold_is_escaped(tmp_path):
    latin = "PYTHONIOENCODING=latin-1"
    code, text = in_shell("configs quickstart --copy \u03bb.yaml", tmp_path, latin)
    assert code == 0
    assert "\\u03bb.yaml written" in text


def test_too_little_address_space_is_refused_at_once(tmp_path):
    code, text = in_shell("run x", tmp_path, "ulimit -v 204800;")
    assert code == 2
    assert "200 MB of memory" in text


def test_figures_do_not_ask_for_a_window(tmp_path):
    rows = [f"{i % 3}.5,{i % 2}.25,{i}.125" for i in range(12)]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    command = "cluster a.csv -k 2 --report page.html"
    code, text = in_shell(command, tmp_path, "MPLBACKEND=nonsense")
    assert code == 0, text
