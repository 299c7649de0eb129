"""Damaged model files, used on new samples by ``symmf cluster --model``."""

from __future__ import annotations

import functools
import random
import tempfile
from pathlib import Path

from scripts.fuzz import study
from scripts.fuzz.harness import Case, Part
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
            code, text = study.run(folder, *words, "--format", kind, "--save", saved)
            if code:
                raise AssertionError(f"no model of {source} by {method}: {text}")
            models[source, method] = saved.read_bytes()
    return models


def make(rng: random.Random, folder: Path) -> Case:
    """Damage a model, or take one of other data, and use it."""
    (source, _), content = rng.choice(sorted(good_models().items()))
    if rng.random() < 0.2:
        source = rng.choice(sorted(_SOURCES))
    path, model = folder / source, folder / "m.npz"
    path.write_text(_SOURCES[source])
    model.write_bytes(rng.choice((damage, damage_header))(rng, content))
    arguments = ["cluster", str(path), "--model", str(model)]
    return Case(steps=[[*arguments, "--out", str(folder / "o.csv")]])


PART = Part(
    name="models",
    what="damaged models, by cluster --model",
    make=make,
    full=2000,
    preload=study.PRELOAD,
    prepare=good_models,
    quick=5,
)
