"""A label that attacks tables, pages and spreadsheets is shown as text everywhere."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from helpers.made_results import entry, trial_row, write
from helpers.made_traces import traced_experiment
from rich.console import Console

from symmf.cli.report import compare, tables
from symmf.reporting.plots.base import save
from symmf.reporting.plots.registry import draw
from symmf.reporting.results import load_results
from symmf.reporting.tables.model import combined_table
from symmf.reporting.tables.terminal import fitted

HOSTILE = "=HYPERLINK(1) ＼input｛x｝ \\input{y} $x^{$ <b>|</b> \u202e [red] `a` & %"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    entries = [
        entry("kmeans"),
        entry("symmf", name="mine", label=HOSTILE, primary=True),
        entry("symmf", name="other", label=HOSTILE, paper_row="none"),
    ]
    rows = [
        trial_row("coil20", "coil20", 2, t, e, 0.5 + 0.01 * t)
        for e in entries
        for t in range(6)
    ]
    config = {
        "name": "coil20", "role": "comparison", "dataset": "coil20", "n_clusters": [2],
        "trials": 6, "methods": entries, "note": f"# {HOSTILE}", "title": HOSTILE,
    }  # fmt: skip
    write(tmp_path / "r", config, rows, title=HOSTILE)
    for command in (tables, compare):
        done = CliRunner().invoke(
            command, ["--results", str(tmp_path / "r"), "--out", str(tmp_path / "out")]
        )
        assert done.exit_code == 0, done.output
        assert "\u202e" not in done.output
    return tmp_path / "out"


def test_latex_runs_nothing_of_it(folder: Path) -> None:
    found = list(folder.rglob("*.tex"))
    assert found
    for path in found:
        text = path.read_text()
        assert text.isascii()
        assert "\\input" not in text
        shown = [line for line in text.splitlines() if "HYPERLINK" in line]
        assert shown or path.name == "datasets.tex"
        assert not any("$x" in line.replace("\\$", "") for line in shown)


def test_markdown_reads_no_html_and_keeps_its_columns(folder: Path) -> None:
    for path in folder.rglob("*.md"):
        text = path.read_text()
        assert "<b>" not in text
        assert "\u202e" not in text
        for line in text.splitlines():
            if line.startswith("|") and "HYPERLINK" in line:
                cells = line.replace("\\|", "").count("|")
                assert cells == _columns_above(text, line), path


def _columns_above(text: str, line: str) -> int:
    before = text[: text.index(line)].splitlines()
    return next(rule.count("|") for rule in reversed(before) if rule.startswith("|--"))


def test_spreadsheets_compute_nothing(folder: Path) -> None:
    for path in folder.rglob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_text())):
            assert not any(cell.startswith("=") for cell in row), path


def test_the_terminal_reads_no_markup(folder: Path) -> None:
    results = load_results(folder.parent / "r")
    stream = io.StringIO()
    console = Console(file=stream, width=300)
    for part in fitted(combined_table(results, "ac"), 300):
        console.print(part)
    assert "[red]" in stream.getvalue()
    assert "\\u202e" in stream.getvalue()


def test_words_that_no_encoding_has_are_shown(tmp_path: Path) -> None:
    folder = tmp_path / "coil20"
    e = entry("kmeans")
    rows = [trial_row("coil20", "coil20", 2, t, e, 0.5) for t in range(6)]
    config = {"name": "coil20", "role": "comparison", "dataset": "coil20",
              "n_clusters": [2], "trials": 6, "methods": [e]}  # fmt: skip
    write(tmp_path, config, rows)
    text = yaml.safe_dump(config) + 'note: "\\uD800 lone"\n'
    (folder / "experiment.yaml").write_text(text)
    for command in (tables, compare):
        done = CliRunner().invoke(command, ["--results", str(tmp_path)])
        assert done.exit_code == 1
        assert "experiment.yaml" in done.output


def test_letters_that_the_fonts_lack_give_no_warning(tmp_path: Path) -> None:
    """Warnings of matplotlib are errors here."""
    signs = "\u4e2d\u6587 \U0001f600 \u0e01 \ufdfd"
    e = entry("symmf", label=signs, matrix="M: cosine")
    traced_experiment(tmp_path, "odd", [e])
    drawings = draw("convergence", load_results(tmp_path)).drawings
    assert drawings
    for drawing in drawings:
        save(drawing, tmp_path / "figures")
