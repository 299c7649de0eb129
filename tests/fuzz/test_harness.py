"""The attack sees what it is meant to see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.attack import run


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("accepted", {"accepted": 1}),
        ("clean", {"clean": 1}),
        ("crashes", {"crashes": 1}),
        ("hangs", {"hangs": 1}),
        ("long", {"clean": 1}),
        ("tracebacks", {"tracebacks": 1}),
        ("warning", {"tracebacks": 1}),
        ("silent", {"tracebacks": 1}),
        ("odd code", {"tracebacks": 1}),
        ("lost", {"lost": 1}),
        ("defect", {"lost": 1}),
        ("session", {"accepted": 7}),
        ("blamed", {"lost": 1, "accepted": 2}),
    ],
)
def test_verdicts(case: str, expected: dict[str, int]) -> None:
    done = run(str(Path(__file__).with_name("harness_parts.py")), case)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert {verdict: n for verdict, n in counts.items() if n} == expected


def test_a_case_is_a_function_of_seed_and_number(tmp_path: Path) -> None:
    import random

    from scripts.fuzz import configs, files

    for part in (configs.PART, files.PART):
        made = []
        for _ in range(2):
            folder = tmp_path / f"{part.name}{len(made)}"
            folder.mkdir()
            case = part.make(random.Random("seed"), folder)
            content = [p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()]
            words = [str(w).replace(str(folder), "") for w in case.steps[0]]  # type: ignore[union-attr,index]
            made.append((words, content))
        assert made[0] == made[1]


def test_parts_that_ran_apart_are_joined_in_one_page(tmp_path: Path) -> None:
    from scripts.fuzz.harness import Tally
    from scripts.fuzz.page import keep

    configs = Tally(part="configs", seed=4)
    configs.add({"verdict": "clean", "tried": 1})
    keep(configs, tmp_path)
    path = tmp_path / "page.md"
    part = ("numerics", "--seed", "3", "--count", "2")
    written = ("--keep", str(tmp_path), "--write", str(path))
    done = run("-m", "scripts.fuzz", *part, *written)
    assert done.returncode == 0, done.stdout + done.stderr
    page = path.read_text()
    assert "python -m scripts.fuzz numerics --seed 3 --count 2" in page
    assert "python -m scripts.fuzz configs --seed 4 --count 1" in page
    assert "| all |  | 3 |" in page
    assert "numpy " in page


def test_a_page_tells_failures_and_strikes() -> None:
    from scripts.fuzz.harness import Tally
    from scripts.fuzz.page import page

    tally = Tally(part="x", seed=7)
    tally.add({"verdict": "accepted", "tried": 3, "notes": {"SIGKILL of the run": 3}})
    tally.add({"verdict": "lost", "tried": 1, "index": 5, "detail": "gone"})
    text = page([(tally, {"date": "2026-01-01", "Python": "3.11"})], {"x": "what"})
    assert "- SIGKILL of the run: 3" in text
    assert "lost: python -m scripts.fuzz x --seed 7 --start 5 --count 1" in text
    assert "| x | what | 4 | 0 | 3 | 0 | 0 | 0 | 1 |" in text
