"""The attack sees what it is meant to see."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from helpers.attack import run

from scripts.fuzz import configs, files
from scripts.fuzz.harness import Case, Tally
from scripts.fuzz.page import load, save
from scripts.fuzz.process import Ended


def test_verdicts() -> None:
    done = run(str(Path(__file__).with_name("harness_parts.py")))
    assert done.returncode == 0, done.stderr
    assert dict(map(json.loads, done.stdout.splitlines())) == {
        "accepted": {"accepted": 1},
        "clean": {"clean": 1},
        "crashes": {"crashes": 1},
        "hangs": {"hangs": 1},
        "long": {"clean": 1},
        "tracebacks": {"tracebacks": 1},
        "warning": {"tracebacks": 1},
        "silent": {"tracebacks": 1},
        "odd code": {"tracebacks": 1},
        "lost": {"lost": 1},
        "defect": {"lost": 1},
        "strikes": {"accepted": 7},
        "blamed": {"lost": 1, "accepted": 2},
    }


def test_a_case_is_a_function_of_seed_and_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    def keep(case: Case, *words: object) -> Ended:
        content = [p.read_bytes() for p in sorted(case.folder.iterdir()) if p.is_file()]
        made.append(([str(w).replace(str(case.folder), "") for w in words], content))
        return Ended(0, "")

    monkeypatch.setattr(Case, "run", keep)
    for part in (configs, files):
        for number in range(2):
            folder = tmp_path / f"{part.__name__}{number}"
            folder.mkdir()
            part.live(Case(0, random.Random("seed"), folder))
        assert made[-1] == made[-2]


def test_what_was_stopped_goes_on_and_what_was_not_run_again_stays(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.md"
    old = Tally("configs", "odd files", seed=4, date="2025-01-01", made="symmf 0.1")
    old.add(Case(0, random.Random(), tmp_path))
    save(page, [old])
    part = ("numerics", "--seed", "3", "--count", "3", "--write", str(page))
    for options in (("--minutes", "0.0001"), ()):
        done = run("-m", "scripts.fuzz", *part, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        cases = load(page)["numerics"].cases
        assert cases == (1 if options else 3)
    assert load(page)["configs"] == old
    text = page.read_text()
    assert "python -m scripts.fuzz numerics --seed 3 --count 3" in text
    assert "python -m scripts.fuzz configs --seed 4 --count 1" in text
    assert "| all |  | 4 |" in text
    assert "configs: symmf 0.1." in text


def test_a_page_tells_failures_and_strikes(tmp_path: Path) -> None:
    tally = Tally("x", "what", seed=7)
    struck = Case(4, random.Random(), tmp_path, tried=3)
    struck.notes["SIGKILL of the run"] = 3
    failed = Case(5, random.Random(), tmp_path)
    failed.blame("lost", "gone")
    for case in (struck, failed):
        tally.add(case)
    save(tmp_path / "page.md", [tally])
    text = (tmp_path / "page.md").read_text()
    assert "- SIGKILL of the run: 3" in text
    assert "lost: python -m scripts.fuzz x --seed 7 --start 5 --count 1" in text
    assert "| x | what | 4 | 0 | 3 | 0 | 0 | 0 | 1 |" in text
