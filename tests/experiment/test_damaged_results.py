"""Results that were damaged or edited by hand: told, set aside, healed by a run."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress

import pytest
from helpers.runner_cases import computed, run_config, write_config

from symmf.errors import SymmfError
from symmf.experiment.again import find_trial
from symmf.experiment.progress import survey
from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.merge import merge
from symmf.experiment.store.trials_table import read_trials
from symmf.reporting.results import load_results

pytestmark = pytest.mark.usefixtures("methods")

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


DAMAGES = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(1000)),
    "list": lambda path: path.write_text("[1, {'a': 2}]"),
    "text": lambda path: path.write_text("a: b\n\ud7ff[/red] \x00"),
    "deep": lambda path: path.write_text("[" * 20_000),
    "latin": lambda path: path.write_bytes(b"name: \xe4\xff"),
    "cut": cut,
    "folder": make_folder,
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A config, its results, and what its tables hold."""
    from helpers.runner_methods import METHODS as TEST_METHODS

    from symmf.clustering import METHODS
    from symmf.experiment.run.local_pool import LocalPool

    folder = tmp_path_factory.mktemp("study")
    path = write_config(folder, "[instant]", n_clusters="2")
    with pytest.MonkeyPatch.context() as patch, LocalPool(1) as workers:
        patch.setitem(METHODS, "instant", TEST_METHODS["instant"])
        run_config(path, folder / "results", workers)
    return path, folder / "results", computed(folder / "results/tiny")


# The rest of the damages need the same code; all of them together take a minute.
QUICK = ("empty", "deep", "folder")


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
    pool,
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
        lambda: read_trials(store.folder),
        lambda: find_trial([copy], key[:6]),
    ):
        with suppress(SymmfError):
            read()
    if damage == "folder":
        # Not ours, and in the way: a sentence, unless nothing is to be written there.
        with suppress(SymmfError):
            run_config(path, copy, pool)
        return
    summary, _ = run_config(path, copy, pool)
    assert (summary.failed, summary.ran <= 1) == (0, True)
    assert computed(store.folder) == expected
    assert not list(store.folder.rglob(".*.tmp"))


@pytest.mark.parametrize(
    "facts", [None, {"class_sizes": 5}, {"behaviours": {}}, {"members": [{"n": 1}]}]
)
def test_facts_that_give_no_grid_are_told(study, tmp_path, facts):
    _, results, _ = study
    copy = tmp_path / "results"
    shutil.copytree(results, copy)
    path = copy / "tiny/provenance.json"
    content = json.loads(path.read_text())
    content["facts"] = facts and {**content["facts"], **facts}
    path.write_text(json.dumps(content))
    with pytest.raises(SymmfError, match=r"provenance\.json is damaged"):
        merge([copy], tmp_path / "merged")
    # The tables are there, and are shown.
    (found,) = load_results(copy).experiments
    assert len(found.trials) == 2
