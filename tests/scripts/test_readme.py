"""README: its numbers come from the committed results, its names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.readme.results import (
    BLOCKS,
    quality_block,
    refreshed,
    update_readme,
)
from symmf.cli.main import COMMANDS
from symmf.errors import InputError
from symmf.reporting.results import Results, load_results
from symmf.reporting.selection.arms import arms
from symmf.reporting.statistics.tests import ALPHA, pairwise_by_input
from symmf.reporting.verdicts.findings import proposed_means
from symmf.reporting.verdicts.inputs import INPUT, RELEASED, changes
from symmf.reporting.verdicts.scores import best_means

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


@pytest.fixture(scope="module")
def reference() -> Results:
    return load_results(ROOT / "results" / "reference")


def test_numbers_are_those_of_the_committed_results(reference: Results) -> None:
    text = README.read_text(encoding="utf-8")
    assert text == refreshed(text, reference), (
        "README.md is out of date: run scripts/update-readme"
    )


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_named_commands_exist() -> None:
    text = README.read_text(encoding="utf-8")
    used = set(re.findall(r"(?:^ {4}|`)symmf ([a-z]+)", text, flags=re.MULTILINE))
    assert {"run", "tables", "plot", "compare", "report", "verify", "cluster"} <= used
    assert used <= set(COMMANDS)


def test_named_configurations_exist() -> None:
    text = README.read_text(encoding="utf-8")
    names = re.findall(r"symmf run ([a-z0-9_]+)", text)
    assert names
    assert [n for n in names if not (ROOT / "configs" / f"{n}.yaml").exists()] == []


def test_what_it_says_of_the_paper_agrees_with_its_numbers(reference: Results) -> None:
    means = proposed_means(reference)
    released, converged = (
        means["as released"],
        means["converged on the same inner products"],
    )
    common = means["converged on the common graph"]
    # "Once a method has converged, the graph decides the result; ..."
    for before, after in zip(released, converged, strict=True):
        assert before < after
    for before, after, graph in zip(released, converged, common, strict=True):
        assert graph - after > after - before
    # "... after the released 20 iterations, it lowers the scores."
    for change in changes(reference):
        if change.title == INPUT:
            assert change.effects[RELEASED].mean < 0
    # "As released, the highest mean in no cell, and often significantly worse."
    authors, *_, graph = arms(reference)
    best = best_means(authors)
    assert best is not None
    assert best.n_yes == 0
    # "On the same graph, most methods cannot be distinguished."
    tests = pairwise_by_input(reference, "nmi")
    on_graph = tests[tests["input"] == graph.title]
    assert (on_graph["p_holm"] >= ALPHA).mean() > 0.5


def test_sets_of_design_and_others_have_a_column_each(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks"
    folder.mkdir(parents=True)
    lines = [f"unseen tables,{line}" for line in ("Other,7,0.3", "SymMF,7,0.25")]
    lines.insert(0, "design,SymMF,9,0.5")
    lines = ["battery,method,sets,ari_mean", *lines, "design,Other,9,0.4"]
    (folder / "quality.csv").write_text("\n".join(lines))
    block = quality_block(load_results(tmp_path)).splitlines()
    header = "| mean ARI | 9 sets used in design | 7 tables never used |"
    assert block[0] == header
    assert block[2:] == ["| SymMF | 0.500 | 0.250 |", "| Other | 0.400 | 0.300 |"]


def test_the_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = README.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(compile(code, str(README), "exec"), {})
    assert code.splitlines()[-1] == f"# {capsys.readouterr().out.rstrip()}"


def test_the_page_stays_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120


def test_only_the_parts_between_markers_change(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    parts = [
        f"<!-- {name}:begin -->\nold\n<!-- {name}:end -->\nbetween\n" for name in BLOCKS
    ]
    page.write_text("head\n" + "".join(parts) + "tail\n", encoding="utf-8")
    assert update_readme(page, tmp_path / "results")
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert "No results yet" in text
    assert text.startswith("head\n")
    assert text.endswith("between\ntail\n")
    assert not update_readme(page, tmp_path / "results")


def test_missing_markers_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found:begin"):
        refreshed("nothing here", load_results(tmp_path))
