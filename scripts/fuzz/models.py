"""Damaged model files, used on new samples by ``symmf cluster --model``."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import Case
from scripts.fuzz.mutate import damage, damage_header

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
    """Damage a model, or take one of other data, and use it."""
    rng, folder = case.rng, case.folder
    (source, _), content = rng.choice(sorted(good_models().items()))
    if rng.random() < 0.2:
        source = rng.choice(sorted(_SOURCES))
    (folder / source).write_text(_SOURCES[source])
    (folder / "m.npz").write_bytes(rng.choice((damage, damage_header))(rng, content))
    case.run("cluster", source, "--model", "m.npz", "--out", "o.csv")
