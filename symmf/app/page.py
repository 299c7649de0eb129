"""The answer as one HTML page that needs nothing else: no scripts, no other files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from symmf import __version__
from symmf.app import pictures
from symmf.app.answer import Answer
from symmf.app.evidence import in_words
from symmf.app.groups import Group, shown_number
from symmf.clustering.symmf.select import Selection
from symmf.common import html
from symmf.common.figures import figure_svg, house_style

_NAMED = 40


def render_page(
    found: Answer, *, title: str, command: str, choice: Selection | None = None
) -> str:
    """Return the page.

    Parameters
    ----------
    found : Answer
    title : str
        Name of the data.
    command : str
        What was typed, shown at the end.
    choice : Selection or None
        Evidence for the number of clusters.
    """
    data = found.task.data
    context: dict[str, Any] = {
        "title": title,
        "what": _what(found),
        "tiles": _tiles(found),
        "sentences": in_words(found.quality),
        "warnings": [*data.warnings, *found.warnings],
        "notes": [*data.notes, *found.task.notes],
        "groups": [_group(found, group) for group in found.groups],
        "largest": max(group.size for group in found.groups),
        "pictures": _pictures(found),
        "choice": _choice(choice, found.n_clusters),
        "command": command,
        "method": found.task.method,
        "parameters": ", ".join(f"{n} = {v}" for n, v in found.parameters.items()),
        "version": __version__,
    }
    return html.render_page("symmf.app", "cluster.html.j2", context)


def _what(found: Answer) -> str:
    kind = found.task.data.kind
    n = len(found.labels)
    things = {"rows": "samples", "images": "images", "documents": "documents"}
    how = "chosen from the data" if found.chosen else "as asked for"
    return (
        f"{n:,} {things.get(kind, 'nodes')} in {found.n_clusters} clusters ({how}), by "
        f"{found.task.method} in {found.seconds:.2f} s."
    )


_LEFT = (
    "what H Hᵀ leaves of the similarity; near 1 for a graph of neighbours, whose "
    "single links K columns cannot show"
)


def _tiles(found: Answer) -> list[tuple[str, str, str]]:
    quality = found.quality
    tiles = [
        ("silhouette", quality.silhouette, "1: far apart, 0: touching"),
        ("stability", quality.stability, "1: parts of the data give the same"),
        ("cut", quality.cut, "share of neighbours in other clusters"),
        ("relative error", quality.error, _LEFT),
    ]
    shown = [
        (name, f"{value:.2f}", why) for name, value, why in tiles if value is not None
    ]
    shown += [
        (name, f"{value:.3f}", "against the known classes")
        for name, value in found.scores.items()
    ]
    return shown


def _group(found: Answer, group: Group) -> dict[str, Any]:
    data = found.task.data
    thumbnails = []
    if data.kind == "images":
        side = int(np.sqrt(data.X.shape[1] / 3))
        thumbnails = [
            (found.ids[i], pictures.thumbnail(data.X[i], side)) for i in group.typical
        ]
    texts: Sequence[str] = []
    if data.documents is not None:
        texts = [_short(data.documents[i], 110) for i in group.typical[:3]]
    return {
        "number": group.number,
        "colour": pictures.colour(group.number),
        "size": group.size,
        "share": f"{group.size / len(found.labels):.1%}",
        "typical": [_short(found.ids[i], _NAMED) for i in group.typical],
        "thumbnails": thumbnails,
        "texts": texts,
        "terms": group.terms,
        "traits": [
            (_short(name, _NAMED), shown_number(mean), f"{off:+.1f}")
            for name, mean, off in group.traits
        ],
    }


def _pictures(found: Answer) -> list[tuple[str, str, Markup]]:
    shown = []
    Z, cosines, of_what = _drawn(found)
    rows, labels = found.shown, found.labels
    if Z is not None and len(labels) > 2:
        shown.append(
            (
                "Samples",
                f"{of_what} on their two main axes; hover for names.",
                pictures.scatter(Z, labels, found.ids, rows),
            )
        )
        shown.append(
            (
                "Similarity",
                "How alike samples are, ordered by cluster. Dark squares on the "
                "diagonal hold together; dark elsewhere: clusters that mix.",
                pictures.matrix(Z, labels, rows, cosines=cosines),
            )
        )
    if found.silhouettes is not None:
        bars = pictures.silhouette_bars(found.silhouettes, labels[rows])
        shown.append(
            (
                "Silhouettes",
                "A bar per sample, from rows of H: to the right it fits its cluster, "
                "to the left another one is nearer. The dashed line is the mean.",
                bars,
            )
        )
    return shown


def _drawn(found: Answer) -> tuple[Any, bool, str]:
    """Return the rows to draw, whether cosines compare them, and what they are."""
    task = found.task
    if task.data.kind == "rows" and task.rows is not None:
        points = getattr(found.model, "_new_points", None)
        rows = task.rows if points is None else points.scaling.apply(task.rows)
        return rows, False, "The data"
    if task.data.kind == "documents":
        return task.rows, True, "Documents (latent semantic analysis)"
    return found.rows, True, "Rows of H"


def _choice(choice: Selection | None, chosen: int) -> dict[str, Any] | None:
    if choice is None or len(choice.table) < 2:
        return None
    with house_style():
        figure: Any = choice.plot().figure
    chart = figure_svg(figure, "choice", label="Evidence for each number of clusters")
    note = f"By itself symmf would take {choice.recommendation}"
    return {"chart": chart, "chosen": chosen, "note": note}


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
