"""Damaged and forged model files, used on new samples by ``symmf cluster --model``."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.fuzz.harness import Case, Part
from scripts.fuzz.mutate import TEXTS, damage, damage_header

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
    """Damage a model, or forge one whose checksum is right, and use it."""
    (source, _), content = rng.choice(sorted(good_models().items()))
    if rng.random() < 0.2:
        source = rng.choice(sorted(_SOURCES))
    path, model = folder / source, folder / "m.npz"
    path.write_text(_SOURCES[source])
    change = rng.choice((damage, damage_header, _forge, _forge, _forge))
    model.write_bytes(change(rng, content))
    arguments = ["cluster", str(path), "--model", str(model)]
    return Case(steps=[[*arguments, "--out", str(folder / "o.csv")]])


def _forge(rng: random.Random, content: bytes) -> bytes:
    """Change header and arrays; the checksum is that of what they are then."""
    import numpy as np

    from symmf.clustering.symmf import model_file

    with np.load(io.BytesIO(content)) as stored:
        arrays = {name: stored[name] for name in stored.files}
    header = json.loads(arrays.pop("header").tobytes())
    header.pop("sha256", None)
    for _ in range(rng.randint(1, 3)):
        if arrays and rng.random() < 0.6:
            name = rng.choice(sorted(arrays))
            arrays[name] = rng.choice(_CHANGES)(rng, arrays[name])
        else:
            _change_part(rng, header)
    header["sha256"] = model_file._digest(header, arrays)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, header=text, **arrays)
    return buffer.getvalue()


def _change_part(rng: random.Random, part: Any) -> None:
    """Change a value somewhere below, or take it away."""
    while True:
        keys = sorted(part) if isinstance(part, dict) else range(len(part))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(part[key], dict | list) and part[key] and rng.random() < 0.8:
            part = part[key]
            continue
        if rng.random() < 0.2:
            del part[key]
        else:
            part[key] = rng.choice(_VALUES)
        return


_VALUES = (None, True, 0, -1, 1, 2**70, 1e308, -0.5, "", "x", "a/b", [], {}, [[]],
           {"array": "x"}, {"sparse": ["a", "b", "c"], "shape": [2, 2]},
           {"object": "os.system"}, *TEXTS)  # fmt: skip


def _other_shape(rng: random.Random, array: Any) -> Any:
    import numpy as np

    shape = rng.choice(((0,), (1,), (3,), (0, 3), (2, 2), (24, 3), (1, 1, 1)))
    return np.resize(array, shape) if array.size else np.zeros(shape)


def _other_kind(rng: random.Random, array: Any) -> Any:
    import numpy as np

    kind = rng.choice(("f4", "i8", "u1", "?", "U3", "c16"))
    if array.dtype.kind == "c" and kind not in ("U3", "c16"):
        array = array.real
    with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError):
        return array.astype(kind)
    return array


def _odd_numbers(rng: random.Random, array: Any) -> Any:
    import numpy as np

    if array.dtype.kind not in "fi" or not array.size:
        return array
    changed = array.astype("f8" if array.dtype.kind == "f" else array.dtype)
    odd = (np.nan, np.inf, 1e308, -1e308, 0.0, 1e-320)
    whole = (-1, 2**31 - 1, -(2**31), 50_000_000, 0)
    values = odd if changed.dtype.kind == "f" else whole
    changed.flat[rng.randrange(changed.size)] = rng.choice(values)
    return changed


_CHANGES: tuple[Callable[[random.Random, Any], Any], ...] = (
    _other_shape,
    _other_kind,
    _odd_numbers,
    _odd_numbers,
)

PART = Part(
    name="models",
    what="damaged and forged models, by cluster --model",
    make=make,
    full=2000,
    preload=(
        "symmf.cli.cluster", "symmf.app.request", "symmf.clustering",
        "symmf.app.answer", "symmf.clustering.symmf.model_file",
    ),
    prepare=good_models,
    quick=40,
)  # fmt: skip
