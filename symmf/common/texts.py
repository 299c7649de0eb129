"""Texts from outside, made safe for where they are shown; the one Markdown table.

A label, a title or a note comes from a configuration that anyone may have written.
In LaTeX, Markdown, a figure, a CSV file or a terminal it is shown as text: never run,
never read as markup, never able to hide or reorder what stands around it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

# Format characters that belong to words of some scripts: (zero-width) joiners.
_JOINERS = frozenset("\u200c\u200d")
# Categories that have no shape of their own: controls, formats (right-to-left marks
# among them), lone surrogates, separators of lines and paragraphs.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def plain_text(text: object) -> str:
    r"""Return a text on one line in which every character can be seen.

    Line ends and tabs become spaces. Control characters, lone surrogates and marks that
    change the direction of writing become escapes.

    Examples
    --------
    >>> print(plain_text("two\nlines, \u202eturned, \x1b[2J"))
    two lines, \u202eturned, \x1b[2J
    """
    return "".join(_seen(char) for char in str(text))


def terminal_text(text: object) -> str:
    r"""Return a text for a terminal: as :func:`plain_text`, but lines stay lines.

    Examples
    --------
    >>> print(terminal_text("two\nlines, \x1b[2J"))
    two
    lines, \x1b[2J
    """
    return "".join(char if char in "\t\n" else _seen(char) for char in str(text))


def _seen(char: str) -> str:
    if " " <= char <= "~":
        return char
    if char in "\t\n\r\v\f":
        return " "
    if char in _JOINERS or unicodedata.category(char) not in _UNSEEN:
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "λ": r"$\lambda$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "→": r"$\to$",
    "‖": r"$\|$",
    "ᵀ": r"$^\top$",
    "–": "--",
    "−": r"$-$",
    "σ": r"$\sigma$",
    "ρ": r"$\rho$",
    "μ": r"$\mu$",
}


def latex_text(text: object) -> str:
    r"""Return text that LaTeX prints as it is.

    Letters that the fonts may lack are taken apart first (NFKD) and each part is
    escaped, since a full-width backslash becomes a real one on the way.

    Examples
    --------
    >>> latex_text("tf_idf, λ = 0.5 & 10 %")
    'tf\\_idf, $\\lambda$ = 0.5 \\& 10 \\%'
    >>> latex_text("\uff3cinput\uff5bx\uff5d")
    '\\textbackslash{}input\\{x\\}'
    """
    return "".join(_latex_char(char) for char in plain_text(text))


def _latex_char(char: str) -> str:
    if char in _LATEX:
        return _LATEX[char]
    if " " <= char <= "~":
        return char
    parts = unicodedata.normalize("NFKD", char)
    if parts == char:
        return "?"
    known = [_latex_char(part) for part in parts if not unicodedata.combining(part)]
    return "".join(known) or "?"


# Signs that Markdown, GitHub's mathematics or raw HTML could read as their own.
_MARKDOWN = re.compile(
    r"""
    [|*`$~]                        # table cells, emphasis, code, mathematics, strikes
    | (?<![^\W_]) _ | _ (?![^\W_]) # emphasis; inside a word it is none
    | \\ (?=[!-/:-@\[-`{-~])       # an escape
    | \] (?=[(\[:])                # a link or its target
    """,
    re.VERBOSE,
)
_ENTITY = re.compile(r"&(?=[#\w])")
# What would begin a heading, a quotation or a list.
_BLOCK = re.compile(r"^(\s*\d*)([#>+.)-])(?=[\s#>]|$)")


def markdown_text(text: object) -> str:
    r"""Return text that Markdown shows as it is, in a table cell and elsewhere.

    Examples
    --------
    >>> markdown_text("a|b, <b>*bold*</b>")
    'a\\|b, &lt;b>\\*bold\\*&lt;/b>'
    """
    shown = _MARKDOWN.sub(r"\\\g<0>", plain_text(text))
    shown = _ENTITY.sub("&amp;", shown).replace("<", "&lt;")
    return _BLOCK.sub(r"\1\\\2", shown)


def count(n: int, word: str) -> str:
    """Return a number with its word.

    Examples
    --------
    >>> count(1, "trial"), count(2000, "trial")
    ('1 trial', '2,000 trials')
    """
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def plot_text(text: object) -> str:
    r"""Return text that matplotlib draws as it is: a dollar begins no formula.

    Examples
    --------
    >>> print(plot_text("$x^{$"))
    \$x^{\$
    """
    return plain_text(text).replace("$", r"\$")


def csv_cell(text: str) -> str:
    r"""Return a cell that a spreadsheet takes as text, or a number as it is.

    Control characters and marks of direction are escaped; line ends stay in the cell,
    all as line feeds, since a lone carriage return would not be quoted.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("-0.5"), csv_cell("K-means")
    ("'=1+1", '-0.5', 'K-means')
    >>> print(csv_cell("\x1b[2J"))
    \x1b[2J
    """
    text = terminal_text(text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(text) < 2 or text[0] not in "=+-@\t\n":
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def markdown_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], align: str = ""
) -> str:
    """Return a table as GitHub reads it, without a line end after the last row.

    Parameters
    ----------
    header, rows
        Cells as Markdown; what comes from outside goes through :func:`markdown_text`.
    align
        One letter per column, ``l`` or ``r``; default: all to the left.

    Examples
    --------
    >>> print(markdown_table(["name", "score"], [["a", "0.5"]], "lr"))
    | name | score |
    |---|---:|
    | a | 0.5 |
    """
    letters = align or "l" * len(header)
    rules = [{"l": "---", "r": "---:"}[letter] for letter in letters]
    lines = [_markdown_row(header), f"|{'|'.join(rules)}|"]
    for row in rows:
        if not len(row) == len(header) == len(rules):
            raise ValueError(f"{len(row)} cells in a table of {len(header)} columns")
        lines.append(_markdown_row(row))
    return "\n".join(lines)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.splitlines()) for cell in cells)} |"
