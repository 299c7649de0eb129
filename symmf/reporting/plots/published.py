"""All published values and the means of this study, one point each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from symmf.common.figures import GREY, INK
from symmf.paper import DATASET_TITLES, METRIC_TITLES, ROWS
from symmf.reporting.plots.base import Drawing, canvas, legend_below, words
from symmf.reporting.plots.style import BLUE, GREEN, ORANGE, VERMILLION
from symmf.reporting.results import Missing, Results, run_command
from symmf.reporting.verdicts.values import RULE, TOLERANCE, ValueVerdict, compare

COLORS = dict(zip(DATASET_TITLES, (VERMILLION, BLUE, GREEN, ORANGE), strict=True))
MARKERS = {
    ValueVerdict.CLOSE: "o",
    ValueVerdict.UNCLEAR: "D",
    ValueVerdict.HIGHER: "^",
    ValueVerdict.LOWER: "v",
}
OTHER_MARKER = "s"  # a verdict that says neither


def published(results: Results) -> Iterator[Drawing | Missing]:
    """Draw the mean over the published value for every cell of Tables II and III."""
    everything = compare(results)
    values = everything[everything["reading"] == "primary"]
    run = values[values["mean"].notna()]
    if not len(run):
        reason = "no value of the paper's tables was run"
        yield Missing(name="published", reason=reason, command=run_command("coil20"))
        return
    columns = ["metric", "row", "dataset", "n_clusters", "published", "mean", "low"]
    columns += ["high", "difference", "verdict", "experiment", "method", "n_good"]
    counts = {v: n for v in ValueVerdict if (n := int((values["verdict"] == v).sum()))}
    said = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    drawing = Drawing(
        **words(
            "published", count=len(values), said=said, tolerance=TOLERANCE, rule=RULE
        ),
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
    for verdict, n in counts.items():
        if (run["verdict"] == verdict).any():
            marker = MARKERS.get(verdict, OTHER_MARKER)
            axes[0].plot([], [], marker, color=GREY, mew=0, label=f"{verdict} ({n})")
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
