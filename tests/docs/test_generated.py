"""What scripts/docs writes from the reference study."""

from __future__ import annotations

import pandas as pd

from scripts.docs_pages import PAGES, REFERENCE, audit_page, configs_page, study_page


def test_every_shipped_configuration_is_listed():
    page = configs_page()
    for path in (REFERENCE.parents[1] / "configs").glob("*.yaml"):
        assert f"`{path.stem}`" in page


def test_the_audit_adds_up():
    last = audit_page().splitlines()[-1]
    numbers = [int(word) for word in last.split("|") if word.strip().isdigit()]
    assert numbers[0] == numbers[1] + numbers[2] == 108


def test_the_study_counts_every_published_value():
    frame = pd.read_csv(REFERENCE / "verdicts" / "compare.csv")
    assert f"Of the {(frame['reading'] == 'primary').sum()} published" in study_page()


def test_pages_are_texts():
    for page in PAGES.values():
        assert page().strip()
