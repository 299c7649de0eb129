"""Damaged and hand-edited results folders, read by every command that reads them."""

from __future__ import annotations

import functools
import hashlib
import json
import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from scripts.fuzz import study
from scripts.fuzz.harness import Case
from scripts.fuzz.mutate import DAMAGES, damage_text, exchange, odd_path, odd_value

TRIALS = 2
prepare = functools.partial(study.undisturbed, TRIALS)
_ODD: tuple[Any, ...] = (
    None, 0, -1, 1e308, "", "x", "\ud800", "[/y]", "$x^{$", [], {}, [1], {"a": 1}, True,
    "\x1b[31m", "=1+1", "<b>", "a" * 400, 2**70,
)  # fmt: skip


def live(case: Case) -> None:
    """Damage one to three files of a results folder; read it."""
    rng, results = case.rng, case.folder / "r"
    shutil.copytree(study.undisturbed(TRIALS)[0], results)
    files = sorted(path for path in results.rglob("*") if path.is_file())
    small = [p for p in files if p.suffix in (".json", ".yaml", ".csv")]
    for _ in range(rng.randint(1, 3)):
        _damage_file(rng, rng.choice(small if rng.random() < 0.6 else files))
    where = ("--results", "r")
    config = study.write_config(case.folder, trials=TRIALS)
    commands = [
        ("status", *where),
        ("tables", *where),
        ("plot", "convergence", *where),
        ("compare", *where),
        ("run", config, "--dry-run", *where),
        ("info", rng.choice("0123456789abcdef"), *where),
        ("merge", "r", "--into", "merged"),
    ]
    for words in rng.sample(commands, 3):
        case.run(*words, seconds=60)
    if rng.random() < 0.03:
        case.run("report", *where, seconds=60)


def _damage_file(rng: random.Random, path: Path) -> None:
    if not path.is_file():
        return
    content = path.read_bytes()
    kind = rng.randrange(10)
    if kind == 0:
        path.unlink()
    elif kind <= 3:
        path.unlink()
        odd_path(rng, path)
    elif kind <= 5 and path.suffix == ".json":
        # It may have been damaged before.
        with suppress(ValueError):
            path.write_text(json.dumps(exchange(rng, json.loads(content), _ODD)))
    elif kind <= 5 and path.suffix in (".yaml", ".csv"):
        text = damage_text(rng, content.decode("utf-8", "replace"))
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    elif kind <= 7:
        odd = ("", "\0" * 100, "{}", "[]", "null", "5", odd_value(rng))
        path.write_bytes(rng.choice(odd).encode("utf-8", "surrogatepass"))
    elif path.suffix == ".h5" and kind == 8:
        _edit_record(rng, path)
    else:
        path.write_bytes(rng.choice(DAMAGES)(rng, content))


def _edit_record(rng: random.Random, path: Path) -> None:
    """Put odd content in a record that remains a good HDF5 file with its checksum."""
    import h5py
    import numpy as np

    odd = ("text", 5, np.nan, np.zeros(0), np.arange(3), np.eye(2), b"\xff", np.inf)
    digest = hashlib.sha256().digest_size
    path.write_bytes(path.read_bytes()[:-digest])
    # It may have been damaged before.
    with suppress(OSError), h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for store, keys in ((file.attrs, list(file.attrs)), (file, names)):
            if keys and rng.random() < 0.6:
                key = rng.choice(sorted(keys))
                del store[key]
                if rng.random() < 0.7:
                    store[key] = rng.choice(odd)
    content = path.read_bytes()
    path.write_bytes(content + hashlib.sha256(content).digest())
