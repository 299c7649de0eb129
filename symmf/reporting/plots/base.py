"""What a figure is, and how it is saved.

A drawing carries its data: it is written as PDF and PNG with the CSV of what is
drawn and its caption beside it, and shown on the page with the numbers as tooltips.
The same input gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from symmf.common.figures import figure_bytes, figure_svg, house_style
from symmf.common.files import csv_text, write_bytes, write_text
from symmf.common.shipped import packaged
from symmf.reporting.results import Missing, Results, run_command

# Of a legend: its lines, the gap above them, a letter, and the handle before it.
LINE_INCHES, GAP_INCHES = 0.185, 0.16
LETTER_INCHES, HANDLE_INCHES = 0.066, 0.55


TEXTS: dict[str, Any] = packaged("symmf.reporting.plots", "words.yaml")


@dataclass(kw_only=True)
class Drawing:
    """A figure, the numbers in it and what to say about it.

    ``tooltips`` has a text for every marker, by the identifier of their group.
    """

    name: str
    title: str
    figure: Figure
    caption: str = ""
    data: pd.DataFrame = field(default_factory=pd.DataFrame)
    experiment: str = ""
    tooltips: dict[str, list[str]] = field(default_factory=dict)

    def mark(
        self, ax: Axes, xs: Any, ys: Any, texts: Iterable[str], **style: Any
    ) -> None:
        """Draw markers that show a text each on the page."""
        name = f"marks-{len(self.tooltips)}"
        self.tooltips[name] = [*texts]
        ax.plot(xs, ys, ls="none", gid=name, **style)

    @property
    def stem(self) -> str:
        """Where the files go, relative to the results folder, without a suffix."""
        name = self.name.replace("-", "_")
        inside = f"{self.experiment}/" if self.experiment else ""
        return f"figures/{inside}{name}"

    def svg(self, prefix: str) -> Markup:
        """Return the figure for a page; see :func:`symmf.common.figures.figure_svg`."""
        label = f"{self.title}. {self.caption}"
        return figure_svg(self.figure, prefix, label=label, tooltips=self.tooltips)


@dataclass(frozen=True, kw_only=True)
class Gallery:
    """The drawings of one name and what is missing for others of that name."""

    drawings: tuple[Drawing, ...]
    missing: tuple[Missing, ...]


def words(name: str, **facts: object) -> dict[str, Any]:
    """Return name, title and caption of a figure, with its numbers."""
    said = {kind: TEXTS[name][kind].format(**facts) for kind in ("title", "caption")}
    return {"name": name, **said}


# Draws the figures of one name, or says what they lack.
Builder = Callable[[Results], Iterator[Drawing | Missing]]


def canvas(width: float, height: float) -> Figure:
    """Return an empty figure that lays out its panels itself; sizes in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def legend_below(figure: Figure, title: str = "") -> None:
    """Gather the labels of all axes, each once, below the figure.

    The figure grows by the height of the legend, so that the panels keep their size;
    as many columns are used as fit the width.
    """
    handles: dict[str, Artist] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        return
    width, height = figure.get_size_inches()
    longest = max(len(label) for label in handles)
    fitting = int(width / (HANDLE_INCHES + LETTER_INCHES * longest))
    columns = max(1, min(fitting, len(handles)))
    lines = math.ceil(len(handles) / columns)
    columns = math.ceil(len(handles) / lines)  # even columns
    lines += bool(title)
    figure.set_size_inches(width, height + GAP_INCHES + LINE_INCHES * lines)
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=columns,
        title=title or None,
    )


def laid_out(name: str, build: Builder, results: Results) -> Gallery:
    """Build figures in the house style, each laid out once for all its formats.

    Where there is nothing to draw, ``words.yaml`` says what is missing.
    """
    with house_style():
        made = list(build(results))
        drawings = tuple(each for each in made if isinstance(each, Drawing))
        for drawing in drawings:
            engine = drawing.figure.get_layout_engine()
            if engine is not None:
                engine.execute(drawing.figure)
            drawing.figure.set_layout_engine("none")
    missing = [each for each in made if isinstance(each, Missing)]
    gap = TEXTS[name].get("missing")
    if gap and not made:
        command = run_command(gap["run"])
        missing.append(Missing(name=name, reason=gap["reason"], command=command))
    return Gallery(drawings=drawings, missing=tuple(missing))


def save(drawing: Drawing, folder: Path) -> list[Path]:
    """Write PDF, PNG, CSV and caption below ``folder``; return the paths."""
    path = folder / drawing.stem
    caption = f"{drawing.title}\n\n{drawing.caption}\n"
    return [
        write_bytes(path.with_suffix(".pdf"), figure_bytes(drawing.figure, "pdf")),
        write_bytes(path.with_suffix(".png"), figure_bytes(drawing.figure, "png")),
        write_text(path.with_suffix(".csv"), csv_text(drawing.data)),
        write_text(path.with_suffix(".txt"), caption),
    ]
