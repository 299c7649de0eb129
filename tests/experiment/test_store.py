"""Records, their folder, its lock and its tables."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from test_grid import SAMPLE

from symmf import files
from symmf.errors import InputError
from symmf.experiment.config.grid import Facts, expand
from symmf.experiment.config.model import ExperimentConfig
from symmf.experiment.replay import compare
from symmf.experiment.store.export import export_store, frames, thin, write_csv
from symmf.experiment.store.folder import (
    ExperimentStore,
    find_record,
    list_experiments,
)
from symmf.experiment.store.layout import TRACE_COLUMNS, trial_columns
from symmf.experiment.store.lock import FolderLock, is_locked
from symmf.experiment.store.record_file import (
    BrokenRecordError,
    from_bytes,
    to_bytes,
)
from symmf.experiment.values import Outcome, Record, Status

CONFIG = ExperimentConfig.model_validate(
    {
        "name": "study",
        "dataset": "d",
        "n_clusters": [10, 2],
        "trials": 2,
        "methods": [
            {"method": "symmf", "name": "b", "lambda": [0.5, 0.0]},
            {"method": "kmeans", "name": "a"},
        ],
    }
)
FACTS = Facts(
    data_digest="dd",
    n_samples=20,
    n_features=3,
    class_sizes=(2,) * 10,
    defaults={"a": {"n_init": 1}, "b": {"tol": 0.1}},
)


def outcome(value=0.5, **given):
    return Outcome(
        **{
            "status": Status.OK,
            "started": "2022-01-01T00:00:00.000+00:00",
            "labels": np.array([0, 1, 1]),
            "y": np.array([0, 0, 1]),
            "scores": {"ac": value, "nmi": 0.1 + 0.2, "nmi_max": 1e-300, "ari": -0.0},
            "seconds": 0.1,
            "n_samples": 3,
            "n_iter": 4,
            **given,
        }
    )


def filled(folder, n=None):
    """Make a store with a described experiment and records for its first n trials."""
    store = ExperimentStore(folder / "study")
    store.prepare()
    origin = {"data_digest": "dd", "config_digest": CONFIG.digest()}
    store.write_description(CONFIG, FACTS, origin)
    for i, trial in enumerate(expand(CONFIG, FACTS)[:n]):
        trace = np.geomspace(1, 0.1, 5) if trial.method == "b" else None
        record = Record(
            trial=trial, outcome=outcome(i / 7, error=trace), provenance=origin
        )
        store.write(record)
    return store


# Records

floats = arrays.arrays(np.float64, st.integers(0, 9))
labels = arrays.arrays(np.int64, st.integers(0, 9), elements=st.integers(-1, 70_000))


@given(labels, floats, st.none() | floats, st.text(), st.floats(allow_nan=False))
def test_a_record_reads_back_to_the_same_bits(found, error, split, message, score):
    record = Record(
        trial=SAMPLE,
        outcome=Outcome(
            status=Status.OK,
            message=message,
            labels=found,
            y=found,
            error=error,
            split_error=split,
            scores={"ac": score},
        ),
        provenance={"a": ["é", None, 1.5]},
    )
    again = from_bytes(to_bytes(record))
    assert again.trial == record.trial
    assert again.provenance == record.provenance
    assert not compare(record.outcome, again.outcome)
    assert again.outcome.message == message
    assert to_bytes(again) == to_bytes(record)


def test_h5py_reads_a_record_file(tmp_path):
    import h5py

    path = tmp_path / "record.h5"
    path.write_bytes(to_bytes(Record(trial=SAMPLE, outcome=outcome())))
    with h5py.File(path) as file:
        assert file["labels"][()].tolist() == [0, 1, 1]


def test_a_truncated_or_damaged_record_is_told_from_a_whole_one():
    content = to_bytes(Record(trial=SAMPLE, outcome=outcome()))
    for length in {0, 1, 31, 32, 33, len(content) // 2, len(content) - 1}:
        with pytest.raises(BrokenRecordError):
            from_bytes(content[:length])
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 1
        with pytest.raises(BrokenRecordError):
            from_bytes(bytes(damaged))
    with pytest.raises(BrokenRecordError):
        from_bytes(bytes(len(content)))


def test_a_broken_record_counts_as_missing(tmp_path, caplog):
    store = filled(tmp_path)
    key = store.list_keys()[0]
    store.path(key).write_bytes(b"torn")
    assert store.read(key) is None
    assert "counts as missing" in caplog.text
    store.set_aside(key)
    assert key not in store.list_keys()
    assert store.read("0" * 64) is None


def test_a_record_under_another_name_counts_as_missing(tmp_path):
    store = filled(tmp_path)
    one, two, *_ = store.list_keys()
    store.path(one).write_bytes(store.path(two).read_bytes())
    assert store.read(one) is None


# Files


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    files.write_atomically(path, "old")

    def full(handle, data):
        os.write(handle, data[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_write_all", full)
    with pytest.raises(OSError, match="No space"):
        files.write_atomically(path, "new content")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_stale_temporaries_go_and_those_of_the_living_stay(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    stale = tmp_path / f".record.h5.{ended.pid}.tmp"
    living = tmp_path / f".record.h5.{os.getppid()}.tmp"
    other = tmp_path / "notes.tmp"
    for path in (stale, living, other):
        path.write_text("x")
    assert files.remove_stale_temporaries(tmp_path) == 1
    assert not stale.exists()
    assert living.exists()
    assert other.exists()


def test_a_folder_that_cannot_be_written_is_explained(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written .* --results"):
        files.make_writable(tmp_path / "file" / "results")


# The lock

HOLD = """
import sys, time
from pathlib import Path
from symmf.experiment.store.lock import FolderLock
with FolderLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_names_its_holder_and_dies_with_it(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with holder:
        try:
            assert holder.stdout.readline() == b"held\n"
            assert is_locked(tmp_path)
            with (
                pytest.raises(InputError, match=f"process {holder.pid} on .* since"),
                FolderLock(tmp_path),
            ):
                pass
        finally:
            holder.send_signal(signal.SIGKILL)
    assert not is_locked(tmp_path)
    with FolderLock(tmp_path):
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)


# Tables


def test_the_tables_have_the_promised_columns_order_and_floats(tmp_path):
    store = filled(tmp_path)
    export_store(store)
    table = pd.read_csv(store.folder / "trials.csv", keep_default_na=False, dtype=str)
    assert list(table.columns) == list(trial_columns())
    order = list(
        zip(table["n_clusters"], table["method"], table["lambda"], strict=True)
    )
    expected = [("b", "0.0"), ("b", "0.5"), ("a", "")]
    assert order == [(k, *m) for k in ("2", "10") for m in expected for _ in range(2)]
    assert set(table["nmi"]) == {"0.30000000000000004"}
    assert set(table["nmi_max"]) == {"1e-300"}
    assert table["classes"].iloc[-1] == "0 1 2 3 4 5 6 7 8 9"
    assert set(table["trial"]) == {"0", "1"}
    traces = pd.read_csv(store.folder / "traces.csv")
    assert len(traces) == 8 * 5
    before = (store.folder / "trials.csv").read_bytes()
    export_store(store)
    assert (store.folder / "trials.csv").read_bytes() == before


def test_the_columns_are_those_that_reports_read():
    from symmf.reporting import results as frame

    for read, written in (
        (frame.TRIAL_COLUMNS, trial_columns()),
        (frame.TRACE_COLUMNS, TRACE_COLUMNS),
    ):
        assert [column for column in written if column in read] == list(read)


def test_a_failure_is_a_row_without_scores(tmp_path):
    store = filled(tmp_path)
    trial = expand(CONFIG, FACTS)[0]
    failed = Outcome(status=Status.FAILED, message="a\nb " + "x" * 999, traceback="T")
    table, traces = frames([trial], {trial.key: Record(trial=trial, outcome=failed)})
    write_csv(store.folder / "x.csv", table)
    row = pd.read_csv(store.folder / "x.csv", keep_default_na=False).iloc[0]
    assert row["status"] == "failed"
    assert row["ac"] == row["seconds"] == row["n_iter"] == ""
    assert row["message"].startswith("a b xxx")
    assert len(row["message"]) <= 300
    assert traces.empty


def test_without_traces_there_is_no_trace_table(tmp_path):
    store = filled(tmp_path, n=0)
    (store.folder / "traces.csv").write_text("old")
    export_store(store)
    assert not (store.folder / "traces.csv").exists()
    assert len(pd.read_csv(store.folder / "trials.csv")) == 0


@given(st.integers(0, 5000))
def test_thinning_keeps_first_and_last_in_order(n):
    kept = thin(n)
    assert len(kept) <= 200
    assert kept == sorted(set(kept))
    assert kept[:1] == list(range(n))[:1]
    assert kept[-1:] == list(range(n))[-1:]


# Finding things


def test_experiments_and_records_are_found(tmp_path):
    store = filled(tmp_path)
    (tmp_path / "tables").mkdir()
    assert [found.name for found in list_experiments(tmp_path)] == ["study"]
    assert list_experiments(tmp_path / "absent") == []
    key = store.list_keys()[0]
    assert find_record(tmp_path, key[:20])[1].key == key
    for prefix in ("zz", ""):
        with pytest.raises(InputError, match="No record"):
            find_record(tmp_path, prefix)
    many = {key[:1] for key in store.list_keys()}
    if len(many) < len(store.list_keys()):
        crowded = max(many, key=lambda c: sum(k[0] == c for k in store.list_keys()))
        with pytest.raises(InputError, match="Give more of it"):
            find_record(tmp_path, crowded)
    store.path(key).write_bytes(b"")
    with pytest.raises(InputError, match="damaged"):
        find_record(tmp_path, key)


def test_the_stored_grid_needs_no_estimators(tmp_path):
    store = filled(tmp_path)
    assert store.trials() == expand(CONFIG, FACTS)
    assert store.config() == CONFIG


def test_records_of_another_config_stay_out_of_the_tables(tmp_path):
    store = filled(tmp_path)
    old = replace(expand(CONFIG, FACTS)[0], trial=99)
    store.write(Record(trial=old, outcome=outcome()))
    export_store(store)
    table = pd.read_csv(store.folder / "trials.csv")
    assert len(table) == 12
    assert old.key not in set(table["key"])
