"""All trials of a cell as points, with the pairs that the paper published.

The audit asks what no method could give; this shows what those that were run did give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from symmf.common.figures import GREY
from symmf.paper.roles import TABLE_ROLES, Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, PROPOSED, published_values
from symmf.reporting.plots.base import Drawing, canvas, legend_below, words
from symmf.reporting.plots.style import BLUE, VERMILLION
from symmf.reporting.results import Missing, Results, run_command
from symmf.reporting.selection.cells import cells

LABEL_FREE = (*TABLE_ROLES, Role.USED_WELL)


def envelope(results: Results) -> Iterator[Drawing | Missing]:
    """Draw AC and NMI of every label-free trial, one panel for each published cell."""
    places = ["dataset", "n_clusters"]
    published = published_values().pivot(
        index=[*places, "row"], columns="metric", values="value"
    )
    published = published.reindex(list(DATASET_TITLES), level="dataset").reset_index()
    trials = _trials(results).merge(published[places].drop_duplicates())
    if trials.empty:
        reason = "no cell of the paper's tables was run"
        yield Missing(name="envelope", reason=reason, command=run_command("coil20"))
        return
    groups = published.groupby(places, sort=False)
    n_rows = published["dataset"].nunique()
    figure = canvas(7.0, 2.1 * n_rows)
    grid = figure.subplots(n_rows, len(groups) // n_rows, sharex=True, sharey=True)
    for ax, ((dataset, k), pairs) in zip(grid.flat, groups, strict=True):
        here = (trials["dataset"] == dataset) & (trials["n_clusters"] == k)
        _panel(ax, trials[here], pairs)
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


def _panel(ax: Axes, trials: pd.DataFrame, published: pd.DataFrame) -> None:
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
