"""The measured speed on the page, from the files that the benchmarks wrote."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd

from symmf.common.files import read_file, read_text
from symmf.common.texts import plain_text
from symmf.reporting.page.grid import Column, Grid, auto_columns, grid

# What a benchmark measures, in the order they are shown. Others follow by name.
BENCHMARKS = {
    "peers": "Whole fits, symmf's and others'; ratio: time over that of SymMF",
    "accuracy": "Time to an error within 1e-6 of the best; ratio: over the first",
    "solvers": "An iteration of Algorithm 2; ratio: its time over one product M H",
    "lambda": "A grid of 11 λ; ratio: its time over a single run",
    "octave": "The released code under GNU Octave and symmf; ratio: over symmf",
    "scale": "Growth with the number of rows, sparse data, k = 20",
    "kernels": "A sparse product; ratio: time over scipy's",
    "runner": "1000 trivial trials; ratio: symmf run over a bare joblib loop",
    "startup": "Commands; ratio: processor time over that of python -c pass",
    "scale_dask": "Two dask workers; ratio: time over that of the fit in memory",
}
MOST_ROWS = 200


def speed_section(folder: Path) -> list[dict[str, Any]]:
    """Return one part per benchmark kept in a results folder.

    Own results without benchmarks show those of the reference study. A file that
    cannot be read is left out.
    """
    for place in (folder / "benchmarks", folder / "reference" / "benchmarks"):
        paths = {path.stem: path for path in sorted(place.glob("*.csv"))}
        if paths:
            break
    names = [*(n for n in BENCHMARKS if n in paths)]
    names += [name for name in paths if name not in BENCHMARKS]
    parts = [(name, _read(paths[name])) for name in names]
    return [
        {
            "name": f"speed-{number}",
            "title": plain_text(BENCHMARKS.get(name, name)),
            "machine": _machine(paths[name].with_suffix(".json")),
            "grid": _grid(number, name, frame),
        }
        for number, (name, frame) in enumerate(parts)
        if frame is not None
    ]


def _read(path: Path) -> pd.DataFrame | None:
    try:
        frame = pd.read_csv(io.BytesIO(read_file(path)))
    except (OSError, ValueError, pd.errors.ParserError):
        return None
    return frame if len(frame) else None


def _grid(number: int, name: str, frame: pd.DataFrame) -> Grid:
    columns: list[Column] = auto_columns(frame)
    caption = f"benchmarks/{plain_text(name)}.csv"
    return grid(f"speed-{number}", caption, frame, columns, limit=MOST_ROWS)


def _machine(path: Path) -> str:
    """Return the processor a benchmark ran on, as far as its file tells."""
    try:
        facts = json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):
        return ""
    machine = facts.get("machine") if isinstance(facts, dict) else None
    return plain_text(machine.get("cpu", "")) if isinstance(machine, dict) else ""
