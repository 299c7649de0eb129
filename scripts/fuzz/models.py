"""Damaged model files, used on new samples by ``symmf cluster --model``."""

from __future__ import annotations

import functools
import io
import pickle
import random
import tempfile
import zipfile
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import Case
from scripts.fuzz.mutate import DAMAGES, damage, damage_number
from scripts.fuzz.process import LOST

_TABLE = "\n".join(f"{i % 5},{i % 3 + 0.5},{i * 7 % 11}" for i in range(24))
_TEXT = "\n".join(
    f"{'red apple pie' if i % 2 else 'blue sea fish'} number {i % 5}" for i in range(24)
)
_SOURCES = {"points.csv": _TABLE, "lines.txt": _TEXT}
# File, format and method of each model.
_MODELS = (
    *(("points.csv", "table", method) for method in ("symmf", "kmeans", "spectral")),
    ("lines.txt", "text", "symmf"),
)


@functools.cache
def good_models() -> dict[tuple[str, str], bytes]:
    """Return a model of every kind, by the file and the method it was made of."""
    models = {}
    with tempfile.TemporaryDirectory() as name:
        folder, saved = Path(name), Path(name) / "m.npz"
        for source, kind, method in _MODELS:
            (folder / source).write_text(_SOURCES[source])
            words = ("cluster", folder / source, "-k", 2, "--method", method)
            study.undisturbed_run(folder, *words, "--format", kind, "--save", saved)
            models[source, method] = saved.read_bytes()
    return models


def live(case: Case) -> None:
    """Damage or edit a model, or take one of other data, and use it."""
    rng, folder = case.rng, case.folder
    (source, _), content = rng.choice(sorted(good_models().items()))
    if rng.random() < 0.2:
        source = rng.choice(sorted(_SOURCES))
    (folder / source).write_text(_SOURCES[source])
    if rng.random() < 0.5:
        content = rng.choice(DAMAGES)(rng, content)
    else:
        content = edited(rng, content, folder / "MARKER")
    (folder / "m.npz").write_bytes(content)
    case.run("cluster", source, "--model", "m.npz", "--out", "o.csv")
    if {path.name for path in folder.iterdir()} - {source, "m.npz", "o.csv"}:
        case.blame(LOST, f"something ran: {list(folder.iterdir())}")


class _Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (self.path, "w")


def edited(rng: random.Random, content: bytes, marker: Path) -> bytes:
    """Edit one member of an archive of arrays, the archive itself staying good."""
    import numpy as np

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    data = members[name]
    head = data.find(b"\n") + 1
    bomb = np.array([_Bomb(marker)], dtype=object)
    pickled = io.BytesIO()
    np.save(pickled, bomb, allow_pickle=True)
    wide = data[head:].replace(b"SymMF", b"Popen").replace(b"rows", b"\0obj")
    members[rng.choice((name, name, name, f"../{marker.name}"))] = rng.choice((
        # Only the numbers or texts: such a file looks right until it is used.
        data[:head] + damage(rng, data[head:]),
        data[:head] + damage_number(rng, data[head:]), data[:head] + wide,
        rng.choice(DAMAGES)(rng, data), pickled.getvalue(), pickle.dumps(bomb),
    ))  # fmt: skip
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, piece in members.items():
            archive.writestr(name, piece)
    return buffer.getvalue()


prepare = good_models
