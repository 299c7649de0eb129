"""A study of one's own: its tables, statistics, figures and page, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.made_results import entry, table_experiment, trial_row, write

from symmf.cli.report import compare, plot, report, tables
from symmf.reporting.page.render import render_report
from symmf.reporting.plots.registry import draw
from symmf.reporting.results import load_results
from symmf.reporting.selection.studies import own_studies
from symmf.reporting.statistics.words import study_evidence
from symmf.reporting.tables.model import study_table
from symmf.reporting.tables.write import make_tables
from symmf.reporting.verdicts.values import compare_study

# What a page or a table of one's own must not say.
OF_THE_PAPER = re.compile(
    r"\bOurs\b|COIL-20|CIFAR|TDT2|Reuters|the paper|What was reproduced|216|claims? of"
)
METHODS = ("kmeans", "symmf", "mine")


def own_experiment(
    folder: Path, name: str, dataset: str, ks=(2, 3), n_trials=6, **keys: Any
) -> Path:
    """Write an experiment of three entries, of which ``mine`` is the best."""
    rng = np.random.default_rng(len(name))
    entries = [
        {"method": "kmeans", "label": "K-means"},
        {"method": "symmf"},
        {"method": "sklearn.cluster.Birch", "name": "mine", "label": "My method"},
    ]
    shown = [
        entry(
            e["method"],
            name=e.get("name", e["method"]),
            label=e.get("label", e["method"]),
        )
        for e in entries
    ]
    rows = [
        trial_row(
            name, dataset, k, t, e, 0.6 + 0.1 * i + 0.02 * rng.normal(),
            classes=f"{t} {t + 1}",
        )
        for k in ks
        for i, e in enumerate(shown)
        for t in range(n_trials)
    ]  # fmt: skip
    config = {
        "name": name, "title": f"Mine: {dataset}", "dataset": dataset,
        "n_clusters": list(ks), "trials": n_trials, "methods": shown, **keys,
    }  # fmt: skip
    return write(folder, config, rows, title=dataset.title(), sizes=(60, 4, 3))


def test_all_entries_compete_under_their_own_names(tmp_path: Path) -> None:
    own_experiment(tmp_path, "mine_rings", "rings", proposed="mine")
    results = load_results(tmp_path)
    (study,) = own_studies(results)
    table = study_table(study, results, "ac")
    assert [row.title for row in table.rows] == ["K-means", "SymMF", "My method"]
    assert not any(row.below for row in table.rows)
    assert [row.emphasis for row in table.rows] == [False, False, True]
    assert [row.cells[0].mark for row in table.rows] == ["", "second", "best"]


def test_without_a_proposed_entry_none_is_singled_out(tmp_path: Path) -> None:
    own_experiment(tmp_path, "rings", "rings")
    results = load_results(tmp_path)
    (study,) = own_studies(results)
    assert not any(row.emphasis for row in study_table(study, results, "ac").rows)
    assert all(len(each.tests) == 0 for each in study_evidence(study))
    assert all(each.ranking is not None for each in study_evidence(study))


def test_experiments_named_together_are_one_table(tmp_path: Path) -> None:
    for dataset in ("rings", "stars"):
        own_experiment(tmp_path, f"mine_{dataset}", dataset, proposed="mine")
    own_experiment(tmp_path, "other", "rings")
    apart = make_tables(load_results(tmp_path))
    assert set(apart.own) == {"mine_rings", "mine_stars", "other"}
    results = load_results(tmp_path, ["mine_*"])
    made = make_tables(results)
    assert set(made.own) == {"mine"}
    table = next(t for t in made.own["mine"] if t.metric == "ac")
    assert table.groups == [("Rings", 2), ("Stars", 2)]
    (study,) = own_studies(results)
    assert (study.title, study.proposed) == ("Mine", "mine")
    ranking = study_evidence(study)[0].ranking
    assert ranking is not None
    assert ranking.blocks == "2 data sets"
    assert ranking.titles[0] == "My method"


def test_every_metric_of_the_trials_has_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from symmf.metrics import METRICS, Metric

    def zero(y_true: object, y_pred: object) -> float:  # noqa: ARG001
        return 0.0

    error = Metric(name="loss", title="Loss", function=zero, higher_is_better=False)
    monkeypatch.setitem(METRICS, "loss", error)
    folder = own_experiment(tmp_path, "rings", "rings")
    path = folder / "trials.csv"
    frame = pd.read_csv(path)
    frame["loss"] = 1 - frame["ac"]
    frame.to_csv(path, index=False)
    results = load_results(tmp_path)
    (study,) = own_studies(results)
    assert "loss" in study.metrics
    table = study_table(study, results, "loss")
    assert [row.cells[0].mark for row in table.rows] == ["", "second", "best"]
    assert table.title == "Loss, mean over trials"


def test_commands_and_page_say_nothing_of_the_paper(tmp_path: Path) -> None:
    own_experiment(tmp_path / "r", "mine_rings", "rings", proposed="mine")
    place = ["--results", str(tmp_path / "r")]
    said = []
    for command, given in ((tables, []), (compare, []), (plot, ["all"]), (report, [])):
        done = CliRunner().invoke(command, [*given, *place])
        assert done.exit_code == 0, done.output
        said.append(done.output)
    kinds = (".md", ".tex", ".txt")
    files = [p for p in (tmp_path / "r").rglob("*") if p.suffix in kinds]
    said += [path.read_text() for path in files]
    page = (tmp_path / "r" / "report.html").read_text()
    body = re.sub(r"<(script|style|svg).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    for text in (*said, body.partition("Configuration")[0]):
        assert not OF_THE_PAPER.search(text), OF_THE_PAPER.search(text)
    assert "<h1>Mine: rings</h1>" in page


def test_trials_that_are_copies_of_one_number_are_not_tested(tmp_path: Path) -> None:
    folder = own_experiment(tmp_path, "rings", "rings", ks=(3,), proposed="mine")
    path = folder / "trials.csv"
    frame = pd.read_csv(path)
    frame["classes"] = "0 1 2"  # all classes
    fixed = frame["method"].isin(["mine", "kmeans"])  # deterministic
    frame.loc[fixed, "ac"] = frame["method"].map({"mine": 0.9, "kmeans": 0.8})
    frame.to_csv(path, index=False)
    (study,) = own_studies(load_results(tmp_path))
    evidence = study_evidence(study)[0]
    assert (evidence.tests["refused"] != "").all()
    assert evidence.tests["p"].isna().all()
    assert "copies of one number" in evidence.words[0]


def test_equal_scores_on_different_draws_are_a_sample(tmp_path: Path) -> None:
    folder = own_experiment(tmp_path, "rings", "rings", ks=(2,), proposed="mine")
    path = folder / "trials.csv"
    frame = pd.read_csv(path)
    frame.loc[frame["method"] == "mine", "ac"] = 1.0
    frame.to_csv(path, index=False)
    (study,) = own_studies(load_results(tmp_path))
    tests = study_evidence(study)[0].tests
    assert (tests["refused"] == "").all()
    assert (tests["low"] <= tests["difference"]).all()
    assert (tests["floor"] > 0).all()


def test_values_that_others_published_stand_beside_the_proposed_entry(
    tmp_path: Path,
) -> None:
    given = {
        "source": "A journal, 2020",
        "how": "read off a figure",
        "values": [
            {"method": "Theirs", "n_clusters": 2, "metric": "ac", "value": 0.801},
            {
                "method": "Theirs", "n_clusters": 3, "metric": "ac", "value": 0.1,
                "entry": "kmeans",
            },
            {"method": "Theirs", "n_clusters": 9, "metric": "ac", "value": 0.1},
        ],
    }  # fmt: skip
    own_experiment(tmp_path, "rings", "rings", proposed="mine", published=given)
    (study,) = own_studies(load_results(tmp_path))
    beside = compare_study(study)
    assert list(beside["label"]) == ["My method", "K-means", "mine"]
    assert list(beside["verdict"])[1:] == ["higher", "not run"]
    done = CliRunner().invoke(compare, ["--results", str(tmp_path)])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "verdicts" / "rings" / "compare.md").read_text()
    assert "A journal, 2020 (read off a figure)" in text


def test_a_study_never_enters_the_tables_of_the_paper(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=5)
    own_experiment(tmp_path, "mine", "coil20", ks=(2,))
    made = make_tables(load_results(tmp_path))
    titles = {row.title for table in made.combined for row in table.rows}
    assert "My method" not in titles
    assert "My method" in {r.title for table in made.own["mine"] for r in table.rows}
    text = render_report(load_results(tmp_path, ["mine"]))
    assert "What was reproduced" not in text


def test_ranks_of_a_study_are_drawn(tmp_path: Path) -> None:
    own_experiment(tmp_path, "mine_rings", "rings", proposed="mine")
    (drawing,) = draw("critical-difference", load_results(tmp_path)).drawings
    assert drawing.experiment == "mine_rings"
    assert set(drawing.data["method"]) == {"K-means", "SymMF", "My method"}
