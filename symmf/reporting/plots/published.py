"""All published values and the means of this study, one point each."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from symmf.common.figures import GREY, INK
from symmf.paper import DATASET_TITLES, METRIC_TITLES, ROWS
from symmf.reporting.plots.base import Drawing, Gallery, Tooltips
from symmf.reporting.plots.legend import legend_below
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


def published(results: Results) -> Gallery:
    """Draw the mean over the published value for every cell of Tables II and III."""
    everything = compare(results)
    values = everything[everything["reading"] == "primary"]
    run = values[values["mean"].notna()]
    if not len(run):
        reason = "no value of the paper's tables was run"
        gap = Missing(name="published", reason=reason, command=run_command("coil20"))
        return Gallery(missing=(gap,))
    figure = Figure(figsize=(7.0, 3.75), layout="constrained")
    axes = figure.subplots(1, len(METRIC_TITLES), sharex=True, sharey=True)
    tooltips: Tooltips = {}
    for ax, (metric, title) in zip(axes, METRIC_TITLES.items(), strict=True):
        tooltips |= _scatter(ax, run[run["metric"] == metric], metric)
        ax.set_title(title)
        ax.set_xlabel("published")
    lowest = float(np.nanmin(run[["published", "mean", "low"]].to_numpy(dtype=float)))
    limits = (min(lowest, 0.9) - 0.03, 1.02)
    axes[0].set(ylabel="this study", xlim=limits, ylim=limits)
    counts = {v: n for v in ValueVerdict if (n := int((values["verdict"] == v).sum()))}
    for dataset, title in DATASET_TITLES.items():
        axes[0].plot([], [], "o", color=COLORS[dataset], mew=0, label=title)
    for verdict, n in counts.items():
        if (run["verdict"] == verdict).any():
            marker = MARKERS.get(verdict, OTHER_MARKER)
            axes[0].plot([], [], marker, color=GREY, mew=0, label=f"{verdict} ({n})")
    legend_below(figure)
    said = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    columns = ["metric", "row", "dataset", "n_clusters", "published", "mean", "low"]
    columns += ["high", "difference", "verdict", "experiment", "method", "n_good"]
    drawing = Drawing(
        name="published",
        title="Published values and this study",
        caption=(
            f"Every one of the {len(values)} published values with the mean of this "
            f"study for the same row, data set and K ({said}), with its interval. On "
            "the diagonal "
            f"both agree; the band is {TOLERANCE:g} wide to each side. {RULE}"
        ),
        figure=figure,
        data=values[columns].reset_index(drop=True),
        tooltips=tooltips,
    )
    return Gallery(drawings=(drawing,))


def _scatter(ax: Axes, values: pd.DataFrame, metric: str) -> Tooltips:
    """Draw the values of one metric; return the texts of their marks."""
    span = np.array([0.0, 1.0])
    ax.fill_between(
        span, span - TOLERANCE, span + TOLERANCE, color=GREY, alpha=0.2, lw=0
    )
    ax.plot(span, span, color=INK, lw=0.8)
    ax.set_aspect("equal")
    tooltips = {}
    for (dataset, word), group in values.groupby(["dataset", "verdict"], sort=False):
        color, verdict = COLORS[str(dataset)], ValueVerdict(str(word))
        xs = group["published"].to_numpy(dtype=float)
        low, high = (group[end].to_numpy(dtype=float) for end in ("low", "high"))
        ax.vlines(xs, low, high, color=color, lw=0.7, alpha=0.45)
        name = f"published-{metric}-{dataset}-{verdict.replace(' ', '-')}"
        ax.plot(
            *(xs, group["mean"].to_numpy(dtype=float)),
            marker=MARKERS.get(verdict, OTHER_MARKER),
            ls="none",
            ms=4.5,
            color=color,
            mec="white",
            mew=0.4,
            gid=name,
            zorder=3,
        )
        tooltips[name] = [
            f"{DATASET_TITLES[str(dataset)]}, K = {value['n_clusters']}, "
            f"{ROWS[value['row']]}: published {value['published']:.3f}, this study "
            f"{value['mean']:.3f} ({value['low']:.3f} to {value['high']:.3f}), "
            f"{verdict}"
            for value in group.to_dict("records")
        ]
    return tooltips
