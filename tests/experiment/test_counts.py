"""What is known of how far an experiment is, and when it is counted again."""

from __future__ import annotations

import json
import logging
import os
import shutil
from pathlib import Path

import pytest
import runner_methods
from runner_cases import run_config, write_config

from symmf.clustering import METHODS
from symmf.experiment import status
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.status import survey
from symmf.experiment.store.counts import Counts, inputs_digest, kept_counts
from symmf.experiment.store.folder import ExperimentStore


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The results of a whole run: four trials, all done."""
    folder = tmp_path_factory.mktemp("study")
    patch = pytest.MonkeyPatch()
    for name, estimator in runner_methods.METHODS.items():
        patch.setitem(METHODS, name, estimator)
    with LocalPool(1) as pool:
        run_config(write_config(folder, "[instant]"), folder / "results", pool)
    patch.undo()
    return folder / "results"


@pytest.fixture
def results(finished, tmp_path):
    """A copy, counted once."""
    copy = tmp_path / "results"
    shutil.copytree(finished, copy)
    survey(copy, tmp_path / "reference")
    return copy


@pytest.fixture
def reads(monkeypatch):
    """The experiments that were read in full, as they are."""
    read, names = status._read, []

    def noted(folder, reference):
        names.append(folder.name)
        return read(folder, reference)

    monkeypatch.setattr(status, "_read", noted)
    return names


def look(results: Path) -> Counts:
    (line,) = survey(results, results.parent / "reference")
    return line.counts


def test_a_finished_run_leaves_its_counts(finished, tmp_path, reads):
    # Where it was made: a copy has other files.
    from symmf.experiment.store.places import results_place

    study = results_place(finished, reference=True).folder
    (line,) = survey(finished, study)
    assert reads == []
    assert (line.state, line.counts.done, line.counts.left) == ("complete", 4, 0.0)
    shutil.copytree(finished, tmp_path / "copy")
    (again,) = survey(tmp_path / "copy", study)
    assert reads == ["tiny"]
    assert again == line


def test_what_has_not_changed_is_not_read(results, reads):
    assert look(results).done == look(results).done == 4
    assert reads == []


def first_record(results: Path) -> Path:
    store = ExperimentStore(results / "tiny")
    return store.path(store.list_keys()[0])


def remove(results):
    first_record(results).unlink()


def write_into(results):
    # The same size, and times set back: only the kernel's own time of change tells.
    path = first_record(results)
    before = path.stat()
    with path.open("r+b") as file:
        file.write(b"\0")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def ask_for_more(results):
    path = results / "tiny/experiment.yaml"
    path.write_text(path.read_text().replace("trials: 2", "trials: 3"))


def damage_the_facts(results):
    (results / "tiny/provenance.json").write_text("{}")


@pytest.mark.parametrize(
    ("change", "done", "total"),
    [
        (remove, 3, 4),
        (write_into, 3, 4),
        (ask_for_more, 4, 6),
        (damage_the_facts, 0, 0),
    ],
    ids=["removed", "overwritten", "config", "provenance"],
)
def test_whatever_changes_is_seen(results, reads, change, done, total):
    change(results)
    counts = look(results)
    assert (counts.done, counts.total) == (done, total)
    assert reads == ["tiny"]


def test_new_times_of_the_reference_change_what_is_left(results, reads):
    remove(results)
    shutil.copytree(results, results.parent / "reference")
    first = look(results)
    path = results.parent / "reference/tiny/trials.csv"
    path.write_text(path.read_text() + "\n")
    assert look(results) == first
    assert reads == ["tiny", "tiny"]


def test_changed_code_counts_again(results, reads, monkeypatch):
    from symmf.experiment.store import counts

    monkeypatch.setattr(counts, "_code", list)
    assert look(results).done == 4
    assert reads == ["tiny"]


def test_a_broken_record_is_told_each_time(results, reads, caplog):
    write_into(results)
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert look(results).done == 3
        assert "counts as missing" in caplog.text
    assert reads == ["tiny", "tiny"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"inputs_sha256": "DIGEST"}',
        b'{"inputs_sha256": "DIGEST", "total": "4", "done": 4, "failed": 0, '
        b'"seconds": 1.0, "left": 0.0}',
        b'{"inputs_sha256": "DIGEST", "total": 4, "done": 4, "failed": 0, '
        b'"seconds": NaN, "left": 0.0}',
        b'{"inputs_sha256": "DIGEST", "total": 4, "done": 4, "failed": 0, '
        b'"seconds": 1.0, "left": 0.0, "more": 1}',
    ],
)
def test_a_file_of_anything_else_is_not_believed(results, content):
    folder = results / "tiny"
    digest = inputs_digest(folder, results.parent / "reference")
    assert kept_counts(folder, digest) is not None
    (folder / ".counts.json").write_bytes(content.replace(b"DIGEST", digest.encode()))
    assert kept_counts(folder, digest) is None
    assert look(results).done == 4
    # Made anew.
    assert json.loads((folder / ".counts.json").read_bytes())["done"] == 4


def test_a_folder_in_its_place_is_no_harm(results, reads):
    path = results / "tiny/.counts.json"
    path.unlink()
    path.mkdir()
    assert look(results).done == look(results).done == 4
    assert reads == ["tiny", "tiny"]
    assert not list(results.rglob(".*.tmp"))
