"""All trials of a cell as points, with the pairs that the paper published.

The audit asks what no method could give; this shows what those that were run did give.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from symmf.common.figures import GREY
from symmf.paper.roles import TABLE_ROLES, Role
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, PROPOSED, published_values
from symmf.reporting.plots.base import Drawing, Gallery
from symmf.reporting.plots.legend import legend_below
from symmf.reporting.plots.style import BLUE, VERMILLION
from symmf.reporting.results import Missing, Results, run_command
from symmf.reporting.selection.cells import CellKey, cells

LABEL_FREE = (*TABLE_ROLES, Role.USED_WELL)


def envelope(results: Results) -> Gallery:
    """Draw AC and NMI of every label-free trial, one panel for each published cell."""
    published = _published()
    trials = _trials(results, set(published["cell"]))
    if trials.empty:
        reason = "no cell of the paper's tables was run"
        gap = Missing(name="envelope", reason=reason, command=run_command("coil20"))
        return Gallery(missing=(gap,))
    keys = list(dict.fromkeys(published["cell"]))
    n_rows = len({key.dataset for key in keys})
    figure = Figure(figsize=(7.0, 2.1 * n_rows), layout="constrained")
    grid = figure.subplots(n_rows, len(keys) // n_rows, sharex=True, sharey=True)
    for ax, key in zip(grid.flat, keys, strict=True):
        _panel(ax, trials[trials["cell"] == key], published[published["cell"] == key])
        ax.set_title(f"{DATASET_TITLES[key.dataset]}, K = {key.n_clusters}")
    for ax in grid[-1]:
        ax.set_xlabel(METRIC_TITLES["ac"])
    for ax in grid[:, 0]:
        ax.set_ylabel(METRIC_TITLES["nmi"])
    legend_below(figure)
    drawing = Drawing(
        name="envelope",
        title="What single trials give, beside the published means",
        caption=(
            "AC and NMI of every trial of every entry that sees no labels, with the "
            "pairs of means that the paper published. A mean of trials can lie "
            "anywhere in the convex hull of the points; a pair far from all of them "
            "asks for runs unlike any seen here. This is evidence, not proof; what can "
            "be proved is in the audit."
        ),
        figure=figure,
        data=trials.assign(
            dataset=[key.dataset for key in trials["cell"]],
            n_clusters=[key.n_clusters for key in trials["cell"]],
        ).drop(columns="cell"),
    )
    return Gallery(drawings=(drawing,))


def _published() -> pd.DataFrame:
    """Return one line per cell and row of the paper with both means, in its order."""
    wide = published_values().pivot(
        index=["dataset", "n_clusters", "row"], columns="metric", values="value"
    )
    wide = wide.reindex(list(DATASET_TITLES), level="dataset").reset_index()
    pairs = zip(wide["dataset"], wide["n_clusters"], strict=True)
    wide["cell"] = pd.Series(
        [CellKey(str(name), int(k)) for name, k in pairs], dtype=object
    )
    return wide


def _trials(results: Results, keys: set[CellKey]) -> pd.DataFrame:
    lines = []
    for experiment in results.of(*LABEL_FREE):
        nmi_of = {cell.keys: dict(cell.scores) for cell in cells(experiment, "nmi")}
        for cell in cells(experiment, "ac"):
            if cell.key in keys and not cell.reading.oracle and cell.n_good:
                nmi = nmi_of[cell.keys]
                place = (cell.key, experiment.name, cell.reading.name)
                lines += [(*place, trial, ac, nmi[trial]) for trial, ac in cell.scores]
    columns = ["cell", "experiment", "entry", "trial", "ac", "nmi"]
    return pd.DataFrame(lines, columns=columns).drop_duplicates()


def _panel(ax: Axes, trials: pd.DataFrame, published: pd.DataFrame) -> None:
    ours = published["row"] == PROPOSED
    # Thousands of points: as an image inside the vector formats.
    points: dict[str, Any] = {"color": GREY, "alpha": 0.5, "rasterized": True}
    ax.plot(trials["ac"], trials["nmi"], ".", ms=2, label="one trial here", **points)
    for chosen, marker, color, size, who in (
        (~ours, "x", BLUE, 4, "other methods"),
        (ours, "*", VERMILLION, 8, "proposed"),
    ):
        pairs = published[chosen]
        ax.plot(
            *(pairs["ac"], pairs["nmi"], marker),
            ms=size,
            color=color,
            label=f"published, {who}",
        )
