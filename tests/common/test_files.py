"""Files are read only if they are files, and written whole or not at all."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import pytest

from symmf.common.files import read_file, read_text, write_atomically


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


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    path, victim = tmp_path / "out.csv", tmp_path / "victim"
    victim.write_text("mine")
    path.symlink_to(victim)
    write_atomically(path, "new")
    assert (victim.read_text(), path.read_text()) == ("mine", "new")


def test_a_full_disk_names_the_path_and_leaves_nothing(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError, match=r"out\.csv") as caught:
            write_atomically(tmp_path / "out.csv", b"x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.filename == str(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
