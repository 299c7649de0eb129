"""What the regulariser does: scores over lambda, and with and without it over K.

Trials differ in the classes they draw, which moves scores far more than lambda does.
Both runs of a trial share classes and start, so below each curve stands the paired
difference with its interval: there "flat" can be seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import offset_copy

from symmf.common.figures import GREY, INK
from symmf.common.texts import plot_text
from symmf.paper.values import PAPER_PANELS
from symmf.reporting.plots.base import Drawing, Gallery, Records, Tooltips
from symmf.reporting.plots.legend import legend_below
from symmf.reporting.plots.style import Look, StyleBook
from symmf.reporting.results import Experiment, Missing, Results, run_command
from symmf.reporting.selection.cells import Cell, dataset_title
from symmf.reporting.selection.readings import REFERENCE_WEIGHT, readings
from symmf.reporting.selection.regulariser import (
    WeightGrid,
    grid_panels,
    on_graph,
    pairings,
)
from symmf.reporting.statistics.intervals import (
    INTERVAL_METHOD,
    PairedDifference,
    paired_difference,
)

METRIC_TITLES = {"ac": "AC", "nmi": "NMI"}
APART = 3.4  # points between the marks of two entries at the same place
PAIRED = (
    "paired differences over the trials both have, with the "
    f"{INTERVAL_METHOD}; where an interval contains 0, no effect is shown"
)

Drawn = tuple[Records, Tooltips]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Cells along an axis, and for each the cell its trials are paired with."""

    name: str
    label: str
    look: Look
    xs: tuple[float, ...]
    cells: tuple[Cell, ...]
    bases: tuple[Cell | None, ...]


def sensitivity(results: Results) -> Gallery:
    """Draw AC and NMI over lambda and their differences to lambda = 0."""
    panels = grid_panels(results)
    there = {panel.key for panel in panels}
    missing = tuple(
        Missing(
            name="lambda",
            reason=f"no grid of lambda for {dataset_title(name)}, K = {k}",
            command=run_command("lambda" if name == "coil20" else f"lambda_{name}"),
        )
        for name, k in PAPER_PANELS
        if results.about_paper and (name, k) not in there
    )
    if not panels:
        return Gallery(missing=missing)
    book = StyleBook(r for e in results.experiments for r in readings(e))
    figure = Figure(figsize=(2.5 * len(panels) + 0.8, 6.2), layout="constrained")
    axes = figure.subplots(4, len(panels), squeeze=False, sharex="col", sharey="row")
    records: Records = []
    tooltips: Tooltips = {}
    shared = Counter(panel.key for panel in panels)
    for column, panel in enumerate(panels):
        title = plot_text(dataset_title(panel.experiment.dataset, results))
        title += f", K = {panel.n_clusters}"
        if shared[panel.key] > 1:  # the same cell on another input
            title += f"\n{input_of(panel.experiment)}"
        axes[0][column].set_title(title)
        axes[3][column].set_xlabel("λ")
        for row, metric in enumerate(METRIC_TITLES):
            upper, lower = axes[2 * row][column], axes[2 * row + 1][column]
            lines = _weight_series(panel, metric, book, f"lambda-{row}{column}")
            found, texts = draw_pair(upper, lower, lines, metric)
            records += found
            tooltips |= texts
            grid = sorted({x for line in lines for x in line.xs})
            for ax in (upper, lower):
                _weight_axis(ax, grid)
            if column == 0:
                upper.set_ylabel(METRIC_TITLES[metric])
                lower.set_ylabel(f"{METRIC_TITLES[metric]} minus\nλ = 0")
            _difference_axis(lower, [r for r in records if r["metric"] == metric])
    legend_below(figure)
    drawing = Drawing(
        name="lambda",
        title="Scores over the regularisation weight λ",
        caption=(
            f"First and third row: mean over trials. Second and fourth: {PAIRED}. "
            "Panels of one row share their scale. The weight axis is linear near zero "
            "and logarithmic beyond the first positive value. The dotted vertical line "
            "is λ = 0.5, the value in the authors' code."
        ),
        figure=figure,
        data=pd.DataFrame(records),
        tooltips=tooltips,
    )
    return Gallery(drawings=(drawing,), missing=missing)


def input_of(experiment: Experiment) -> str:
    """Say what the entries of an experiment factor: inner products, or a graph."""
    return "on a graph" if on_graph(experiment) else "on inner products"


def _weight_series(
    panel: WeightGrid, metric: str, book: StyleBook, name: str
) -> list[Series]:
    """Return an entry's cells over lambda, each paired with the one at lambda = 0."""
    out = []
    for index, (method, group) in enumerate(panel.curves(metric).items()):
        xs = tuple(float(cell.reading.weight or 0) for cell in group)
        base = dict(zip(xs, group, strict=True)).get(0.0)
        out.append(
            Series(
                name=f"{name}-{index}",
                label=group[0].reading.label,
                look=book.look(panel.experiment.name, method),
                xs=xs,
                cells=tuple(group),
                bases=tuple(base if x else None for x in xs),
            )
        )
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


def regularization(results: Results) -> Gallery:
    """Draw accuracy with and without the regulariser over K, and the difference."""
    found = pairings(results)
    if not found:
        reason = "no entry was run at lambda = 0 and at a positive lambda over K"
        command = run_command("regularization")
        return Gallery(
            missing=(Missing(name="regularization", reason=reason, command=command),)
        )
    book = StyleBook(r for e in results.experiments for r in readings(e))
    figure = Figure(figsize=(max(3.4 * len(found), 3.8), 3.9), layout="constrained")
    axes = figure.subplots(
        2, len(found), squeeze=False, sharex="col", sharey="row", height_ratios=(3, 2)
    )
    records: Records = []
    tooltips: Tooltips = {}
    plain = Look(color=GREY, marker="s", dash=(4, 1.6), hollow=True)
    for column, pair in enumerate(found):
        xs = tuple(float(cell.n_clusters) for cell in pair.with_cells)
        lines = [
            Series(
                name=f"regularization-{column}-with",
                label=f"{pair.reading.label}, λ = {pair.weight:g}",
                look=book.look(pair.experiment.name, pair.reading.method),
                xs=xs,
                cells=pair.with_cells,
                bases=pair.without_cells,
            ),
            Series(
                name=f"regularization-{column}-without",
                label="λ = 0",
                look=plain,
                xs=xs,
                cells=pair.without_cells,
                bases=(None,) * len(xs),
            ),
        ]
        upper, lower = axes[0][column], axes[1][column]
        drawn, texts = draw_pair(upper, lower, lines, "ac")
        records += drawn
        tooltips |= texts
        title = dataset_title(pair.experiment.dataset, results)
        head = f"{title}, {input_of(pair.experiment)}"
        upper.set_title(f"{plot_text(head)}\n{plot_text(pair.reading.label)}")
        _difference_axis(lower, records)
        lower.set_xlabel("number of clusters K")
        lower.xaxis.get_major_locator().set_params(integer=True)
    axes[0][0].set_ylabel("AC")
    axes[1][0].set_ylabel("AC minus\nλ = 0")
    legend_below(figure)
    drawing = Drawing(
        name="regularization",
        title="Accuracy with and without the regulariser",
        caption=(
            f"Above: mean over trials. Below: {PAIRED}. Every panel says whether the "
            "entry stands on inner products or on a graph of neighbours."
        ),
        figure=figure,
        data=pd.DataFrame(records),
        tooltips=tooltips,
    )
    return Gallery(drawings=(drawing,))


def draw_pair(upper: Axes, lower: Axes, lines: Sequence[Series], metric: str) -> Drawn:
    """Draw means above and paired differences below; return numbers and texts."""
    records: Records = []
    tooltips: Tooltips = {}
    lower.axhline(0, color=INK, lw=0.8)
    paired = [line for line in lines if any(line.bases)]
    for line in lines:
        place = paired.index(line) - (len(paired) - 1) / 2 if line in paired else 0.0
        tooltips |= _means(upper, line)
        differences, texts = _differences(lower, line, APART * place)
        tooltips |= texts
        records += [
            {**_record(cell, metric), "lambda": cell.reading.weight, **difference}
            for cell, difference in zip(line.cells, differences, strict=True)
        ]
    return records, tooltips


def _difference_axis(ax: Axes, records: Records) -> None:
    """Let the axis hold every interval; marks that are moved aside do not count."""
    ends = [float(r[f"difference_{end}"]) for r in records for end in ("low", "high")]
    known = [abs(end) for end in ends if np.isfinite(end)]
    reach = 1.08 * max([*known, 0.005])
    ax.set_ylim(-reach, reach)


def _means(ax: Axes, line: Series) -> Tooltips:
    """Draw a curve of means; return the texts of its marks."""
    means = [cell.mean for cell in line.cells]
    ax.plot(line.xs, means, **line.look.line)
    ax.plot(
        *(line.xs, means),
        ls="none",
        gid=line.name,
        clip_on=False,
        zorder=3,
        **line.look.points,
    )
    ax.plot([], [], label=plot_text(line.label), **line.look.line, **line.look.points)
    return {
        line.name: [
            f"{line.label}: {cell.mean:.3f}, standard deviation {cell.std:.3f}, at "
            f"{x:g} ({cell.n_good} of {cell.n_total} trials)"
            for x, cell in zip(line.xs, line.cells, strict=True)
        ]
    }


def _differences(ax: Axes, line: Series, shift: float) -> Drawn:
    """Draw paired differences with their intervals; return numbers and texts."""
    records = [
        _difference(cell, base)
        for cell, base in zip(line.cells, line.bases, strict=True)
    ]
    shown = [
        (x, record)
        for x, record in zip(line.xs, records, strict=True)
        if np.isfinite(record["difference"])
    ]
    if not shown:
        return records, {}
    xs = [x for x, _ in shown]
    middle, low, high = (
        [record[key] for _, record in shown]
        for key in ("difference", "difference_low", "difference_high")
    )
    figure = ax.get_figure(root=True)
    transform = offset_copy(ax.transData, fig=figure, x=shift, units="points")
    ax.vlines(xs, low, high, color=line.look.color, lw=1.3, transform=transform)
    name = f"{line.name}-difference"
    ax.plot(
        *(xs, middle),
        ls="none",
        gid=name,
        clip_on=False,
        zorder=3,
        transform=transform,
        **line.look.points,
    )
    texts = [
        f"{line.label} at {x:g}: {r['difference']:+.3f}, interval "
        f"{r['difference_low']:+.3f} to {r['difference_high']:+.3f} "
        f"({r['n_pairs']} trials)"
        for x, r in shown
    ]
    return records, {name: texts}


def _difference(cell: Cell, base: Cell | None) -> dict[str, float]:
    """Return the mean paired difference of two cells and its interval."""
    nothing = float("nan")
    if base is None:
        found = PairedDifference(mean=nothing, low=nothing, high=nothing, n_pairs=0)
    else:
        found = paired_difference(cell, base)
    return {
        "difference": found.mean,
        "difference_low": found.low,
        "difference_high": found.high,
        "n_pairs": found.n_pairs,
    }


def _record(cell: Cell, metric: str) -> dict[str, object]:
    reading = cell.reading
    return {
        "experiment": reading.experiment,
        "dataset": reading.dataset,
        "n_clusters": cell.n_clusters,
        "method": reading.method,
        "label": reading.label,
        "metric": metric,
        "mean": cell.mean,
        "std": cell.std,
        "n_good": cell.n_good,
        "n_total": cell.n_total,
    }
