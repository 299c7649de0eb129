"""Formulas as MathML: browsers draw it themselves, without a script or a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _mathml(text: str, display: str = "inline") -> str:
    """Convert a formula, with bars of norms that all have one height."""
    # As fences, the left bar stretches and the right one, with its index, does not.
    even = text.replace(r"\lVert", r"\|").replace(r"\rVert", r"\|")
    return str(convert(even, display=display))


def _visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node.astext()))
    raise nodes.SkipNode


def _visit_math_block(self: Any, node: nodes.math_block) -> None:
    number = (
        f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    )
    self.body.append(f'<div class="math-block"{_anchor(node)}>{number}')
    self.body.append(_mathml(node.astext(), display="block"))
    self.body.append("</div>")
    raise nodes.SkipNode


def _anchor(node: nodes.Element) -> str:
    return f' id="{node["ids"][0]}"' if node.get("ids") else ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register as the renderer of formulas in HTML."""
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
