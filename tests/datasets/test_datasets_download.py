"""Fetching from a server on this machine."""

import contextlib
import hashlib
import os
import threading
import time
import zipfile
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import numpy as np
import pytest

from symmf.datasets import DATASETS, Dataset, DatasetSpec, RemoteFile, Source, download
from symmf.datasets.download import fetch
from symmf.datasets.local import State, file_path, state
from symmf.datasets.matfile import read_mat, write_mat
from symmf.errors import DataError

FEA = np.random.default_rng(0).random((400, 30))
GND = np.arange(400) % 4 + 1


def read(path):
    fea, gnd = read_mat(path)
    return Dataset.from_arrays(fea, gnd, name="tiny", title="Tiny", kind="vector")


def crash(_):
    os.abort()


def convert(given, path):
    with zipfile.ZipFile(given) as archive:
        fea = np.frombuffer(archive.read("fea"), dtype="<f8").reshape(FEA.shape)
    write_mat(path, fea, GND)


def zipped(fea):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("fea", fea.tobytes())
    return buffer.getvalue()


@dataclass
class Server:
    """What to serve, and what was asked for."""

    files: dict = field(default_factory=dict)
    faults: dict = field(default_factory=dict)
    ranges: bool = True
    requests: list = field(default_factory=list)
    address: str = ""


class Handler(BaseHTTPRequestHandler):
    """Serves ``server.plan``: its files, after the faults listed for each."""

    def do_GET(self):
        plan = self.server.plan
        asked = self.headers.get("Range")
        plan.requests.append((self.path, asked))
        faults = plan.faults.get(self.path, [])
        fault = faults.pop(0) if faults else None
        content = plan.files.get(self.path)
        if content is None or (fault and fault.isdigit()):
            self.send_error(int(fault or 404))
            return
        start = 0
        if asked and plan.ranges:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206)
            last = len(content) - 1
            self.send_header("Content-Range", f"bytes {start}-{last}/{last + 1}")
        else:
            self.send_response(200)
        body = content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "slow":
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b"?")
                    time.sleep(0.05)
            return
        self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "PAUSES", (0, 0))
    monkeypatch.setenv("NO_PROXY", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.plan = Server(address=f"http://127.0.0.1:{http.server_port}")
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield http.plan
        http.shutdown()
        thread.join()


@pytest.fixture
def right(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "tiny.mat"
    write_mat(path, FEA, GND)
    return path.read_bytes()


def make_spec(server, right, *sources):
    """Return a spec with the given paths as sources, all with right checksums."""
    sha256 = hashlib.sha256(right).hexdigest()
    known = {"/tiny.zip": "md5:" + hashlib.md5(zipped(FEA)).hexdigest()}
    return DatasetSpec(
        name="tiny",
        title="Tiny",
        description="small",
        licence="none",
        citation="",
        read=read,
        file=RemoteFile(
            path="tiny/tiny.mat",
            size=len(right),
            sha256=sha256,
            sources=tuple(
                Source(
                    url=server.address + path,
                    archive=known.get(path),
                )
                for path in sources
            ),
        ),
        digest=Dataset.from_arrays(FEA, GND, name="", title="", kind="vector").digest,
        convert=convert,
        accepts="tiny.mat",
    )


def everything(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))


def test_fetch_installs_the_file_and_nothing_else(server, right, tmp_path):
    server.files["/tiny.mat"] = right
    spec, told = make_spec(server, right, "/tiny.mat"), []
    urls = fetch(spec, tmp_path, progress=lambda *counts: told.append(counts))
    assert urls == [server.address + "/tiny.mat"]
    assert told[-1] == (len(right), len(right))
    assert file_path(spec, tmp_path).read_bytes() == right
    assert everything(tmp_path) == ["tiny", "tiny/tiny.mat"]
    asked = len(server.requests)
    assert fetch(spec, tmp_path) == []
    assert len(server.requests) == asked


def test_second_source_is_used_if_the_first_is_gone(server, right, tmp_path):
    server.files["/b.mat"] = right
    spec = make_spec(server, right, "/a.mat", "/b.mat")
    assert fetch(spec, tmp_path) == [server.address + "/b.mat"]
    # What is not there is not asked for again.
    assert [path for path, _ in server.requests] == ["/a.mat", "/b.mat"]
    assert everything(tmp_path) == ["tiny", "tiny/tiny.mat"]


def test_wrong_checksum_is_refused_and_keeps_what_was_there(server, right, tmp_path):
    server.files["/tiny.mat"] = right[:-1] + b"?"
    spec = make_spec(server, right, "/tiny.mat")
    path = file_path(spec, tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"mine")
    with pytest.raises(DataError) as caught:
        fetch(spec, tmp_path)
    text = str(caught.value)
    assert "checksum" in text
    assert spec.file.sha256 in text
    assert "symmf data import tiny FILE" in text
    assert str(path) in text
    assert everything(tmp_path) == ["tiny", "tiny/tiny.mat"]
    assert path.read_bytes() == b"mine"


def test_interrupted_download_is_continued_where_it_ended(server, right, tmp_path):
    server.files["/tiny.mat"] = right
    server.faults["/tiny.mat"] = ["cut", "cut"]
    spec = make_spec(server, right, "/tiny.mat")
    fetch(spec, tmp_path)
    assert file_path(spec, tmp_path).read_bytes() == right
    first = len(right) // 2
    second = first + (len(right) - first) // 2
    starts = [asked for _, asked in server.requests]
    assert starts == [None, f"bytes={first}-", f"bytes={second}-"]


def test_next_command_continues_after_a_failed_one(server, right, tmp_path):
    server.files["/tiny.mat"] = right
    server.faults["/tiny.mat"] = ["cut", "500", "500"]
    spec = make_spec(server, right, "/tiny.mat")
    with pytest.raises(DataError, match="500"):
        fetch(spec, tmp_path)
    assert not file_path(spec, tmp_path).exists()
    assert any(name.endswith(".part") for name in everything(tmp_path))
    fetch(spec, tmp_path)
    assert server.requests[-1][1] == f"bytes={len(right) // 2}-"
    assert everything(tmp_path) == ["tiny", "tiny/tiny.mat"]


@pytest.mark.parametrize("ranges", [True, False])
def test_partial_file_that_is_complete_is_no_trap(server, right, tmp_path, ranges):
    server.files["/tiny.mat"] = right
    server.ranges = ranges
    server.faults["/tiny.mat"] = ["cut", "500", "500"]
    spec = make_spec(server, right, "/tiny.mat")
    with pytest.raises(DataError):
        fetch(spec, tmp_path)
    (part,) = tmp_path.rglob("*.part")
    part.write_bytes(right + b"more")
    fetch(spec, tmp_path)
    assert file_path(spec, tmp_path).read_bytes() == right


def test_archive_is_converted_and_not_kept(server, tmp_path):
    server.files["/tiny.zip"] = zipped(FEA)
    # Other bytes than any conversion gives: a MAT file holds the second it was made.
    spec = make_spec(server, b"the known file", "/tiny.mat", "/tiny.zip")
    assert fetch(spec, tmp_path) == [server.address + "/tiny.zip"]
    assert read(file_path(spec, tmp_path)).digest == spec.digest
    assert everything(tmp_path) == ["tiny", "tiny/tiny.mat", "tiny/tiny.mat.sha256"]
    assert state(spec, tmp_path) is State.PRESENT


def test_archive_with_other_values_is_refused(server, right, tmp_path):
    other = zipped(FEA + 1)
    server.files["/tiny.zip"] = other
    spec = make_spec(server, right, "/tiny.zip")
    (source,) = spec.file.sources
    source = replace(source, archive="md5:" + hashlib.md5(other).hexdigest())
    spec = replace(spec, file=replace(spec.file, sources=(source,)))
    with pytest.raises(DataError, match="not the known ones"):
        fetch(spec, tmp_path)
    assert everything(tmp_path) == ["tiny"]


def test_a_server_that_never_ends_is_left(server, right, tmp_path):
    server.files["/tiny.mat"] = right + bytes(3000)
    spec = make_spec(server, right, "/tiny.mat")
    with pytest.raises(DataError, match=f"more than the {len(right)} bytes"):
        fetch(spec, tmp_path)
    assert everything(tmp_path) == ["tiny"]


def test_a_server_that_gives_a_byte_now_and_then_is_left(
    server, right, tmp_path, monkeypatch
):
    monkeypatch.setattr(download, "PATIENCE", 0.3)
    server.files.update({"/a.mat": right, "/b.mat": right})
    server.faults["/a.mat"] = ["slow"]
    spec = make_spec(server, right, "/a.mat", "/b.mat")
    assert fetch(spec, tmp_path) == [server.address + "/b.mat"]
    assert [path for path, _ in server.requests] == ["/a.mat", "/b.mat"]


def test_fetch_replaces_a_file_that_would_crash_its_reader(server, right, tmp_path):
    """What is there is compared by size and hash, never parsed."""
    server.files["/tiny.mat"] = right
    spec = replace(make_spec(server, right, "/tiny.mat"), read=crash)
    path = file_path(spec, tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"?" * len(right))
    assert state(spec, tmp_path) is State.DAMAGED
    assert fetch(spec, tmp_path) == [server.address + "/tiny.mat"]
    assert path.read_bytes() == right


def test_no_server_gets_one_line_per_source(server, right, tmp_path):
    spec = make_spec(server, right, "/a.mat", "/b.mat")
    # A port that was free a moment ago and on which nobody listens.
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as http:
        port = http.server_port
    sources = tuple(
        replace(s, url=f"http://127.0.0.1:{port}/{i}")
        for i, s in enumerate(spec.file.sources)
    )
    spec = replace(spec, file=replace(spec.file, sources=sources))
    with pytest.raises(DataError) as caught:
        fetch(spec, tmp_path)
    assert str(caught.value).count("ConnectionError") == 2
    assert everything(tmp_path) == ["tiny"]


def test_folder_that_cannot_be_written_gets_a_sentence(server, right, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(DataError, match=r"cannot be written .*SYMMF_DATA"):
        fetch(make_spec(server, right, "/tiny.mat"), blocked)
    with pytest.raises(DataError, match="needs no file"):
        fetch(DATASETS["digits"], tmp_path)
