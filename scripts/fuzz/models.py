"""Damaged model files, used on new samples by ``symmf cluster --model``."""

from __future__ import annotations

import contextlib
import functools
import io
import random
import tempfile
from pathlib import Path

from scripts.fuzz.harness import Case, Part
from scripts.fuzz.mutate import damage, damage_header

_TABLE = "\n".join(f"{i % 5},{i % 3 + 0.5},{i * 7 % 11}" for i in range(24))
_TEXT = "\n".join(
    f"{'red apple pie' if i % 2 else 'blue sea fish'} number {i % 5}" for i in range(24)
)
_SOURCES = {"points.csv": _TABLE, "lines.txt": _TEXT}
_METHODS = {"points.csv": ("symmf", "kmeans", "spectral"), "lines.txt": ("symmf",)}
_FORMATS = {"points.csv": "table", "lines.txt": "text"}


@functools.cache
def good_models() -> dict[tuple[str, str], bytes]:
    """Return a model of every kind, by the file and the method it was made of."""
    from symmf.cli.main import main

    models = {}
    with tempfile.TemporaryDirectory() as folder:
        for source, text in _SOURCES.items():
            path = Path(folder) / source
            path.write_text(text)
            for method in _METHODS[source]:
                saved = Path(folder) / "m.npz"
                words = ["cluster", str(path), "-k", "2", "--method", method]
                words += ["--format", _FORMATS[source]]
                nobody = io.StringIO()
                with (
                    contextlib.redirect_stdout(nobody),
                    contextlib.redirect_stderr(nobody),
                    contextlib.suppress(SystemExit),
                ):
                    main([*words, "--save", str(saved)])
                models[source, method] = saved.read_bytes()
    return models


def make(rng: random.Random, folder: Path) -> Case:
    """Damage a model, or take one of other data, and use it."""
    (source, _), content = rng.choice(sorted(good_models().items()))
    if rng.random() < 0.2:
        source = rng.choice(sorted(_SOURCES))
    path, model = folder / source, folder / "m.npz"
    path.write_text(_SOURCES[source])
    change = rng.choice((damage, damage_header))
    model.write_bytes(change(rng, content))
    arguments = ["cluster", str(path), "--model", str(model)]
    return Case(steps=[[*arguments, "--out", str(folder / "o.csv")]])


PART = Part(
    name="models",
    what="damaged models, by cluster --model",
    make=make,
    full=2000,
    preload=(
        "symmf.cli.cluster", "symmf.app.request", "symmf.clustering",
        "symmf.app.answer", "symmf.clustering.symmf.model_file",
    ),
    prepare=good_models,
    quick=40,
)  # fmt: skip
