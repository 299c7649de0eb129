"""The answer as one HTML page that needs nothing else: no scripts, no other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from symmf import __version__
from symmf.app import pictures
from symmf.app.answer import Answer
from symmf.app.evidence import in_words
from symmf.app.groups import Group, shown_number
from symmf.common.texts import plain_text

_NAMED = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Evidence for the number of clusters: a score for each candidate."""

    candidates: list[tuple[int, float]]
    chosen: int
    note: str


def render_page(
    found: Answer, *, title: str, command: str, choice: Choice | None = None
) -> str:
    """Return the page.

    Parameters
    ----------
    found : Answer
    title : str
        Name of the data.
    command : str
        What was typed, shown at the end.
    choice : Choice or None
        Evidence for the number of clusters.
    """
    environment = Environment(
        loader=PackageLoader("symmf.app"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    data = found.task.data
    context: dict[str, Any] = {
        "title": plain_text(title),
        "what": _what(found),
        "tiles": _tiles(found),
        "sentences": in_words(found.quality),
        "warnings": [plain_text(w) for w in [*data.warnings, *found.warnings]],
        "notes": [plain_text(n) for n in [*data.notes, *found.task.notes]],
        "groups": [_group(found, group) for group in found.groups],
        "largest": max(group.size for group in found.groups),
        "pictures": _pictures(found),
        "choice": _choice(choice),
        "command": plain_text(command),
        "method": found.task.method,
        "parameters": _parameters(found.model),
        "version": __version__,
    }
    return environment.get_template("cluster.html.j2").render(context)


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
            (plain_text(found.ids[i]), pictures.thumbnail(data.X[i], side))
            for i in group.typical
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
        "terms": [plain_text(term) for term in group.terms],
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
                Markup(pictures.scatter(Z, labels, found.ids, rows)),
            )
        )
        shown.append(
            (
                "Similarity",
                "How alike samples are, ordered by cluster. Dark squares on the "
                "diagonal hold together; dark elsewhere: clusters that mix.",
                Markup(pictures.matrix(Z, labels, rows, cosines=cosines)),
            )
        )
    if found.silhouettes is not None:
        bars = pictures.silhouette_bars(found.silhouettes, labels[rows])
        shown.append(
            (
                "Silhouettes",
                "A bar per sample, from rows of H: to the right it fits its cluster, "
                "to the left another one is nearer. The dashed line is the mean.",
                Markup(bars),
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


def _choice(choice: Choice | None) -> Any:
    if choice is None or len(choice.candidates) < 2:
        return None
    chart = pictures.line_chart(
        choice.candidates, choice.chosen, "Score for each number of clusters"
    )
    return {"chart": Markup(chart), "chosen": choice.chosen, "note": choice.note}


def _parameters(model: Any) -> str:
    import inspect

    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(type(model)).parameters.items()
    }
    given = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if value is not defaults.get(name) and value != defaults.get(name)
    }
    return ", ".join(f"{name} = {value}" for name, value in given.items())


def _short(text: str, most: int) -> str:
    text = plain_text(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"
