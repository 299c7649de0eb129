"""What the second attack found, one test for each finding.

Whatever is given, the answer is a sentence and an exit code; where something is
accepted, it is right.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Command = Callable[..., tuple[int, str]]


def write_table(path: Path, n: int = 12, names: str = "") -> Path:
    """Write a table of three columns."""
    X = np.random.default_rng(0).random((n, 3)).round(3)
    lines = [",".join(map(str, row)) for row in X]
    path.write_text("\n".join([names, *lines] if names else lines))
    return path


def in_shell(command: str, folder: Path) -> tuple[int, str]:
    """Run symmf with the redirections of a shell."""
    done = subprocess.run(
        f"{sys.executable} -m symmf {command}",
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


# Streams and terminals.


def test_closed_standard_input_is_empty(tmp_path: Path) -> None:
    code, text = in_shell("cluster - -k 2 <&-", tmp_path)
    assert code == 3
    assert "Standard input is empty" in text


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_matter(tmp_path: Path, closed: str) -> None:
    write_table(tmp_path / "a.csv")
    code, text = in_shell(f"cluster a.csv -k 2 --out out.csv {closed}", tmp_path)
    assert code == 0, text
    lines = (tmp_path / "out.csv").read_text().splitlines()
    # Nothing that was meant for the terminal went into the file.
    assert len(lines) == 13
    assert all(line.count(",") == 1 for line in lines)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "expected"), [("cluster nosuch.csv -k 2", 3), ("cluster", 2)]
)
def test_the_exit_code_tells_where_nothing_else_can(
    tmp_path: Path, command: str, expected: int
) -> None:
    assert in_shell(f"{command} 2>/dev/full", tmp_path) == (expected, "")


def test_no_memory_for_a_library_is_a_sentence(
    symmf: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(_: str) -> None:
        raise ImportError("x.so: failed to map segment from shared object")

    monkeypatch.setattr("symmf.cli.main.importlib.import_module", load)
    code, text = symmf("methods")
    assert code == 2
    assert "not enough memory" in text


def test_errors_show_names_of_files_and_columns_as_text(
    symmf: Command, tmp_path: Path
) -> None:
    code, text = symmf("cluster", tmp_path / "a\u202e\x07.csv", "-k", 2)
    assert code == 3
    assert "a\\u202e\\x07.csv does not exist" in text
    table = tmp_path / "a.csv"
    table.write_text("a\u202e\x07,b\n" + "1,2\nx,5\n3,4\n5,1\n")
    code, text = symmf("cluster", table, "-k", 2)
    assert code == 3
    assert "--drop 'a\\u202e\\x07'" in text


def test_messages_of_a_plugin_show_as_text(symmf: Command, tmp_path: Path) -> None:
    plugin = tmp_path / "p.py"
    plugin.write_text("raise RuntimeError('\\u202e\\x07')")
    code, text = symmf("run", "quickstart", "--plugin", plugin)
    assert code == 2
    assert "RuntimeError on line 1: \\u202e\\x07" in text


def test_errors_of_usage_show_what_was_typed_as_text(symmf: Command) -> None:
    for words in (["--a\u202e\x07"], ["a.csv", "--seed", "\u202e\x07"]):
        code, text = symmf("cluster", *words)
        assert code == 2
        assert "Usage: symmf cluster" in text
        assert "\u202e" not in text
        assert "\x07" not in text
