"""The tables of an experiment: written from records, read by every command."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.stores import CONFIG, FACTS, filled, outcome
from hypothesis import given
from hypothesis import strategies as st

from symmf.errors import DataError
from symmf.experiment.config.grid import expand
from symmf.experiment.store.trials_table import (
    is_current,
    make_tables,
    read_tables,
    read_trials,
    thin,
    trial_columns,
    write_trials,
)
from symmf.experiment.values import Outcome, Record, Status
from symmf.metrics import METRICS, Metric


def write(store):
    write_trials(store, *store.finished())
    return store.folder / "trials.csv"


def row(found):
    """Return the row of an outcome, as it is made."""
    trial = expand(CONFIG, FACTS)[0]
    table, _ = make_tables([trial], {trial.key: Record(trial=trial, outcome=found)})
    return table.iloc[0]


def test_the_tables_have_the_promised_columns_order_and_floats(tmp_path):
    store = filled(tmp_path)
    path = write(store)
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    assert list(table.columns) == list(trial_columns())
    order = list(
        zip(table["n_clusters"], table["method"], table["lambda"], strict=True)
    )
    expected = [("b", "0.0"), ("b", "0.5"), ("a", "")]
    assert order == [(k, *m) for k in ("2", "10") for m in expected for _ in range(2)]
    assert set(table["seconds"]) == {"0.30000000000000004"}
    assert set(table["solver"]) == {"eigen"}
    assert set(table["matrix"]) == {"M: cosine, lambda 0.5"}
    assert set(table["attempts"]) == {"1"}
    assert table["classes"].iloc[-1] == "0 1 2 3 4 5 6 7 8 9"
    assert set(table["trial"]) == {"0", "1"}
    assert len(pd.read_csv(store.folder / "traces.csv")) == 8 * 5
    before = path.read_bytes()
    write(store)
    assert path.read_bytes() == before


def test_what_is_read_is_what_was_written(tmp_path):
    store = filled(tmp_path)
    made = read_tables(store.folder)
    assert not (store.folder / "trials.csv").exists()
    write(store)
    for one, two in zip(made, read_tables(store.folder), strict=True):
        pd.testing.assert_frame_equal(one, two, check_exact=True)
    trials = made[0]
    assert trials["n_clusters"].dtype == trials["trial"].dtype == int
    assert trials["n_iter"].dtype == trials["ac"].dtype == float
    assert trials["lambda"].isna().sum() == 4


def test_who_reads_sees_newer_records_and_writes_nothing(tmp_path):
    store = filled(tmp_path, 3)
    assert len(read_trials(store.folder)) == 3
    path = write(store)
    kept = path.read_text()
    filled(tmp_path)  # the others
    assert not is_current(store.folder)
    trials, traces = read_tables(store.folder)
    assert (len(trials), len(traces)) == (12, 8 * 5)
    assert path.read_text() == kept


def test_the_table_is_current_unless_a_record_or_the_description_is_newer(tmp_path):
    store = filled(tmp_path, n=2)
    assert not is_current(store.folder)
    path = write(store)
    assert is_current(store.folder)
    store.write(Record(trial=expand(CONFIG, FACTS)[5], outcome=outcome()))
    assert len(read_trials(store.folder)) == 3
    write(store)
    later = path.stat().st_mtime_ns + 10**9
    os.utime(store.folder / "experiment.yaml", ns=(later, later))
    assert not is_current(store.folder)
    # Without records there is nothing to make a table from.
    assert is_current(filled(tmp_path / "empty", n=0).folder)
    assert is_current(tmp_path / "absent")


def test_records_that_no_description_fits_leave_the_tables_as_they_are(tmp_path):
    store = filled(tmp_path, 3)
    write(store)
    (store.folder / "provenance.json").write_text("{")
    (store.folder / "records" / "later.h5").write_bytes(b"")
    problems = []
    assert len(read_trials(store.folder, problems)) == 3
    assert "may lack trials" in problems[0]
    with pytest.raises(DataError, match=r"provenance\.json is damaged"):
        read_trials(store.folder)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "No columns"),
        ("a,b\n1,2\n", "lacks the columns"),
        ("key\nx\n", "lacks the columns"),
        ("\0", "trials.csv is damaged"),
        ('"', "trials.csv is damaged"),
    ],
)
def test_a_damaged_table_gets_a_sentence(tmp_path, text, sentence):
    folder = filled(tmp_path, n=0).folder
    (folder / "trials.csv").write_text(text)
    with pytest.raises(DataError, match=sentence):
        read_trials(folder)
    problems = []
    assert list(read_trials(folder, problems).columns) == list(trial_columns())
    assert any(sentence in problem for problem in problems)


def test_rows_that_belong_nowhere_are_left_out_and_odd_cells_are_empty(tmp_path):
    store = filled(tmp_path)
    path = write(store)
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table.loc[0, "n_clusters"] = "many"
    table.loc[1, "ac"] = "7"
    table.loc[2, "seconds"] = "soon"
    table.drop(columns=["solver", "options"]).to_csv(path, index=False)
    shutil.rmtree(store.records_folder)  # from which the table would be made
    problems = []
    found = read_trials(store.folder, problems)
    assert len(found) == 10
    assert np.isnan(found["seconds"][0])
    assert set(found["solver"]) == {""}
    (problem,) = problems
    assert "2 of its rows are left out" in problem


def test_without_traces_there_is_no_trace_table(tmp_path):
    store = filled(tmp_path, n=0)
    (store.folder / "traces.csv").write_text("old")
    assert len(pd.read_csv(write(store))) == 0
    assert not (store.folder / "traces.csv").exists()


def test_records_of_another_config_stay_out_of_the_tables(tmp_path):
    store = filled(tmp_path)
    old = replace(expand(CONFIG, FACTS)[0], trial=99)
    store.write(Record(trial=old, outcome=outcome()))
    table = pd.read_csv(write(store))
    assert len(table) == 12
    assert old.key not in set(table["key"])


def test_a_failure_is_a_row_without_scores():
    found = row(Outcome(status=Status.FAILED, message="a\nb " + "x" * 999))
    assert found["status"] == "failed"
    assert found[["ac", "seconds", "n_iter"]].isna().all()
    assert found["message"].startswith("a b xxx")
    assert len(found["message"]) <= 300


def test_scores_are_those_of_the_stored_labels():
    # Of the labels 0 1 1 and the classes 0 0 1: two samples matched; AC is not 0.123.
    found = row(outcome(0.123))
    assert (found["ac"], found["silhouette"]) == (2 / 3, 1e-300)
    assert row(outcome(0.123, y=None))["ac"] == 0.123


def test_a_metric_added_later_appears_for_old_records(tmp_path, monkeypatch):
    store = filled(tmp_path)
    path = write(store)
    before = path.read_bytes()
    purity = Metric(name="purity", title="Purity", function=lambda y, _: len(y) / 4)
    monkeypatch.setitem(METRICS, "purity", purity)
    assert not is_current(store.folder)
    assert set(read_trials(store.folder)["purity"]) == {0.75}
    assert path.read_bytes() == before
    assert set(pd.read_csv(write(store))["purity"]) == {0.75}


def test_known_scores_are_used_only_if_no_metric_is_missing(monkeypatch):
    trial = expand(CONFIG, FACTS)[0]
    records = {trial.key: Record(trial=trial, outcome=outcome())}
    known = {trial.key: dict.fromkeys(METRICS, 0.25)}
    assert make_tables([trial], records, known)[0]["ac"].tolist() == [0.25]
    half = Metric(name="half", title="", function=lambda *_: 0.5)
    monkeypatch.setitem(METRICS, "half", half)
    table, _ = make_tables([trial], records, known)
    assert (table["ac"][0], table["half"][0]) == (2 / 3, 0.5)
    assert known[trial.key]["half"] == 0.5


def test_the_digest_of_labels_is_that_of_the_partition():
    def digest(found):
        y = np.zeros(len(found), dtype=int)
        return row(outcome(labels=np.array(found), y=y))["labels_sha256"]

    # By size, ties by first occurrence: the clusters 9, 4 and 7 become 0, 1 and 2.
    expected = b"".join(i.to_bytes(8, "little") for i in (1, 0, 0, 2))
    assert digest([4, 9, 9, 7]) == hashlib.sha256(expected).hexdigest()
    assert digest([0, 1, 1, 2]) == digest([4, 9, 9, 7]) != digest([0, 1, 2, 1])
    assert row(Outcome(status=Status.DIED))["labels_sha256"] == ""


@given(st.integers(0, 5000))
def test_thinning_keeps_first_and_last_in_order(n):
    kept = thin(n)
    assert len(kept) <= 200
    assert kept == sorted(set(kept))
    assert kept[:1] == list(range(n))[:1]
    assert kept[-1:] == list(range(n))[-1:]
