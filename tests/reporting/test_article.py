"""The article: one text for HTML and LaTeX, with numbers from the results alone."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from helpers.made_results import lambda_experiment, table_experiment

from symmf.reporting.article.markup import items, to_html, to_latex
from symmf.reporting.article.write import write_article
from symmf.reporting.results import load_results
from symmf.reporting.tables.write import make_tables
from symmf.reporting.verdicts.findings import findings


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    table_experiment(folder, n_trials=6)
    lambda_experiment(folder, n_trials=5)
    write_article(load_results(folder), folder / "article")
    return folder


def test_items_stand_where_the_text_has_them() -> None:
    text = (
        "One.\n\n[[table nmi]]\n\nTwo *and* `a_b` & **c**.\n\n- [x](https://a_b.org)\n"
    )
    assert items(text) == [("table", "nmi")]
    html = to_html(text, lambda kind, name: f"<{kind}:{name}>")
    assert html.index("One.") < html.index("<table:nmi>") < html.index("Two")
    tex = to_latex(text, lambda kind, name: f"<{kind}:{name}>\n")
    assert tex.index("One.") < tex.index("<table:nmi>") < tex.index("Two")
    assert r"Two \emph{and} \texttt{a\_b} \& \textbf{c}." in tex
    assert r"\item \href{https://a\_b.org}{x}" in tex


def nothing(_kind: str, _name: str) -> str:
    return ""


def test_markup_of_others_is_shown_as_text() -> None:
    hostile = "<script>alert(1)</script> \\input{x} $y$"
    assert "<script>" not in to_html(hostile, nothing)
    tex = to_latex(hostile, nothing)
    assert "\\input" not in tex
    assert r"\$y\$" in tex


def test_every_finding_and_printed_mean_is_in_both_forms(written: Path) -> None:
    results = load_results(written)
    html = (written / "article" / "article.html").read_text()
    tex = (written / "article" / "article.tex").read_text()
    shown = re.sub(r"\s+", " ", _text_of(html))
    for sentence in findings(results):
        assert sentence in shown
    for table in make_tables(results).printed[:1]:
        for row in table.rows:
            for cell in row.cells:
                if cell.n_good:
                    assert cell.text in shown
                    assert cell.text in tex
    assert "symmf tables" in shown
    assert "symmf plot published" in shown


def _text_of(html: str) -> str:
    """Return the text of a page without its style."""
    texts: list[str] = []

    class Reader(HTMLParser):
        inside = ""

        def handle_starttag(self, tag: str, _attributes: object) -> None:
            self.inside = tag

        def handle_data(self, data: str) -> None:
            if self.inside != "style":
                texts.append(data)

    Reader().feed(html)
    return "".join(texts)


def test_what_an_editor_asks_for_is_well_formed(written: Path) -> None:
    folder = written / "article"
    metadata = yaml.safe_load((folder / "metadata.yaml").read_text())
    assert metadata["title"].startswith("[Re] ")
    # People are not invented.
    assert metadata["authors"][0]["name"] == "to be filled in"
    check = yaml.safe_load((folder / "codecheck.yml").read_text())
    figures = [line["file"] for line in check["manifest"] if "figures" in line["file"]]
    assert figures
    assert all((folder / name).exists() for name in figures)
    assert "Not yet sent" in (folder / "questions.md").read_text()


def test_the_summary_is_shorter(written: Path) -> None:
    paths = write_article(load_results(written), written / "short", summary=True)
    assert {"summary.html", "summary.tex"} <= {path.name for path in paths}
    whole = (written / "article" / "article.tex").read_text()
    assert len((written / "short" / "summary.tex").read_text()) < len(whole) / 2


@pytest.mark.slow
def test_latex_typesets_the_article(written: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex on this machine")
    assert (written / "article" / "article.pdf").read_bytes().startswith(b"%PDF")
