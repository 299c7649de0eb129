"""Records, their folder and its lock."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from helpers.stores import CONFIG, FACTS, SAMPLE, filled, outcome
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from symmf.common import files
from symmf.errors import DataError, InputError, SymmfError
from symmf.experiment.config.grid import expand
from symmf.experiment.plan import make_plans
from symmf.experiment.recorder import Journal, Recorder
from symmf.experiment.store import folder
from symmf.experiment.store.folder import (
    ExperimentStore,
    list_experiments,
)
from symmf.experiment.store.lock import FolderLock, is_locked
from symmf.experiment.store.record_file import from_bytes, read_record, to_bytes
from symmf.experiment.store.trials_table import read_trials
from symmf.experiment.values import Job, Outcome, Record, Status

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
    assert again.outcome.message == message
    np.testing.assert_array_equal(again.outcome.labels, found, strict=True)
    np.testing.assert_array_equal(again.outcome.error, error, strict=True)
    assert to_bytes(again) == to_bytes(record)


def test_h5py_reads_a_record_file(tmp_path):
    path = tmp_path / "record.h5"
    path.write_bytes(to_bytes(Record(trial=SAMPLE, outcome=outcome())))
    with h5py.File(path) as file:
        assert file["labels"][()].tolist() == [0, 1, 1]


def test_a_truncated_or_damaged_record_is_told_from_a_whole_one(tmp_path):
    path = tmp_path / f"{SAMPLE.key}.h5"
    content = to_bytes(Record(trial=SAMPLE, outcome=outcome()))
    path.write_bytes(content)
    assert read_record(path).key == SAMPLE.key
    lengths = {0, 1, 31, 32, 33, len(content) // 2, len(content) - 1}
    contents = [content[:length] for length in lengths] + [bytes(len(content))]
    for place in range(0, len(content), 97):
        contents.append(content[:place] + bytes([content[place] ^ 1]))
        contents[-1] += content[place + 1 :]
    for damaged in contents:
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="is damaged: its checksum does not match"):
            read_record(path)


def test_a_damaged_record_counts_as_missing_and_is_set_aside(tmp_path, caplog):
    store = filled(tmp_path, n=1)
    (key,) = store.list_keys()
    content = store.path(key).read_bytes()
    for number in (1, 2):
        store.path(key).write_bytes(b"torn")
        assert store.read(key) is None
        store.set_aside(key)
        assert store.list_keys() == []
        assert len(list(store.records_folder.glob("*.broken*"))) == number
    assert "counts as missing" in caplog.text
    caplog.clear()
    assert store.read(key) is None
    assert caplog.text == ""
    store.path("0" * 64).write_bytes(content)
    assert store.read("0" * 64) is None
    assert "the record of another trial" in caplog.text


def test_the_bytes_of_a_record_do_not_depend_on_the_clock():
    record = Record(trial=SAMPLE, outcome=outcome())
    before = to_bytes(record)
    time.sleep(1.1)
    assert to_bytes(record) == before


def test_records_are_written_so_that_every_hdf5_since_1_10_reads_them():
    # The superblock's version: 2 and above need HDF5 1.8, and images made with the
    # latest format were not readable before HDF5 2.0.
    assert to_bytes(Record(trial=SAMPLE, outcome=outcome()))[8] == 0


# Files


def kept_records(tmp_path, count):
    """Return a store in use, its recorder, and what keeps a number of records."""
    config = tmp_path / "tiny.yaml"
    config.write_text(
        "dataset: {name: synthetic, kind: planted, n: 60, k: 4, m: 8}\n"
        f"n_clusters: 2\ntrials: {count}\nmethods: [kmeans]\n"
    )
    (plan,) = make_plans([config], results=tmp_path)
    plan.store.prepare()
    recorder = Recorder(plan)
    for trial in plan.trials:
        job = Job(trial=trial, estimator=None, sources=())
        recorder.keep(job, outcome(), {})
    return plan.store, recorder


def test_a_refresh_brings_records_to_the_disk_before_the_tables(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(folder, "sync_to_disk", synced.append)
    store, recorder = kept_records(tmp_path, 3)
    # Without it another process reads them already.
    assert synced == []
    records = [store.path(key) for key in store.list_keys()]
    assert len([read_record(path) for path in records]) == 3
    recorder.refresh()
    assert set(synced[:-1]) == set(records)
    assert len(synced) == 4
    # The folder that names them, when all are there.
    assert synced[-1] == store.records_folder
    assert len(read_trials(store.folder)) == 3
    recorder.refresh()
    assert len(synced) == 4


def test_a_disk_that_fails_is_told_in_a_sentence(tmp_path, monkeypatch):
    def fail(_):
        raise OSError(errno.EIO, "Input/output error")

    store, recorder = kept_records(tmp_path, 1)
    (key,) = store.list_keys()
    monkeypatch.setattr(folder, "sync_to_disk", fail)
    with pytest.raises(SymmfError, match=f"{key}.h5 could not be written: Input"):
        recorder.refresh()


def test_a_record_removed_before_a_refresh_is_no_problem(tmp_path):
    store, recorder = kept_records(tmp_path, 2)
    store.discard(next(iter(store.list_keys())))
    recorder.refresh()
    assert len(list(store.list_keys())) == 1


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


# The lock

HOLD = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
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


def test_a_full_disk_at_lock_log_and_description_is_a_sentence(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    store = ExperimentStore(tmp_path / "study")
    store.prepare()
    (store.folder / "events.jsonl").symlink_to("/dev/full")
    journal = Journal(SimpleNamespace(name="x", store=store), None)
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
    journal.tell("notice")  # ends the log, not the run
    journal.tell("notice")
    monkeypatch.undo()
    left = sorted(p.name for p in store.folder.iterdir())
    assert left == ["events.jsonl", "records", "run.lock"]


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
