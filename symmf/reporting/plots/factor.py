"""The motivation picture and the embedding: A and H of one small real problem.

Both are drawn from ``illustration.npz``, which a run stores beside its trials: ``A``
(similarity of a small subset), ``H`` (its factor), ``classes`` (true class of each
row), ``labels`` (cluster of each row) and, if given, ``names`` of the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.optimize import linear_sum_assignment

from symmf.common.notation import FloatArray, LabelArray
from symmf.common.texts import plot_text
from symmf.errors import SymmfError
from symmf.io.arrays import read_arrays
from symmf.reporting.plots.base import Drawing, Gallery, Tooltips
from symmf.reporting.plots.legend import legend_below
from symmf.reporting.plots.style import (
    CLASS_COLORS,
    CLASS_MARKERS,
    DISSIMILAR,
    SIMILAR,
)
from symmf.reporting.results import Experiment, Missing, Results, run_command
from symmf.reporting.selection.cells import dataset_title

DASHED = (0, (2.5, 1.2))
MOST_ROWS, MOST_COLUMNS = 2000, 200  # far more than a picture can show
_LABELS = ("classes", "labels")
MOST_NAMED = 12  # a longer legend would be larger than the picture


@dataclass(frozen=True, kw_only=True)
class Illustration:
    """A and H with rows ordered by class."""

    experiment: Experiment
    A: FloatArray
    H: FloatArray
    classes: LabelArray
    labels: LabelArray
    names: tuple[str, ...]


def load_illustration(experiment: Experiment) -> Illustration | None:
    """Read ``illustration.npz``; None if it is absent or not what it should be."""
    path = experiment.folder / "illustration.npz"
    if not path.is_file():
        return None
    try:
        arrays = read_arrays(path, ".npz")
    except SymmfError:
        return None
    A, H = (_numbers(arrays.get(name), "f") for name in "AH")
    classes, labels = (_numbers(arrays.get(name), "iu") for name in _LABELS)
    n = len(classes)
    fits = A.shape == (n, n) and H.ndim == 2 and 0 < H.shape[1] <= MOST_COLUMNS
    if not (fits and len(H) == len(labels) == n and 2 <= n <= MOST_ROWS):
        return None
    order = np.argsort(classes, kind="stable")
    values = np.unique(classes)
    given = [str(name) for name in np.ravel(arrays.get("names", []))]
    names = given if len(given) == len(values) else [f"class {v}" for v in values]
    return Illustration(
        experiment=experiment,
        A=A[np.ix_(order, order)],
        H=H[order],
        classes=np.searchsorted(values, classes[order]),
        labels=labels[order],
        names=tuple(names),
    )


def _numbers(value: Any, kinds: str) -> Any:
    """Return an array of finite numbers; an empty one if it is something else."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
        return np.empty(0)
    if kinds == "iu":
        fits = value.ndim == 1 and bool((np.abs(value.astype(float)) < 2**31).all())
        return value.astype(np.int64) if fits else np.empty(0)
    return value.astype(float) if np.isfinite(value).all() else np.empty(0)


def _found(results: Results, name: str) -> tuple[list[Illustration], Gallery]:
    found = [
        picture
        for experiment in results.experiments
        if (picture := load_illustration(experiment)) is not None
    ]
    if found:
        return found, Gallery()
    reason = "no experiment has stored illustration.npz (A and H of a small subset)"
    missing = Missing(name=name, reason=reason, command=run_command("illustration"))
    return [], Gallery(missing=(missing,))


def motivation(results: Results) -> Gallery:
    """Draw A and H with a similar and a dissimilar block marked in both."""
    found, gallery = _found(results, "motivation")
    if not found:
        return gallery
    return Gallery(drawings=tuple(_motivation(p, results) for p in found))


def block_means(A: FloatArray, classes: LabelArray) -> FloatArray:
    """Return the mean similarity between every two classes, the diagonal left out."""
    n_classes = int(classes.max()) + 1
    indicator = np.eye(n_classes)[classes]
    sums = indicator.T @ (A - np.diag(np.diag(A))) @ indicator
    sizes = indicator.sum(axis=0)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    return np.asarray(sums / np.maximum(pairs, 1))


def least_similar(means: FloatArray) -> tuple[int, int]:
    """Return the two classes with the lowest mean similarity."""
    off = means + np.diag(np.full(len(means), np.inf))
    first, second = np.unravel_index(int(np.argmin(off)), off.shape)
    return int(first), int(second)


def _motivation(picture: Illustration, results: Results) -> Drawing:
    A, H, classes = picture.A, picture.H, picture.classes
    means = block_means(A, classes)
    same = int(np.argmax(np.diag(means)))
    first, second = least_similar(means)
    figure = Figure(figsize=(6.8, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2.1, 1.0))
    _heat(figure, left, A)
    _heat(figure, right, H)
    edges = np.concatenate([[0], np.cumsum(np.bincount(classes))])
    _frames(left, right, edges, same, (first, second), H.shape[1])
    left.plot([], [], color=SIMILAR, lw=2.2, label="most similar block")
    left.plot([], [], color=DISSIMILAR, lw=2.2, ls=DASHED, label="least similar block")
    middles = (edges[:-1] + edges[1:] - 1) / 2
    left.set_yticks(middles, [plot_text(name) for name in picture.names])
    right.set_yticks([])
    left.set_xticks([])
    right.set_xticks(range(H.shape[1]), [str(j) for j in range(H.shape[1])])
    left.set_title("A, rows ordered by class")
    right.set_title("H, same rows")
    right.set_xlabel("column of H")
    legend_below(figure)
    data = pd.DataFrame(H, columns=[f"h{j}" for j in range(H.shape[1])])
    for index, name in enumerate(picture.names):
        data[f"mean similarity to {name}"] = A[:, classes == index].mean(axis=1)
    data.insert(0, "class", [picture.names[c] for c in classes])
    title = dataset_title(picture.experiment.dataset, results)
    names = picture.names
    return Drawing(
        name="motivation",
        experiment=picture.experiment.name,
        title=f"Similarity and factor: {title}",
        caption=(
            f"{len(A)} samples of {title}, rows ordered by class; columns of H, "
            "clusters and unnamed classes are counted from 0. Solid frame: the block "
            f"of A with the highest mean ({names[same]} with itself, "
            f"{means[same, same]:.2f}) and the rows of H that belong to it. Dashed "
            f"frames: the block with the lowest mean ({names[first]} with "
            f"{names[second]}, {means[first, second]:.2f}) and the two sets of rows "
            "of H that belong to it. Similar rows of A should have similar rows of H, "
            "dissimilar ones different rows."
        ),
        figure=figure,
        data=data,
    )


def _heat(figure: Figure, ax: Axes, values: FloatArray) -> None:
    reach = float(np.quantile(np.abs(values), 0.99)) or 1.0
    image = ax.imshow(
        values,
        cmap="PuOr_r",
        vmin=-reach,
        vmax=reach,
        aspect="auto",
        interpolation="nearest",
    )
    ax.grid(visible=False)
    bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
    bar.outline.set_linewidth(0.5)


def _frames(
    left: Axes,
    right: Axes,
    edges: FloatArray,
    same: int,
    apart: tuple[int, int],
    width: int,
) -> None:
    for edge in edges[1:-1]:
        for ax in (left, right):
            ax.axhline(edge - 0.5, color="white", lw=0.8)
        left.axvline(edge - 0.5, color="white", lw=0.8)

    def frame(
        ax: Axes,
        rows: int,
        columns: tuple[float, float],
        similar: bool,
        inset: float = 0.0,
    ) -> None:
        height = (edges[rows + 1] - edges[rows]) * (1 - 2 * inset)
        top = edges[rows] - 0.5 + inset * (edges[rows + 1] - edges[rows])
        ax.add_patch(
            Rectangle(
                (columns[0] - 0.5, top),
                columns[1] - columns[0],
                height,
                fill=False,
                ec=SIMILAR if similar else DISSIMILAR,
                lw=2.2,
                ls="-" if similar else DASHED,
                clip_on=False,
                zorder=5,
            )
        )

    span = (float(edges[same]), float(edges[same + 1]))
    frame(left, same, span, True)
    frame(right, same, (0.0, float(width)), True)
    for row, column in (apart, apart[::-1]):
        frame(left, row, (float(edges[column]), float(edges[column + 1])), False)
        # A class in both blocks gets both frames, one inside the other.
        inset = 0.06 if row == same else 0.0
        frame(right, row, (inset * width, width * (1 - inset)), False, inset)


def embedding(results: Results) -> Gallery:
    """Draw the rows of H in the plane, by true class and by cluster found."""
    found, gallery = _found(results, "embedding")
    if not found:
        return gallery
    return Gallery(drawings=tuple(_embedding(p, results) for p in found))


def plane(H: FloatArray) -> FloatArray:
    """Return the first two principal components of the rows, signs fixed."""
    centred = H - H.mean(axis=0)
    U, s, Vt = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(Vt[np.arange(len(Vt)), np.argmax(np.abs(Vt), axis=1)])
    Y = (U * s * np.where(signs == 0, 1, signs))[:, :2]
    return Y if Y.shape[1] == 2 else np.column_stack([Y, np.zeros(len(Y))])


def _embedding(picture: Illustration, results: Results) -> Drawing:
    Y = plane(picture.H)
    clusters = matched(picture.classes, picture.labels)
    texts = [
        f"{picture.names[c]}, cluster {cluster}"
        for c, cluster in zip(picture.classes, clusters, strict=True)
    ]
    figure = Figure(figsize=(6.8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    further = range(len(picture.names), int(clusters.max()) + 1)
    names = [*picture.names, *(f"cluster {value}" for value in further)]
    tooltips = {
        **_scatter(left, Y, picture.classes, names, texts, "class"),
        **_scatter(right, Y, clusters, names, texts, "cluster"),
    }
    if len(names) <= MOST_NAMED:
        legend_below(figure, "class, and the cluster matched to it")
    left.set_title("by class")
    right.set_title("by cluster found")
    left.set_ylabel("second")
    agree = float(np.mean(clusters == picture.classes))
    title = dataset_title(picture.experiment.dataset, results)
    return Drawing(
        name="embedding",
        experiment=picture.experiment.name,
        title=f"Rows of H: {title}",
        caption=(
            f"{len(Y)} samples; the first two principal components of the rows of H. "
            "Clusters take the number, colour and mark of the class they match best, "
            f"both counted from 0; {agree:.0%} of the samples agree."
        ),
        figure=figure,
        data=pd.DataFrame(
            {
                "first": Y[:, 0],
                "second": Y[:, 1],
                "class": [picture.names[c] for c in picture.classes],
                "cluster": clusters,
            }
        ),
        tooltips=tooltips,
    )


def _scatter(
    ax: Axes,
    Y: FloatArray,
    groups: LabelArray,
    names: Sequence[str],
    texts: Sequence[str],
    side: str,
) -> Tooltips:
    """Draw the points of each group with their mark; return their texts."""
    tooltips = {}
    for value in np.unique(groups).tolist():
        here = np.flatnonzero(groups == value)
        name = f"embedding-{side}-{value}"
        ax.plot(
            *Y[here].T,
            ls="none",
            marker=CLASS_MARKERS[value % len(CLASS_MARKERS)],
            color=CLASS_COLORS[value % len(CLASS_COLORS)],
            ms=4,
            alpha=0.8,
            mew=0,
            gid=name,
            label=plot_text(names[value]),
        )
        tooltips[name] = [texts[i] for i in here.tolist()]
    ax.set_xlabel("first principal component of H")
    return tooltips


def matched(classes: LabelArray, labels: LabelArray) -> LabelArray:
    """Rename clusters so that each has the number of the class it matches best.

    Examples
    --------
    >>> matched(np.array([0, 0, 1]), np.array([5, 5, 2])).tolist()
    [0, 0, 1]
    """
    values, compact = np.unique(labels, return_inverse=True)
    n_classes = int(classes.max()) + 1
    counts = np.zeros((len(values), max(n_classes, len(values))), dtype=np.int64)
    np.add.at(counts, (compact, classes), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    names = np.empty(len(values), dtype=np.int64)
    names[rows] = columns
    return np.asarray(names[compact])
