"""The one list of figures; reading it imports no drawing code.

A figure is a function of the results that yields drawings, or what they lack. To add
one, write it in a module beside this one and add its line here: the command line, the
page and the tests take it from this dictionary.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from symmf.common.validation import check_name

if TYPE_CHECKING:
    from symmf.reporting.plots.base import Gallery
    from symmf.reporting.results import Results

# Name of `symmf plot NAME` -> where its builder is, in the order of the page.
FIGURES = {
    "published": "symmf.reporting.plots.published:published",
    "envelope": "symmf.reporting.plots.published:envelope",
    "motivation": "symmf.reporting.plots.factor:motivation",
    "regularization": "symmf.reporting.plots.regulariser:regularization",
    "convergence": "symmf.reporting.plots.convergence:convergence",
    "lambda": "symmf.reporting.plots.regulariser:sensitivity",
    "critical-difference": "symmf.reporting.plots.ranks:critical_difference",
    "embedding": "symmf.reporting.plots.factor:embedding",
}


def draw(name: str, results: Results) -> Gallery:
    """Draw all figures of a name from the results there are."""
    from symmf.reporting.plots.base import laid_out

    module, attribute = FIGURES[check_name("figure", name, FIGURES)].split(":")
    return laid_out(name, getattr(import_module(module), attribute), results)
