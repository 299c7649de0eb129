"""One legend per figure, below all panels, with room made for any number of entries."""

from __future__ import annotations

import math

from matplotlib.artist import Artist
from matplotlib.figure import Figure

LINE_INCHES = 0.185  # height of one line of a legend
GAP_INCHES = 0.16
# Width of a letter and of the handle before it, at the legend's size.
LETTER_INCHES, HANDLE_INCHES = 0.066, 0.55


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
