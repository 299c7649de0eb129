"""A figure as part of the page: SVG with tooltips, in the page's own colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from symmf.common.texts import plain_text
from symmf.reporting.plots.base import Drawing, render
from symmf.reporting.plots.style import GREY, INK, PAPER

PIXELS_PER_INCH = 140  # on a page, at most
SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
# The page decides the ink, so that a figure is readable on light and on dark.
COLORS = {INK: "currentColor", GREY: "var(--quiet)", PAPER: "var(--paper)"}
# A hundredth of a point cannot be seen; more digits only make the page larger.
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_COLOR = re.compile("|".join(COLORS), re.IGNORECASE)


def svg(drawing: Drawing, prefix: str) -> str:
    """Return the figure as an SVG element for a page, with tooltips on its points.

    ``prefix`` keeps the identifiers of several figures on one page apart.
    """
    ET.register_namespace("", SVG[1:-1])
    ET.register_namespace("xlink", XLINK[1:-1])
    root = ET.fromstring(render(drawing, "svg", transparent=True))
    for metadata in root.findall(f"{SVG}metadata"):
        root.remove(metadata)
    groups = {group.get("id"): group for group in root.iter(f"{SVG}g")}
    for name, texts in drawing.tooltips.items():
        _add_titles(groups[name], texts)
    for element in root.iter():
        _adapt(element, prefix)
    wide = round(drawing.figure.get_figwidth() * PIXELS_PER_INCH)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", plain_text(f"{drawing.title}. {drawing.caption}"))
    root.set("style", f"--wide: {wide}px")
    return ET.tostring(root, encoding="unicode")


def _add_titles(group: ET.Element, texts: list[str]) -> None:
    """Put one ``<title>`` into each marker of a group."""
    markers = list(group.iter(f"{SVG}use"))
    if len(markers) != len(texts):
        raise ValueError(f"{len(texts)} texts for the {len(markers)} markers")
    for marker, text in zip(markers, texts, strict=True):
        ET.SubElement(marker, f"{SVG}title").text = plain_text(text)


def _short(number: str) -> str:
    return f"{float(number):.2f}".rstrip("0").rstrip(".")


def _adapt(element: ET.Element, prefix: str) -> None:
    """Make identifiers unique on the page and take the page's colours."""
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
            element.set(name, _LONG_NUMBER.sub(lambda hit: _short(hit[0]), value))
        elif name in ("style", "fill", "stroke"):
            element.set(name, _COLOR.sub(lambda hit: COLORS[hit[0].lower()], value))
    for part in ("text", "tail"):
        inner = getattr(element, part)
        if inner is not None and not inner.strip():
            setattr(element, part, None)
    if element.tag == f"{SVG}style" and element.text:
        element.text = " ".join(element.text.split())
