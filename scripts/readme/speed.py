"""The speed table of README.md, from what ``scripts/benchmark`` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from symmf.reporting.results import Results


def speed_block(results: Results) -> str:
    """Median ratios; a benchmark that was not run has no line."""
    folder = results.folder / "benchmarks"
    lines = [
        f"| {what} | {value} | `{command}` |"
        for command, make in _PARTS.items()
        for what, value in make(folder)
    ]
    if not lines:
        return "Not measured yet: run `scripts/benchmark solvers`."
    return "\n".join(
        ["| measured | median | `scripts/benchmark` |", "|---|---|---|", *lines]
    )


def _solvers(folder: Path) -> Iterator[tuple[str, str]]:
    what = "an iteration of Algorithm 2 / one product M H"
    return _by_problem(folder / "solvers.csv", what)


def _octave(folder: Path) -> Iterator[tuple[str, str]]:
    for row in _rows(folder / "octave.csv"):
        if row["code"].startswith("released"):
            what = "the released code under GNU Octave / symmf, COIL-20"
            yield what, f"{row['ratio']:.3g}"


def _peers(folder: Path) -> Iterator[tuple[str, str]]:
    accuracy = pd.DataFrame(_rows(folder / "accuracy.csv"))
    best = []
    for problem in accuracy["problem"].unique() if len(accuracy) else ():
        # The first is what auto takes; the ratio of the others is to it.
        others = accuracy[accuracy["problem"] == problem].iloc[1:]
        best.append((problem, float(others["ratio"].min())))
    if best:
        yield "the next best solver / `auto`, time to a gap of 1e-6", _list(best)
    rows = [row for row in _rows(folder / "peers.csv") if ": SymMF" not in row["task"]]
    if rows:
        values = _list((row["task"], row["ratio"]) for row in rows)
        yield "scikit-learn or scipy / `SymMF`, whole fit", values


def _lambda(folder: Path) -> Iterator[tuple[str, str]]:
    what = "a grid of 11 λ / a single run of Algorithm 2"
    return _by_problem(folder / "lambda.csv", what)


def _kernels(folder: Path) -> Iterator[tuple[str, str]]:
    rows = _rows(folder / "kernels.csv")
    for name, what in (("symmf", "symmf"), ("sparse_dot_mkl", "`SYMMF_SPARSE=mkl`")):
        of = [(row["matrix"], row["ratio"]) for row in rows if row["kernel"] == name]
        if of:
            yield f"sparse product, {what} / scipy", _list(of)


def _scale(folder: Path) -> Iterator[tuple[str, str]]:
    rows = _rows(folder / "scale.csv")
    if not rows:
        return
    facts = json.loads((folder / "scale.json").read_text(encoding="utf-8"))
    first, last = rows[0], rows[-1]
    yield (
        f"time over rows, {first['n']:,.0f} to {last['n']:,.0f}, k = 20",
        f"n^{facts['exponent']:.2f}",
    )
    yield (
        f"{last['n']:,.0f} sparse rows with 20 planted clusters",
        f"{last['seconds']:.0f} s; {last['peak_mb'] / 1024:.1f} GiB, "
        f"{last['times_x']:.1f} times the data; accuracy {last['accuracy']:.3f}",
    )


def _runner(folder: Path) -> Iterator[tuple[str, str]]:
    ratio = [row["runner_over_joblib"] for row in _rows(folder / "runner.csv")]
    if ratio:
        what = "1000 trivial trials, `symmf run` / a bare joblib loop"
        yield what, f"{pd.Series(ratio).median():.3g}"


_PARTS = {
    "solvers": _solvers,
    "peers --octave-code FOLDER": _octave,
    "peers": _peers,
    "lambda": _lambda,
    "kernels": _kernels,
    "scale": _scale,
    "runner": _runner,
}


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    records: list[Any] = pd.read_csv(path).to_dict("records")
    return records


def _by_problem(path: Path, what: str) -> Iterator[tuple[str, str]]:
    rows = _rows(path)
    if rows:
        yield what, _list((row["problem"], row["ratio"]) for row in rows)


def _list(values: Iterable[tuple[str, float]]) -> str:
    """Name every value; NaN is a peer that did not get there."""
    return "<br>".join(
        f"{name}: {'none got there' if pd.isna(value) else format(value, '.3g')}"
        for name, value in values
    )
