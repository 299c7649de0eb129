"""Records on their way to the disk."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from helpers.runner_cases import write_config

from symmf.errors import SymmfError
from symmf.experiment.plan import make_plans
from symmf.experiment.store import writer
from symmf.experiment.store.record_file import read_record
from symmf.experiment.store.writer import RecordWriter
from symmf.experiment.values import Outcome, Record, Status


@pytest.fixture
def records(tmp_path):
    path = write_config(tmp_path, "[kmeans]", n_clusters="2", trials="4")
    (plan,) = make_plans([path], results=tmp_path)
    plan.store.prepare()
    outcome = Outcome(status=Status.OK, scores={"ac": 1.0})
    made = [Record(trial=trial, outcome=outcome) for trial in plan.trials]
    return plan.store, made


def watched(monkeypatch, gather):
    """Return a writer, and what it brings to the disk."""
    synced = []
    monkeypatch.setattr(writer, "GATHER", gather)
    monkeypatch.setattr(writer, "sync_to_disk", synced.append)
    return RecordWriter(), synced


def test_a_record_is_there_before_it_is_flushed(records, monkeypatch):
    store, made = records
    kept, synced = watched(monkeypatch, 60.0)
    for record in made:
        kept.put(store, record)
        # Already what another process reads, should this one be killed now.
        assert read_record(store.path(record.key)).key == record.key
    assert synced == []
    kept.flush()
    # Every file once, then the folder that names them once for all.
    assert sorted(synced[:-1]) == sorted(store.path(record.key) for record in made)
    assert synced[-1] == store.records_folder
    kept.close()


def test_closing_brings_everything_to_the_disk(records, monkeypatch):
    store, made = records
    kept, synced = watched(monkeypatch, 60.0)
    for record in made:
        kept.put(store, record)
    kept.close()
    assert len(synced) == len(made) + 1


def test_records_reach_the_disk_without_being_asked(records, monkeypatch):
    store, made = records
    kept, synced = watched(monkeypatch, 0.01)
    kept.put(store, made[0])
    kept._written.join()
    assert store.path(made[0].key) in synced
    kept.close()


def test_a_disk_that_fails_is_told_in_a_sentence(records, monkeypatch):
    store, made = records

    def fail(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(writer, "sync_to_disk", fail)
    kept = RecordWriter()
    kept.put(store, made[0])
    with pytest.raises(SymmfError, match=f"{made[0].key}.h5 could not be written: Inp"):
        kept.flush()
    kept.close()


def test_a_record_removed_meanwhile_is_no_problem(records, monkeypatch):
    store, made = records
    monkeypatch.setattr(writer, "GATHER", 60.0)
    kept = RecordWriter()
    kept.put(store, made[0])
    store.discard(made[0].key)
    kept.flush()
    kept.close()
