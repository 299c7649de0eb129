"""Results that were damaged or edited by hand: told, set aside, healed by a run."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress

import pytest
from runner_cases import computed, run_config, write_config
from test_runner import methods, pool  # noqa: F401

from symmf.errors import SymmfError
from symmf.experiment.events import read_events
from symmf.experiment.replay import find_kept
from symmf.experiment.status import survey
from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.merge import merge
from symmf.experiment.store.rows import read_rows
from symmf.reporting.results import load_results

FILES = [
    *("experiment.yaml", "provenance.json", "trials.csv", "traces.csv"),
    *("events.jsonl", "run.lock", "record"),
]


def make_folder(path):
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")


def cut(path):
    path.write_bytes(path.read_bytes()[:-30])


def replace_by_link(path):
    path.unlink()
    path.symlink_to("nowhere")


def make_fifo(path):
    path.unlink()
    os.mkfifo(path)


DAMAGES = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(1000)),
    "list": lambda path: path.write_text("[1, {'a': 2}]"),
    "text": lambda path: path.write_text("a: b\n\ud7ff[/red] \x00"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "latin": lambda path: path.write_bytes(b"name: \xe4\xff"),
    "cut": cut,
    "folder": make_folder,
    "link": replace_by_link,
    "fifo": make_fifo,
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A config, its results, and what its tables hold."""
    from runner_methods import METHODS as TEST_METHODS

    from symmf.clustering import METHODS
    from symmf.experiment.run.local_pool import LocalPool

    folder = tmp_path_factory.mktemp("study")
    path = write_config(folder, "[instant]", n_clusters="2")
    with pytest.MonkeyPatch.context() as patch, LocalPool(1) as workers:
        patch.setitem(METHODS, "instant", TEST_METHODS["instant"])
        run_config(path, folder / "results", workers)
    return path, folder / "results", computed(folder / "results/tiny")


# The rest of the damages need the same code; all of them together take a minute.
QUICK = ("empty", "deep", "folder", "fifo")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name in DAMAGES
    ],
)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_file_is_told_and_the_next_run_heals_it(
    study,
    tmp_path,
    pool,  # noqa: F811
    file,
    damage,
):
    path, results, expected = study
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    store = ExperimentStore(copy / "tiny")
    key = store.list_keys()[0]
    DAMAGES[damage](store.path(key) if file == "record" else store.folder / file)
    # Reading commands show what there is.
    for line in survey(copy):
        assert line.experiment == "tiny"
    load_results(copy)
    for read in (
        lambda: merge([copy], tmp_path / "merged"),
        lambda: read_rows(store),
        lambda: find_kept([copy], key[:6]),
        lambda: read_events(store.folder),
    ):
        with suppress(SymmfError):
            read()
    if file == "run.lock" and damage in ("folder", "link", "fifo"):
        with pytest.raises(SymmfError, match=re.escape(str(store.folder / file))):
            run_config(path, copy, pool)
        return
    summary, _ = run_config(path, copy, pool)
    assert (summary.failed, summary.ran <= 1) == (0, True)
    assert computed(store.folder) == expected
    assert not list(store.folder.rglob(".*.tmp"))


@pytest.mark.parametrize(
    "facts",
    [
        None,
        {},
        [],
        {"data_digest": 5},
        {"class_sizes": "many"},
        {"class_sizes": [1.5]},
        {"defaults": {"instant": None}},
        {"n_samples": True},
    ],
)
def test_facts_of_any_kind_are_told_or_used(study, tmp_path, facts):
    _, results, _ = study
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    path = copy / "tiny/provenance.json"
    content = json.loads(path.read_text())
    whole = content["facts"]
    content["facts"] = {**whole, **facts} if isinstance(facts, dict) else facts
    path.write_text(json.dumps(content if facts != {} else {**content, "facts": {}}))
    (line,) = survey(copy)
    assert "missing or damaged" in line.state
    with pytest.raises(SymmfError, match="missing or damaged"):
        merge([copy], tmp_path / "merged")
    # The tables are there, and are shown.
    (found,) = load_results(copy).experiments
    assert len(found.trials) == 2


def test_an_entry_written_into_the_description_by_hand_is_left_out(
    study, tmp_path, caplog
):
    _, results, _ = study
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    path = copy / "tiny/experiment.yaml"
    text = path.read_text()
    path.write_text(text.replace("methods:\n", "methods:\n- method: '[/y]'\n"))
    (line,) = survey(copy)
    assert (line.counts.done, line.counts.total) == (2, 2)
    assert "lists [/y], which the latest run did not know; left out" in caplog.text
