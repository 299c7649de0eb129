"""Formulas as MathML: browsers draw it themselves, without a script or a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


def _mathml(node: nodes.Element, display: str = "inline") -> str:
    """Convert a formula, with bars of norms that all have one height."""
    text = node.astext()
    # As fences, the left bar stretches and the right one, with its index, does not.
    plain = text.replace(r"\lVert", r"\|").replace(r"\rVert", r"\|")
    plain = plain.replace(r"\arg", r"\mathrm{arg}\,")
    if "&" in plain and r"\begin" not in plain:
        plain = rf"\begin{{align*}}{plain}\end{{align*}}"
    found = str(convert(plain, display=display))
    if "\\" in found or "<mi>&</mi>" in found:
        # What the converter does not know would stand in the page as it is.
        _LOGGER.warning("cannot draw the formula %s", text, location=node)
    return found


def _visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node))
    raise nodes.SkipNode


def _visit_math_block(self: Any, node: nodes.math_block) -> None:
    number = (
        f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    )
    self.body.append(f'<div class="math-block"{_anchor(node)}>{number}')
    self.body.append(_mathml(node, display="block"))
    self.body.append("</div>")
    raise nodes.SkipNode


def _anchor(node: nodes.Element) -> str:
    return f' id="{node["ids"][0]}"' if node.get("ids") else ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register as the renderer of formulas in HTML."""
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
