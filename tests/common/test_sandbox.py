"""Reading in a child process: values survive, and every way to fail is a sentence."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers import isolated_readers as readers
from scipy import sparse

from symmf.common.sandbox import check_file, read_in_child
from symmf.errors import DataError, InputError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "given.mat"
    path.write_bytes(b"12345")
    return path


def test_values_of_every_kind_come_back(path: Path) -> None:
    expected = readers.everything(path)
    found = read_in_child(readers.everything, path)
    assert list(found) == list(expected)
    for name, value in expected.items():
        other = found[name]
        if sparse.issparse(value):
            assert (other.toarray() == value.toarray()).all()
            assert isinstance(other, sparse.csr_array)
        elif isinstance(value, np.ndarray):
            assert other.dtype == value.dtype
            assert other.shape == value.shape
            assert other.tolist() == value.tolist()
        elif name == "nan":
            assert np.isnan(other)
        else:
            assert other == value
            assert type(other) is type(value)


def test_arrays_can_be_written_to(path: Path) -> None:
    rows = read_in_child(readers.everything, path)["rows"]
    rows[0, 0] = 5
    assert rows[0, 0] == 5


def test_it_is_another_process_each_time(path: Path) -> None:
    pids = {read_in_child(readers.pid, path) for _ in range(3)}
    assert len(pids) == 3
    assert os.getpid() not in pids


@pytest.mark.parametrize(
    "number",
    [signal.SIGSEGV, signal.SIGFPE, signal.SIGBUS, signal.SIGABRT, signal.SIGILL],
)
def test_a_crash_is_a_sentence(path: Path, number: signal.Signals) -> None:
    with pytest.raises(DataError, match=f"given.mat is damaged.*{number.name}"):
        read_in_child(readers.crash, path, signal_number=int(number))


def test_a_kill_by_the_system_names_the_memory(path: Path) -> None:
    with pytest.raises(DataError, match=r"does not fit in memory.*more than 2 GB"):
        read_in_child(
            readers.crash, path, signal_number=int(signal.SIGKILL), memory=2 * 10**9
        )


def test_a_hang_ends(path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(DataError, match=r"stopped after 0\.3 seconds"):
        read_in_child(readers.hang, path, seconds=0.3)
    assert time.monotonic() - start < 5


def test_a_hang_ends_where_no_alarm_rings(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symmf.common.sandbox._STARTS_WITHIN", 3.0)
    with pytest.raises(DataError, match=r"stopped after 0\.3 seconds"):
        read_in_child(readers.hang_deaf, path, seconds=0.3)


def test_what_a_reader_prints_is_no_answer(path: Path) -> None:
    assert read_in_child(readers.chatter, path) == "answer"


@pytest.mark.parametrize("function", [readers.take_memory, readers.grow_result])
def test_memory_is_limited(path: Path, function: object) -> None:
    with pytest.raises(DataError, match=r"does not fit in memory.*200 MB"):
        read_in_child(function, path, memory=200_000_000)  # type: ignore[arg-type]


def test_own_errors_come_back_as_they_are(path: Path) -> None:
    with pytest.raises(InputError, match=r"^given.mat has no column 'x'\.$"):
        read_in_child(readers.misuse, path, word="x")


def test_other_errors_are_sentences_without_control_characters(path: Path) -> None:
    with pytest.raises(DataError, match="damaged or of another format") as caught:
        read_in_child(readers.fail, path)
    assert "LookupError" in str(caught.value)
    assert str(caught.value).isprintable()


def test_wrong_indices_are_refused(path: Path) -> None:
    with pytest.raises(DataError, match=r"given\.mat is damaged"):
        read_in_child(readers.wrong_indices, path)


def test_what_is_not_plain_data_is_refused(path: Path) -> None:
    with pytest.raises(DataError, match="type object is not plain data"):
        read_in_child(readers.opaque, path)


def test_a_killed_caller_takes_the_reader_along(path: Path) -> None:
    """At the latest when its time is over."""
    code = (
        "import pathlib, helpers.isolated_readers as r\n"
        "from symmf.common.sandbox import read_in_child\n"
        f"read_in_child(r.hang, pathlib.Path({str(path)!r}), seconds=2)\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], env=env) as caller:
        reader = path.with_name("pid")
        wait_until(lambda: reader.exists() and reader.read_text() != "")
        caller.kill()
    wait_until(lambda: not is_running(int(reader.read_text())))


def wait_until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_paths_that_are_no_files_are_refused_unopened(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.mat"
    os.mkfifo(fifo)
    with pytest.raises(DataError, match="is a named pipe, not a file"):
        read_in_child(readers.pid, fifo)
    with pytest.raises(DataError, match="/dev/zero is a device"):
        read_in_child(readers.pid, Path("/dev/zero"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(DataError, match="is a socket"):
            read_in_child(readers.pid, tmp_path / "s")
    with pytest.raises(DataError, match="is a folder"):
        check_file(tmp_path, largest=10)
    with pytest.raises(DataError, match=r"does not exist\. Give another\."):
        check_file(tmp_path / "no", largest=10, advice="Give another.")
    with pytest.raises(DataError, match="cannot be the name of a file"):
        check_file(Path("a\0b"), largest=10)
    with pytest.raises(DataError, match="cannot be read"):
        read_in_child(readers.pid, tmp_path / ("x" * 5000))


def test_a_file_above_the_limit_is_refused_unopened(path: Path) -> None:
    with pytest.raises(DataError, match="has 5 bytes; files of more than 4 bytes"):
        read_in_child(readers.pid, path, largest=4)
