"""What the regulariser does: scores over lambda, and with and without it over K.

Trials differ in the classes they draw, which moves scores far more than lambda does.
Both runs of a trial share classes and start, so below each curve stands the paired
difference with its interval: there "flat" can be seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy

from symmf.common.figures import GREY, INK
from symmf.common.texts import plot_text
from symmf.paper.values import PAPER_PANELS
from symmf.reporting.plots.base import Drawing, canvas, legend_below, words
from symmf.reporting.plots.style import Look, StyleBook, style_book
from symmf.reporting.results import Experiment, Missing, Results, run_command
from symmf.reporting.selection.cells import Cell, dataset_title
from symmf.reporting.selection.readings import REFERENCE_WEIGHT
from symmf.reporting.selection.regulariser import (
    WeightGrid,
    grid_panels,
    on_graph,
    pairings,
)
from symmf.reporting.statistics.intervals import INTERVAL_METHOD, paired_difference

METRIC_TITLES = {"ac": "AC", "nmi": "NMI"}
APART = 3.4  # points between the marks of two entries at the same place
MARKS: dict[str, Any] = {"clip_on": False, "zorder": 3}


NUMBERS = ["experiment", "dataset", "n_clusters", "method", "label", "metric", "mean"]
NUMBERS += ["std", "n_good", "n_total", "lambda", "difference", "difference_low"]
NUMBERS += ["difference_high", "n_pairs"]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A curve: one line of numbers per cell, its differences to another among them."""

    label: str
    look: Look
    numbers: pd.DataFrame


def sensitivity(results: Results) -> Iterator[Drawing | Missing]:
    """Draw AC and NMI over lambda and their differences to lambda = 0."""
    panels = grid_panels(results)
    there = {panel.key for panel in panels}
    for name, k in PAPER_PANELS if results.about_paper else ():
        if (name, k) not in there:
            reason = f"no grid of lambda for {dataset_title(name)}, K = {k}"
            command = run_command("lambda" if name == "coil20" else f"lambda_{name}")
            yield Missing(name="lambda", reason=reason, command=command)
    if not panels:
        return
    drawing = Drawing(
        **words("lambda", interval=INTERVAL_METHOD),
        figure=canvas(2.5 * len(panels) + 0.8, 6.2),
    )
    axes = drawing.figure.subplots(
        4, len(panels), squeeze=False, sharex="col", sharey="row"
    )
    book, frames = style_book(results), []
    shared = Counter(panel.key for panel in panels)
    for column, panel in enumerate(panels):
        title = plot_text(dataset_title(panel.experiment.dataset, results))
        title += f", K = {panel.n_clusters}"
        if shared[panel.key] > 1:  # the same cell on another input
            title += f"\n{input_of(panel.experiment)}"
        axes[0][column].set_title(title)
        axes[3][column].set_xlabel("λ")
        for row, metric in enumerate(METRIC_TITLES):
            upper, lower = axes[2 * row : 2 * row + 2, column]
            lines = _weight_series(panel, metric, book)
            frames.append(draw_pair(drawing, upper, lower, lines, "lambda"))
            for ax in (upper, lower):
                _weight_axis(ax, sorted(set(frames[-1]["lambda"])))
    drawing.data = pd.concat(frames, ignore_index=True)
    for row, (metric, title) in enumerate(METRIC_TITLES.items()):
        upper, lower = axes[2 * row : 2 * row + 2, 0]
        upper.set_ylabel(title)
        lower.set_ylabel(f"{title} minus\nλ = 0")
        _difference_axis(lower, drawing.data[drawing.data["metric"] == metric])
    legend_below(drawing.figure)
    yield drawing


def input_of(experiment: Experiment) -> str:
    """Say what the entries of an experiment factor: inner products, or a graph."""
    return "on a graph" if on_graph(experiment) else "on inner products"


def _weight_series(panel: WeightGrid, metric: str, book: StyleBook) -> list[Series]:
    """Return an entry's cells over lambda, each paired with the one at lambda = 0."""
    out = []
    for method, by_weight in panel.curves(metric).items():
        group, base = [*by_weight.values()], by_weight.get(0.0)
        bases = [base if weight else None for weight in by_weight]
        look = book.look(panel.experiment.name, method)
        out.append(Series(group[0].reading.label, look, _numbers(group, bases)))
    return out


def _weight_axis(ax: Axes, grid: list[float]) -> None:
    positive = [value for value in grid if value > 0]
    if positive:
        ax.set_xscale("symlog", linthresh=positive[0], linscale=0.5)
        ax.set_xlim(left=-0.25 * positive[0] if 0 in grid else 0.8 * positive[0])
        shown = grid if len(grid) <= 8 else [*grid[:-1:2], grid[-1]]
        ax.set_xticks(shown, [f"{value:g}" for value in shown])
        ax.minorticks_off()
    ax.axvline(REFERENCE_WEIGHT, lw=0.8, ls=":", color=GREY)


def regularization(results: Results) -> Iterator[Drawing]:
    """Draw accuracy with and without the regulariser over K, and the difference."""
    found = pairings(results)
    if not found:
        return
    across = 2 if len(found) > 3 else len(found)
    down = math.ceil(len(found) / across)
    drawing = Drawing(
        **words("regularization", interval=INTERVAL_METHOD),
        figure=canvas(max(3.4 * across, 3.8), 3.7 * down),
    )
    axes = drawing.figure.subplots(
        *(2 * down, across), squeeze=False, sharex="col", height_ratios=(3, 2) * down
    )
    uppers, lowers = axes[::2].ravel(), axes[1::2].ravel()
    for same in (uppers, lowers):
        for ax in same[1:]:
            ax.sharey(same[0])
        for ax in same[len(found) :]:
            ax.set_axis_off()
    book, frames = style_book(results), []
    plain = Look(GREY, "s", dash=(4, 1.6), hollow=True)
    for upper, lower, pair in zip(uppers, lowers, found, strict=False):
        look = book.look(pair.experiment.name, pair.reading.method)
        label = f"{pair.reading.label}, λ = {pair.weight:g}"
        without, nothing = pair.without_cells, [None] * len(pair.without_cells)
        lines = [
            Series(label, look, _numbers(pair.with_cells, without)),
            Series("λ = 0", plain, _numbers(without, nothing)),
        ]
        frames.append(draw_pair(drawing, upper, lower, lines, "n_clusters"))
        title = dataset_title(pair.experiment.dataset, results)
        head = f"{title}, {input_of(pair.experiment)}"
        upper.set_title(f"{plot_text(head)}\n{plot_text(pair.reading.label)}")
    drawing.data = pd.concat(frames, ignore_index=True)
    _difference_axis(lowers[0], drawing.data)
    for row, ax in enumerate(axes[:, 0]):
        ax.set_ylabel("AC minus\nλ = 0" if row % 2 else "AC")
    for ax in axes[-1]:
        ax.set_xlabel("number of clusters K")
        ax.xaxis.get_major_locator().set_params(integer=True)
    legend_below(drawing.figure)
    yield drawing


def draw_pair(
    drawing: Drawing, upper: Axes, lower: Axes, lines: Sequence[Series], axis: str
) -> pd.DataFrame:
    """Draw means above and paired differences below; return the numbers."""
    lower.axhline(0, color=INK, lw=0.8)
    paired = [line for line in lines if line.numbers["n_pairs"].any()]
    for line in lines:
        look, numbers = line.look, line.numbers
        texts = [
            f"{line.label}: {cell['mean']:.3f}, standard deviation {cell['std']:.3f}, "
            f"at {cell[axis]:g} ({cell['n_good']} of {cell['n_total']} trials)"
            for cell in numbers.to_dict("records")
        ]
        xs, means = numbers[axis], numbers["mean"]
        upper.plot(xs, means, **look.line)
        drawing.mark(upper, xs, means, texts, **MARKS, **look.points)
        upper.plot([], [], label=plot_text(line.label), **look.line, **look.points)
        if line in paired:
            aside = APART * (paired.index(line) - (len(paired) - 1) / 2)
            _differences(drawing, lower, line, axis, aside)
    return pd.concat([line.numbers for line in lines], ignore_index=True)


def _differences(
    drawing: Drawing, ax: Axes, line: Series, axis: str, shift: float
) -> None:
    """Draw the paired differences that are known, with their intervals."""
    known = line.numbers.dropna(subset=["difference"])
    low, high = known["difference_low"], known["difference_high"]
    aside = offset_copy(ax.transData, fig=drawing.figure, x=shift, units="points")
    ax.vlines(known[axis], low, high, color=line.look.color, lw=1.3, transform=aside)
    texts = [
        f"{line.label} at {r[axis]:g}: {r['difference']:+.3f}, interval "
        f"{r['difference_low']:+.3f} to {r['difference_high']:+.3f} "
        f"({r['n_pairs']} trials)"
        for r in known.to_dict("records")
    ]
    look = {**MARKS, **line.look.points, "transform": aside}
    drawing.mark(ax, known[axis], known["difference"], texts, **look)


def _difference_axis(ax: Axes, numbers: pd.DataFrame) -> None:
    """Let the axis hold every interval; marks that are moved aside do not count."""
    ends = numbers[["difference_low", "difference_high"]].abs().to_numpy()
    reach = 1.08 * np.nanmax([*ends.ravel(), 0.005])
    ax.set_ylim(-reach, reach)


def _numbers(cells: Sequence[Cell], bases: Sequence[Cell | None]) -> pd.DataFrame:
    """Return the numbers of cells, and their paired differences to other ones."""
    lines = []
    for cell, base in zip(cells, bases, strict=True):
        line = {**cell.record, "n_pairs": 0}
        if base:
            found = paired_difference(cell, base)
            line |= {"difference": found.mean, "n_pairs": found.n_pairs}
            line |= {"difference_low": found.low, "difference_high": found.high}
        lines.append(line)
    return pd.DataFrame(lines, columns=NUMBERS)
