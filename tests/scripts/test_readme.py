"""README: its numbers come from the committed results, its names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.readme.results import refreshed, update_readme
from symmf.cli.main import COMMANDS
from symmf.errors import InputError
from symmf.reporting.results import load_results

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def test_numbers_are_those_of_the_committed_results() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == refreshed(text, load_results(ROOT / "results" / "reference")), (
        "README.md is out of date: run scripts/update-readme"
    )


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_named_configurations_and_commands_exist() -> None:
    text = README.read_text(encoding="utf-8")
    table = text.split("| item of the paper | configuration |")[1].split("\n\n")[0]
    names = re.findall(r"`([a-z0-9_]+)`", table)
    assert names
    assert [n for n in names if not (ROOT / "configs" / f"{n}.yaml").exists()] == []
    used = set(re.findall(r"(?:^ {4}|`)symmf ([a-z]+)", text, flags=re.MULTILINE))
    assert used
    assert used <= set(COMMANDS)


def test_only_the_parts_between_markers_change(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(
        "head\n<!-- results:begin -->\nold\n<!-- results:end -->\nmiddle\n"
        "<!-- claims:begin -->\n<!-- claims:end -->\n"
        "<!-- speed:begin -->\n<!-- speed:end -->\ntail\n",
        encoding="utf-8",
    )
    assert update_readme(page, tmp_path / "results")
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert "No results yet" in text
    assert "Not measured yet" in text
    assert text.startswith("head\n")
    assert text.endswith("\ntail\n")
    assert not update_readme(page, tmp_path / "results")


def test_missing_markers_are_named() -> None:
    with pytest.raises(InputError, match="results:begin"):
        refreshed("nothing here", load_results(ROOT / "results" / "reference"))
