"""The motivation picture and the embedding: A and H of one small real problem.

Both are drawn from ``illustration.npz``, which a run stores beside its trials: ``A``
(similarity of a small subset), ``H`` (its factor), ``classes`` (true class of each
row), ``labels`` (cluster of each row) and, if given, ``names`` of the classes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
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
from symmf.reporting.plots.base import Drawing, canvas, legend_below, words
from symmf.reporting.plots.style import (
    CLASS_COLORS,
    CLASS_MARKERS,
    DISSIMILAR,
    SIMILAR,
)
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import dataset_title

DASHED = (0, (2.5, 1.2))
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
    """Read ``illustration.npz``; None if it is absent or damaged."""
    path = experiment.folder / "illustration.npz"
    if not path.is_file():
        return None
    try:
        arrays = read_arrays(path, ".npz")
        A, H = (arrays[name].astype(float) for name in ("A", "H"))
        classes, labels = arrays["classes"], arrays["labels"]
    except (SymmfError, KeyError, ValueError):
        return None
    n = len(classes)
    if not (A.shape == (n, n) and len(H) == len(labels) == n):
        return None
    order = np.argsort(classes, kind="stable")
    values = np.unique(classes)
    names = arrays.get("names", [f"class {value}" for value in values])
    return Illustration(
        experiment=experiment,
        A=A[np.ix_(order, order)],
        H=H[order],
        classes=np.searchsorted(values, classes[order]),
        labels=labels[order],
        names=tuple(map(str, names)),
    )


def _illustrations(results: Results) -> Iterator[tuple[Illustration, str]]:
    """Return every stored illustration and the title of its data."""
    for experiment in results.experiments:
        if (picture := load_illustration(experiment)) is not None:
            yield picture, dataset_title(experiment.dataset, results)


def motivation(results: Results) -> Iterator[Drawing]:
    """Draw A and H with a similar and a dissimilar block marked in both."""
    return itertools.starmap(_motivation, _illustrations(results))


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


def _motivation(picture: Illustration, title: str) -> Drawing:
    A, H, classes, names = picture.A, picture.H, picture.classes, picture.names
    means = block_means(A, classes)
    same = int(np.argmax(np.diag(means)))
    first, second = least_similar(means)
    figure = canvas(6.8, 3.5)
    left, right = figure.subplots(1, 2, width_ratios=(2.1, 1.0))
    _heat(figure, left, A)
    _heat(figure, right, H)
    edges = np.concatenate([[0], np.cumsum(np.bincount(classes))])
    _frames(left, right, edges, same, (first, second))
    left.plot([], [], color=SIMILAR, lw=2.2, label="most similar block")
    left.plot([], [], color=DISSIMILAR, lw=2.2, ls=DASHED, label="least similar block")
    middles = (edges[:-1] + edges[1:] - 1) / 2
    left.set_yticks(middles, [plot_text(name) for name in names])
    right.set_yticks([])
    left.set_xticks([])
    right.set_xticks(range(H.shape[1]))
    left.set_title("A, rows ordered by class")
    right.set(title="H, same rows", xlabel="column of H")
    legend_below(figure)
    data = pd.DataFrame(H, columns=[f"h{j}" for j in range(H.shape[1])])
    for index, name in enumerate(names):
        data[f"mean similarity to {name}"] = A[:, classes == index].mean(axis=1)
    data.insert(0, "class", [names[c] for c in classes])
    said = {"same": names[same], "first": names[first], "second": names[second]}
    said |= {"high": means[same, same], "low": means[first, second]}
    texts = words("motivation", title=title, count=len(A), **said)
    place = picture.experiment.name
    return Drawing(**texts, experiment=place, figure=figure, data=data)


def _heat(figure: Figure, ax: Axes, values: FloatArray) -> None:
    reach = float(np.quantile(np.abs(values), 0.99)) or 1.0
    scale: dict[str, Any] = {"cmap": "PuOr_r", "vmin": -reach, "vmax": reach}
    image = ax.imshow(values, aspect="auto", interpolation="nearest", **scale)
    ax.grid(visible=False)
    bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
    bar.outline.set_linewidth(0.5)


def _frames(
    left: Axes, right: Axes, edges: FloatArray, same: int, apart: tuple[int, int]
) -> None:
    """Frame the blocks in A, and the rows that belong to them in H."""
    for edge in edges[1:-1]:
        for ax in (left, right):
            ax.axhline(edge - 0.5, color="white", lw=0.8)
        left.axvline(edge - 0.5, color="white", lw=0.8)
    start, size = edges[:-1] - 0.5, np.diff(edges)
    width = right.get_xlim()[1] + 0.5
    solid: dict[str, Any] = {"ec": SIMILAR, "ls": "-"}
    dashed: dict[str, Any] = {"ec": DISSIMILAR, "ls": DASHED}
    frames = [
        (left, (start[same], start[same]), size[same], size[same], solid),
        (right, (-0.5, start[same]), width, size[same], solid),
    ]
    for row, column in (apart, apart[::-1]):
        place = (start[column], start[row])
        frames.append((left, place, size[column], size[row], dashed))
        # A class in both blocks gets both frames, one inside the other.
        inset = 0.06 if row == same else 0.0
        place = (inset * width - 0.5, start[row] + inset * size[row])
        inner = 1 - 2 * inset
        frames.append((right, place, inner * width, inner * size[row], dashed))
    for ax, corner, across, down, look in frames:
        style = {"fill": False, "lw": 2.2, "clip_on": False, "zorder": 5, **look}
        ax.add_patch(Rectangle(corner, across, down, **style))


def embedding(results: Results) -> Iterator[Drawing]:
    """Draw the rows of H in the plane, by true class and by cluster found."""
    return itertools.starmap(_embedding, _illustrations(results))


def plane(H: FloatArray) -> FloatArray:
    """Return the first two principal components of the rows, signs fixed."""
    centred = H - H.mean(axis=0)
    U, s, Vt = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(Vt[np.arange(len(Vt)), np.argmax(np.abs(Vt), axis=1)])
    Y = (U * s * np.where(signs == 0, 1, signs))[:, :2]
    return Y if Y.shape[1] == 2 else np.column_stack([Y, np.zeros(len(Y))])


def _embedding(picture: Illustration, title: str) -> Drawing:
    Y = plane(picture.H)
    classes, names = picture.classes, picture.names
    clusters = matched(classes, picture.labels)
    agree = float(np.mean(clusters == classes))
    drawing = Drawing(
        **words("embedding", title=title, count=len(Y), agree=agree),
        experiment=picture.experiment.name,
        figure=canvas(6.8, 3.2),
        data=pd.DataFrame(Y, columns=["first", "second"]).assign(
            **{"class": np.array(names)[classes], "cluster": clusters}
        ),
    )
    left, right = drawing.figure.subplots(1, 2, sharex=True, sharey=True)
    further = range(len(names), int(clusters.max()) + 1)
    shown = [*names, *(f"cluster {value}" for value in further)]
    _scatter(drawing, left, classes, shown)
    _scatter(drawing, right, clusters, shown)
    if len(shown) <= MOST_NAMED:
        legend_below(drawing.figure, "class, and the cluster matched to it")
    left.set(title="by class", ylabel="second principal component of H")
    right.set(title="by cluster found")
    return drawing


def _scatter(
    drawing: Drawing, ax: Axes, groups: LabelArray, names: Sequence[str]
) -> None:
    """Draw the points of each group with their mark."""
    ax.set_xlabel("first principal component of H")
    for value in np.unique(groups).tolist():
        here = drawing.data[groups == value]
        marker = CLASS_MARKERS[value % len(CLASS_MARKERS)]
        color, label = CLASS_COLORS[value % len(CLASS_COLORS)], plot_text(names[value])
        texts = here["class"] + ", cluster " + here["cluster"].astype(str)
        look: dict[str, Any] = {"marker": marker, "color": color, "label": label}
        look |= {"ms": 4, "alpha": 0.8, "mew": 0}
        drawing.mark(ax, here["first"], here["second"], texts, **look)


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
