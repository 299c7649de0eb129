"""All published values beside the means of this study, and beside single trials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from symmf.common.figures import GREY, INK
from symmf.paper import DATASET_TITLES, METRIC_TITLES, ROWS
from symmf.paper.roles import TABLE_ROLES, Role
from symmf.paper.values import PROPOSED, published_values
from symmf.reporting.plots.base import Drawing, canvas, legend_below, words
from symmf.reporting.plots.style import BLUE, GREEN, ORANGE, VERMILLION
from symmf.reporting.results import Results
from symmf.reporting.selection.cells import cells
from symmf.reporting.verdicts.values import (
    RULE,
    TOLERANCE,
    ValueVerdict,
    compare,
    counts,
    listed,
    primary,
)

COLORS = dict(zip(DATASET_TITLES, (VERMILLION, BLUE, GREEN, ORANGE), strict=True))
MARKERS = {
    ValueVerdict.CLOSE: "o",
    ValueVerdict.UNCLEAR: "D",
    ValueVerdict.HIGHER: "^",
    ValueVerdict.LOWER: "v",
}
OTHER_MARKER = "s"  # a verdict that says neither
LABEL_FREE = (*TABLE_ROLES, Role.USED_WELL)


def published(results: Results) -> Iterator[Drawing]:
    """Draw the mean over the published value for every cell of Tables II and III."""
    values = primary(compare(results))
    run = values[values["mean"].notna()]
    if not len(run):
        return
    columns = ["metric", "row", "dataset", "n_clusters", "published", "mean", "low"]
    columns += ["high", "difference", "verdict", "experiment", "method", "n_good"]
    tally = counts(values)
    facts = {"count": len(values), "said": listed(tally), "tolerance": TOLERANCE}
    drawing = Drawing(
        **words("published", **facts, rule=RULE),
        figure=canvas(7.0, 3.75),
        data=values[columns].reset_index(drop=True),
    )
    axes = drawing.figure.subplots(1, len(METRIC_TITLES), sharex=True, sharey=True)
    for ax, (metric, title) in zip(axes, METRIC_TITLES.items(), strict=True):
        _scatter(drawing, ax, run[run["metric"] == metric])
        ax.set(title=title, xlabel="published")
    lowest = float(np.nanmin(run[["published", "mean", "low"]].to_numpy(dtype=float)))
    limits = (min(lowest, 0.9) - 0.03, 1.02)
    axes[0].set(ylabel="this study", xlim=limits, ylim=limits)
    for dataset, title in DATASET_TITLES.items():
        axes[0].plot([], [], "o", color=COLORS[dataset], mew=0, label=title)
    for verdict in ValueVerdict:
        if (run["verdict"] == verdict).any():
            label = f"{verdict} ({tally[verdict]})"
            marker = MARKERS.get(verdict, OTHER_MARKER)
            axes[0].plot([], [], marker, color=GREY, mew=0, label=label)
    legend_below(drawing.figure)
    yield drawing


def _scatter(drawing: Drawing, ax: Axes, values: pd.DataFrame) -> None:
    """Draw the values of one metric."""
    span = np.array([0.0, 1.0])
    low, high = span - TOLERANCE, span + TOLERANCE
    ax.fill_between(span, low, high, color=GREY, alpha=0.2, lw=0)
    ax.plot(span, span, color=INK, lw=0.8)
    ax.set_aspect("equal")
    for (dataset, word), group in values.groupby(["dataset", "verdict"], sort=False):
        color, verdict = COLORS[str(dataset)], ValueVerdict(str(word))
        xs = group["published"]
        ax.vlines(xs, group["low"], group["high"], color=color, lw=0.7, alpha=0.45)
        texts = [
            f"{DATASET_TITLES[str(dataset)]}, K = {value['n_clusters']}, "
            f"{ROWS[value['row']]}: published {value['published']:.3f}, this study "
            f"{value['mean']:.3f} ({value['low']:.3f} to {value['high']:.3f}), "
            f"{verdict}"
            for value in group.to_dict("records")
        ]
        look: dict[str, Any] = {"color": color, "mec": "white", "mew": 0.4, "ms": 4.5}
        look["marker"] = MARKERS.get(verdict, OTHER_MARKER)
        drawing.mark(ax, xs, group["mean"], texts, zorder=3, **look)


def envelope(results: Results) -> Iterator[Drawing]:
    """Draw AC and NMI of every label-free trial, one panel for each published cell.

    The audit asks what no method could give; this shows what those that were run gave.
    """
    places = ["dataset", "n_clusters"]
    published = published_values().pivot(
        index=[*places, "row"], columns="metric", values="value"
    )
    published = published.reindex(list(DATASET_TITLES), level="dataset").reset_index()
    trials = _trials(results).merge(published[places].drop_duplicates())
    if trials.empty:
        return
    groups = published.groupby(places, sort=False)
    n_rows = published["dataset"].nunique()
    figure = canvas(7.0, 2.1 * n_rows)
    grid = figure.subplots(n_rows, len(groups) // n_rows, sharex=True, sharey=True)
    for ax, ((dataset, k), pairs) in zip(grid.flat, groups, strict=True):
        here = (trials["dataset"] == dataset) & (trials["n_clusters"] == k)
        _pairs(ax, trials[here], pairs)
        ax.set_title(f"{DATASET_TITLES[str(dataset)]}, K = {k}")
    for ax in grid[-1]:
        ax.set_xlabel(METRIC_TITLES["ac"])
    for ax in grid[:, 0]:
        ax.set_ylabel(METRIC_TITLES["nmi"])
    legend_below(figure)
    yield Drawing(**words("envelope"), figure=figure, data=trials)


def _trials(results: Results) -> pd.DataFrame:
    lines = []
    for experiment in results.of(*LABEL_FREE):
        nmi_of = {cell.keys: dict(cell.scores) for cell in cells(experiment, "nmi")}
        for cell in cells(experiment, "ac"):
            if not cell.reading.oracle and cell.n_good:
                head = (experiment.name, cell.reading.name)
                nmi = nmi_of[cell.keys]
                lines += [(*head, t, ac, nmi[t], *cell.key) for t, ac in cell.scores]
    columns = ["experiment", "entry", "trial", "ac", "nmi", "dataset", "n_clusters"]
    return pd.DataFrame(lines, columns=columns).drop_duplicates()


def _pairs(ax: Axes, trials: pd.DataFrame, published: pd.DataFrame) -> None:
    proposed = published["row"] == PROPOSED
    # Thousands of points: as an image inside the vector formats.
    points: dict[str, Any] = {"color": GREY, "alpha": 0.5, "rasterized": True}
    ax.plot(
        trials["ac"], trials["nmi"], ".", ms=2, label="a trial of this study", **points
    )
    for chosen, marker, color, size, who in (
        (~proposed, "x", BLUE, 4, "other methods"),
        (proposed, "*", VERMILLION, 8, "proposed"),
    ):
        pairs, label = published[chosen], f"published, {who}"
        ax.plot(pairs["ac"], pairs["nmi"], marker, ms=size, color=color, label=label)
