"""What a figure is, how it is saved, and the list of all figures.

A drawing carries its data: it is written as PDF and PNG with the CSV of what is
drawn and its caption beside it, and as SVG with the numbers in tooltips for the
report. The same input gives the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from symmf.files import csv_text, write_text
from symmf.reporting.plots.style import GREY, INK, RC
from symmf.reporting.results import Missing, Results

PIXELS_PER_INCH = 140  # on a page, at most


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A finished figure, the numbers in it and what to say about it.

    ``points`` maps the identifier of a group of markers to one text per marker.
    """

    name: str
    title: str
    caption: str
    figure: Figure
    data: pd.DataFrame
    experiment: str = ""
    points: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """Where the files go, relative to the results folder, without a suffix."""
        name = self.name.replace("-", "_")
        inside = f"{self.experiment}/" if self.experiment else ""
        return f"{inside}figures/{name}"


@dataclass(frozen=True, kw_only=True)
class Gallery:
    """The drawings of one name and what is missing for others of that name."""

    drawings: tuple[Drawing, ...] = ()
    missing: tuple[Missing, ...] = ()


Builder = Callable[[Results], Gallery]

# name of `symmf plot NAME` -> where its builder lives
FIGURES = {
    "motivation": "symmf.reporting.plots.factor:motivation",
    "regularization": "symmf.reporting.plots.regulariser:regularization",
    "convergence": "symmf.reporting.plots.convergence:convergence",
    "lambda": "symmf.reporting.plots.regulariser:sensitivity",
    "critical-difference": "symmf.reporting.plots.ranks:critical_difference",
    "embedding": "symmf.reporting.plots.factor:embedding",
}


def draw(name: str, results: Results) -> Gallery:
    """Draw all figures of a name from the results there are."""
    module, attribute = FIGURES[name].split(":")
    builder: Builder = getattr(import_module(module), attribute)
    with mpl.rc_context(RC):
        gallery = builder(results)
        for drawing in gallery.drawings:
            # Lay out once, not once per file format.
            drawing.figure.draw_without_rendering()
            drawing.figure.set_layout_engine("none")
    return gallery


def save(drawing: Drawing, folder: Path) -> list[Path]:
    """Write PDF, PNG, CSV and caption below ``folder``; return the paths."""
    stem = folder / drawing.stem
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("pdf", "png")]
    with mpl.rc_context(RC):
        drawing.figure.savefig(
            paths[0],
            metadata={"CreationDate": None, "Creator": "symmf", "Producer": None},
        )
        drawing.figure.savefig(paths[1], metadata={"Software": None})
    data, caption = (
        stem.with_name(f"{stem.name}.csv"),
        stem.with_name(f"{stem.name}.txt"),
    )
    write_text(data, csv_text(drawing.data))
    write_text(caption, f"{drawing.title}\n\n{drawing.caption}\n")
    return [*paths, data, caption]


def svg(drawing: Drawing, prefix: str) -> str:
    """Return the figure as an SVG element for a page, with tooltips on its points.

    ``prefix`` keeps the identifiers of several figures on one page apart.
    """
    stream = io.StringIO()
    with mpl.rc_context(RC):
        drawing.figure.savefig(
            stream, format="svg", metadata={"Date": None}, transparent=True
        )
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # Equal images get equal identifiers, which nothing refers to.
    text = re.sub(r'(<image\b[^>]*?)\sid="[^"]*"', r"\1", text)
    for group, labels in drawing.points.items():
        text = _with_titles(text, group, labels)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = text.replace("url(#", f"url(#{prefix}-")
    text = text.replace('xlink:href="#', f'xlink:href="#{prefix}-')
    # The page decides the ink, so that the figure is readable on light and dark.
    text = text.replace(INK, "currentColor").replace(GREY, "var(--quiet)")
    text = text.replace("#ffffff", "var(--paper)")
    text = re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", text, count=1)
    text = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", text, count=1)
    label = escape(f"{drawing.title}. {drawing.caption}", quote=True)
    wide = round(drawing.figure.get_figwidth() * PIXELS_PER_INCH)
    head = f'<svg role="img" aria-label="{label}" style="--wide: {wide}px" '
    return text.replace("<svg ", head, 1)


def _with_titles(text: str, group: str, labels: list[str]) -> str:
    """Put one ``<title>`` into each marker of a group, if the counts agree."""
    start = text.find(f'<g id="{group}">')
    if start < 0:
        return text
    # The markers of a line are the <use> elements of the innermost group.
    end = text.find('<g id="', start + 1)
    end = len(text) if end < 0 else end
    body = text[start:end]
    uses = list(re.finditer(r"<use\b([^>]*)/>", body))
    if len(uses) != len(labels):
        return text
    pieces, position = [], 0
    for use, label in zip(uses, labels, strict=True):
        pieces.append(body[position : use.start()])
        pieces.append(f"<use{use.group(1)}><title>{escape(label)}</title></use>")
        position = use.end()
    pieces.append(body[position:])
    return text[:start] + "".join(pieces) + text[end:]
