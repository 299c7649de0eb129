from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from helpers.made_results import entry, table_experiment
from helpers.made_traces import traced_experiment

from symmf.reporting.page.grid import auto_columns, grid
from symmf.reporting.page.render import render_report
from symmf.reporting.plots.base import save
from symmf.reporting.plots.registry import FIGURES, draw
from symmf.reporting.results import Results, load_results

VOID = {"meta", "link", "input", "br", "use", "path", "image", "stop"}


@pytest.fixture(scope="module")
def folder(full_folder: Path) -> Path:
    return full_folder


@pytest.fixture(scope="module")
def page(full_page: Path) -> Path:
    return full_page


class Outline(HTMLParser):
    """Checks nesting and collects identifiers, links and headings."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.levels: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if str(given.get("href") or "").startswith("#") and tag == "a":
            self.targets.append(str(given["href"])[1:])
        if re.fullmatch(r"h\d", tag):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, f"</{tag}> closes another element"


def test_one_valid_self_contained_page(page: Path) -> None:
    text = page.read_text()
    outline = Outline()
    outline.feed(text)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.targets) <= set(outline.ids)
    assert outline.levels[0] == 1
    assert all(
        b - a <= 1 for a, b in zip(outline.levels, outline.levels[1:], strict=False)
    )
    links = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "@import" not in text
    assert "url(http" not in text


def test_the_summary_comes_first_and_all_parts_are_there(page: Path) -> None:
    text = page.read_text()
    order = [text.index(f'<section id="{name}"') for name in (
        "summary", "claims", "tables", "comparison", "figures", "statistics", "audit",
        "failures", "experiments", "commands",
    )]  # fmt: skip
    assert order == sorted(order)
    assert text.count("<svg") == len(FIGURES)
    assert "the graph has no edges" in text  # the message of a failed trial
    assert "symmf run configs/convergence.yaml" in text
    assert "not run" in text


def test_same_results_same_page(full_results: Results, page: Path) -> None:
    assert render_report(full_results) == page.read_text()


def test_nothing_run_gives_a_page_with_commands(tmp_path: Path) -> None:
    text = render_report(load_results(tmp_path))
    Outline().feed(text)
    assert "symmf run configs/quickstart.yaml" in text
    assert "cannot be decided" in text
    assert "216" in text


def test_long_data_is_thinned_and_says_so() -> None:
    import pandas as pd

    frame = pd.DataFrame({"x": range(1000), "y": [0.5] * 1000, "name": ["a"] * 1000})
    table = grid("g", "G", frame, auto_columns(frame), limit=100)
    assert len(table.rows) == 100
    assert "Every 10th of 1000 lines" in table.note
    assert table.rows[1][0].text == "10"
    assert [column.numeric for column in table.columns] == [True, True, False]


def test_notes_and_words_are_said_once(page: Path) -> None:
    text = page.read_text()
    notes = [re.sub(r"<.*?>", "", li) for li in re.findall(r"<li>(.*?)</li>", text)]
    long = [note for note in notes if len(note) > 60]
    assert len(long) == len(set(long))


def test_every_score_leads_to_its_trials(folder: Path, page: Path) -> None:
    text = page.read_text()
    data = re.search(r'id="trials-data">(.*?)</script>', text)
    assert data is not None
    cells = json.loads(data[1])
    named = set(re.findall(r'data-cell="([^"]*)"', text))
    assert named == set(cells)
    trials = load_results(folder).trials
    for name, lines in cells.items():
        experiment, method, k = name.split("|")
        method, _, weight = method.partition("@")
        here = trials[
            (trials["experiment"] == experiment)
            & (trials["method"] == method)
            & (trials["n_clusters"] == int(k))
        ]
        for trial, key, nmi, ac in lines:
            own = here[(here["trial"] == trial) & here["key"].str.startswith(key)]
            if weight:
                own = own[own["lambda"] == float(weight)]
            (row,) = own.to_dict("records")
            assert (nmi, ac) == (round(row["nmi"], 4), round(row["ac"], 4))


def test_differences_of_all_readings_are_shown_and_coloured(page: Path) -> None:
    text = page.read_text()
    table = text[text.index('id="grid-scores-ac"') :]
    table = table[: table.index("</table>")]
    rows = re.findall(r"<tr[^>]*><th scope=\"row\">(.*?)</tr>", table, re.DOTALL)
    assert len(rows) > 9
    found = {}
    for row in rows:
        shown = re.findall(r'v-difference( tone k-\w+)?">([^<]*)<', row)
        known = [item for item in shown if item[1] != "–"]
        found[row.partition(" <span")[0]] = len(known)
        assert all(tone and re.fullmatch(r"[+-]\d\.\d{3}", d) for tone, d in known)

    # The paper's rows, and one more entry that stands for one of them.
    assert found["K-means"] == found["Proposed"] == 6
    assert sum(count > 0 for count in found.values()) > 9
    assert found["Closed form, λ = 0"] == 0  # no row of the paper to compare with


def test_speed_is_shown_where_it_was_measured(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=2)
    assert "Not measured yet" in render_report(load_results(tmp_path))
    place = tmp_path / "benchmarks"
    place.mkdir()
    (place / "peers.csv").write_text("task,ratio\n<i>COIL-20</i>: SymMF,1.0\n")
    (place / "mine.csv").write_text("what,seconds\nsomething,0.25\n")
    (place / "broken.csv").write_bytes(b"\xff\xfe\x00")
    (place / "peers.json").write_text('{"machine": {"cpu": "A processor"}}')
    text = render_report(load_results(tmp_path))
    Outline().feed(text)
    assert "A processor" in text
    assert "&lt;i&gt;COIL-20" in text
    assert text.index("benchmarks/peers.csv") < text.index("benchmarks/mine.csv")
    assert "broken.csv" not in text


# Markup, a formula without end, a turned direction, a command to the terminal, a sign
# that the font lacks, and what a table or a spreadsheet would read.
HOSTILE = "<b>x</b> $\\frac{$ \u202e \x1b[2J | =1 \U0001f642"


def test_labels_of_any_letters_are_shown_as_text(tmp_path: Path) -> None:
    folder = table_experiment(tmp_path, ks=(2,), n_trials=2, fail=[("nmf", 2, 0)])
    path = folder / "trials.csv"
    text = path.read_text().replace("the graph", "<script>alert(1)</script>")
    path.write_text(text.replace("K-means", HOSTILE))
    entries = [entry("symnmf", label=HOSTILE), entry("symhals")]
    traced_experiment(tmp_path, "traced", entries)
    config = tmp_path / "traced" / "experiment.yaml"
    config.write_text(config.read_text().replace("title: COIL-20", f"title: {TITLE}"))
    results = load_results(tmp_path)
    text = render_report(results)
    Outline().feed(text)
    for hidden in ("<b>x</b>", "<i>title", "<script>alert(1)", "\u202e", "\x1b"):
        assert hidden not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "&lt;b&gt;x&lt;/b&gt; $\\frac{$ \\u202e \\x1b[2J | =1 \U0001f642" in text
    for name in FIGURES:
        for drawing in draw(name, results).drawings:
            assert all(path.is_file() for path in save(drawing, tmp_path / "out"))


TITLE = "<i>title</i> $x"


def test_a_dollar_in_a_label_is_drawn_as_a_dollar(tmp_path: Path) -> None:
    traced_experiment(tmp_path, "traced", [entry("symnmf", label="$a_b$ ^")])
    (drawing,) = draw("convergence", load_results(tmp_path)).drawings
    root = ET.fromstring(drawing.svg("x"))
    texts = ["".join(element.itertext()) for element in root.iter()]
    assert "$a_b$ ^" in [text.strip() for text in texts]
