from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from helpers.made_results import entry, scored, table_experiment, trial_row, write

from symmf.paper.values import published_values
from symmf.reporting.results import load_results
from symmf.reporting.selection.cells import ENOUGH_TRIALS, collect
from symmf.reporting.verdicts.values import (
    TOLERANCE,
    ValueVerdict,
    by_row,
    ceilings,
    compare,
    counts,
    decide,
    primary,
)
from symmf.reporting.verdicts.write import write_comparison


@pytest.mark.parametrize(
    ("published", "mean", "low", "high", "verdict"),
    [
        (0.80, 0.78, 0.70, 0.85, "close"),  # within the tolerance
        (0.80, 0.80 + TOLERANCE, 0.815, 0.83, "close"),
        (0.80, 0.75, 0.70, 0.85, "not distinguishable"),  # only inside the interval
        (0.80, 0.83, 0.81, 0.84, "higher"),
        (0.80, 0.70, 0.65, 0.75, "lower"),
        # The edges: the paper rounds to three decimals, so half a unit is added.
        (0.80, 0.83, 0.80049, 0.84, "not distinguishable"),
        (0.80, 0.83, 0.80051, 0.84, "higher"),
        (0.80, 0.77, 0.75, 0.79951, "not distinguishable"),
        (0.80, 0.77, 0.75, 0.79949, "lower"),
    ],
)
def test_verdict(published, mean, low, high, verdict) -> None:
    assert decide(published, mean, low, high) == verdict


@pytest.mark.parametrize("n_trials", [1, 4, 5])
def test_a_verdict_needs_enough_trials(tmp_path: Path, n_trials: int) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=n_trials)
    found = primary(compare(load_results(tmp_path)))
    found = found[(found["dataset"] == "coil20") & (found["n_clusters"] == 2)]
    assert ENOUGH_TRIALS == 5
    few = set(found["verdict"]) == {ValueVerdict.TOO_FEW}
    assert few == (n_trials < 5)
    assert found["mean"].notna().all()


def ceiling_experiment(folder: Path, ac: float, n_trials: int = 6) -> None:
    e = entry("ceiling", name="nearest", label="Nearest neighbour", paper_row="none")

    def score(_e, _k, _weight, t: int) -> float:
        return ac + 0.002 * t

    scored(folder, "ceilings", "ceiling", [e], score, n_trials=n_trials)


# The published value is 0.921; the scores spread by 0.01 around ac + 0.005.
@pytest.mark.parametrize(
    ("ac", "above"),
    [(0.90, "clearly above"), (0.9145, "above every mean"), (0.95, "within reach")],
)
def test_values_above_every_classifier_with_labels_are_named(
    tmp_path: Path, ac: float, above: str
) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=5)
    ceiling_experiment(tmp_path, ac)
    comparison = compare(load_results(tmp_path))
    here = primary(comparison)
    here = here[(here["metric"] == "ac") & (here["n_clusters"] == 2)]
    kmeans = here[(here["row"] == "kmeans") & (here["dataset"] == "coil20")].iloc[0]
    assert kmeans["published"] == 0.921
    assert kmeans["beside_ceiling"] == above
    assert kmeans["ceiling"] == pytest.approx(ac + 0.005)
    assert set(here[here["dataset"] == "tdt2"]["beside_ceiling"]) == {""}
    results = load_results(tmp_path)
    page = write_comparison(comparison, results, tmp_path)[1].read_text()
    named = f"| {kmeans['ceiling']:.3f} (Nearest neighbour, best of 1) |"
    listed = [line for line in page.splitlines() if "K-means | 0.921 " + named in line]
    assert [line.endswith(f"| {above} |") for line in listed] == (
        [] if above == "within reach" else [True]
    )
    assert "evidence and not a proof" in page
    # A ceiling enters no table and no row.
    rows = collect(load_results(tmp_path), "ac")
    assert "Nearest neighbour" not in {row.title for row in rows}


def test_too_few_trials_make_no_ceiling(tmp_path: Path) -> None:
    ceiling_experiment(tmp_path, 0.5, n_trials=4)
    assert ceilings(load_results(tmp_path), "ac") == {}


def test_the_same_trials_are_listed_once(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=5)
    other = table_experiment(
        tmp_path, "coil20_shared", "coil20", (2,), n_trials=5, role="inner_products"
    )
    path = other / "trials.csv"
    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    twin = frame["method"] == "symmf_converged"
    keys = frame["key"].str.replace("coil20_shared", "coil20")
    frame.loc[twin, "key"] = keys[twin]
    frame.to_csv(path, index=False)
    comparison = compare(load_results(tmp_path))
    ours = comparison[
        (comparison["row"] == "ours")
        & (comparison["metric"] == "ac")
        & (comparison["n_good"] > 0)
    ]
    assert ours[["experiment", "method", "reading"]].values.tolist() == [
        ["coil20", "symmf", "primary"],
        ["coil20", "symmf_converged", "further"],
        ["coil20_shared", "symmf", "further"],
    ]
    assert ours["keys"].str.split().str.len().tolist() == [5, 5, 5]


def test_a_further_reading_never_stands_in_for_the_primary_one(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=5, skip=[("symmf", 2)])
    comparison = compare(load_results(tmp_path))
    here = comparison[
        (comparison["row"] == "ours")
        & (comparison["metric"] == "ac")
        & (comparison["dataset"] == "coil20")
        & (comparison["n_clusters"] == 2)
    ]
    assert here["reading"].tolist() == ["primary", "further"]
    assert here["verdict"].tolist()[0] == ValueVerdict.NOT_RUN


def test_every_published_value_has_one_primary_line(tmp_path: Path) -> None:
    table_experiment(tmp_path, fail=[("nmf", 2, t) for t in range(10)])
    comparison = compare(load_results(tmp_path))
    lines = primary(comparison)
    assert len(lines) == len(published_values()) == 216
    assert not lines.duplicated(["metric", "row", "dataset", "n_clusters"]).any()
    assert sum(counts(comparison).values()) == 216
    run = lines[lines["verdict"] != "not run"]
    assert set(run["dataset"]) == {"coil20"}
    assert len(run) == 2 * (9 * 3 - 1)
    failed = lines[(lines["row"] == "nmf") & (lines["dataset"] == "coil20")]
    failed = failed[failed["n_clusters"] == 2]
    assert set(failed["verdict"]) == {"not run"}
    assert set(failed["reason"]) == {"10 failed"}
    absent = lines[lines["dataset"] == "tdt2"]
    assert set(absent["command"]) == {"symmf run tdt2"}
    # The second reading of the proposed method follows; controls do not.
    further = comparison[comparison["reading"] == "further"]
    assert set(further["method"]) == {"symmf_converged"}
    assert by_row(comparison)["method"].tolist()[-1] == "Proposed"


def test_values_are_those_of_the_trials(tmp_path: Path) -> None:
    e = entry("kmeans")
    scores = [0.90, 0.92, 0.94]
    rows = [trial_row("coil20", "coil20", 2, t, e, ac) for t, ac in enumerate(scores)]
    config = {"name": "coil20", "role": "comparison", "dataset": "coil20",
              "n_clusters": [2], "trials": 4, "methods": [e]}  # fmt: skip
    write(tmp_path, config, rows)
    comparison = primary(compare(load_results(tmp_path)))
    line = comparison[
        (comparison["metric"] == "ac")
        & (comparison["row"] == "kmeans")
        & (comparison["n_clusters"] == 2)
        & (comparison["dataset"] == "coil20")
    ].iloc[0]
    assert line["published"] == 0.921
    assert line["mean"] == pytest.approx(0.92)
    assert line["std"] == pytest.approx(0.02)
    assert line["low"] <= line["mean"] <= line["high"]
    assert line["difference"] == pytest.approx(-0.001)
    assert (line["n_good"], line["n_total"], line["reason"]) == (3, 4, "1 not run")
    assert line["verdict"] == "too few trials"


def test_files_are_stable_and_complete(tmp_path: Path) -> None:
    table_experiment(tmp_path / "r", n_trials=3)
    texts = []
    for name in ("a", "b"):
        results = load_results(tmp_path / "r")
        paths = write_comparison(compare(results), results, tmp_path / name)
        texts.append([path.read_bytes() for path in paths])
    assert texts[0] == texts[1]
    frame = pd.read_csv(tmp_path / "a" / "compare.csv")
    assert (frame["reading"] == "primary").sum() == 216
    page = (tmp_path / "a" / "compare.md").read_text()
    assert "Of 216 published values" in page
    assert "## AC, TDT2" in page
    assert "nan" not in page


def test_nothing_run_is_216_times_not_run(tmp_path: Path) -> None:
    comparison = compare(load_results(tmp_path))
    assert counts(comparison) == {
        "close": 0, "not distinguishable": 0, "higher": 0, "lower": 0,
        "too few trials": 0,        "not run": 216,
    }  # fmt: skip
    assert comparison["mean"].map(lambda v: v is None or math.isnan(v)).all()
