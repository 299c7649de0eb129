"""README: its numbers come from the committed results, its names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.readme.results import BLOCKS, refreshed, update_readme
from symmf.cli.main import COMMANDS
from symmf.errors import InputError
from symmf.reporting.results import load_results
from symmf.solvers import SOLVERS

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


def test_every_solver_is_listed() -> None:
    text = README.read_text(encoding="utf-8")
    assert [name for name in SOLVERS if f"| `{name}` |" not in text] == []


def test_the_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = README.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(compile(code, str(README), "exec"), {})
    assert code.splitlines()[-1] == f"# {capsys.readouterr().out.rstrip()}"


def test_the_page_stays_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


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


def test_missing_markers_are_named() -> None:
    with pytest.raises(InputError, match="found:begin"):
        refreshed("nothing here", load_results(ROOT / "results" / "reference"))
