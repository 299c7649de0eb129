"""The convergence figures: error over iterations and over solver time.

The panels come from ``figures: {convergence: {panels: [...]}}`` in the experiment's
configuration; without it, all traced methods are drawn over iterations and over
time. Errors of different matrices never share an axis: such a panel is divided, one
part per matrix.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

from symmf.common.texts import plot_text
from symmf.experiment.config.parts import ConvergenceFigure, Panel
from symmf.reporting.plots.base import TEXTS, Drawing, canvas, legend_below
from symmf.reporting.plots.style import Look, StyleBook, style_book
from symmf.reporting.results import Experiment, Results, stacked
from symmf.reporting.selection.readings import readings
from symmf.reporting.selection.traces import (
    SYMMETRIC,
    band,
    by_problem,
    measured,
    traces_of,
    trials_of,
)

X_TITLES: dict[Literal["iteration", "seconds"], str] = {
    "iteration": "iteration",
    "seconds": "solver time (s)",
}
SPLIT = "‖M − HPᵀ‖² / ‖M‖²"
MARKS = 7
FEWEST_POINTS = 3  # start and end alone are no curve
COLUMNS = ["panel", "method", "label", "x_axis", "y_axis"]
COLUMNS += ["x", "median", "low", "high", "n_trials"]


@dataclass(frozen=True)
class Chart:
    """What one pair of axes shows: a panel as asked for, and of which matrix."""

    panel: Panel
    n_clusters: int
    symbol: str = SYMMETRIC


def convergence(results: Results) -> Iterator[Drawing]:
    """Draw one convergence figure per experiment that asks for it.

    If none asks for it, every experiment with traces gets the plain panels.
    """
    book = style_book(results)
    traced = [e for e in results.experiments if len(e.traces)]
    asked = [e for e in traced if e.config.figures.convergence]
    for experiment in asked or traced:
        if charts := charts_of(experiment):
            yield _drawing(experiment, charts, book)


def _asked(experiment: Experiment) -> ConvergenceFigure:
    return experiment.config.figures.convergence or ConvergenceFigure(columns=None)


def charts_of(experiment: Experiment) -> list[Chart]:
    """Return the panels asked for, or the plain ones, each of one matrix only."""
    largest = int(max(experiment.traces["n_clusters"]))
    traced = set(experiment.traces["method"])
    methods = [name for name in experiment.entries if name in traced]
    plain = [Panel(methods=methods, n_clusters=None, x=x) for x in X_TITLES]
    divided = [
        _divided(experiment, Chart(panel, panel.n_clusters or largest))
        for panel in _asked(experiment).panels or plain
    ]
    if len({len(parts) for parts in divided}) == 1:
        # One matrix per row, the same panels side by side.
        return [part for parts in zip(*divided, strict=True) for part in parts]
    return [part for parts in divided for part in parts]


def _divided(experiment: Experiment, chart: Chart) -> list[Chart]:
    """Return a panel for each problem that the entries of a panel solve."""
    panel = chart.panel
    groups = by_problem(experiment, panel.methods)
    if len(groups) == 1:
        (problem,) = groups
        return [replace(chart, symbol=problem.symbol)]
    points = experiment.traces.groupby("method")["iteration"].nunique()
    out = []
    for problem, names in groups.items():
        if max(points.get(name, 0) for name in names) >= FEWEST_POINTS:
            title = ", ".join(filter(None, (panel.title, problem.title)))
            part = panel.model_copy(update={"title": title, "methods": names})
            out.append(replace(chart, panel=part, symbol=problem.symbol))
    return out


def _drawing(
    experiment: Experiment, charts: Sequence[Chart], book: StyleBook
) -> Drawing:
    columns = _asked(experiment).columns or {1: 1, 3: 3, 7: 4}.get(len(charts), 2)
    n_rows = math.ceil(len(charts) / columns)
    title = experiment.title
    drawing = Drawing(
        name="convergence",
        experiment=experiment.name,
        title=title if "onvergence" in title else f"Convergence: {title}",
        figure=canvas(3.4 * columns, 2.6 * n_rows),
    )
    axes = np.atleast_1d(drawing.figure.subplots(n_rows, columns)).ravel()
    curves, absent = [pd.DataFrame(columns=COLUMNS)], []
    for index, (ax, chart) in enumerate(zip(axes, charts, strict=False)):
        letter = _letter(index) if len(charts) > 1 else ""
        found = curves_of(experiment, chart)
        absent += [name for name in chart.panel.methods if name not in found]
        looks = [book.look(experiment.name, name) for name in found]
        asked = _asked(experiment).panels
        limits = None if asked else _limits(experiment, chart)
        _draw_panel(drawing, ax, chart, [*found.values()], looks, limits)
        _head(ax, chart.panel, letter)
        curves += [curve.assign(panel=letter) for curve in found.values()]
    for ax in axes[len(charts) :]:
        ax.set_axis_off()
    legend_below(drawing.figure)
    drawing.caption = _caption(experiment, charts, absent)
    drawing.data = stacked(curves)[COLUMNS]
    return drawing


def _letter(index: int) -> str:
    """Return a, b, ... z, aa, ab, ..."""
    first, last = divmod(index, 26)
    return (_letter(first - 1) if first else "") + chr(ord("a") + last)


def _caption(experiment: Experiment, charts: Sequence[Chart], absent: list[str]) -> str:
    n_trials = int(experiment.traces["trial"].nunique())
    shown = ", ".join(map(str, sorted({chart.n_clusters for chart in charts})))
    labels = _labels(experiment)

    def named(kind: str, methods: Iterable[str]) -> list[str]:
        names = ", ".join(dict.fromkeys(labels.get(name, name) for name in methods))
        return [texts[kind].format(names=names)] if names else []

    texts = TEXTS["convergence"]
    said = [texts["trials"].format(counts=shown, n_trials=n_trials)]
    if len({chart.symbol for chart in charts}) > 1 or not _asked(experiment).panels:
        said += [texts["apart"]] if len(charts) > len(X_TITLES) else []
        said.append(texts["cut"])
        drawn = {name for chart in charts for name in chart.panel.methods}
        traced = set(experiment.traces["method"]) - drawn
        said += named("single", (name for name in experiment.entries if name in traced))
    said += named("absent", absent)
    said += [
        f"{_lettered(chart.panel.title, _letter(index))}: {chart.panel.note}"
        for index, chart in enumerate(charts)
        if chart.panel.note
    ]
    said.append(_asked(experiment).note)
    return " ".join(filter(None, said))


def _labels(experiment: Experiment) -> dict[str, str]:
    return {reading.method: reading.label for reading in readings(experiment)}


def curves_of(experiment: Experiment, chart: Chart) -> dict[str, pd.DataFrame]:
    """Return the curve of every entry of a panel that has traces, as a frame."""
    labels, panel = _labels(experiment), chart.panel
    curves = {}
    for method in panel.methods:
        found = traces_of(experiment, method, chart.n_clusters)
        y_axis = measured(found, panel.y)
        trials = trials_of(found, panel.x, y_axis)
        if not trials:
            continue
        label = labels.get(method, method)
        label = label if y_axis == panel.y else f"{label} (HHᵀ)"
        head = {"method": method, "label": label, "y_axis": y_axis}
        curve = band(list(trials.values()), spread=panel.x == "seconds")
        curves[method] = curve.assign(x_axis=panel.x, **head)
    return curves


def _draw_panel(
    drawing: Drawing,
    ax: Axes,
    chart: Chart,
    curves: Sequence[pd.DataFrame],
    looks: Sequence[Look],
    limits: tuple[float, float] | None,
) -> None:
    """Draw the curves of a panel, between ``limits`` if they are given."""
    panel = chart.panel
    ends = [float(curve["x"].iloc[-1]) for curve in curves]
    spread = bool(ends) and max(ends) > 20 * max(min(ends), 1e-12)
    scale = panel.xscale or ("log" if spread else "linear")
    for position, (curve, look) in enumerate(zip(curves, looks, strict=True)):
        xs = curve["x"]
        ax.fill_between(
            xs, curve["low"], curve["high"], color=look.color, alpha=0.16, lw=0
        )
        ax.plot(xs, curve["median"], **look.line)
        label = plot_text(curve["label"].iloc[0])
        ax.plot([], [], label=label, **look.line, **look.points)
        marks = _marks(curve, position / len(curves), scale)
        if limits:
            marks = marks[marks["median"] < limits[1]]
        texts = [
            f"{row.label}: {row.median:.3g} (quartiles {row.low:.3g} to "
            f"{row.high:.3g}) at {row.x:.4g}"
            for row in marks.itertuples()
        ]
        style = {"clip_on": False, "zorder": 3, **look.points}
        drawing.mark(ax, marks["x"], marks["median"], texts, **style)
    ax.set_yscale("log")
    if limits:
        ax.set_ylim(limits)
    ax.set_ylabel(SPLIT if panel.y == "split_error" else chart.symbol)
    ax.set_xlabel(X_TITLES[panel.x])
    if scale == "log" and ends:
        _log_axis(ax, 1.0 if panel.x == "iteration" else max(min(ends) / 1e3, 1e-6))


def _limits(experiment: Experiment, chart: Chart) -> tuple[float, float] | None:
    """Return where to cut an axis that the first iterations would fill, or None.

    The iterations decide for the panel over time as well, so both have one scale.
    """
    panel = chart.panel.model_copy(update={"x": "iteration"})
    curves = curves_of(experiment, replace(chart, panel=panel)).values()
    later = [curve[curve["x"] > 0.02 * curve["x"].iloc[-1] + 1] for curve in curves]
    settled = max((float(c["high"].max()) for c in later if len(c)), default=math.inf)
    highest = max((float(curve["high"].max()) for curve in curves), default=0.0)
    if highest <= 100 * settled:
        return None
    return 0.8 * min(float(curve["low"].min()) for curve in curves), 3 * settled


def _log_axis(ax: Axes, smallest: float) -> None:
    """Let the axis be logarithmic beyond ``smallest`` and begin at 0."""
    ax.set_xscale("symlog", linthresh=smallest, linscale=0.25)
    ax.set_xlim(left=0)
    end = ax.get_xlim()[1]
    decades = LogLocator(base=10).tick_values(smallest, end)
    # The first decade is too near to zero for both numbers to be read.
    ticks = [value for value in decades if 3 * smallest < value <= end]
    ax.xaxis.set_major_locator(FixedLocator([0.0, *ticks]))
    ax.xaxis.set_minor_locator(NullLocator())


def _lettered(title: str, letter: str) -> str:
    """Return the title of a panel, with its letter unless it brings its own."""
    return f"({letter}) {title}" if letter and not title.startswith("(") else title


def _head(ax: Axes, panel: Panel, letter: str) -> None:
    # A sign never starts a line of its own.
    said = plot_text(panel.note).replace(" >= ", "\u00a0≥\u00a0")
    note = "\n".join(textwrap.wrap(said, 52))
    wrapped = textwrap.wrap(plot_text(_lettered(panel.title, letter)), 40)
    ax.set_title("\n".join(wrapped), pad=5 + 8.5 * len(note.splitlines()))
    if note:
        ax.text(0, 1.02, note, transform=ax.transAxes, fontsize=6.5, va="bottom")


def _marks(curve: pd.DataFrame, shift: float, scale: str) -> pd.DataFrame:
    """Pick a few points, evenly on the axis; ``shift`` staggers those of curves."""
    xs = curve["x"].to_numpy(dtype=float)
    shares = np.linspace(shift / MARKS, 1, MARKS)
    if scale == "log":
        picks = (shares * (len(xs) - 1)).round().astype(int)
    else:
        picks = np.searchsorted(xs, shares * xs[-1]).clip(max=len(xs) - 1)
    return curve.iloc[np.unique(picks)]
