"""What scripts/docs writes from the reference study."""

from __future__ import annotations

import json
import re

import pandas as pd

from scripts.docs_benchmarks import evidence_page, mixed_table, with_range
from scripts.docs_pages import (
    PAGES,
    REFERENCE,
    audit_page,
    configs_page,
    first_fit_page,
    hits_page,
    inputs_page,
    measured_page,
    study_page,
)
from scripts.readme.results import solvers_table
from symmf.solvers import SOLVERS

ROOT = REFERENCE.parents[1]


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


def test_what_the_input_decides_is_a_table_without_headings():
    page = inputs_page()
    assert "| 20 iterations as released | to convergence | closed form |" in page
    assert "\n#" not in page


def test_values_are_shown_with_their_range():
    assert with_range(0.0488, 0.0486, 0.0551) == "0.049 (0.049 to 0.055)"
    assert with_range(0.851, 0.84, 0.859) == "0.85 (0.84 to 0.86)"
    assert with_range(66.2, 55.9, 79.6) == "66 (56 to 80)"


def test_the_speed_page_shows_every_measured_case():
    page = measured_page()
    folder = REFERENCE / "benchmarks"
    fits = pd.read_csv(folder / "fits.csv")
    for line in fits.itertuples():
        assert f"| {line.case} |" in page
        if line.task.lower() == "symmf":
            assert with_range(line.ratio, line.ratio_low, line.ratio_high) in page
    scale = pd.read_csv(folder / "scale.csv")
    assert all(f"| {n:,} |" in page for n in scale["n"])


def test_every_solver_is_listed() -> None:
    table = solvers_table()
    assert [name for name in SOLVERS if f"| `{name}` |" not in table] == []


def test_pages_are_texts():
    for page in PAGES.values():
        assert page().strip()


def test_the_page_start_shows_what_its_programs_print():
    assert re.search(r"accuracy 0\.\d{3}, NMI 0\.\d{3}", first_fit_page())


def test_the_guide_tells_the_measured_hit_rate():
    hits = json.loads((ROOT / "symmf/clustering/symmf/select_hits.json").read_text())
    for battery in ("design", "unseen tables", "unseen shapes"):
        assert f"{hits[battery]['silhouette']:.0%}" in hits_page()
        assert f"| {hits[battery]['sets']} " in hits_page()


def test_the_guides_tell_what_evidence_was_measured():
    folder = REFERENCE / "benchmarks"
    page, words = evidence_page(folder), mixed_table(folder)
    for line in pd.read_csv(folder / "evidence.csv").itertuples():
        assert f"{line.data} | {line.none} | {line.weak} | {line.clear} |" in page
    kept = json.loads((folder / "evidence.json").read_text())["partitions"].values()
    n, lost = sum(sum(part.values()) for part in kept), sum(p["none"] for p in kept)
    assert f"{n - lost} of {n} are called" in page
    mixed = pd.read_csv(folder / "mixed.csv")
    assert f"{mixed['SymMF'].mean():.3f}" in words
    assert all(f"| {name} |" in words for name in mixed["table"])


def test_every_generated_part_is_included_in_a_page():
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("guides/*.md")]
    texts = " ".join(page.read_text(encoding="utf-8") for page in pages)
    for name in PAGES:
        assert f"_generated/{name}.md" in texts
