"""The figures of results/reference/benchmarks, drawn from the tables beside them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from scripts.benchmarks.corpus import exponents

_BLUE, _GREY = "#0072B2", "#999999"
_COLOURS = (_BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", _GREY)
_MARKS = "osD^vP*"
# Per table: what tells the rows apart (the last one within the others; a column that is
# not there is left out), axis, scale.
_RATIOS: dict[str, tuple[list[str], str, str]] = {
    "solvers": (
        ["threads", "problem"],
        "iteration of Algorithm 2 / product M H",
        "linear",
    ),
    "peers": (["data", "method"], "time / time of SymMF", "log"),
    "octave": (["code"], "time / time of symmf", "log"),
    "choosing": (["rows", "task"], "time / time of symmf.select", "log"),
    "lambda": (["problem"], "time of 11 values / time of one run", "linear"),
    "startup": (["beside", "command"], "processor time / time beside", "log"),
    "scale_dask": (["kind", "rows"], "time on two dask workers / in memory", "linear"),
    "runner": (["what"], "time / time of a bare joblib loop", "linear"),
    "eigenpairs": (["case", "task"], "time / time of eigsh", "log"),
}
# Per table: what tells its panels apart, the methods, axis, scale.
_PANELS = {
    "fits": (["threads", "load"], "task", "time / time of SpectralClustering", "log"),
    "threads": (["load"], "method", "time with default threads / with one", "linear"),
}
# Their modules draw them.
_OWN = ("quality", "evidence", "mixed", "race")
DRAWN = (*_RATIOS, *_PANELS, "scale", *_OWN)


def draw(folder: Path, name: str) -> None:
    """Draw one table, if it is there and has a figure."""
    path = folder / f"{name}.csv"
    if not path.exists() or name not in DRAWN:
        return
    table = pd.read_csv(path)
    if name in _OWN:
        figure = import_module(f"scripts.benchmarks.{name}").picture(table)
    elif name == "scale":
        figure = _growth(table)
    elif name in _PANELS:
        figure = _panels(table, *_PANELS[name])
    else:
        figure = _ratios(_with_range(name, table), *_RATIOS[name])
    figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})


def draw_all(folder: Path) -> None:
    """Draw every table of the folder."""
    for name in DRAWN:
        draw(folder, name)


def _with_range(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Bring every table to the columns ratio, ratio_low, ratio_high."""
    if name == "runner":
        ratio = table["runner_over_joblib"]
        row = {"what": "symmf run, 1000 trivial trials", "ratio": ratio.median()}
        return pd.DataFrame(
            [row | {"ratio_low": ratio.min(), "ratio_high": ratio.max()}]
        )
    if name in ("scale_dask", "choosing"):
        table["rows"] = [f"{n:,} rows" for n in table["n"]]
    if name == "peers":
        table[["data", "method"]] = table["task"].str.split(": ", n=1, expand=True)
    return table[table["ratio"].notna()]


def _ratios(table: pd.DataFrame, names: list[str], title: str, scale: str) -> Figure:
    """Draw median and range, a line per row, under a heading per group."""
    *outer, inner = [name for name in names if name in table]
    headings = table[outer].fillna("").astype(str).agg(", ".join, axis=1)
    groups = table.groupby(headings, sort=False) if outer else [("", table)]
    labels: list[tuple[str, Any]] = []
    for heading, rows in groups:
        if heading:
            labels.append((str(heading), None))
        labels += [(row[inner], row) for _, row in rows.iterrows()]
    figure = Figure(figsize=(7.2, 0.28 * len(labels) + 1.0), layout="constrained")
    axis = figure.subplots()
    axis.axvline(1, color=_GREY, linewidth=0.8)
    for y, (_, row) in enumerate(labels):
        if row is None:
            continue
        low, high, ratio = row["ratio_low"], row["ratio_high"], row["ratio"]
        axis.plot([low, high], [y, y], color=_BLUE, linewidth=1.5)
        axis.plot([ratio], [y], "o", color=_BLUE, markersize=5)
        axis.annotate(
            f"{ratio:.3g}",
            (high, y),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axis.set_xscale(scale)
    if scale == "linear":
        axis.set_xlim(left=0)
    axis.margins(x=0.12)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.set_yticks(range(len(labels)), [text for text, _ in labels], fontsize=8)
    for tick, (_, row) in zip(axis.get_yticklabels(), labels, strict=True):
        if row is None:
            tick.set_fontweight("bold")
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel(f"{title} (median, range)")
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _panels(
    table: pd.DataFrame, apart: list[str], method: str, title: str, scale: str
) -> Figure:
    """Draw medians: a line per case, a mark per method; default threads, idle first."""
    table = table[table[method] != "SpectralClustering"]
    cases = list(table["case"].unique())
    panels = sorted(table.groupby(apart), key=lambda it: it[0], reverse=True)
    columns = table["load"].nunique()
    rows = len(panels) // columns
    size = (9.5, (0.3 * len(cases) + 0.8) * rows + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat
    for axis, (key, part) in zip(axes, panels, strict=True):
        names = dict(zip(apart, key, strict=True))
        threads = names.get("threads")
        told = f", {threads} thread{'s' * (threads != '1')}" if threads else ""
        axis.set_title({"idle": "idle", "busy": "one core busy"}[names["load"]] + told)
        axis.axvline(1, color=_GREY, linewidth=0.8)
        for i, (name, points) in enumerate(part.groupby(method, sort=False)):
            axis.plot(
                points["ratio"],
                [cases.index(case) for case in points["case"]],
                _MARKS[i],
                color=_COLOURS[i],
                markersize=7 if i == 0 else 5,
                label=name,
                zorder=3 if i == 0 else 2,
            )
        axis.set_xscale(scale)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.tick_params(labelsize=8)
        axis.grid(visible=True, axis="y", linewidth=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(cases)), cases)
    axes[0].set_ylim(len(cases) - 0.5, -0.5)
    figure.supxlabel(f"{title} (median)", fontsize=10)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=7,
        frameon=False,
    )
    return figure


def _growth(table: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(5, 3.6), layout="constrained")
    axis = figure.subplots()
    axis.set_xscale("log")
    axis.set_yscale("log")
    powers = exponents(table)
    for colour, (kind, power) in zip(_COLOURS, powers.items(), strict=False):
        rows = table[table["kind"] == kind].sort_values("n")
        n, seconds = rows["n"].to_numpy(), rows["seconds"].to_numpy()
        low, high = rows["seconds_low"].to_numpy(), rows["seconds_high"].to_numpy()
        axis.errorbar(
            n,
            seconds,
            yerr=[seconds - low, high - seconds],
            fmt="o-",
            color=colour,
            capsize=3,
            label=f"{kind} rows: $n^{{{power:.2f}}}$",
        )
    axis.plot(n, seconds[0] * (n / n[0]) ** 1.1, "--", color=_GREY, label="$n^{1.1}$")
    axis.set_xlabel("rows")
    axis.set_ylabel("seconds")
    axis.set_title("SymMF(), median and range")
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    return figure
