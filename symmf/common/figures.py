"""Figures in one style: how they are drawn, saved, and put into a page.

The same figure gives the same bytes. Nothing in a file says when or where it was made.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

from symmf.common.texts import plain_text

STYLE = Path(__file__).with_name("house.mplstyle")
# The ink of the style; in a page its colours, so that light and dark are both readable.
INK, GREY, PAPER = "#1b1b1f", "#6f6f78", "#ffffff"
_PAGE_COLORS = {INK: "currentColor", GREY: "var(--quiet)", PAPER: "var(--paper)"}
_COLOR = re.compile("|".join(_PAGE_COLORS), re.IGNORECASE)
# A hundredth of a point cannot be seen; more digits only make the page larger.
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
PIXELS_PER_INCH = 140  # on a page, at most
SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
_METADATA: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Creator": "symmf", "Producer": None},
    "png": {"Software": None},
    "svg": {"Date": None},
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw with the same settings everywhere, whatever the user's are.

    A letter that the font lacks is drawn as a box; that is no reason for a warning.
    """
    with mpl.rc_context(fname=STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def figure_bytes(figure: Figure, kind: str, **options: Any) -> bytes:
    """Return a figure as the bytes of a file: ``pdf``, ``png`` or ``svg``."""
    stream = io.BytesIO()
    with house_style():
        figure.savefig(stream, format=kind, metadata=_METADATA[kind], **options)
    return stream.getvalue()


def figure_svg(
    figure: Figure,
    prefix: str,
    *,
    label: str,
    tooltips: Mapping[str, Sequence[str]] | None = None,
) -> Markup:
    """Return a figure as an SVG element for a page.

    Parameters
    ----------
    figure : Figure
    prefix : str
        Keeps the identifiers of several figures on one page apart.
    label : str
        The figure in words, for readers who cannot see it.
    tooltips : mapping, optional
        For the ``gid`` of a line of markers, a text for each of them.
    """
    ET.register_namespace("", SVG[1:-1])
    ET.register_namespace("xlink", XLINK[1:-1])
    root = ET.fromstring(figure_bytes(figure, "svg", transparent=True))
    for metadata in root.findall(f"{SVG}metadata"):
        root.remove(metadata)
    groups = {group.get("id"): group for group in root.iter(f"{SVG}g")}
    for name, texts in (tooltips or {}).items():
        markers = groups[name].iter(f"{SVG}use")
        for marker, text in zip(list(markers), texts, strict=True):
            ET.SubElement(marker, f"{SVG}title").text = plain_text(text)
    for element in root.iter():
        _fit_to_page(element, prefix)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", plain_text(label))
    wide = round(figure.get_figwidth() * PIXELS_PER_INCH)
    root.set("style", f"--wide: {wide}px")
    return Markup(ET.tostring(root, encoding="unicode"))


def _fit_to_page(element: ET.Element, prefix: str) -> None:
    """Make identifiers unique on the page, take its colours, drop what is not seen."""
    if element.tag == f"{SVG}image":
        # Equal images get equal identifiers, which nothing refers to.
        element.attrib.pop("id", None)
    for name, value in element.attrib.items():
        if name == "id":
            element.set(name, f"{prefix}-{value}")
        elif name == f"{XLINK}href" and value.startswith("#"):
            element.set(name, f"#{prefix}-{value[1:]}")
        elif "url(#" in value:
            element.set(name, value.replace("url(#", f"url(#{prefix}-"))
        elif name in ("d", "x", "y"):
            element.set(name, _LONG_NUMBER.sub(_shortened, value))
        elif name in ("style", "fill", "stroke"):
            color = _COLOR.sub(lambda hit: _PAGE_COLORS[hit[0].lower()], value)
            element.set(name, color)
    element.text = element.text if (element.text or "").strip() else None
    element.tail = element.tail if (element.tail or "").strip() else None
    if element.tag == f"{SVG}style" and element.text:
        element.text = " ".join(element.text.split())


def _shortened(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
