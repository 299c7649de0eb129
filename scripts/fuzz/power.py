"""Losses of power: what a run wrote, cut anywhere, with what was not synced lost.

A file system may keep or lose every change that no fsync has confirmed, in any order:
data of a file until that file is synced, names until their folder is.
"""

from __future__ import annotations

import functools
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.fuzz import faults, nth, study
from scripts.fuzz.harness import Case
from scripts.fuzz.process import LOST

# Of what was not synced: everything stays, nothing does, or every change by chance.
MODES = (("kept by chance", 0.5), ("lost", 0.0), ("kept", 1.0))


@dataclass(frozen=True)
class Change:
    """One logged call: create, write, truncate, fsync, rename, unlink or mkdir."""

    kind: str
    path: str
    to: str
    at: int
    data: bytes


def read_log(content: bytes) -> list[Change]:
    """Read what ``faults.c`` logged."""
    found, place = [], 0
    while place < len(content):
        end = content.index(b"\n", place)
        kind, path, to, at, size = content[place:end].decode().split("\t")
        place = end + 1 + int(size)
        found.append(Change(kind, path, to, int(at), content[end + 1 : place]))
    return found


def after_loss(changes: Sequence[Change], keep: Callable[[], bool]) -> dict[str, bytes]:
    """Return the files after a loss of power; ``keep`` decides on what is not synced.

    A rename moves the file itself, whose data may be there or not.
    """
    files: dict[str, int] = {}
    data: dict[int, list[tuple[bool, Change]]] = defaultdict(list)
    names: list[tuple[bool, Change, int]] = []
    for number, change in enumerate(changes):
        if change.kind in ("create", "rename", "unlink"):
            file = files.pop(change.path, number)
            names.append((False, change, file))
            if change.kind != "unlink":
                files[change.to or change.path] = file
        elif change.kind in ("write", "truncate"):
            data[files[change.path]].append((False, change))
        elif change.kind == "fsync" and change.path in files:
            file = files[change.path]
            data[file] = [(True, each) for _, each in data[file]]
        elif change.kind == "fsync":
            names = [
                (safe or str(Path(each.path).parent) == change.path, each, file)
                for safe, each, file in names
            ]
    found: dict[str, int] = {}
    for safe, change, file in names:
        if safe or keep():
            found.pop(change.path, None)
            if change.kind != "unlink":
                found[change.to or change.path] = file
    return {path: _content(data[file], keep) for path, file in found.items()}


def _content(changes: list[tuple[bool, Change]], keep: Callable[[], bool]) -> bytes:
    content = bytearray()
    for safe, change in changes:
        if safe or keep():
            content.extend(bytes(max(0, change.at - len(content))))
            content[change.at : change.at + len(change.data)] = change.data
            if change.kind == "truncate":
                del content[change.at :]
    return bytes(content)


@functools.cache
def logged() -> tuple[Path, list[Change], dict[str, str]]:
    """Run once and log it; return the results folder, the changes and the tables."""
    folder = study.scratch()
    results = folder / "r"
    log = functools.partial(faults.arm, folder, results)
    config = study.write_config(folder, trials=1)
    words = ("run", config, *nth.FEW, "--results", results)
    study.undisturbed_run(folder, *words, before=log)
    changes = read_log((folder / "log-of-changes").read_bytes())
    return results, changes, study.fingerprint(results)


prepare = logged


def live(case: Case) -> None:
    """Cut the log, lose what was not synced; read what is left, and run again."""
    results, changes, tables = logged()
    # In an order that meets all parts of a run early.
    cuts = random.Random(0).sample(range(len(changes) + 1), len(changes) + 1)
    cut = changes[: cuts[case.index // len(MODES) % len(cuts)]]
    mode, chance = MODES[case.index % len(MODES)]
    case.notes[f"what was not synced is {mode}"] += 1
    here = case.folder / "r"
    here.mkdir()
    for name, content in after_loss(cut, lambda: case.rng.random() < chance).items():
        path = here / Path(name).relative_to(results)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if path.suffix == ".h5":
            _check_record(case, path, (results / path.relative_to(here)).read_bytes())
    where = ("--results", here)
    for command in ("status", "tables"):
        case.run(command, *where)
    config = study.write_config(case.folder, trials=1)
    code = case.run("run", config, *nth.FEW, *where, seconds=120, allowed=(0,)).code
    if not code and study.fingerprint(here) != tables:
        case.blame(LOST, f"after {len(cut)} changes the tables are others")


def _check_record(case: Case, path: Path, whole: bytes) -> None:
    from symmf.errors import DataError
    from symmf.experiment.store.record_file import read_record

    try:
        read_record(path)
    except DataError:
        case.notes["records damaged, and told"] += 1
    else:
        if path.read_bytes() != whole:
            case.blame(LOST, f"{path.name} is read, and is wrong")
