"""The convergence figures: error over iterations and over solver time.

The panels come from ``figures: {convergence: {panels: [...]}}`` in the experiment's
configuration; without it, all traced methods are drawn over iterations and over
time. A panel has ``title``, ``x`` (``iteration`` or ``seconds``), ``y`` (``error`` or
``split_error``), ``methods`` (entry names) and, if wanted, ``note``, ``n_clusters``,
``xscale`` and ``columns`` beside ``panels``.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from symmf.reporting.plots.base import Drawing, Gallery
from symmf.reporting.plots.style import Look, StyleBook
from symmf.reporting.results import Experiment, Missing, Results, run_command
from symmf.reporting.selection.readings import readings
from symmf.reporting.selection.traces import band, traces_of, trials_of

X_TITLES = {"iteration": "iteration", "seconds": "solver time (s)"}
Y_TITLES = {
    "error": "‖M − HHᵀ‖² / ‖M‖²",
    "split_error": "‖M − HPᵀ‖² / ‖M‖²",
}
MARKS = 7
COLUMNS = ["panel", "method", "label", "x_axis", "y_axis"]


def convergence(results: Results) -> Gallery:
    """Draw one convergence figure per experiment that asks for it.

    If none asks for it, every experiment with traces gets the two plain panels.
    """
    book = StyleBook(r for e in results.experiments for r in readings(e))
    traced = [e for e in results.experiments if len(e.traces)]
    asked = [e for e in traced if "convergence" in e.figures]
    drawings = tuple(_figure(e, book) for e in asked or traced)
    missing: tuple[Missing, ...] = ()
    if not drawings:
        missing = (
            Missing(
                name="convergence",
                reason="no experiment has traces",
                command=run_command("convergence"),
            ),
        )
    return Gallery(drawings=drawings, missing=missing)


def panels_of(experiment: Experiment) -> list[dict[str, Any]]:
    """Return the panels asked for, or the two plain ones."""
    asked = experiment.figures.get("convergence")
    given = asked.get("panels") if isinstance(asked, dict) else None
    if isinstance(given, list) and given:
        return [panel for panel in given if isinstance(panel, dict)]
    names = [
        name
        for name in experiment.method_order
        if (experiment.traces["method"] == name).any()
    ]
    return [
        {"title": "Error over iterations", "x": "iteration", "methods": names},
        {"title": "Error over solver time", "x": "seconds", "methods": names},
    ]


def _figure(experiment: Experiment, book: StyleBook) -> Drawing:
    panels = panels_of(experiment)
    asked = experiment.figures.get("convergence")
    asked = asked if isinstance(asked, dict) else {}
    columns = int(asked.get("columns") or {1: 1, 3: 3, 7: 4, 8: 4}.get(len(panels), 2))
    n_rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(3.4 * columns, 3.3 * n_rows), layout="constrained")
    axes = np.atleast_1d(figure.subplots(n_rows, columns)).ravel()
    points: dict[str, list[str]] = {}
    tables: list[pd.DataFrame] = []
    notes: list[str] = []
    for index, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        letter = chr(ord("a") + index) if len(panels) > 1 else ""
        tables += _panel(ax, experiment, panel, letter, book, points)
        note = str(panel.get("note") or "")
        if note:
            notes.append(f"{_lettered(panel, letter)}: {note}")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    n_trials = int(experiment.traces["trial"].nunique())
    caption = (
        f"Median over {n_trials} trials (line) and quartiles (band). A run that has "
        "stopped keeps its last value. Time excludes evaluation. "
    )
    caption += " ".join([*notes, str(asked.get("note") or "")]).strip()
    title = str(experiment.config.get("title") or experiment.name)
    return Drawing(
        name="convergence",
        experiment=experiment.name,
        title=title if "onvergence" in title else f"Convergence: {title}",
        caption=caption.strip(),
        figure=figure,
        data=pd.concat(tables, ignore_index=True) if tables else _no_data(),
        tooltips=points,
    )


def _no_data() -> pd.DataFrame:
    return pd.DataFrame(columns=[*COLUMNS, "x", "median", "low", "high", "n_trials"])


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


def curves_of(
    experiment: Experiment, panel: Mapping[str, Any]
) -> tuple[list[Curve], list[str]]:
    """Return the curves of a panel and the labels of methods without traces."""
    x, y = str(panel.get("x") or "iteration"), str(panel.get("y") or "error")
    k = int(panel.get("n_clusters") or max(experiment.traces["n_clusters"]))
    labels = {r.method: r.label for r in readings(experiment)}
    curves: list[Curve] = []
    absent: list[str] = []
    for method in (str(name) for name in panel.get("methods") or []):
        found = traces_of(experiment, method, k)
        measured = y if not len(found) or found[y].notna().any() else "error"
        trials = trials_of(found, x, measured)
        label = labels.get(method, method)
        if not trials:
            absent.append(label)
            continue
        if measured != y:
            label += " (HHᵀ)"
        table = band(list(trials.values()), spread=x == "seconds")
        curves.append(Curve(method=method, label=label, measured=measured, table=table))
    return curves, absent


def _panel(
    ax: Axes,
    experiment: Experiment,
    panel: Mapping[str, Any],
    letter: str,
    book: StyleBook,
    points: dict[str, list[str]],
) -> list[pd.DataFrame]:
    x = str(panel.get("x") or "iteration")
    curves, absent = curves_of(experiment, panel)
    ends = [curve.end for curve in curves]
    scale = str(panel.get("xscale") or "")
    if not scale and ends:
        scale = "log" if max(ends) > 20 * max(min(ends), 1e-12) else "linear"
    tables: list[pd.DataFrame] = []
    for position, curve in enumerate(curves):
        name = f"convergence-{letter or 'a'}-{position}"
        look = book.look(experiment.name, curve.method)
        _draw(ax, curve, look)
        marks = _marks(curve, (position, len(curves)), scale)
        ax.plot(marks["x"], marks["median"], ls="none", gid=name, **look.points)
        points[name] = [
            f"{curve.label}: {row.median:.3g} (quartiles {row.low:.3g} to "
            f"{row.high:.3g}) at {row.x:.4g}"
            for row in marks.itertuples()
        ]
        values = (letter, curve.method, curve.label, x, curve.measured)
        head = dict(zip(COLUMNS, values, strict=True))
        table = curve.table
        tables.append(table.assign(**head)[[*COLUMNS, *table.columns]])
    for label in absent:
        ax.plot([], [], ls="none", label=f"{label}: not run")
    _decorate(ax, panel, x, letter)
    if scale == "log" and ends:
        smallest = 1.0 if x == "iteration" else max(min(ends) / 1e3, 1e-6)
        ax.set_xscale("symlog", linthresh=smallest, linscale=0.25)
        ax.set_xlim(left=0)
    return tables


def _lettered(panel: Mapping[str, Any], letter: str) -> str:
    """Return the title of a panel, with its letter unless it brings its own."""
    title = str(panel.get("title") or "")
    return f"({letter}) {title}" if letter and not title.startswith("(") else title


def _draw(ax: Axes, curve: Curve, look: Look) -> None:
    table = curve.table
    ax.fill_between(
        table["x"], table["low"], table["high"], color=look.color, alpha=0.16, lw=0
    )
    ax.plot(table["x"], table["median"], **look.line)
    ax.plot([], [], label=curve.label, **look.line, **look.points)


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


def _decorate(ax: Axes, panel: Mapping[str, Any], x: str, letter: str) -> None:
    ax.set_yscale("log")
    ax.set_xlabel(X_TITLES.get(x, x))
    y = str(panel.get("y") or "error")
    ax.set_ylabel(Y_TITLES.get(y, y))
    # A sign never starts a line of its own.
    said = str(panel.get("note") or "").replace(" >= ", "\u00a0≥\u00a0")
    note = "\n".join(textwrap.wrap(said, 52))
    title = "\n".join(textwrap.wrap(_lettered(panel, letter), 34))
    ax.set_title(title, pad=5 + 8.5 * len(note.splitlines()))
    if note:
        ax.text(0, 1.02, note, transform=ax.transAxes, fontsize=6.5, va="bottom")
    labels = ax.get_legend_handles_labels()[1]
    if labels:
        columns = 2 if max(map(len, labels)) < 18 else 1
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=columns)
