"""Every call that can fail does, one at a time: the n-th, for all n, in five commands.

A case is a command, a kind of call and an error; it goes on until no n-th call comes.
"""

from __future__ import annotations

import atexit
import errno
import functools
import hashlib
import itertools
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.fuzz import faults, process, study
from scripts.fuzz.harness import Case
from scripts.fuzz.process import LOST, free_port, wait_for_port

COMMANDS = ("run", "tables", "cluster", "fetch", "merge")
_KINDS = list(itertools.product(COMMANDS, faults.CALLS[:-1]))
# Every kind of call early, its other errors later.
CASES = [
    *((command, "memory", errno.ENOMEM) for command in COMMANDS),
    *(
        (*kind, faults.ERRORS[(number + shift) % len(faults.ERRORS)])
        for shift in range(len(faults.ERRORS))
        for number, kind in enumerate(_KINDS)
    ),
]
# Few enough calls that all of them can fail.
FEW = ("--set", "n_clusters=[2]", "--jobs", 1, "--quiet")


def words_of(command: str, folder: Path) -> Sequence[object]:
    """Return the arguments of a command that works in a folder."""
    results = ("--results", folder / "r")
    made = {"--out": "o.csv", "--save": "m.npz", "--report": "p.html"}
    written = [word for key, name in made.items() for word in (key, folder / name)]
    return {
        "run": ("run", folder / "small.yaml", *FEW, *results),
        "tables": ("tables", *results),
        "cluster": ("cluster", folder / "points.csv", "-k", 3, *written),
        "fetch": ("data", "fetch", "tiny", "--folder", folder / "d"),
        "merge": ("merge", reference() / "r", "--into", folder / "r"),
    }[command]


@functools.cache
def reference() -> Path:
    """Return the folder in which every command works undisturbed."""
    return study.scratch()


def prepare() -> None:
    """Do undisturbed what is disturbed later; serve a file."""
    _serve_tiny()
    _write_inputs(reference())
    for command in COMMANDS[:-1]:
        study.undisturbed_run(reference(), *words_of(command, reference()))


def live(case: Case) -> None:
    """Let the first call fail, then the second, until none is met."""
    command, call, error = CASES[case.index % len(CASES)]
    folder = case.folder
    for n in itertools.count(1):
        here = folder / str(n)
        here.mkdir()
        _write_inputs(here)
        if command == "tables":
            shutil.copytree(reference() / "r/small", here / "r/small")
        arm = functools.partial(faults.arm, folder, here, call=call, n=n, error=error)
        what = f"{command} with {call} {n} failing by {errno.errorcode[error]}"
        words = words_of(command, here)
        ended = process.run(here, words, before=arm, seconds=120)
        if not faults.was_met(folder):
            break
        case.tried += 1
        case.notes[f"{call}: {errno.errorcode[error]}"] += 1
        case.look(what, ended, (0, 1, 2, 3))
        for problem in _unfinished(here, call):
            case.blame(LOST, f"after {what}: {problem}")
        again = ("--retry-failed",) if (ended.code, command) == (1, "run") else ()
        ended = process.run(here, (*words, *again))
        case.look(f"again after {what}", ended, (0,))
        if not ended.code and result_of(command, here) != expected(command):
            case.blame(LOST, f"after {what} the result is another")
        shutil.rmtree(here)


@functools.cache
def expected(command: str) -> Any:
    """Return the result of a command that worked undisturbed."""
    return result_of(command, reference())


def result_of(command: str, folder: Path) -> Any:
    """Return what a command must give again."""
    if command == "cluster":
        return (folder / "o.csv").read_bytes()
    if command == "fetch":
        return (folder / "d/tiny/tiny.mat").read_bytes()
    return study.fingerprint(folder / "r")


def _unfinished(folder: Path, call: str) -> list[str]:
    """Return what stands under a final name and is not whole, and what was left."""
    from symmf.experiment.store.record_file import read_record

    found = []
    for path in folder.rglob("*"):
        name = path.name
        if path.suffix == ".h5":
            read_record(path)
        elif name in ("o.csv", "tiny.mat"):
            whole = next(reference().rglob(name)).read_bytes()
            found += [f"{name} is not whole"] * (path.read_bytes() != whole)
        elif name == "p.html" and not path.read_text().rstrip().endswith("</html>"):
            found.append(f"{name} is not whole")
        elif name.endswith(".tmp") and call != "unlink":
            found.append(f"left behind: {name}")
    return found


def _write_inputs(folder: Path) -> None:
    study.write_config(folder, trials=1)
    rows = (f"{i % 3 + i / 500},{i % 3 - i % 7 / 50},{i % 5 / 9}" for i in range(60))
    (folder / "points.csv").write_text("\n".join(rows))


def read_tiny(path: Path) -> Any:
    """Read the data set that is served here."""
    from symmf.datasets import Dataset
    from symmf.datasets.matfile import read_mat

    return Dataset.from_arrays(*read_mat(path), name="tiny", title="T", kind="vector")


def _serve_tiny() -> None:
    """Register a data set and serve its file on this machine."""
    import numpy as np

    from symmf.datasets import DATASETS, DatasetSpec, RemoteFile, Source
    from symmf.datasets.matfile import write_mat

    folder = study.scratch()
    write_mat(folder / "tiny.mat", np.eye(40)[:, :9], np.arange(40) % 4 + 1)
    sha256 = hashlib.sha256((folder / "tiny.mat").read_bytes()).hexdigest()
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    server = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    atexit.register(server.kill)
    wait_for_port(port)
    source = Source(url=f"http://127.0.0.1:{port}/tiny.mat")
    size = (folder / "tiny.mat").stat().st_size
    file = RemoteFile(path="tiny/tiny.mat", size=size, sha256=sha256, sources=(source,))
    DATASETS["tiny"] = DatasetSpec(
        name="tiny", title="Tiny", description="small", licence="none", citation="",
        read=read_tiny, file=file, digest=read_tiny(folder / "tiny.mat").digest,
    )  # fmt: skip
