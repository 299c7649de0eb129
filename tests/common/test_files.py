"""Files are read only if they are files, and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from symmf.common.files import read_file, read_text


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes("\u00e9\r\n".encode())
    assert read_file(path) == b"\xc3\xa9\r\n"
    assert read_text(path) == "\u00e9\r\n"
    (tmp_path / "link").symlink_to(path)
    assert read_file(tmp_path / "link") == path.read_bytes()


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("pipe", "loop", "nothing", ".", "/dev/zero"):
        with pytest.raises(OSError, match=r".") as caught:
            read_file(tmp_path / name)
        assert caught.value.filename is not None


def test_no_file_stays_open_when_it_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("pipe", "."):
        with pytest.raises(OSError, match="not a file"):
            read_file(tmp_path / name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(50 << 30)
    with pytest.raises(OSError, match="too large"):
        read_file(path)
    path.write_bytes(b"four")
    assert read_file(path, largest=4) == b"four"
    with pytest.raises(OSError, match="too large"):
        read_file(path, largest=3)
