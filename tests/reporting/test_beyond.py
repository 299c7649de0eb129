"""The table of what it takes to reach the published values."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from helpers.made_results import entry, table_experiment, trial_row, write

from symmf.reporting.results import load_results
from symmf.reporting.tables.beyond import beyond_table, used_well_table
from symmf.reporting.tables.records import collection_tables
from symmf.reporting.tables.write import make_tables, write_tables


def scores(
    folder: Path,
    name: str,
    role: str,
    ac: dict[str, float],
    n_trials: int = 5,
    row: str = "ours",
) -> None:
    """Write an experiment on COIL-20, K = 2, with constant scores per entry."""
    entries = [
        entry("symmf", name=key, label=key, paper_row=row, primary=index == 0)
        for index, key in enumerate(ac)
    ]
    rows = [
        trial_row(name, "coil20", 2, t, e, ac[e["name"]], nmi=0.958)
        for e in entries
        for t in range(n_trials)
    ]
    config = {"name": name, "role": role, "dataset": "coil20", "n_clusters": [2],
              "trials": n_trials, "methods": entries}  # fmt: skip
    write(folder, config, rows)


def line(folder: Path, metric: str = "AC") -> tuple[str, ...]:
    rows = beyond_table(load_results(folder)).rows
    return next(row for row in rows if row[:3] == ("COIL-20", "2", metric))


def test_the_main_study_alone_makes_no_such_table(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=5)
    results = load_results(tmp_path)
    assert beyond_table(results).rows == used_well_table(results).rows == ()
    assert collection_tables(results) == []
    assert [table.name for table in make_tables(results).plain] == ["datasets"]


def test_the_columns_come_from_roles_and_primary(tmp_path: Path) -> None:
    # Published: AC 0.975, NMI 0.958.
    scores(tmp_path, "coil20", "comparison", {"released": 0.7, "better": 0.99})
    scores(tmp_path, "coil20_graph", "equal_terms", {"graph": 0.9, "better": 0.99})
    scores(tmp_path, "beyond_coil20", "used_well", {"default": 0.9749, "T1": 0.98})
    scores(tmp_path, "ceilings", "ceiling", {"svm": 0.97451, "knn": 0.5}, row="none")
    table = beyond_table(load_results(tmp_path))
    assert len(table.rows) == 24
    cells = line(tmp_path)[3:]
    assert cells == ("0.975", "0.700", "0.900", "0.975 *", "0.975 *")
    assert line(tmp_path, "NMI")[4:] == ("0.958 *",) * 4
    assert (
        "Reached: as released 1 of 2, common graph 1 of 2, used well 2 of 2"
        in (table.notes[0])
    )
    assert "Used well: default, entry default of beyond_coil20." in table.notes
    absent = next(row for row in table.rows if row[0] == "TDT2")
    assert absent[4:] == ("–",) * 4
    paths = write_tables(
        make_tables(load_results(tmp_path)), tmp_path / "out", kinds=("csv", "latex")
    )
    frame = pd.read_csv(next(p for p in paths if p.name == "beyond.csv"))
    assert set(frame["entry"]) == {"released", "graph", "default", "svm"}
    assert (tmp_path / "out" / "tables" / "beyond.tex").is_file()


@pytest.mark.parametrize(("default", "noted"), [(0.5, True), (0.98, False)])
def test_a_choice_with_hindsight_is_said_apart(
    tmp_path: Path, default: float, noted: bool
) -> None:
    scores(tmp_path, "beyond_coil20", "used_well", {"default": default, "T1": 0.98})
    notes = beyond_table(load_results(tmp_path)).notes
    assert any("With hindsight" in note for note in notes) == noted


def test_every_way_is_shown_and_the_primary_one_first(tmp_path: Path) -> None:
    scores(tmp_path, "beyond_coil20", "used_well", {"default": 0.5, "T1": 0.98})
    scores(tmp_path, "beyond_coil20_a", "used_well", {"T0": 0.99}, row="none")
    table = used_well_table(load_results(tmp_path))
    assert [row[:2] for row in table.rows] == [
        ("COIL-20, K = 2, 10, 20", "published"),
        ("beyond_coil20", "default, primary"),
        ("beyond_coil20", "T1"),
        ("beyond_coil20_a", "T0"),
    ]
    # NMI at K = 2 is the published value everywhere; AC is 0.975 there.
    assert [(row[5], row[-1]) for row in table.rows[1:]] == [
        ("0.500", "1 of 2"),
        ("0.980 *", "2 of 2"),
        ("0.990 *", "2 of 2"),
    ]
    # The better ones never stand for the cell in the table of what it takes.
    assert line(tmp_path)[6] == "0.500"
    assert set(table.frame["column"]) == {"primary", "further"}


def test_too_few_trials_reach_nothing(tmp_path: Path) -> None:
    scores(tmp_path, "beyond_coil20", "used_well", {"default": 0.99}, n_trials=4)
    assert line(tmp_path)[6] == "0.990"
    assert used_well_table(load_results(tmp_path)).rows[1][-1] == "too few trials"


def collection(folder: Path) -> None:
    """Write three sets, two with 2 classes; a method that fails on one of them."""
    ari = {"first": (0.9, 0.5, 0.2), "second": (0.9, 0.8, 0.1), "third": (1.0, 0.1)}
    rows = []
    for name, values in ari.items():
        e = entry("kmeans", name=name, label=name.title(), paper_row="none")
        for (k, t), value in zip(((2, 0), (2, 1), (3, 0)), values, strict=False):
            rows.append(trial_row("suite", "clustbench", k, t, e, 0.5, ari=value))
    rows.append(trial_row("suite", "clustbench", 3, 0, e, "", ari="", status="failed"))
    config = {
        "name": "suite", "role": "example", "title": "Suite", "note": "Made up.",
        "dataset": {"name": "clustbench", "members": "all"}, "trials": 1,
        "n_clusters": "classes",
        "methods": [entry("kmeans", name=n, label=n.title()) for n in ari],
    }  # fmt: skip
    here = write(folder, config, rows)
    one = {"data_digest": "made up", "n_samples": 6, "n_features": 2}
    members = [{**one, "n_classes": k} for k in (2, 2, 3)]
    text = json.loads((here / "provenance.json").read_text())
    text["facts"]["members"] = members
    (here / "provenance.json").write_text(json.dumps(text))


def test_a_collection_is_averaged_over_its_sets(tmp_path: Path) -> None:
    collection(tmp_path)
    (table,) = collection_tables(load_results(tmp_path))
    assert [row[:3] for row in table.rows] == [
        ("Second", "3", "0.600"),
        ("Third", "2", "0.550"),
        ("First", "3", "0.533"),
    ]
    # Best in, and how often the first method of the file won and lost.
    assert [row[6:8] for row in table.rows] == [
        ("1", "1 – 1"),
        ("1", "1 – 1"),
        ("1", ""),
    ]
    assert table.notes[-1] == "Made up."
    written = write_tables(
        make_tables(load_results(tmp_path)), tmp_path / "out", kinds=("markdown",)
    )
    assert "suite.md" in {path.name for path in written}
