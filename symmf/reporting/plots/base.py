"""What a figure is, and how it is saved.

A drawing carries its data: it is written as PDF and PNG with the CSV of what is
drawn and its caption beside it, and shown on the page with the numbers as tooltips.
The same input gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

from symmf.common.figures import figure_bytes, figure_svg, house_style
from symmf.common.files import csv_text, write_bytes, write_text
from symmf.reporting.results import Missing, Results

# Numbers of what is drawn; identifier of a group of markers -> a text per marker.
Records = list[dict[str, Any]]
Tooltips = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A finished figure, the numbers in it and what to say about it."""

    name: str
    title: str
    caption: str
    figure: Figure
    data: pd.DataFrame
    experiment: str = ""
    tooltips: Mapping[str, list[str]] = field(default_factory=dict)

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

    drawings: tuple[Drawing, ...] = ()
    missing: tuple[Missing, ...] = ()


def laid_out(build: Callable[[Results], Gallery], results: Results) -> Gallery:
    """Build figures in the house style, each laid out once for all its formats."""
    with house_style():
        gallery = build(results)
        for drawing in gallery.drawings:
            engine = drawing.figure.get_layout_engine()
            if engine is not None:
                engine.execute(drawing.figure)
            drawing.figure.set_layout_engine("none")
    return gallery


def save(drawing: Drawing, folder: Path) -> list[Path]:
    """Write PDF, PNG, CSV and caption below ``folder``; return the paths."""
    stem = folder / drawing.stem
    caption = f"{drawing.title}\n\n{drawing.caption}\n"

    def path(kind: str) -> Path:
        return stem.with_name(f"{stem.name}.{kind}")

    return [
        *(
            write_bytes(path(kind), figure_bytes(drawing.figure, kind))
            for kind in ("pdf", "png")
        ),
        write_text(path("csv"), csv_text(drawing.data)),
        write_text(path("txt"), caption),
    ]
