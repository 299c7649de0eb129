"""The report in a real browser, on a wide screen and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.browser import Browser, chromium

from symmf.reporting.plots.registry import FIGURES

WIDE, PHONE = 1280, 420


@pytest.fixture(scope="module")
def browser(
    full_page: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("no Chromium on this machine")
    with Browser(tmp_path_factory.mktemp("browser"), full_page) as opened:
        yield opened


@pytest.fixture(autouse=True)
def fresh(browser: Browser) -> Iterator[None]:
    """Begin every test on a wide screen; end it without a word of complaint."""
    browser.resize(WIDE)
    yield
    assert browser.messages == []


MORE = "document.querySelector('.more[data-table=grid-comparison]')"


def column_of(browser: Browser, table: str, column: int) -> list[str]:
    found = browser.evaluate(
        f"[...document.querySelectorAll('#{table} tbody tr')]"
        f".filter(r => !r.hidden).map(r => r.cells[{column}].innerText.trim())"
    )
    assert isinstance(found, list)
    return found


def overflow(browser: Browser, box: str, side: str = "Width") -> float:
    """Return how far the content of a box goes beyond it."""
    found = browser.evaluate(f"{box}.scroll{side} - {box}.client{side}")
    assert isinstance(found, int | float)
    return found


def test_renders_without_errors_or_requests(browser: Browser) -> None:
    assert browser.evaluate("document.querySelectorAll('svg').length") == len(FIGURES)
    assert browser.evaluate("!document.querySelector('.filters').hidden")
    browser.evaluate("window.scrollTo(0, document.body.scrollHeight)")


def test_sorting_by_mouse_and_keyboard(browser: Browser) -> None:
    button = "#grid-comparison thead th:nth-child(7) button"
    head = "document.querySelector('#grid-comparison thead th:nth-child(7)')"
    browser.evaluate(f"document.querySelector('{button}').click()")
    assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == "descending"
    shown = [float(v) for v in column_of(browser, "grid-comparison", 6) if v != "–"]
    assert shown == sorted(shown, reverse=True)
    browser.evaluate(f"{MORE}.click()")
    assert column_of(browser, "grid-comparison", 7)[-1] != "–"
    ours = "document.querySelector('#grid-comparison thead th:nth-child(8) button')"
    browser.evaluate(f"{ours}.click()")
    assert column_of(browser, "grid-comparison", 7)[-1] == "–"  # empty cells last
    browser.evaluate(f"document.querySelector('{button}').click()")
    browser.evaluate(f"{MORE}.click()")
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


@pytest.mark.parametrize("table", ["grid-comparison", "grid-tests", "grid-scores-ac"])
def test_wide_tables_are_whole_at_1280(browser: Browser, table: str) -> None:
    box = f"document.getElementById('{table}').parentElement"
    assert overflow(browser, box) <= 0
    last = f"document.querySelector('#{table} tbody tr').cells"
    right = browser.evaluate(f"[...{last}].at(-1).getBoundingClientRect().right")
    assert right <= WIDE


def test_a_long_table_says_how_many_rows_follow(browser: Browser) -> None:
    browser.reload()
    total = browser.evaluate(
        "document.querySelectorAll('#grid-comparison tbody tr').length"
    )
    assert total > 25
    assert len(column_of(browser, "grid-comparison", 0)) == 25
    assert browser.evaluate(f"{MORE}.innerText") == (
        f"Show all {total} rows ({total - 25} more)"
    )
    browser.evaluate(f"{MORE}.click()")
    assert len(column_of(browser, "grid-comparison", 0)) == total
    height = "document.getElementById('grid-comparison').parentElement"
    assert (
        overflow(browser, height, "Height") <= 1
    )  # nothing is hidden in a box of its own
    browser.evaluate(f"{MORE}.click()")
    assert len(column_of(browser, "grid-comparison", 0)) == 25


def test_a_value_shows_its_trials_on_hover_and_click(browser: Browser) -> None:
    value = "document.querySelector('#grid-scores-nmi [data-cell]')"
    browser.evaluate(
        f"{value}.dispatchEvent(new PointerEvent('pointermove', {{bubbles: true}}))"
    )
    shown = browser.evaluate("document.querySelector('.tip').innerText").split()
    printed = float(browser.evaluate(f"{value}.innerText"))
    assert len(shown) > 1
    assert sum(map(float, shown)) / len(shown) == pytest.approx(printed, abs=2e-3)
    browser.evaluate(f"{value}.click()")
    assert browser.evaluate("document.getElementById('trials').open")
    rows = browser.evaluate(
        "[...document.querySelectorAll('#trials tbody tr')]"
        ".map(r => [...r.cells].map(c => c.innerText))"
    )
    assert [row[1] for row in rows] == shown
    assert all(row[2].startswith("symmf info ") for row in rows)
    circles = "document.querySelectorAll('#trials .strip circle').length"
    assert browser.evaluate(circles) == len(rows)
    assert "NMI" in browser.evaluate(
        "document.getElementById('trials-title').innerText"
    )
    browser.evaluate("document.querySelector('#trials form button').click()")
    assert not browser.evaluate("document.getElementById('trials').open")


def test_standard_deviations_can_be_switched_on(browser: Browser) -> None:
    box = "document.querySelector('.views[data-table=grid-scores-ac]')"
    shown = "document.querySelector('#grid-scores-ac .sd').offsetWidth > 0"
    for view in ("ours", "difference"):
        browser.evaluate(f"{box}.querySelector('[data-view={view}]').click()")
        tone = (
            "getComputedStyle(document.querySelector('#grid-scores-ac .v-difference'))"
        )
        visible = browser.evaluate(f"{tone}.display") != "none"
        assert visible == (view == "difference")
    browser.evaluate(f"{box}.querySelector('[data-view=ours]').click()")
    assert not browser.evaluate(shown)
    browser.evaluate(f"{box}.querySelector('[data-std]').click()")
    assert browser.evaluate(shown)
    scroll = "document.getElementById('grid-scores-ac').parentElement"
    assert overflow(browser, scroll) <= 0
    browser.evaluate(f"{box}.querySelector('[data-std]').click()")
    assert not browser.evaluate(shown)


def test_a_phone_needs_no_sideways_scrolling(browser: Browser) -> None:
    browser.resize(PHONE)
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE
    widths = browser.evaluate(
        "[...document.querySelectorAll('.canvas svg')]"
        ".map(s => s.getBoundingClientRect().right)"
    )
    assert len(widths) == len(FIGURES)
    assert max(widths) <= PHONE
    for table in ("grid-comparison", "grid-tests"):
        ends = browser.evaluate(
            f"[...document.querySelector('#{table} tbody tr').cells]"
            ".map(c => c.getBoundingClientRect().right)"
        )
        assert max(ends) <= PHONE
    enlarge = "document.querySelector('.enlarge')"
    browser.evaluate(f"{enlarge}.click()")
    box = f"{enlarge}.previousElementSibling"
    inner, outer = browser.evaluate(f"[{box}.scrollWidth, {box}.clientWidth]")
    assert inner > 1.8 * outer
    assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE
    browser.evaluate(f"{enlarge}.click()")


def test_a_phone_names_the_numbers_of_a_test(browser: Browser) -> None:
    browser.resize(PHONE)
    heads = browser.evaluate(
        "[...document.querySelectorAll('#grid-tests thead th')]"
        ".map(c => c.textContent.trim().toLowerCase())"
    )
    named = browser.evaluate(
        "[...document.querySelector('#grid-tests tbody tr').cells]"
        ".map(c => getComputedStyle(c, '::before').content)"
    )
    shown = dict(zip(heads, named, strict=True))
    for head in ("against", "rank-biserial", "won − lost", "p", "detectable from"):
        assert shown[head] == f'"{head} "'
    assert (shown["low"], shown["high"]) == ('"from "', '"to "')
    assert shown["p (holm)"] == '"Holm "'


def test_dark_where_the_system_is_dark(browser: Browser) -> None:
    browser.evaluate("localStorage.clear()")
    browser.reload()
    ink = "getComputedStyle(document.querySelector('.canvas svg')).color"
    colors = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.call("Emulation.setEmulatedMedia", features=features)
        colors.append(browser.evaluate(ink))
    browser.call("Emulation.setEmulatedMedia", features=[])
    assert colors == ["rgb(27, 27, 31)", "rgb(236, 236, 242)"]
