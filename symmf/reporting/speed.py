"""The speed table of README.md, from what ``scripts/benchmark`` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from symmf.reporting.frame import Results


def speed_block(results: Results) -> str:
    """Ratios with their range; a benchmark that was not run has no line."""
    folder = results.folder / "benchmarks"
    lines = [
        f"| {what} | {value} | `scripts/benchmark {command}` |"
        for command, make in _PARTS.items()
        for what, value in make(folder)
    ]
    if not lines:
        return "Not measured yet: run `scripts/benchmark solvers`."
    return "\n".join(
        ["| measured | median (range) | command |", "|---|---|---|", *lines]
    )


def _solvers(folder: Path) -> Iterator[tuple[str, str]]:
    for row in _rows(folder / "solvers.csv"):
        yield (
            f"an iteration of Algorithm 2 / one product M H, {row['problem']}",
            _of(row),
        )


def _peers(folder: Path) -> Iterator[tuple[str, str]]:
    for row in _rows(folder / "octave.csv"):
        if row["code"].startswith("released"):
            yield (
                "released code under GNU Octave / symmf, 20 iterations, COIL-20",
                _of(row),
            )
    accuracy = pd.DataFrame(_rows(folder / "accuracy.csv"))
    for problem in accuracy["problem"].unique() if len(accuracy) else ():
        of = accuracy[accuracy["problem"] == problem]
        reached = of[of["ratio"].notna()].iloc[1:].sort_values("ratio")
        what = f"best other solver / `auto` to a gap of 1e-6, {problem}"
        if len(reached):
            best = reached.iloc[0]
            yield what, f"{best['ratio']:.3g} ({best['solver']})"
        else:
            yield what, f"none of the other {len(of) - 1} got there"
    for row in _rows(folder / "peers.csv"):
        if not row["task"].split(": ")[1].startswith("SymMF"):
            yield f"{row['task']} / `SymMF`", _of(row)


def _lambda(folder: Path) -> Iterator[tuple[str, str]]:
    for row in _rows(folder / "lambda.csv"):
        yield f"a grid of 11 λ / a single run, {row['problem']}", _of(row)


def _kernels(folder: Path) -> Iterator[tuple[str, str]]:
    for row in _rows(folder / "kernels.csv"):
        if row["kernel"] != "scipy":
            yield f"sparse product, {row['kernel']} / scipy, {row['matrix']}", _of(row)


def _scale(folder: Path) -> Iterator[tuple[str, str]]:
    rows = _rows(folder / "scale.csv")
    if not rows:
        return
    facts = json.loads((folder / "scale.json").read_text(encoding="utf-8"))
    first, last = rows[0], rows[-1]
    yield (
        f"growth of time with rows, {first['n']:,.0f} to {last['n']:,.0f}, k = 20",
        f"n^{facts['exponent']:.2f}",
    )
    yield (
        f"{last['n']:,.0f} sparse rows: seconds; peak memory; accuracy",
        f"{last['seconds']:.0f} ({last['seconds_low']:.0f} to "
        f"{last['seconds_high']:.0f}); {last['peak_mb'] / 1024:.1f} GiB, "
        f"{last['times_x']:.1f} times the data; {last['accuracy']:.3f}",
    )


def _runner(folder: Path) -> Iterator[tuple[str, str]]:
    ratio = [row["runner_over_joblib"] for row in _rows(folder / "runner.csv")]
    if ratio:
        yield (
            "1000 trivial trials, `symmf run` / a bare joblib loop",
            f"{pd.Series(ratio).median():.2f} ({min(ratio):.2f} to {max(ratio):.2f})",
        )


_PARTS = {
    "solvers": _solvers,
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


def _of(row: dict[str, Any]) -> str:
    low, high = row["ratio_low"], row["ratio_high"]
    return f"{row['ratio']:.3g} ({low:.3g} to {high:.3g})"
