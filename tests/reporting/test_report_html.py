from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import Browser, chromium
from made_results import table_experiment
from made_traces import full

from symmf.reporting.page.grid import auto_columns, grid
from symmf.reporting.page.render import render_report, write_report
from symmf.reporting.plots.registry import FIGURES
from symmf.reporting.results import load_results

VOID = {"meta", "link", "input", "br", "use", "path", "image", "stop"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return full(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    return write_report(load_results(folder), folder / "report.html")


@pytest.fixture(scope="module")
def browser(page: Path, tmp_path_factory: pytest.TempPathFactory):
    if chromium() is None:
        pytest.skip("no Chromium on this machine")
    with Browser(tmp_path_factory.mktemp("browser"), page) as opened:
        yield opened


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


def test_same_results_same_page(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2, 10), n_trials=2)
    first, second = (render_report(load_results(tmp_path)) for _ in range(2))
    assert first == second
    assert "<svg" in first


def test_nothing_run_gives_a_page_with_commands(tmp_path: Path) -> None:
    text = render_report(load_results(tmp_path))
    Outline().feed(text)
    assert "symmf run configs/quickstart.yaml" in text
    assert "cannot be decided" in text
    assert "216" in text


def test_what_comes_from_files_is_escaped(tmp_path: Path) -> None:
    folder = table_experiment(tmp_path, ks=(2,), n_trials=2, fail=[("nmf", 2, 0)])
    path = folder / "trials.csv"
    hostile = path.read_text().replace("the graph", "<script>alert(1)</script>")
    path.write_text(hostile)
    shown = render_report(load_results(tmp_path))
    assert "<script>alert(1)" not in shown
    assert "&lt;script&gt;alert(1)" in shown


def test_long_data_is_thinned_and_says_so() -> None:
    import pandas as pd

    frame = pd.DataFrame({"x": range(1000), "y": [0.5] * 1000, "name": ["a"] * 1000})
    table = grid("g", "G", frame, auto_columns(frame), limit=100)
    assert len(table.rows) == 100
    assert "Every 10th of 1000 lines" in table.note
    assert table.rows[1][0].text == "10"
    assert [column.numeric for column in table.columns] == [True, True, False]


def column_of(browser: Browser, table: str, column: int) -> list[str]:
    found = browser.evaluate(
        f"[...document.querySelectorAll('#{table} tbody tr')]"
        f".filter(r => !r.hidden).map(r => r.cells[{column}].innerText.trim())"
    )
    assert isinstance(found, list)
    return found


def test_renders_without_errors_or_requests(browser: Browser) -> None:
    assert browser.evaluate("document.querySelectorAll('svg').length") == len(FIGURES)
    assert browser.evaluate("!document.querySelector('.filters').hidden")
    browser.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert browser.messages == []


def test_sorting_by_mouse_and_keyboard(browser: Browser) -> None:
    button = "#grid-comparison thead th:nth-child(7) button"
    head = "document.querySelector('#grid-comparison thead th:nth-child(7)')"
    browser.evaluate(f"document.querySelector('{button}').click()")
    assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == "descending"
    shown = [float(v) for v in column_of(browser, "grid-comparison", 6) if v != "–"]
    assert shown == sorted(shown, reverse=True)
    assert column_of(browser, "grid-comparison", 6)[-1] == "–"  # empty cells last
    browser.evaluate(f"document.querySelector('{button}').focus()")
    browser.press("Enter")
    assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == "ascending"
    shown = [float(v) for v in column_of(browser, "grid-comparison", 6) if v != "–"]
    assert shown == sorted(shown)
    assert "ascending" in browser.evaluate(
        "document.getElementById('status').innerText"
    )


def test_filtering(browser: Browser) -> None:
    box = "document.querySelector('.filters[data-table=grid-comparison]')"
    browser.evaluate(
        f"(() => {{ const s = {box}.querySelector('input'); s.value = 'coil-20 gnmf';"
        "s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    assert set(column_of(browser, "grid-comparison", 3)) == {"GNMF"}
    assert len(column_of(browser, "grid-comparison", 3)) == 6
    browser.evaluate(
        f"(() => {{ const s = {box}.querySelector('select'); s.value = 'AC';"
        "s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    assert len(column_of(browser, "grid-comparison", 3)) == 3
    assert "3 of" in browser.evaluate(f"{box}.querySelector('output').innerText")


def test_views_theme_and_tooltips(browser: Browser) -> None:
    browser.evaluate("document.querySelector('[data-view=paper]').click()")
    cell = "document.querySelector('#grid-scores-nmi tbody td').innerText"
    assert browser.evaluate(cell) == "0.901"  # the paper's K-means on COIL-20, K = 2
    before = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    for _ in range(2):
        browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate("document.documentElement.dataset.theme") == "dark"
    after = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    browser.evaluate(
        "(() => { const u = document.querySelector('.canvas use title').parentNode;"
        "u.dispatchEvent(new PointerEvent('pointermove', {bubbles: true})); })()"
    )
    assert browser.evaluate("document.querySelector('.tip').hidden") is False
    assert browser.messages == []


def test_a_phone_needs_no_sideways_scrolling(browser: Browser) -> None:
    size = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    wide = browser.evaluate("document.documentElement.scrollWidth")
    browser.call("Emulation.clearDeviceMetricsOverride")
    assert wide <= 390
