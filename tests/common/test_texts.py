"""Texts from outside: whatever is written, it is shown as text."""

from __future__ import annotations

import csv
import io
import re
import unicodedata

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text

from symmf.common.files import csv_text
from symmf.common.texts import (
    csv_cell,
    latex_text,
    markdown_table,
    markdown_text,
    plain_text,
    plot_text,
)

# Surrogates too: YAML's "\uD800" gives one.
ANY = st.text(st.characters(), max_size=40) | st.text(st.characters(categories=["Cs"]))
# Letters whose compatibility form is a sign that TeX or Markdown reads.
FULL_WIDTH = st.text(st.sampled_from("＼｛｝＄＆％＃＿＾～＜＞｜﹨﹛﹜﹩‥…½x"))

# Everything that may begin with a backslash or a dollar, written out once more.
TEX_ALLOWED = re.compile(
    r"\\textbackslash\{\}|\\textasciitilde\{\}|\\textasciicircum\{\}"
    r"|\$\\(?:lambda|ge|le|times|pm|sigma|rho|mu)\$|\$-\$|\\[&%$#_{}]"
)


@given(ANY | FULL_WIDTH)
def test_no_active_tex_is_left(text: str) -> None:
    shown = latex_text(text)
    assert shown.isascii()
    assert shown.isprintable()
    assert not set(TEX_ALLOWED.sub("", shown)) & set("\\{}$&#%_^~")


def test_tex_is_shown_not_run() -> None:
    assert latex_text("\\input{x}") == r"\textbackslash{}input\{x\}"
    assert latex_text("＼immediate＼write18｛id｝") == (
        r"\textbackslash{}immediate\textbackslash{}write18\{id\}"
    )
    assert latex_text("Müller, ≥ µ 漢") == r"Muller, $\ge$ $\mu$ ?"
    assert latex_text("^^5cinput") == r"\textasciicircum{}\textasciicircum{}5cinput"


@given(ANY)
def test_plain_text_has_no_hidden_character(text: str) -> None:
    shown = plain_text(text)
    shown.encode("utf-8")  # no lone surrogate is left
    kinds = {unicodedata.category(c) for c in shown if c not in "\u200c\u200d"}
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert plain_text(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\ud800", r"\ud800"),
        ("abc\u202edef", r"abc\u202edef"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\r\nb", "a  b"),
        ("\U000e0041", r"\U000e0041"),
        ("λ = 0.5, ≥", "λ = 0.5, ≥"),
    ],
)
def test_plain_text(text: str, shown: str) -> None:
    assert plain_text(text) == shown


@given(ANY)
def test_markdown_keeps_no_html_and_no_open_cell(text: str) -> None:
    shown = markdown_text(text)
    assert "<" not in shown
    assert "\n" not in shown
    cell = re.compile(r"(?<!\\)((?:\\\\)*)\|")
    assert not cell.search(shown)
    table = markdown_table(["a", "b"], [[shown, "1"]], "lr").splitlines()
    assert len(table) == 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("&lt; & co", "&amp;lt; & co"),
        ("[a](javascript:x)", r"[a\](javascript:x)"),
        ("Ours [shared]", "Ours [shared]"),
        ("tf_idf _x_ **b**", r"tf_idf \_x\_ \*\*b\*\*"),
        ("# head", r"\# head"),
        ("10 trials", "10 trials"),
        ("1. item", r"1\. item"),
        ("+0.5", "+0.5"),
        ("$x$ `c` \\|", r"\$x\$ \`c\` \\\|"),
    ],
)
def test_markdown(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


@given(ANY | st.text("$\\^{}_x", max_size=12))
def test_a_figure_reads_no_formula(text: str) -> None:
    assert not is_math_text(plot_text(text))


@given(ANY)
def test_a_spreadsheet_runs_nothing(text: str) -> None:
    cell = csv_cell(text)
    # Line ends are quoted in a CSV file; nothing else that cannot be seen is in it.
    seen = "".join(char if char in "\t\r\n" else plain_text(char) for char in text)
    assert cell in (seen, f"'{seen}")
    if len(cell) > 1 and cell[0] in "=+-@\t\r":
        float(cell)  # only a number may begin so


def test_labels_in_csv_files_are_guarded_and_numbers_stay() -> None:
    frame = pd.DataFrame(
        {"label": ["=HYPERLINK(1)", "+0.5", "@x"], "mean": [-0.5, 1.0, None], "k": 3}
    )
    rows = list(csv.reader(io.StringIO(csv_text(frame))))
    assert rows == [
        ["label", "mean", "k"],
        ["'=HYPERLINK(1)", "-0.5", "3"],
        ["+0.5", "1", "3"],
        ["'@x", "", "3"],
    ]
    assert csv_text(frame[:0]) == "label,mean,k\n"


def test_a_table_with_a_row_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells in a table of 2 columns"):
        markdown_table(["a", "b"], [["1"]])
