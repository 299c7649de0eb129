"""How far verdicts rest on choices, and what a cell can show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.made_results import entry, table_experiment, trial_row, write
from scipy import stats
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

from symmf.paper.values import published_values
from symmf.reporting.plots.registry import draw
from symmf.reporting.results import load_results
from symmf.reporting.verdicts.claims import CLAIMS
from symmf.reporting.verdicts.sensitivity import (
    INTERVALS,
    cell_levels,
    claim_sensitivity,
    t_interval,
    value_sensitivity,
    write_sensitivity,
)
from symmf.reporting.verdicts.values import ValueVerdict


def test_t_intervals_are_those_of_scipy() -> None:
    values = [0.1, 0.4, 0.35, 0.8]
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert t_interval(values) == pytest.approx(tuple(expected))
    both = stats.ttest_ind(values, values).confidence_interval()
    moved = np.mean(values) + np.array([both.low, both.high])
    assert t_interval(values, 2) == pytest.approx(tuple(moved))


def test_every_interval_judges_every_value_once(tmp_path: Path) -> None:
    table_experiment(tmp_path, n_trials=6)
    table = value_sensitivity(load_results(tmp_path))
    shown = table.frame.set_index("interval")
    values = published_values()
    n_values = int((values["dataset"] == "coil20").sum())
    for name in INTERVALS:
        assert shown.loc[name].sum() == n_values
    # A wider interval can only turn higher and lower into not distinguishable.
    unclear = shown.loc[list(INTERVALS), str(ValueVerdict.UNCLEAR)].astype(int)
    assert unclear.is_monotonic_increasing
    low, high = shown.iloc[-1][str(ValueVerdict.LOWER)].split(" to ")
    assert int(low) <= int(high) <= n_values


def test_more_trials_than_the_paper_are_set_beside_as_many(tmp_path: Path) -> None:
    table_experiment(tmp_path / "ten", n_trials=10)
    table_experiment(tmp_path / "thirty", n_trials=30)
    few = "as reported, the first 10 trials of each cell"
    ten, thirty = (
        value_sensitivity(load_results(tmp_path / name)).frame["interval"].tolist()
        for name in ("ten", "thirty")
    )
    assert few not in ten
    assert few in thirty


def test_claims_are_counted_in_both_settings(tmp_path: Path) -> None:
    table_experiment(tmp_path, n_trials=6)
    rows = claim_sensitivity(load_results(tmp_path)).rows
    totals = {name: sum(map(int, counts)) for name, *counts in rows}
    n_claims = sum(not claim.proved for claim in CLAIMS)
    assert totals["the paper's own setting"] == n_claims
    assert totals["both merged (not reported)"] == n_claims


def test_levels_of_a_cell_come_from_its_trials(tmp_path: Path) -> None:
    # Ten random partitions: their mean NMI is what chance gives.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [90, 30])
    entries = [entry("symmf"), entry("kmeans")]
    rows = []
    for t in range(10):
        for e in entries:
            labels = rng.permutation(y)
            scores = {"nmi": normalized_mutual_info_score(y, labels)}
            scores["ami"] = adjusted_mutual_info_score(y, labels)
            rows.append(trial_row("coil20", "coil20", 2, t, e, 0.5, **scores))
    config = {"name": "coil20", "role": "comparison", "dataset": "coil20",
              "n_clusters": [2], "trials": 10, "methods": entries}  # fmt: skip
    write(tmp_path, config, rows, sizes=(1440, 1024, 20))
    line = cell_levels(load_results(tmp_path)).frame.iloc[0]
    many = [normalized_mutual_info_score(y, rng.permutation(y)) for _ in range(2000)]
    assert line["chance_nmi"] == pytest.approx(np.mean(many), rel=0.1)
    assert line["largest_class"] == 0.5  # two classes of one size
    assert np.isnan(line["smallest_ac"])  # copies of one number show nothing


def test_everything_is_written(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2, 10, 20), n_trials=6)
    paths = write_sensitivity(load_results(tmp_path), tmp_path / "verdicts")
    names = {path.name for path in paths}
    tables = {"sensitivity.csv", "claim_sensitivity.csv", "levels.csv"}
    assert names == {"sensitivity.md", *tables}
    page = (tmp_path / "verdicts" / "sensitivity.md").read_text()
    assert "What a cell can show" in page


def test_every_trial_is_a_point_of_the_envelope(tmp_path: Path) -> None:
    table_experiment(tmp_path, ks=(2,), n_trials=6)
    results = load_results(tmp_path)
    (drawing,) = draw("envelope", results).drawings
    good = results.experiments[0].trials["status"] == "ok"
    assert len(drawing.data) == good.sum()
    assert not draw("envelope", load_results(tmp_path / "nothing")).drawings
