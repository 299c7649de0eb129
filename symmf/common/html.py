"""Pages of one style that need no other file and no network.

A page is a template in the folder ``templates`` of its own package. It extends
``page.html.j2`` from here, which brings the head of the document, the colours for
light, dark and print, and the shared style.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from symmf.common.texts import markdown_text, plain_text


def render_page(package: str, template: str, context: Mapping[str, Any]) -> str:
    """Return a page as text; the same context gives the same bytes.

    Parameters
    ----------
    package : str
        Name of the package that has the template.
    template : str
        Name of the template.
    context : mapping
        What the page shows. Texts are escaped, and every character of them can be
        seen; :class:`markupsafe.Markup` is taken as it is.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("symmf.common")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=visible,
    )
    return environment.get_template(template).render(context)


def visible(value: Any) -> Any:
    r"""Return what a template prints for a value: every character can be seen.

    Texts come from files that anyone may have written. Markup is our own and stays as
    it is; so do line ends.

    Examples
    --------
    >>> print(visible("a\x1b[2J\n\u202eb"))
    a\x1b[2J
    \u202eb
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if value.isascii() and value.isprintable():
        return value
    return "\n".join(plain_text(line) for line in value.split("\n"))


def render_text(
    package: str, template: str, context: Mapping[str, Any], **syntax: Any
) -> str:
    """Return a text that is no HTML, such as Markdown, from a template of a package.

    The filter ``md`` makes Markdown show a text from outside as it is. The text ends
    with one line end. ``syntax`` are further settings of :class:`jinja2.Environment`.
    """
    environment = Environment(
        loader=PackageLoader(package),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        autoescape=False,
        **syntax,
    )
    environment.filters["md"] = markdown_text
    return environment.get_template(template).render(context).rstrip() + "\n"
