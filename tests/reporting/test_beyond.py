"""The table of what it takes to reach the published values."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from made_results import entry, table_experiment, trial_row, write

from symmf.reporting.results import load_results
from symmf.reporting.tables.beyond import beyond_table
from symmf.reporting.tables.write import write_tables


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
    assert beyond_table(load_results(tmp_path)).rows == ()
    written = write_tables(load_results(tmp_path), tmp_path, kinds=("csv",))
    assert "beyond.csv" not in {path.name for path in written}


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
        "Reached: as released 1 of 2, equal terms 1 of 2, used well 2 of 2"
        in (table.notes[0])
    )
    assert "Used well: default of beyond_coil20 (default)." in table.notes
    absent = next(row for row in table.rows if row[0] == "TDT2")
    assert absent[4:] == ("–",) * 4
    paths = write_tables(
        load_results(tmp_path), tmp_path / "out", kinds=("csv", "latex")
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


def test_too_few_trials_reach_nothing(tmp_path: Path) -> None:
    scores(tmp_path, "beyond_coil20", "used_well", {"default": 0.99}, n_trials=4)
    assert line(tmp_path)[6] == "0.990"
