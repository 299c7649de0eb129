"""The guide on ``symmf cluster``: its commands run on its data, as it says."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from symmf.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS / "examples")]

from cluster_pages import SHOWN, guide_commands  # noqa: E402
from make_cluster_data import customers, documents, images  # noqa: E402

GUIDE = (DOCS / "guides" / "cluster.md").read_text(encoding="utf-8")
MAKERS = {"customers.csv": customers, "notes.txt": documents, "photos/": images}


def commands_on(name: str) -> list[list[str]]:
    return [words[1:] for words in guide_commands(GUIDE) if words[2] == name]


@pytest.mark.parametrize(
    "name",
    ["customers.csv", "notes.txt", pytest.param("photos/", marks=pytest.mark.slow)],
)
def test_the_examples_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    MAKERS[name](tmp_path / name)
    for words in commands_on(name):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 0, capsys.readouterr().err
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    if name == "customers.csv":
        assert "K = 4 was chosen" in said.out
        first, again = (
            pd.read_csv(tmp_path / f) for f in ("clusters.csv", "again.csv")
        )
        assert list(first) == ["customer", "outlier", "membership", "cluster"]
        assert first["customer"][0] == "C0000"
        # The model places rows; it judges none of them.
        assert again.equals(first[["customer", "cluster"]])
    written = {path.name for path in tmp_path.iterdir()}
    page = name.split(".")[0].strip("/") + ".html"
    assert page in written


def test_everything_the_guide_shows_is_made_by_its_commands():
    typed = " ".join(word for words in guide_commands(GUIDE) for word in words)
    for name in SHOWN:
        assert name in typed
        assert f"../cluster/{name}" in GUIDE
