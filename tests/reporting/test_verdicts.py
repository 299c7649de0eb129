from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from made_results import entry, table_experiment, trial_row, write

from symmf.paper.values import published_values
from symmf.reporting.results import load_results
from symmf.reporting.verdicts.values import (
    TOLERANCE,
    by_row,
    compare,
    counts,
    decide,
    primary,
    write_comparison,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("published", "mean", "low", "high", "verdict"),
    [
        (0.80, 0.78, 0.70, 0.85, "reproduced"),  # inside the interval
        (0.80, 0.80 + TOLERANCE, 0.815, 0.83, "reproduced"),  # within the tolerance
        (0.80, 0.83, 0.8004, 0.84, "reproduced"),  # inside but for rounding
        (0.80, 0.83, 0.81, 0.84, "higher"),
        (0.80, 0.70, 0.65, 0.75, "lower"),
        (0.80, 0.79, NAN, NAN, "reproduced"),  # one trial: tolerance only
        (0.80, 0.60, NAN, NAN, "lower"),
        (0.80, NAN, NAN, NAN, "not run"),
    ],
)
def test_verdict(published, mean, low, high, verdict) -> None:
    assert decide(published, mean, low, high) == verdict


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
    assert set(absent["command"]) == {"symmf run configs/tdt2.yaml"}
    # The second reading of the proposed method follows; controls do not.
    further = comparison[comparison["reading"] == "further"]
    assert set(further["method"]) == {"symmf_converged"}
    assert by_row(comparison)["method"].tolist()[-1] == "Ours"


def test_values_are_those_of_the_trials(tmp_path: Path) -> None:
    e = entry("kmeans")
    scores = [0.90, 0.92, 0.94]
    rows = [trial_row("coil20", "coil20", 2, t, e, ac) for t, ac in enumerate(scores)]
    config = {"name": "coil20", "dataset": "coil20", "n_clusters": [2], "trials": 4,
              "methods": [e]}  # fmt: skip
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
    assert line["verdict"] == "reproduced"


def test_files_are_stable_and_complete(tmp_path: Path) -> None:
    table_experiment(tmp_path / "r", n_trials=3)
    texts = []
    for name in ("a", "b"):
        comparison = compare(load_results(tmp_path / "r"))
        texts.append(
            [p.read_bytes() for p in write_comparison(comparison, tmp_path / name)]
        )
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
        "reproduced": 0, "higher": 0, "lower": 0, "not run": 216,
    }  # fmt: skip
    assert comparison["mean"].map(lambda v: v is None or math.isnan(v)).all()
