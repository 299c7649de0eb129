"""What the regulariser does: scores over lambda, and with and without it over K."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from symmf.paper.values import PAPER_PANELS
from symmf.reporting.plots.base import Drawing, Gallery
from symmf.reporting.plots.style import GREY, Look, StyleBook
from symmf.reporting.results import Missing, Results, run_command
from symmf.reporting.selection.cells import Cell, dataset_title
from symmf.reporting.selection.readings import REFERENCE_WEIGHT, readings
from symmf.reporting.selection.regulariser import Panel, grid_panels, pairings

METRIC_TITLES = {"ac": "AC", "nmi": "NMI"}


def sensitivity(results: Results) -> Gallery:
    """Draw AC and NMI over lambda, one column per data set, band over trials."""
    panels = grid_panels(results)
    there = {panel.key for panel in panels}
    missing = tuple(
        Missing(
            name="lambda",
            reason=f"no grid of lambda for {dataset_title(name)}, K = {k}",
            command=run_command("lambda" if name == "coil20" else f"lambda_{name}"),
        )
        for name, k in PAPER_PANELS
        if (name, k) not in there
    )
    if not panels:
        return Gallery(missing=missing)
    book = StyleBook(r for e in results.experiments for r in readings(e))
    figure = Figure(
        figsize=(2.5 * max(len(panels), 1) + 0.6, 4.6), layout="constrained"
    )
    axes = figure.subplots(2, len(panels), squeeze=False, sharex="col")
    points: dict[str, list[str]] = {}
    records: list[dict[str, object]] = []
    for column, panel in enumerate(panels):
        for row, metric in enumerate(METRIC_TITLES):
            ax = axes[row][column]
            _lambda_axes(ax, panel, metric, book, points, records, f"{row}{column}")
            if column == 0:
                ax.set_ylabel(METRIC_TITLES[metric])
        title = dataset_title(panel.experiment.dataset, results)
        axes[0][column].set_title(f"{title}, K = {panel.n_clusters}")
        axes[1][column].set_xlabel("λ")
    handles: dict[str, Artist] = {}
    for ax in axes.ravel():
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=3
    )
    drawing = Drawing(
        name="lambda",
        title="Scores over the regularisation weight λ",
        caption=(
            "Mean over trials (line) and one standard deviation (band). The weight "
            "axis is linear near zero and logarithmic beyond the first positive "
            "value. The dotted vertical line is λ = 0.5, the value in the authors' "
            "code."
        ),
        figure=figure,
        data=pd.DataFrame(records),
        tooltips=points,
    )
    return Gallery(drawings=(drawing,), missing=missing)


def _lambda_axes(
    ax: Axes,
    panel: Panel,
    metric: str,
    book: StyleBook,
    points: dict[str, list[str]],
    records: list[dict[str, object]],
    place: str,
) -> None:
    grid: set[float] = set()
    for index, (method, group) in enumerate(panel.curves(metric).items()):
        xs = [float(cell.reading.weight or 0) for cell in group]
        grid |= set(xs)
        label = group[0].reading.label
        look = book.look(panel.experiment.name, method)
        _series(ax, xs, group, look, label, f"lambda-{place}-{index}", points)
        records += [
            _record(cell, metric) | {"lambda": cell.reading.weight} for cell in group
        ]
    _weight_axis(ax, sorted(grid))


def _weight_axis(ax: Axes, grid: list[float]) -> None:
    positive = [value for value in grid if value > 0]
    if positive:
        ax.set_xscale("symlog", linthresh=positive[0], linscale=0.5)
        ax.set_xlim(left=-0.25 * positive[0] if 0 in grid else 0.8 * positive[0])
        shown = grid if len(grid) <= 8 else [*grid[:-1:2], grid[-1]]
        ax.set_xticks(shown, [f"{value:g}" for value in shown])
        ax.minorticks_off()
    ax.axvline(REFERENCE_WEIGHT, lw=0.8, ls=":", color=GREY)


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


def _series(
    ax: Axes,
    xs: list[float],
    group: list[Cell],
    look: Look,
    label: str,
    name: str,
    points: dict[str, list[str]],
) -> None:
    means = np.array([cell.mean for cell in group])
    stds = np.nan_to_num(np.array([cell.std for cell in group]))
    # Scores end at 0 and 1, whatever mean and deviation say.
    low, high = np.maximum(means - stds, 0), np.minimum(means + stds, 1)
    ax.fill_between(xs, low, high, color=look.color, alpha=0.15, lw=0)
    ax.plot(xs, means, **look.line)
    ax.plot(xs, means, ls="none", gid=name, **look.points)
    ax.plot([], [], label=label, **look.line, **look.points)
    points[name] = [
        f"{label}: {cell.mean:.3f} ± {cell.std:.3f} at {x:g} "
        f"({cell.n_good} of {cell.n_total} trials)"
        for x, cell in zip(xs, group, strict=True)
    ]


def regularization(results: Results) -> Gallery:
    """Draw accuracy with and without the regulariser over K."""
    found = pairings(results)
    if not found:
        reason = "no entry was run at lambda = 0 and at a positive lambda over K"
        command = run_command("regularization")
        return Gallery(
            missing=(Missing(name="regularization", reason=reason, command=command),)
        )
    book = StyleBook(r for e in results.experiments for r in readings(e))
    width = 3.4 * len(found)
    figure = Figure(figsize=(max(width, 3.6), 3.3), layout="constrained")
    axes = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
    points: dict[str, list[str]] = {}
    records: list[dict[str, object]] = []
    for column, (ax, pair) in enumerate(zip(axes, found, strict=True)):
        look = book.look(pair.experiment.name, pair.reading.method)
        plain = Look(color=GREY, marker="s", dash=(4, 1.6), hollow=True)
        for kind, group, style in (
            (f"λ = {pair.weight:g}", pair.with_cells, look),
            ("λ = 0", pair.without_cells, plain),
        ):
            xs = [float(cell.n_clusters) for cell in group]
            name = f"regularization-{column}-{'with' if style is look else 'without'}"
            _series(ax, xs, list(group), style, kind, name, points)
            records += [_record(cell, "ac") | {"lambda": kind[4:]} for cell in group]
        ax.set_title(
            f"{dataset_title(pair.experiment.dataset, results)}: {pair.reading.label}"
        )
        ax.set_xlabel("number of clusters K")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(loc="best")
    axes[0].set_ylabel("AC")
    drawing = Drawing(
        name="regularization",
        title="Accuracy with and without the regulariser",
        caption=(
            "Mean over trials (line) and one standard deviation (band); both runs of "
            "a trial share classes and start and differ only in λ."
        ),
        figure=figure,
        data=pd.DataFrame(records),
        tooltips=points,
    )
    return Gallery(drawings=(drawing,))
