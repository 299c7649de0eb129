from __future__ import annotations

import io
import re
import sys

import pytest

from symmf.cli import terminal
from symmf.cli.terminal import show_table

HEADER = ("name", "size", "what")
ROWS = [
    ("coil20", "1", "[red]images[/] of twenty objects on a turntable, 72 of each"),
    ("tdt2", "12345", "news \x1b[2J"),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown_at(monkeypatch: pytest.MonkeyPatch, width: int) -> str:
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    show_table(HEADER, ROWS, wide=("what",), right=("size",), title="Data [b]")
    return re.sub(r"\x1b\[\d*m", "", stream.getvalue())  # bold, not colours


def test_a_pipe_gets_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(HEADER, ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "name\tsize\twhat"
    assert lines[2] == "tdt2\t12345\tnews \\x1b[2J"


@pytest.mark.parametrize("last", ["twelve images", "zwölf Bilder"])
def test_what_fits_is_aligned_with_and_without_rich(
    monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    rows = [("coil20", "1", last), ("tdt2", "12345", "news")]
    show_table(HEADER, rows, wide=("what",), right=("size",))
    text = re.sub(r"\x1b\[\d*m", "", stream.getvalue())
    assert [line.rstrip() for line in text.splitlines()] == [
        "name     size  what",
        f"coil20      1  {last}",
        "tdt2    12345  news",
    ]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_loses_no_word(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    text = shown_at(monkeypatch, width)
    assert "\x1b[2J" not in text
    for word in " ".join(" ".join(row) for row in ROWS).split():
        assert word.replace("\x1b", "\\x1b") in text, word
    assert max(map(len, text.splitlines())) <= width


def test_prose_goes_below_where_there_is_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = shown_at(monkeypatch, 30).splitlines()
    assert any(line.startswith("    [red]images[/]") for line in lines)
    assert terminal.NARROWEST < 30
