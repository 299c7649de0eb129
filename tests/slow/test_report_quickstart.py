"""From a run to every page, on the embedded digits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[2] / "configs" / "quickstart.yaml"

pytestmark = pytest.mark.slow


def symmf(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "symmf.cli.main", *map(str, arguments)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_every_page_of_a_real_run(tmp_path: Path) -> None:
    symmf("run", CONFIG, "--results", tmp_path, "--jobs", 1, "--set", "trials=2")
    shown = symmf("tables", "quickstart", "--results", tmp_path)
    assert "SymMF" in shown
    symmf("plot", "convergence", "quickstart", "--results", tmp_path)
    symmf("tables", "--results", tmp_path)
    symmf("plot", "all", "--results", tmp_path)
    symmf("compare", "--results", tmp_path)
    symmf("report", "--results", tmp_path)
    kept = {
        path: path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.suffix in (".tex", ".md", ".csv", ".pdf", ".png", ".html")
    }
    assert tmp_path / "figures" / "quickstart" / "convergence.pdf" in kept
    # Again from the CSV files alone: the same bytes.
    (tmp_path / "quickstart" / "records").rename(tmp_path / "gone")
    for command in (["tables"], ["plot", "all"], ["compare"], ["report"]):
        symmf(*command, "--results", tmp_path)
    for path, content in kept.items():
        assert path.read_bytes() == content, path
