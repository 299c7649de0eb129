"""An article is written once, as Markdown; here it becomes HTML and LaTeX.

A paragraph ``[[table nmi]]`` or ``[[figure published]]`` stands for an item; how an
item is shown is the caller's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from symmf.common.texts import latex_text

Show = Callable[[str, str], str]
_PARSER = MarkdownIt("commonmark", {"html": False})
_ITEM = re.compile(r"^\[\[(table|figure) ([\w-]+)\]\]$", re.MULTILINE)
_BLOCKS = {
    "paragraph_open": "",
    "paragraph_close": "\n\n",
    "bullet_list_open": "\\begin{itemize}\n",
    "bullet_list_close": "\\end{itemize}\n\n",
    "list_item_open": "\\item ",
    "list_item_close": "",
}
_INLINE = {
    "em_open": r"\emph{",
    "em_close": "}",
    "strong_open": r"\textbf{",
    "strong_close": "}",
    "link_close": "}",
    "softbreak": "\n",
}
_HEADINGS = {"h1": "section*", "h2": "section", "h3": "subsection"}


def items(text: str) -> list[tuple[str, str]]:
    """Return the kind and the name of every item, in the order of the text."""
    return _ITEM.findall(text)


def to_html(text: str, show: Show) -> str:
    r"""Return the HTML of a text; ``show`` gives the HTML of an item.

    Examples
    --------
    >>> to_html("*a* < b", lambda kind, name: "")
    '<p><em>a</em> &lt; b</p>\n'
    """
    return _around_items(text, show, _PARSER.render)


def to_latex(text: str, show: Show) -> str:
    r"""Return the LaTeX of a text; ``show`` gives the LaTeX of an item.

    Examples
    --------
    >>> to_latex("*a* & `b_c`", lambda kind, name: "")
    '\\emph{a} \\& \\texttt{b\\_c}\n\n'
    """
    return _around_items(text, show, lambda part: "".join(_latex(_PARSER.parse(part))))


def _around_items(text: str, show: Show, render: Callable[[str], str]) -> str:
    parts, last = [], 0
    for found in _ITEM.finditer(text):
        parts += [render(text[last : found.start()]), show(*found.groups())]
        last = found.end()
    return "".join([*parts, render(text[last:])])


def _latex(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "heading_open":
            yield rf"\{_HEADINGS[token.tag]}{{"
        elif token.type == "heading_close":
            yield "}\n\n"
        elif token.type == "inline":
            yield from map(_latex_inline, token.children or ())
        elif token.type == "fence":
            yield f"\\begin{{verbatim}}\n{token.content}\\end{{verbatim}}\n\n"
        else:
            yield _BLOCKS[token.type]


def _latex_inline(token: Token) -> str:
    if token.type == "text":
        return latex_text(token.content)
    if token.type == "code_inline":
        return rf"\texttt{{{latex_text(token.content)}}}"
    if token.type == "link_open":
        return rf"\href{{{latex_text(token.attrGet('href'))}}}{{"
    return _INLINE[token.type]
