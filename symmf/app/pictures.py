"""Pictures of a clustering, drawn by matplotlib in the style of all figures."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.image import imsave

from symmf.common.figures import GREY, INK, figure_svg, house_style
from symmf.common.notation import FloatArray, LabelArray
from symmf.features.images import image_side

#: told apart by people who do not see all colours, on light and on dark
COLOURS = (
    *("#2f7fc1", "#d9661f", "#1f9e77", "#c2609b", "#c9950c"),
    *("#6f6fd8", "#5aa02c", "#b5483a", "#4aa8c0", "#8a7a5c"),
)
#: of rows that belong to no cluster
NOISE_COLOUR = GREY
_LARGEST_MATRIX = 240
_SIDE = 4.2


def colour(number: int) -> str:
    """Return the colour of a cluster; after ten they come again."""
    return COLOURS[number % len(COLOURS)] if number >= 0 else NOISE_COLOUR


def scatter(
    Z: FloatArray, labels: LabelArray, names: Sequence[str], rows: Any
) -> Markup:
    """Return the samples on the two principal axes of their rows."""
    centred = Z[rows] - Z[rows].mean(axis=0)
    if centred.shape[1] == 1:
        centred = np.column_stack([centred, np.zeros(len(centred))])
    _, _, Vt = np.linalg.svd(centred, full_matrices=False)
    # A sign of its own for each axis, so that the picture does not flip.
    signs = np.sign(Vt[np.arange(2), np.abs(Vt[:2]).argmax(axis=1)])
    at = centred @ (Vt[:2] * signs[:, None]).T
    with house_style():
        figure = Figure(figsize=(_SIDE, _SIDE), layout="constrained")
        axes = figure.add_subplot(xticks=[], yticks=[])
        texts = {}
        for c in np.unique(labels[rows]):
            own = np.flatnonzero(labels[rows] == c)
            axes.plot(*at[own].T, "o", color=colour(c), gid=f"cluster-{c}", ms=4)
            cluster = f"cluster {c}" if c >= 0 else "no cluster"
            texts[f"cluster-{c}"] = [f"{names[rows[i]]}, {cluster}" for i in own]
    return figure_svg(figure, "samples", label="Samples in the plane", tooltips=texts)


def matrix(Z: FloatArray, labels: LabelArray, rows: Any, *, cosines: bool) -> Markup:
    """Return similarities of samples, in the order of their clusters.

    Cosines of the rows of Z, or exp(-d^2 / m) with m the median squared distance.
    """
    order = rows[np.argsort(labels[rows], kind="stable")]
    U = Z[order]
    if cosines:
        U = U / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-300)
    S = U @ U.T
    if not cosines:
        squares = np.diag(S)
        D = np.maximum(squares[:, None] + squares - 2 * S, 0)
        S = np.exp(-D / max(float(np.median(D)), 1e-300))
    # Many samples share a pixel, which is their mean.
    n = len(order)
    edges = np.linspace(0, n, min(n, _LARGEST_MATRIX) + 1).astype(int)
    S = np.add.reduceat(np.add.reduceat(S, edges[:-1], axis=0), edges[:-1], axis=1)
    S /= np.multiply.outer(np.diff(edges), np.diff(edges))
    with house_style():
        figure = Figure(figsize=(_SIDE, _SIDE), layout="constrained")
        axes = figure.add_subplot(xticks=[], yticks=[])
        axes.grid(visible=False)
        axes.imshow(S, cmap="Blues", vmin=0, vmax=1, extent=(0, n, n, 0))
        _, starts = np.unique(labels[order], return_index=True)
        for start, end in zip(starts, [*starts[1:], n], strict=True):
            axes.axhline(end, color="white", linewidth=0.6)
            axes.axvline(end, color="white", linewidth=0.6)
            shade = colour(int(labels[order[start]]))
            axes.plot([start, end], [n * 1.02] * 2, color=shade, lw=5, clip_on=False)
    return figure_svg(figure, "similarity", label="Similarities by cluster")


def silhouette_bars(values: FloatArray, labels: LabelArray) -> Markup:
    """Return one bar per sample, grouped by cluster and sorted."""
    order = np.lexsort((-values, labels))
    with house_style():
        figure = Figure(figsize=(_SIDE, _SIDE), layout="constrained")
        axes = figure.add_subplot(xlabel="silhouette", ylabel="cluster")
        ticks = []
        for c in np.unique(labels):
            own = np.flatnonzero(labels[order] == c)
            axes.stairs(
                values[order][own],
                np.arange(own[0], own[-1] + 2),
                orientation="horizontal",
                fill=True,
                color=colour(int(c)),
            )
            ticks.append(float(own.mean()))
        axes.set_yticks(ticks, [str(c) for c in np.unique(labels)])
        axes.invert_yaxis()
        axes.axvline(0, color=GREY, linewidth=0.7)
        axes.axvline(float(values.mean()), color=INK, linestyle="--", linewidth=1)
    return figure_svg(figure, "silhouettes", label="Silhouettes by cluster")


def score_curve(scores: Mapping[int, float], chosen: int) -> Markup:
    """Return the score of every number of clusters, the chosen one marked."""
    with house_style():
        figure = Figure(figsize=(1.4 * _SIDE, 0.7 * _SIDE), layout="constrained")
        axes = figure.add_subplot(xlabel="number of clusters", ylabel="score")
        axes.plot(list(scores), list(scores.values()), "o-", color=GREY)
        if chosen in scores:
            axes.plot([chosen], [scores[chosen]], "o", color=COLOURS[0], ms=9)
        axes.locator_params(axis="x", integer=True)
    return figure_svg(figure, "choice", label="Score of each number of clusters")


def thumbnail(pixels: FloatArray) -> str:
    """Return a square image of the data as a PNG in a data address."""
    side, bands = image_side(len(pixels))
    image = np.asarray(pixels).reshape(side, side, bands)
    scale = 1 if image.max(initial=0) > 1 else 255
    rgb = np.broadcast_to(image, (side, side, 3)) * scale
    out = io.BytesIO()
    imsave(out, np.clip(rgb.round(), 0, 255).astype(np.uint8), format="png")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
