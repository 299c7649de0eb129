"""The answer as one HTML page that needs nothing else: no scripts, no other files."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from symmf import __version__
from symmf.app import pictures
from symmf.app.answer import Answer
from symmf.app.groups import Group
from symmf.common import html
from symmf.common.texts import count
from symmf.metrics import silhouettes

# At most so many outliers are named.
_NAMED_APART = 10


def render_page(found: Answer, *, title: str, command: str) -> str:
    """Return the page.

    Parameters
    ----------
    found : Answer
    title : str
        Name of the data.
    command : str
        What was typed, shown at the end.
    """
    evidence = found.evidence
    given = [(name, value) for name, value in found.parameters.items() if value != {}]
    context: dict[str, Any] = {
        "title": title,
        "what": _what(found),
        "verdict": evidence.sentence,
        "number": evidence.number,
        "tiles": _tiles(found),
        "warnings": found.warnings,
        "notes": found.notes,
        "groups": [_group(found, group) for group in found.groups],
        "largest": max(group.size for group in found.groups),
        "apart": _apart(found),
        "pictures": _pictures(found),
        "choice": pictures.score_curve(evidence.scores, found.n_clusters)
        if len(evidence.scores) > 1
        else None,
        "command": command,
        "method": found.task.method,
        "parameters": ", ".join(f"{name} = {value}" for name, value in given),
        "version": __version__,
    }
    return html.render_page("symmf.app", "cluster.html.j2", context)


def _what(found: Answer) -> str:
    k, task = found.n_clusters, found.task
    how = "chosen from the data" if found.evidence.chosen else "as requested"
    return f"{task.shape}: {count(k, 'cluster')} ({how})."


def _tiles(found: Answer) -> list[tuple[str, str, str]]:
    evidence, structure = found.evidence, found.evidence.structure
    depth = None if structure is None or found.task.square else structure.depth
    tiles = [
        ("depth of the gaps", depth, "between clusters; up to 1 by chance"),
        ("stability", evidence.stability, "1: the same when rows are left out"),
        ("silhouette of the data", evidence.silhouette, "1: clusters far apart"),
        (
            "silhouette of the embedding",
            evidence.silhouette_of_h,
            "high even without clusters",
        ),
    ]
    shown = [
        (name, f"{value:.2f}", why) for name, value, why in tiles if value is not None
    ]
    if found.cut is not None:
        why = "share of the links between nearest neighbours"
        shown.append(("neighbours in other clusters", f"{found.cut:.0%}", why))
    shown += [
        (name, f"{value:.3f}", "agreement with the known classes")
        for name, value in found.scores.items()
    ]
    return shown


def _apart(found: Answer) -> dict[str, Any] | None:
    """Return facts about outliers and about samples between clusters."""
    if found.outliers is None:
        return None
    rows = np.flatnonzero(found.outliers)
    order = rows[np.argsort(-found.model.outlier_score_[rows], kind="stable")]
    return {
        "count": len(rows),
        "names": [found.ids[i] for i in order[:_NAMED_APART]],
        "unsure": 0 if found.membership is None else int(sum(found.membership < 0.8)),
        "marked": bool((found.labels < 0).any()),
    }


def _group(found: Answer, group: Group) -> dict[str, Any]:
    data = found.task.data
    documents = data.documents or []
    images = data.X if data.kind == "images" else None
    typical = [(i, found.ids[i]) for i in group.typical]
    return {
        "about": group,
        "colour": pictures.colour(group.number),
        "share": f"{group.size / len(found.labels):.1%}",
        "typical": [name for _, name in typical],
        "thumbnails": []
        if images is None
        else [(name, pictures.thumbnail(images[i])) for i, name in typical],
        "texts": [documents[i] for i in group.typical[:3] if documents],
    }


def _pictures(found: Answer) -> list[tuple[str, str, Markup]]:
    """Return title, caption and drawing of each picture."""
    rows, labels = found.compared.rows, found.labels
    if rows is None or len(labels) <= 2:
        return []
    values, drawn = silhouettes(rows, labels)
    shown = [
        (
            "Samples",
            f"{found.compared.what} on their first two principal axes; hover over a "
            "point for its name.",
            pictures.scatter(rows, labels, found.ids, drawn),
        ),
        (
            "Similarity",
            "Similarity of all pairs of samples, ordered by cluster. Dark squares on "
            "the diagonal: samples of a cluster resemble each other; dark areas "
            "elsewhere: clusters that overlap.",
            pictures.matrix(rows, labels, drawn, cosines=found.compared.cosines),
        ),
    ]
    if values is not None:
        shown.append(
            (
                "Silhouettes",
                "A bar for each sample: to the right if it is nearer to its own "
                "cluster than to any other, else to the left. The dashed line is the "
                "mean.",
                pictures.silhouette_bars(values, labels[drawn]),
            )
        )
    return shown
