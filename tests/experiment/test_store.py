"""Records, their folder, its lock and its tables."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO

import h5py
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from test_grid import SAMPLE

from symmf.common import files
from symmf.errors import InputError, SymmfError
from symmf.experiment.config.grid import Facts, expand
from symmf.experiment.config.model import ExperimentConfig
from symmf.experiment.events import Event, EventLog
from symmf.experiment.replay import compare
from symmf.experiment.store import record_file
from symmf.experiment.store.export import (
    csv_text,
    export_store,
    frames,
    thin,
)
from symmf.experiment.store.folder import (
    ExperimentStore,
    list_experiments,
)
from symmf.experiment.store.layout import trial_columns
from symmf.experiment.store.lock import FolderLock, is_locked
from symmf.experiment.store.record_file import (
    BrokenRecordError,
    from_bytes,
    to_bytes,
)
from symmf.experiment.store.tables import is_behind, read_mapping, table_texts
from symmf.experiment.values import Outcome, Record, Status
from symmf.metrics import METRICS, Metric

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
            "scores": {"ac": value, "silhouette": 1e-300},
            "seconds": 0.1 + 0.2,
            "solver": "eigen",
            "matrix": "M: cosine, lambda 0.5",
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


def test_the_bytes_of_a_record_do_not_depend_on_the_clock():
    record = Record(trial=SAMPLE, outcome=outcome())
    before = to_bytes(record)
    time.sleep(1.1)
    assert to_bytes(record) == before


def test_records_are_written_so_that_every_hdf5_since_1_10_reads_them():
    # The superblock's version: 2 and above need HDF5 1.8, and images made with the
    # latest format were not readable before HDF5 2.0.
    assert to_bytes(Record(trial=SAMPLE, outcome=outcome()))[8] == 0


def test_a_record_of_an_earlier_version_is_read(monkeypatch):
    monkeypatch.delitem(record_file._KINDS, "solver")
    monkeypatch.delitem(record_file._KINDS, "matrix")
    monkeypatch.delitem(record_file._KINDS, "attempts")
    content = to_bytes(Record(trial=SAMPLE, outcome=outcome()))
    monkeypatch.undo()
    found = from_bytes(content).outcome
    assert (found.solver, found.matrix, found.attempts) == ("", "", 1)
    assert found.seconds == 0.1 + 0.2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("status", "splendid"),
        ("message", 5),
        ("seconds", "long"),
        ("seconds", True),
        ("n_iter", 1.5),
        ("warnings", "one"),
        ("warnings", [1]),
        ("scores", [0.5]),
        ("scores", {"ac": "high"}),
        ("attempts", None),
        ("labels", np.zeros((3, 1))),
        ("labels", np.zeros(2, dtype=int)),
        ("labels", np.array([b"a", b"b", b"c"])),
    ],
)
def test_odd_content_under_a_right_checksum_is_no_record(name, value):
    odd = outcome()
    object.__setattr__(odd, name, value)
    with pytest.raises(BrokenRecordError):
        from_bytes(to_bytes(Record(trial=SAMPLE, outcome=odd)))


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=4))
def test_any_json_under_a_right_checksum_is_no_record(value):
    content = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
    arrays = {"format": np.array(1), "json": content}
    image = record_file._image(arrays)
    with pytest.raises(BrokenRecordError):
        from_bytes(image + hashlib.sha256(image).digest())


def test_a_record_stored_elsewhere_is_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(8)))
    path = tmp_path / "record.h5"
    whole = to_bytes(Record(trial=SAMPLE, outcome=outcome()))
    path.write_bytes(whole[:-32])
    with h5py.File(path, "r+") as file:
        del file["labels"]
        external = [(str(secret), 0, h5py.h5f.UNLIMITED)]
        file.create_dataset("labels", (3,), np.uint8, external=external)
    image = path.read_bytes()
    with pytest.raises(BrokenRecordError, match="stored elsewhere"):
        from_bytes(image + hashlib.sha256(image).digest())
    with h5py.File(path, "r+") as file:
        del file["labels"]
        file["labels"] = h5py.ExternalLink(str(secret), "/labels")
    image = path.read_bytes()
    with pytest.raises(BrokenRecordError, match="is a link"):
        from_bytes(image + hashlib.sha256(image).digest())


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_set_aside_as_often_as_needed(tmp_path, caplog, make):
    store = filled(tmp_path, n=1)
    (key,) = store.list_keys()
    record = store.read(key)
    for number in range(1, 4):
        store.path(key).unlink()
        make(store.path(key))  # reading a FIFO would wait for ever
        assert store.read(key) is None
        store.set_aside(key)
        assert len(list(store.records_folder.glob("*.broken*"))) == number
        store.write(record)
        assert store.read(key) is not None
    assert "it is not a file" in caplog.text
    store.set_aside(key)
    make(store.path(key))
    store.discard(key)
    assert not store.path(key).exists()


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


def test_links_planted_under_the_names_of_lock_and_log_are_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in ("run.lock", "events.jsonl"):
        (tmp_path / name).symlink_to(victim)
    path = re.escape(str(tmp_path / "run.lock"))
    with pytest.raises(SymmfError, match=path), FolderLock(tmp_path):
        pass
    log = EventLog(tmp_path)
    log(Event(kind="notice", experiment="x"))
    log.close()
    assert victim.read_text() == "precious"
    assert not is_locked(tmp_path)


def test_a_full_disk_at_lock_log_and_description_is_a_sentence(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    store = ExperimentStore(tmp_path / "study")
    store.prepare()
    log = EventLog(store.folder)
    monkeypatch.setattr("os.pwrite", full)
    path = re.escape(str(store.folder / "run.lock"))
    with (
        pytest.raises(SymmfError, match=f"{path} could not be written: No space"),
        FolderLock(store.folder),
    ):
        pass
    assert not is_locked(store.folder)
    monkeypatch.setattr(files, "_write_all", full)
    path = re.escape(str(store.folder / "provenance.json"))
    with pytest.raises(SymmfError, match=f"{path} could not be written: No space"):
        store.write_description(CONFIG, FACTS, {})
    monkeypatch.setattr("os.write", full)
    log(Event(kind="notice", experiment="x"))  # ends the log, not the run
    log(Event(kind="notice", experiment="x"))
    monkeypatch.undo()
    left = sorted(p.name for p in store.folder.iterdir())
    assert left == ["events.jsonl", "records", "run.lock"]


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
    assert set(table["seconds"]) == {"0.30000000000000004"}
    assert set(table["solver"]) == {"eigen"}
    assert set(table["matrix"]) == {"M: cosine, lambda 0.5"}
    assert set(table["attempts"]) == {"1"}
    assert table["classes"].iloc[-1] == "0 1 2 3 4 5 6 7 8 9"
    assert set(table["trial"]) == {"0", "1"}
    traces = pd.read_csv(store.folder / "traces.csv")
    assert len(traces) == 8 * 5
    before = (store.folder / "trials.csv").read_bytes()
    export_store(store)
    assert (store.folder / "trials.csv").read_bytes() == before


def test_who_reads_sees_newer_records_and_writes_nothing(tmp_path):
    store = filled(tmp_path, 3)
    problems: list[str] = []
    assert len(table_texts(store.folder, problems)["trials.csv"].splitlines()) == 4
    assert not (store.folder / "trials.csv").exists()
    export_store(store)
    kept = (store.folder / "trials.csv").read_text()
    assert table_texts(store.folder, problems)["trials.csv"] == kept
    filled(tmp_path)  # the others
    texts = table_texts(store.folder, problems)
    assert len(texts["trials.csv"].splitlines()) == 13
    assert len(texts["traces.csv"].splitlines()) == 1 + 8 * 5
    assert (store.folder / "trials.csv").read_text() == kept
    assert problems == []


def test_records_that_no_description_fits_leave_the_tables_as_they_are(tmp_path):
    store = filled(tmp_path, 3)
    export_store(store)
    kept = (store.folder / "trials.csv").read_text()
    (store.folder / "provenance.json").write_text("{")
    filled_later = store.folder / "records" / "later.h5"
    filled_later.write_bytes(b"")
    problems: list[str] = []
    assert table_texts(store.folder, problems)["trials.csv"] == kept
    assert "could not be brought up to date with its records" in problems[0]


@pytest.mark.parametrize(
    "text", ["[1, 2]", "{", '{"a": ' * 5000, "\x00", "a: &a [*a]", "\ud800"]
)
def test_a_description_nobody_can_read_is_left_out(tmp_path, text):
    for name in ("experiment.yaml", "provenance.json"):
        problems: list[str] = []
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        assert read_mapping(path, problems) == {}
        assert problems == [f"{tmp_path.name}/{name} could not be read; left out."]


def test_a_failure_is_a_row_without_scores():
    trial = expand(CONFIG, FACTS)[0]
    failed = Outcome(status=Status.FAILED, message="a\nb " + "x" * 999, traceback="T")
    table, traces = frames([trial], {trial.key: Record(trial=trial, outcome=failed)})
    row = pd.read_csv(StringIO(csv_text(table)), keep_default_na=False).iloc[0]
    assert row["status"] == "failed"
    assert row["ac"] == row["seconds"] == row["n_iter"] == ""
    assert row["message"].startswith("a b xxx")
    assert len(row["message"]) <= 300
    assert traces.empty


def test_scores_are_those_of_the_stored_labels():
    trial = expand(CONFIG, FACTS)[0]
    record = Record(trial=trial, outcome=outcome(0.123))
    table, _ = frames([trial], {trial.key: record})
    # Of the labels 0 1 1 and the classes 0 0 1: two samples matched; AC is not 0.123.
    assert table["ac"].tolist() == [2 / 3]
    assert table["silhouette"].tolist() == [1e-300]
    without = Record(trial=trial, outcome=outcome(0.123, y=None))
    table, _ = frames([trial], {trial.key: without})
    assert table["ac"].tolist() == [0.123]


def test_a_metric_added_later_appears_for_old_records(tmp_path, monkeypatch):
    store = filled(tmp_path)
    export_store(store)
    assert not is_behind(store.folder)
    before = {path: path.read_bytes() for path in store.folder.rglob("*.*")}
    purity = Metric(name="purity", title="Purity", function=lambda y, _: len(y) / 4)
    monkeypatch.setitem(METRICS, "purity", purity)
    assert is_behind(store.folder)
    tables = table_texts(store.folder, [])
    found = pd.read_csv(StringIO(tables["trials.csv"]))
    assert list(found.columns) == list(trial_columns())
    assert set(found["purity"]) == {0.75}
    assert tables["traces.csv"] == before[store.folder / "traces.csv"].decode()
    # A reading command has written nothing; the next run will.
    assert {path: path.read_bytes() for path in before} == before
    export_store(store)
    assert (store.folder / "trials.csv").read_text() == tables["trials.csv"]


def test_known_scores_are_used_only_if_no_metric_is_missing(monkeypatch):
    trial = expand(CONFIG, FACTS)[0]
    records = {trial.key: Record(trial=trial, outcome=outcome())}
    known = {trial.key: dict.fromkeys(METRICS, 0.25)}
    assert frames([trial], records, known)[0]["ac"].tolist() == [0.25]
    half = Metric(name="half", title="", function=lambda *_: 0.5)
    monkeypatch.setitem(METRICS, "half", half)
    table, _ = frames([trial], records, known)
    assert (table["ac"][0], table["half"][0]) == (2 / 3, 0.5)
    assert known[trial.key]["half"] == 0.5


def test_the_digest_of_labels_is_that_of_the_partition():
    trial = expand(CONFIG, FACTS)[0]

    def digest(found):
        found = outcome(labels=np.array(found), y=np.zeros(len(found), dtype=int))
        table, _ = frames([trial], {trial.key: Record(trial=trial, outcome=found)})
        return table["labels_sha256"][0]

    # By size, ties by first occurrence: the clusters 9, 4 and 7 become 0, 1 and 2.
    expected = b"".join(i.to_bytes(8, "little") for i in (1, 0, 0, 2))
    assert digest([4, 9, 9, 7]) == hashlib.sha256(expected).hexdigest()
    assert digest([0, 1, 1, 2]) == digest([4, 9, 9, 7]) != digest([0, 1, 2, 1])
    failed = Record(trial=trial, outcome=Outcome(status=Status.DIED))
    assert frames([trial], {trial.key: failed})[0]["labels_sha256"].tolist() == [""]


def test_tables_are_stale_when_a_record_or_the_description_is_newer(tmp_path):
    store = filled(tmp_path, n=2)
    assert is_behind(store.folder)
    export_store(store)
    assert not is_behind(store.folder)
    store.write(Record(trial=expand(CONFIG, FACTS)[5], outcome=outcome()))
    assert len(pd.read_csv(StringIO(table_texts(store.folder, [])["trials.csv"]))) == 3
    export_store(store)
    later = (store.folder / "trials.csv").stat().st_mtime_ns + 10**9
    os.utime(store.folder / "experiment.yaml", ns=(later, later))
    assert is_behind(store.folder)
    # Without records there is nothing to make tables from.
    assert not is_behind(filled(tmp_path / "empty", n=0).folder)
    assert not is_behind(tmp_path / "absent")


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


def test_experiments_are_found(tmp_path):
    filled(tmp_path)
    (tmp_path / "tables").mkdir()
    assert [found.name for found in list_experiments(tmp_path)] == ["study"]
    assert list_experiments(tmp_path / "absent") == []


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
