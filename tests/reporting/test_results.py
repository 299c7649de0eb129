from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml
from helpers.made_results import (
    PAPER_METHODS,
    entry,
    lambda_experiment,
    table_experiment,
    trial_row,
    write,
)

from symmf.errors import InputError
from symmf.paper.roles import Role
from symmf.reporting.results import load_results
from symmf.reporting.selection.cells import cell_keys, cells, collect
from symmf.reporting.selection.readings import readings, reference_weight


def test_a_missing_folder_is_empty_not_an_error(tmp_path: Path) -> None:
    results = load_results(tmp_path / "nowhere")
    assert results.experiments == ()
    assert len(results.trials) == 0
    assert collect(results, "ac") == ()


def test_an_unknown_experiment_names_those_there_are(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=2)
    with pytest.raises(InputError, match=r"no experiment 'coil'.*coil20"):
        load_results(tmp_path, ["coil"])


def test_reads_back_what_was_written(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2, 10), n_trials=3)
    (experiment,) = load_results(tmp_path).experiments
    assert experiment.dataset == "coil20"
    assert experiment.cluster_counts == (2, 10)
    assert list(experiment.entries)[:2] == ["kmeans", "nmf"]
    assert experiment.planned(2) == 3
    assert experiment.missing == 0
    assert experiment.sizes["n_samples"] == 1440


def test_missing_trials_are_counted(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2, 10), n_trials=4, skip=[("dsc", 10)])
    (experiment,) = load_results(tmp_path).experiments
    assert experiment.missing == 4
    path = tmp_path / "coil20" / "trials.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    (experiment,) = load_results(tmp_path).experiments
    assert experiment.missing == 5


def test_damaged_files_are_noted_and_left_out(tmp_path: Path) -> None:
    folder = table_experiment(tmp_path, ks=(2,), n_trials=2)
    (folder / "provenance.json").write_text("[]")
    (folder / "traces.csv").write_bytes(b'"')
    results = load_results(tmp_path)
    assert len(results.problems) == 2
    assert len(results.trials) > 0
    (folder / "trials.csv").write_text("n_clusters,ac\n,0.5\n")
    results = load_results(tmp_path)
    assert any("it lacks the columns" in text for text in results.problems)
    assert any("1 of its rows are left out" in text for text in results.problems)
    assert len(results.trials) == 0


@pytest.mark.parametrize("content", ["a: [1", "role: comparision\ndataset: coil20\n"])
def test_an_experiment_with_a_damaged_config_is_left_out(
    tmp_path: Path, content: str
) -> None:
    folder = table_experiment(tmp_path, ks=(2,), n_trials=2)
    table_experiment(tmp_path, "tdt2", "tdt2", (2,), n_trials=2)
    (folder / "experiment.yaml").write_text(content)
    results = load_results(tmp_path)
    assert [e.name for e in results.experiments] == ["tdt2"]
    (problem,) = results.problems
    assert "experiment.yaml" in problem


def test_an_empty_trials_file_is_read(tmp_path: Path) -> None:
    folder = table_experiment(tmp_path, ks=(2,), n_trials=2)
    for content in ("", (folder / "trials.csv").read_text().splitlines()[0] + "\n"):
        (folder / "trials.csv").write_text(content)
        results = load_results(tmp_path)
        assert all(not cell.n_good for cell in cells(results.experiments[0], "ac"))


def test_failed_trials_never_count(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=5, fail=[("nmf", 2, 1)])
    (experiment,) = load_results(tmp_path).experiments
    cell = next(c for c in cells(experiment, "ac") if c.reading.method == "nmf")
    assert [trial for trial, _ in cell.scores] == [0, 2, 3, 4]
    assert (cell.n_good, cell.n_total, cell.lost) == (4, 5, "1 failed")
    assert cell.mean == pytest.approx(sum(cell.values) / 4)


def test_the_file_says_which_entry_is_primary(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=2)
    (experiment,) = load_results(tmp_path).experiments
    primary = {ln.paper_row: ln.method for ln in readings(experiment) if ln.primary}
    assert primary["ours"] == "symmf"
    assert len(primary) == 9
    further = [ln.method for ln in readings(experiment) if not ln.primary]
    assert further == ["symmf_converged", "closed_form"]


def test_order_never_decides_who_is_primary(tmp_path: Path) -> None:
    folder = table_experiment(tmp_path, ks=(2,), n_trials=2)
    path = folder / "experiment.yaml"
    config = yaml.safe_load(path.read_text())
    config["methods"].reverse()
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    (experiment,) = load_results(tmp_path).experiments
    assert {r.method for r in readings(experiment) if r.primary} == set(PAPER_METHODS)


def test_only_comparisons_stand_for_rows_of_the_paper(tmp_path: Path) -> None:
    table_experiment(tmp_path, "quickstart", "coil20", (2,), n_trials=2, role="example")
    table_experiment(
        tmp_path, "coil20_shared", "coil20", (2,), n_trials=2, role="inner_products"
    )
    results = load_results(tmp_path)
    rows = collect(results, "ac")
    assert {cell.reading.experiment for row in rows for cell in row.cells.values()} == {
        "coil20_shared"
    }
    assert not any(row.primary for row in rows)
    assert [e.name for e in results.of_paper] == ["coil20_shared"]


def test_a_grid_of_lambda_makes_lines_and_an_oracle(tmp_path: Path) -> None:
    lambda_experiment(tmp_path, n_trials=3)
    (experiment,) = load_results(tmp_path).experiments
    assert experiment.role is Role.SENSITIVITY
    mine = [ln for ln in readings(experiment) if ln.method == "symmf_published"]
    assert [ln.weight for ln in mine[:-2]] == [0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
    assert [ln.choice for ln in mine[-2:]] == ["blind", "oracle"]
    assert [ln.weight for ln in mine if ln.primary] == [0.5]
    scores = {c.reading.name: c.mean for c in cells(experiment, "ac")}
    best = max(v for k, v in scores.items() if k.startswith("symmf_published"))
    assert scores["symmf_published@oracle"] == best


def test_lambda_chosen_without_labels_takes_the_best_silhouette(tmp_path: Path) -> None:
    e = entry("symmf")
    rows = [
        trial_row("mine", "coil20", 2, t, e, ac, silhouette=s, **{"lambda": lam})
        for t, lam, ac, s in [
            (0, 0.1, 0.9, 0.2),
            (0, 0.5, 0.6, 0.7),
            (1, 0.1, 0.8, 0.4),
            (1, 0.5, 0.5, 0.3),
        ]
    ]
    config = {
        "name": "mine", "dataset": "coil20", "n_clusters": [2], "trials": 2,
        "methods": [e],
    }  # fmt: skip
    folder = write(tmp_path, config, rows)
    (experiment,) = load_results(tmp_path).experiments
    blind = next(c for c in cells(experiment, "ac") if c.reading.choice == "blind")
    assert blind.scores == ((0, 0.6), (1, 0.8))
    # Results without silhouettes are read as well, and have no such reading.
    path = folder / "trials.csv"
    pd.read_csv(path).drop(columns="silhouette").to_csv(path, index=False)
    results = load_results(tmp_path)
    assert results.problems == ()
    assert {r.choice for r in readings(results.experiments[0])} == {None, "oracle"}


def test_reference_lambda_is_the_nearest_to_the_papers() -> None:
    assert reference_weight([0.4, 2.0]) == 0.4


def test_further_experiments_on_the_same_data_become_further_rows(
    tmp_path: Path,
) -> None:
    for dataset in ("coil20", "cifar10"):
        table_experiment(tmp_path, dataset, dataset, (2,), ("kmeans", "symmf"), 2)
        shared, methods = f"{dataset}_shared", ("kmeans", "symnmf")
        table_experiment(
            tmp_path, shared, dataset, (2,), methods, 2, role="inner_products"
        )
    rows = collect(load_results(tmp_path), "ac")
    titles = [row.title for row in rows if row.primary]
    assert titles == ["K-means", "Proposed"]
    named = {row.title: row for row in rows}
    assert "SymNMF, all on the same inner products" in named
    shared_row = named["K-means, all on the same inner products"]
    assert cell_keys([shared_row]) == [("coil20", 2), ("cifar10", 2)]
    assert not shared_row.primary


def test_columns_follow_the_paper_then_names(tmp_path: Path) -> None:
    for dataset in ("digits", "tdt2", "coil20"):
        table_experiment(tmp_path, dataset, dataset, (2,), ("kmeans", "nmf"), 2)
    rows = collect(load_results(tmp_path), "nmi")
    assert [name for name, _ in cell_keys(rows)] == ["coil20", "tdt2", "digits"]


def test_a_file_that_says_nothing_is_a_study_of_its_own(tmp_path: Path) -> None:
    entries = [entry("kmeans"), entry("symmf", name="a"), entry("symmf", name="b")]
    rows = [
        trial_row("coil20", "coil20", 2, t, e, 0.5) for t in range(2) for e in entries
    ]
    config = {
        "name": "coil20", "dataset": "coil20", "n_clusters": [2], "trials": 2,
        "methods": entries,
    }  # fmt: skip
    write(tmp_path, config, rows)
    results = load_results(tmp_path)
    assert results.of_paper == ()
    assert not any(reading.primary for reading in readings(results.experiments[0]))


def test_the_proposed_method_on_every_input_stands_next_to_its_row(
    tmp_path: Path,
) -> None:
    for name, role in (
        ("coil20", "comparison"),
        ("coil20_shared", "inner_products"),
        ("coil20_graph", "equal_terms"),
    ):
        table_experiment(
            tmp_path, name, "coil20", (2,), ("kmeans", "symmf"), 2, role=role
        )
    rows = collect(load_results(tmp_path), "ac")
    assert [row.title for row in rows] == [
        "K-means",
        "Proposed",
        "Proposed, all on the same inner products",
        "Proposed, all on the common graph",
        "SymMF (run to convergence)",
        "Closed form, λ = 0",
        "K-means, all on the same inner products",
        "SymMF (run to convergence) [shared]",
        "Closed form, λ = 0 [shared]",
        "K-means, all on the common graph",
        "SymMF (run to convergence) [graph]",
        "Closed form, λ = 0 [graph]",
    ]
