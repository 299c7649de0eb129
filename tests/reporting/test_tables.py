from __future__ import annotations

import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from helpers.made_results import (
    entry,
    lambda_experiment,
    table_experiment,
    trial_row,
    write,
)

from symmf.paper.values import ROWS
from symmf.reporting.results import Results, load_results
from symmf.reporting.tables.formats import render, to_latex, to_markdown
from symmf.reporting.tables.model import (
    combined_table,
    experiment_table,
    missing_tables,
    split_by_dataset,
)
from symmf.reporting.tables.records import sizes_table
from symmf.reporting.tables.write import make_tables, write_tables

KINDS = ("latex", "markdown", "csv")


@pytest.fixture(scope="module")
def results(full_results: Results) -> Results:
    return full_results


def test_the_papers_shape(results) -> None:
    table = combined_table(results, "nmi")
    assert table.groups == [("COIL-20", 3), ("CIFAR-10", 3), ("Digits", 2)]
    top = [row.title for row in table.rows if not row.below]
    assert top == list(ROWS.values())
    assert [row.title for row in table.rows if row.below] == [
        "SymMF (run to convergence)",
        "Closed form, λ = 0",
    ]
    text = to_latex(table)
    assert r"\multicolumn{3}{c}{COIL-20} & \multicolumn{3}{c}{CIFAR-10}" in text
    assert r"\cmidrule(r){1-1}\cmidrule(r){2-4}\cmidrule(r){5-7}" in text
    assert "{Method} & {2} & {10} & {20} & {3}" in text
    assert "$K$-means & " in text
    assert text.count(r"\midrule") == 2
    gaps = [gap.command for gap in missing_tables(results)]
    assert gaps == ["symmf run reuters21578", "symmf run tdt2"]


def test_best_and_second_are_marked_by_printed_value(results) -> None:
    for metric in ("nmi", "ac"):
        table = combined_table(results, metric)
        top = [row for row in table.rows if not row.below]
        for column in range(len(table.columns)):
            entries = [row.cells[column] for row in top if row.cells[column].n_good]
            values = sorted({e.text for e in entries}, reverse=True)
            assert {e.text for e in entries if e.mark == "best"} == {values[0]}
            assert {e.text for e in entries if e.mark == "second"} == {values[1]}
        assert not any(e.mark for r in table.rows if r.below for e in r.cells)


def test_incomplete_cells_say_so(results) -> None:
    table = combined_table(results, "ac")
    by_title = {row.title: row for row in table.rows}
    assert by_title["GNMF"].cells[2].share == "8/10"
    assert by_title["DSC"].cells[2].text == "–"
    assert by_title["DSC"].cells[2].share == "0/10"
    assert by_title["K-means"].cells[0].share == ""
    assert "$^{8/10}$" in to_latex(table)
    assert "(8/10)" in to_markdown(table)
    assert "DSC: no successful trial for COIL-20 K = 20 (10 not run)." in table.notes


@pytest.mark.parametrize("std", [False, True])
def test_all_formats_carry_the_same_numbers(results, std: bool) -> None:
    for metric in ("nmi", "ac"):
        table = combined_table(results, metric)
        expected = [v for v in table.frame["mean"] if v]
        latex, markdown = to_latex(table, std=std), to_markdown(table, std=std)
        body = latex[latex.index("{Method}") : latex.index("bottomrule")]
        body = re.sub(r"\\scriptsize\$\\,\\pm\\,\$0\.\d+", "", body)
        assert re.findall(r"0\.\d{3}", body) == expected
        lines = [line for line in markdown.splitlines() if line.startswith("| ")][1:]
        shown = re.sub(r"± 0\.\d{3}", "", "\n".join(lines))
        assert re.findall(r"0\.\d{3}", shown) == expected
        again = pd.read_csv(StringIO(render(table, "csv")), dtype=str)
        assert [v for v in again["mean"].fillna("") if v] == expected
        assert ("±" in markdown) == std


def test_tables_are_byte_stable(results, tmp_path: Path) -> None:
    first, second = (
        write_tables(make_tables(found), tmp_path / name, kinds=KINDS, std=True)
        for name, found in (("a", results), ("b", load_results(results.folder)))
    )
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    assert (tmp_path / "a" / "tables" / "coil20" / "nmi_std.tex").is_file()


def test_table_one_is_asserted_from_the_loaded_data(results) -> None:
    frame = sizes_table(results).frame.set_index("dataset")
    assert frame.loc["coil20", "verdict"] == "as published"
    assert frame.loc["tdt2", "verdict"] == "differs"
    assert frame.loc["digits", "verdict"] == "not in the paper"
    assert list(frame.index) == ["coil20", "cifar10", "tdt2", "digits"]
    for kind in KINDS:
        assert "1440" in render(sizes_table(results), kind)


def test_latex_compiles_in_a_minimal_document(results, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex on this machine")
    for std in (False, True):
        write_tables(make_tables(results), tmp_path, kinds=("latex",), std=std)
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.tex"))
    inputs = "\n".join(rf"\input{{{path.as_posix()}}}\clearpage" for path in files)
    (tmp_path / "all.tex").write_text(
        "\\documentclass[twocolumn]{article}\n\\usepackage{booktabs,graphicx}\n"
        f"\\begin{{document}}\n{inputs}\n\\end{{document}}\n"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_a_study_lists_every_lambda_and_warns_of_the_oracle(tmp_path: Path) -> None:
    lambda_experiment(tmp_path, n_trials=3)
    results = load_results(tmp_path)
    table = experiment_table(results.experiments[0], results, "ac")
    titles = [row.title for row in table.rows]
    assert "SymMF (published), λ = 0.5" in titles
    assert not any(row.below for row in table.rows)
    assert any("uses the labels" in note for note in table.notes)
    oracle = next(row for row in table.rows if "chosen with the labels" in row.title)
    assert not oracle.cells[0].mark
    assert combined_table(results, "ac").columns == ()


def test_one_data_set_alone_and_one_method_alone(tmp_path: Path) -> None:
    table_experiment(tmp_path, "quickstart", "digits", (3,), ("kmeans",), 1)
    table = combined_table(load_results(tmp_path), "ac")
    assert [row.title for row in table.rows] == ["K-means"]
    assert not table.rows[0].cells[0].mark  # nothing to be better than
    assert table.rows[0].cells[0].spread == ""  # one trial has no deviation
    assert "igits" in to_markdown(table)
    assert r"\pm" not in to_latex(table, std=True)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.70001, 0.70002, 0.6, 0.6], ["best", "best", "second", "second"]),
        ([-0.05, -0.01, -0.3, 0.0], ["", "second", "", "best"]),
    ],
)
def test_marks_go_by_printed_values(tmp_path: Path, scores, expected) -> None:
    entries = [entry("symmf", name=name, paper_row="none") for name in "abcd"]
    rows = [
        trial_row("mine", "digits", 2, t, e, 0.5, ari=score)
        for e, score in zip(entries, scores, strict=True)
        for t in range(2)
    ]
    config = {
        "name": "mine", "dataset": "digits", "n_clusters": [2], "trials": 2,
        "methods": entries,
    }  # fmt: skip
    write(tmp_path, config, rows)
    results = load_results(tmp_path)
    table = experiment_table(results.experiments[0], results, "ari")
    assert [row.cells[0].mark for row in table.rows] == expected


def test_tables_can_be_split_by_data_set(results) -> None:
    parts = split_by_dataset(combined_table(results, "ac"))
    assert [part.groups[0][0] for part in parts] == ["COIL-20", "CIFAR-10", "Digits"]
    assert "NMF" not in [row.title for row in parts[2].rows]


def test_sizes_are_those_of_the_comparison_not_of_features(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=2)
    # Read before the comparison by its name; its rows are features.
    table_experiment(
        tmp_path, "beyond_coil20", "coil20", (2,), n_trials=2, role="used_well",
        sizes=(1440, 99, 20),
    )  # fmt: skip
    (line,) = sizes_table(load_results(tmp_path)).frame.to_dict("records")
    assert (line["dimensions"], line["verdict"]) == (1024, "as published")
