"""The convergence figures: error over iterations and over solver time.

The panels come from ``figures: {convergence: {panels: [...]}}`` in the experiment's
configuration; without it, all traced methods are drawn over iterations and over
time. Errors of different matrices never share an axis: such a panel is divided, one
part per matrix.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

from symmf.common.texts import plot_text
from symmf.experiment.config.parts import ConvergenceFigure
from symmf.reporting.plots.base import Drawing, Gallery, Tooltips
from symmf.reporting.plots.legend import legend_below
from symmf.reporting.plots.style import Look, StyleBook
from symmf.reporting.results import Experiment, Missing, Results, run_command
from symmf.reporting.selection.problems import SYMMETRIC, by_problem
from symmf.reporting.selection.readings import readings
from symmf.reporting.selection.traces import band, traces_of, trials_of

X_TITLES = {"iteration": "iteration", "seconds": "solver time (s)"}
SPLIT = "‖M − HPᵀ‖² / ‖M‖²"
MARKS = 7
FEWEST_POINTS = 3  # start and end alone are no curve
COLUMNS = ["panel", "method", "label", "x_axis", "y_axis"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What one pair of axes shows."""

    title: str
    methods: tuple[str, ...]
    x: str = "iteration"
    y: str = "error"
    symbol: str = SYMMETRIC
    n_clusters: int
    xscale: str = ""
    note: str = ""
    cut: bool = False  # whether errors of the first steps may leave the axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of a panel."""

    method: str
    label: str
    measured: str
    table: pd.DataFrame

    @property
    def end(self) -> float:
        """Where the curve ends."""
        return float(self.table["x"].iloc[-1])


def convergence(results: Results) -> Gallery:
    """Draw one convergence figure per experiment that asks for it.

    If none asks for it, every experiment with traces gets the plain panels.
    """
    book = StyleBook(r for e in results.experiments for r in readings(e))
    traced = [e for e in results.experiments if len(e.traces)]
    asked = [e for e in traced if e.config.figures.convergence]
    drawings = tuple(_figure(e, book) for e in asked or traced if panels_of(e))
    missing: tuple[Missing, ...] = ()
    if not drawings:
        missing = (
            Missing(
                name="convergence",
                reason="no experiment has traces of several iterations",
                command=run_command("convergence"),
            ),
        )
    return Gallery(drawings=drawings, missing=missing)


def _asked(experiment: Experiment) -> ConvergenceFigure:
    return experiment.config.figures.convergence or ConvergenceFigure(
        columns=None, note=""
    )


def panels_of(experiment: Experiment) -> list[Chart]:
    """Return the panels asked for, or the plain ones, each of one matrix only."""
    largest = int(max(experiment.traces["n_clusters"]))
    traced = set(experiment.traces["method"])
    names = tuple(name for name in experiment.entries if name in traced)
    wanted = [
        Chart(
            title=panel.title,
            methods=tuple(panel.methods),
            x=panel.x,
            y=panel.y,
            n_clusters=panel.n_clusters or largest,
            xscale=panel.xscale or "",
            note=panel.note,
        )
        for panel in _asked(experiment).panels
    ] or [
        Chart(title="", methods=names, x=x, n_clusters=largest, cut=True)
        for x in X_TITLES
    ]
    divided = [_divided(experiment, panel) for panel in wanted]
    if len({len(parts) for parts in divided}) == 1:
        # One matrix per row, the same panels side by side.
        return [part for parts in zip(*divided, strict=True) for part in parts]
    return [part for parts in divided for part in parts]


def _divided(experiment: Experiment, panel: Chart) -> list[Chart]:
    """Return a panel for each problem that the entries of a panel solve."""
    groups = by_problem(experiment, panel.methods)
    if len(groups) == 1:
        (problem,) = groups
        return [replace(panel, symbol=problem.symbol)]
    points = experiment.traces.groupby("method")["iteration"].nunique()
    return [
        replace(
            panel,
            title=f"{panel.title}, {problem.title}" if panel.title else problem.title,
            methods=tuple(names),
            symbol=problem.symbol,
        )
        for problem, names in groups.items()
        if max(points.get(name, 0) for name in names) >= FEWEST_POINTS
    ]


def _figure(experiment: Experiment, book: StyleBook) -> Drawing:
    panels = panels_of(experiment)
    asked = _asked(experiment)
    columns = asked.columns or {1: 1, 3: 3, 7: 4}.get(len(panels), 2)
    n_rows = math.ceil(len(panels) / columns) or 1
    figure = Figure(figsize=(3.4 * columns, 2.6 * n_rows), layout="constrained")
    axes = np.atleast_1d(figure.subplots(n_rows, columns)).ravel()
    tooltips: Tooltips = {}
    tables: list[pd.DataFrame] = []
    absent: dict[str, None] = {}
    for index, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        letter = _letter(index) if len(panels) > 1 else ""
        curves, without = curves_of(experiment, panel)
        absent.update(dict.fromkeys(without))
        looks = [book.look(experiment.name, curve.method) for curve in curves]
        limits = _limits(experiment, panel)
        tooltips |= _draw_panel(ax, panel, letter, curves, looks, limits)
        tables += [_table(curve, panel, letter) for curve in curves]
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    legend_below(figure)
    title = experiment.title
    return Drawing(
        name="convergence",
        experiment=experiment.name,
        title=title if "onvergence" in title else f"Convergence: {title}",
        caption=_caption(experiment, panels, list(absent)),
        figure=figure,
        data=pd.concat(tables, ignore_index=True) if tables else _no_data(),
        tooltips=tooltips,
    )


def _letter(index: int) -> str:
    """Return a, b, ... z, aa, ab, ..."""
    first, last = divmod(index, 26)
    return (_letter(first - 1) if first else "") + chr(ord("a") + last)


def _caption(experiment: Experiment, panels: Sequence[Chart], absent: list[str]) -> str:
    n_trials = int(experiment.traces["trial"].nunique())
    counts = sorted({panel.n_clusters for panel in panels})
    words = [
        f"K = {', '.join(map(str, counts))}. Median over {n_trials} trials (line) and "
        "quartiles (band). A run that has stopped keeps its last value. Time excludes "
        "evaluation."
    ]
    labels = {r.method: r.label for r in readings(experiment)}
    drawn = {name for panel in panels for name in panel.methods}
    if len({panel.symbol for panel in panels}) > 1 or not _asked(experiment).panels:
        single = [
            labels.get(name, name)
            for name in experiment.entries
            if name not in drawn and (experiment.traces["method"] == name).any()
        ]
        if len(panels) > len(X_TITLES):
            words.append(
                "The methods minimise different things, so each panel shows those "
                "with one and the same matrix M (or data X) and its own error; errors "
                "of different panels cannot be compared."
            )
        words.append("Errors of the first steps may lie above the axes.")
        if single:
            words.append(f"Without iterations, so not drawn: {', '.join(single)}.")
    if absent:
        words.append(f"Without results, so not drawn: {', '.join(absent)}.")
    words += [
        f"{_lettered(panel.title, _letter(index))}: {panel.note}"
        for index, panel in enumerate(panels)
        if panel.note
    ]
    words.append(_asked(experiment).note)
    return " ".join(word for word in words if word)


def _no_data() -> pd.DataFrame:
    return pd.DataFrame(columns=[*COLUMNS, "x", "median", "low", "high", "n_trials"])


def _table(curve: Curve, panel: Chart, letter: str) -> pd.DataFrame:
    values = (letter, curve.method, curve.label, panel.x, curve.measured)
    head = dict(zip(COLUMNS, values, strict=True))
    return curve.table.assign(**head)[[*COLUMNS, *curve.table.columns]]


def curves_of(experiment: Experiment, panel: Chart) -> tuple[list[Curve], list[str]]:
    """Return the curves of a panel and the labels of methods without traces."""
    labels = {r.method: r.label for r in readings(experiment)}
    curves: list[Curve] = []
    absent: list[str] = []
    for method in panel.methods:
        found = traces_of(experiment, method, panel.n_clusters)
        kept = not len(found) or found[panel.y].notna().any()
        measured = panel.y if kept else "error"
        trials = trials_of(found, panel.x, measured)
        label = labels.get(method, method)
        if not trials:
            absent.append(label)
            continue
        if measured != panel.y:
            label += " (HHᵀ)"
        table = band(list(trials.values()), spread=panel.x == "seconds")
        curves.append(Curve(method=method, label=label, measured=measured, table=table))
    return curves, absent


def _draw_panel(
    ax: Axes,
    panel: Chart,
    letter: str,
    curves: Sequence[Curve],
    looks: Sequence[Look],
    limits: tuple[float, float] | None,
) -> Tooltips:
    """Draw the curves of a panel; return the texts of their marks."""
    ends = [curve.end for curve in curves]
    spread = bool(ends) and max(ends) > 20 * max(min(ends), 1e-12)
    scale = panel.xscale or ("log" if spread else "linear")
    tooltips = {}
    for position, (curve, look) in enumerate(zip(curves, looks, strict=True)):
        _draw_curve(ax, curve, look)
        marks = _marks(curve, (position, len(curves)), scale)
        if limits:
            marks = marks[marks["median"] < limits[1]]
        name = f"convergence-{letter or 'a'}-{position}"
        ax.plot(
            *(marks["x"], marks["median"]),
            ls="none",
            gid=name,
            clip_on=False,
            zorder=3,
            **look.points,
        )
        tooltips[name] = [
            f"{curve.label}: {row.median:.3g} (quartiles {row.low:.3g} to "
            f"{row.high:.3g}) at {row.x:.4g}"
            for row in marks.itertuples()
        ]
    ax.set_yscale("log")
    if limits:
        ax.set_ylim(limits)
    ax.set_ylabel(SPLIT if panel.y == "split_error" else panel.symbol)
    ax.set_xlabel(X_TITLES.get(panel.x, panel.x))
    _head(ax, panel, letter)
    if scale == "log" and ends:
        _log_axis(ax, 1.0 if panel.x == "iteration" else max(min(ends) / 1e3, 1e-6))
    return tooltips


def _limits(experiment: Experiment, panel: Chart) -> tuple[float, float] | None:
    """Return where to cut an axis that the first iterations would fill, or None.

    The iterations decide for the panel over time as well, so both have one scale.
    """
    if not panel.cut:
        return None
    curves, _ = curves_of(experiment, replace(panel, x="iteration"))
    tables = [curve.table for curve in curves]
    later = [table[table["x"] > 0.02 * table["x"].iloc[-1] + 1] for table in tables]
    settled = max((float(t["high"].max()) for t in later if len(t)), default=math.inf)
    highest = max((float(table["high"].max()) for table in tables), default=0.0)
    if highest <= 100 * settled:
        return None
    return 0.8 * min(float(table["low"].min()) for table in tables), 3 * settled


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


def _head(ax: Axes, panel: Chart, letter: str) -> None:
    # A sign never starts a line of its own.
    said = plot_text(panel.note).replace(" >= ", "\u00a0≥\u00a0")
    note = "\n".join(textwrap.wrap(said, 52))
    wrapped = textwrap.wrap(plot_text(_lettered(panel.title, letter)), 40)
    ax.set_title("\n".join(wrapped), pad=5 + 8.5 * len(note.splitlines()))
    if note:
        ax.text(0, 1.02, note, transform=ax.transAxes, fontsize=6.5, va="bottom")


def _draw_curve(ax: Axes, curve: Curve, look: Look) -> None:
    table = curve.table
    ax.fill_between(
        table["x"], table["low"], table["high"], color=look.color, alpha=0.16, lw=0
    )
    ax.plot(table["x"], table["median"], **look.line)
    ax.plot([], [], label=plot_text(curve.label), **look.line, **look.points)


def _marks(curve: Curve, place: tuple[int, int], scale: str) -> pd.DataFrame:
    """Pick a few points, evenly on the axis, staggered between the curves."""
    xs = curve.table["x"].to_numpy(dtype=float)
    shift = place[0] / max(place[1], 1) / MARKS
    shares = np.linspace(shift, 1, MARKS)
    if scale == "log":
        picks = (shares * (len(xs) - 1)).round().astype(int)
    else:
        picks = np.searchsorted(xs, shares * xs[-1]).clip(max=len(xs) - 1)
    return curve.table.iloc[np.unique(picks)]
