"""One experiment over a collection of data sets: each member is a draw."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from symmf.datasets import DATASETS, Dataset, DatasetSpec
from symmf.errors import ConfigError, DataError
from symmf.experiment.again import describe, find_trial, replay
from symmf.experiment.config.grid import Facts, expand
from symmf.experiment.plan import make_plans
from symmf.experiment.progress import estimate, memory_mb, survey
from symmf.experiment.runner import run
from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.trials_table import is_current, read_trials
from symmf.experiment.verify import Agreement, verify, verify_sample
from symmf.reporting.results import load_results

CONFIG = """\
name: shapes
role: example
dataset: {name: shapes, members: all}
n_clusters: classes
trials: 2
methods:
  - {method: kmeans, parameters: {n_init: 1}}
  - {method: sklearn.cluster.AgglomerativeClustering, name: ward}
"""
SIZES = {"two": (8, 2), "three": (12, 3), "also_three": (15, 3), "one": (5, 1)}


def read(*, shape: str, labels: int = 0) -> Dataset:
    """Clouds far from each other; the last sample is noise."""
    n, k = SIZES[shape]
    rng = np.random.default_rng(n + labels)
    y = np.arange(n) % k + 1
    X = 10.0 * y[:, None] + rng.normal(size=(n, 2))
    y[-1] = 0 if k > 1 else 1
    return Dataset.from_arrays(X, y, name="shapes", title=shape, kind="vector", noise=0)


def spec(*shapes: str) -> DatasetSpec:
    """A collection with two labellings of each data set."""
    members = [{"shape": name, "labels": i} for name in shapes for i in (0, 1)]
    return DatasetSpec(
        name="shapes",
        title="Shapes",
        description="clouds",
        licence="none needed",
        citation="",
        read=read,
        members=members,
        member_sizes=[SIZES[str(member["shape"])][0] for member in members],
        options={"shape": "which", "labels": "which labelling"},
    )


@pytest.fixture(autouse=True)
def shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DATASETS, "shapes", spec("two", "three", "also_three"))


def plan_of(folder: Path, text: str = CONFIG, **options):
    path = folder / "shapes.yaml"
    path.write_text(text)
    return make_plans([path], results=folder / "results", **options)[0]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collection")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(DATASETS, "shapes", spec("two", "three", "also_three"))
        summary = run([plan_of(folder)], jobs=1)
    assert (summary.ran, summary.failed) == (12, 0)
    return folder


def test_each_member_is_a_draw_with_its_own_classes_data_and_options(tmp_path):
    plan = plan_of(tmp_path)
    assert [data.title for data in plan.datasets] == ["two", "three", "also_three"]
    assert len(plan.trials) == 3 * 2 * 2
    for trial in plan.trials:
        data = plan.datasets[trial.trial // 2]
        assert trial.options == {"shape": data.title, "labels": 0}
        assert trial.n_clusters == data.n_classes
        assert trial.classes == tuple(range(data.n_classes))
        assert trial.data_digest == data.digest
    numbers = [trial.trial for trial in plan.trials if trial.method == "ward"]
    assert numbers == list(range(6))
    starts = {trial.trial: trial.random_state for trial in plan.trials}
    assert len(set(starts.values())) == 6


def test_config_and_facts_alone_give_the_grid(finished):
    store = ExperimentStore(finished / "results" / "shapes")
    config, facts = store.described()
    assert config.dataset.members[0] == {"shape": "two", "labels": 0}
    assert Facts.from_dict(json.loads(json.dumps(facts.as_dict()))) == facts
    assert expand(config, facts) == plan_of(finished).trials
    assert "n_clusters: classes" in config.as_yaml()


def test_noise_is_clustered_and_not_scored(finished):
    rows = read_trials(finished / "results" / "shapes")
    assert set(rows["n_samples"]) == {8, 12, 15}
    ward = rows[rows["method"] == "ward"]
    assert ward["ac"].tolist() == [1.0] * 6
    assert set(ward[ward["trial"] < 2]["options"]) == {'{"labels":0,"shape":"two"}'}


def test_a_second_run_has_nothing_to_do_and_status_estimate_and_export_work(finished):
    plan = plan_of(finished)
    assert run([plan], jobs=1).ran == 0
    assert is_current(plan.store.folder)
    table = plan.store.folder / "trials.csv"
    before = table.read_bytes()
    table.unlink()
    run([plan_of(finished)], jobs=1)
    assert table.read_bytes() == before
    (line,) = survey(finished / "results")
    assert (line.done, line.total, line.state) == (12, 12, "complete")
    found = estimate(plan_of(finished), fresh=True)
    assert (found.missing, found.timed) == (12, 12)
    assert memory_mb(plan, None) > 0


def test_an_interrupted_run_is_resumed_and_more_members_keep_what_is_done(tmp_path):
    text = CONFIG.replace("trials: 2", "trials: 1")
    two = text.replace("all", "[{shape: two}, {shape: three}]")
    assert run([plan_of(tmp_path, two, only=["ward"])], jobs=1).ran == 2
    assert len(plan_of(tmp_path, two).missing()) == 2
    more = two.replace("three}]", "three}, {shape: also_three}]")
    plan = plan_of(tmp_path, more)
    assert [trial.trial for trial in plan.missing()] == [0, 1, 2, 2]
    assert run([plan], jobs=1).ran == 4
    # Fewer again: what is not asked for now is no longer listed, and not lost.
    assert not plan_of(tmp_path, two).missing()
    assert not plan_of(tmp_path, more).missing()


def test_a_trial_is_replayed_from_the_table_and_the_experiment_file(finished, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(finished / "results", copy)
    shutil.rmtree(copy / "shapes" / "records")
    rows = read_trials(copy / "shapes")
    (key,) = rows[(rows["method"] == "ward") & (rows["trial"] == 4)]["key"]
    found = find_trial([copy], key)
    assert found.trial.options == {"shape": "also_three", "labels": 0}
    assert '"also_three"' in describe(found)
    assert not replay(found)[1]


def test_a_study_is_verified_and_a_member_that_is_gone_concerns_its_trials_alone(
    finished, monkeypatch
):
    results = finished / "results"
    (found,) = verify(results, results)
    assert found.count(Agreement.EQUAL) == 12

    def broken(*, shape: str, labels: int = 0) -> Dataset:
        if shape == "two":
            raise DataError("two is not there.")
        return read(shape=shape, labels=labels)

    monkeypatch.setitem(DATASETS, "shapes", replace(DATASETS["shapes"], read=broken))
    (found,) = verify_sample(results, 12)
    assert found.count(Agreement.EQUAL) == 8
    assert found.count(Agreement.MISSING) == 4


def test_tables_have_a_column_per_number_of_classes(finished):
    (experiment,) = load_results(finished / "results").experiments
    assert experiment.cluster_counts == (2, 3)
    assert (experiment.planned(2), experiment.planned(3)) == (2, 4)
    assert experiment.missing == 0


def test_members_may_be_capped_by_size_or_listed(tmp_path):
    capped = CONFIG.replace("all", "{most_samples: 12}")
    assert [d.title for d in plan_of(tmp_path, capped).datasets] == ["two", "three"]
    listed = CONFIG.replace("all", "[{shape: three, labels: 1}]")
    (trial, *_) = plan_of(tmp_path, listed).trials
    assert (trial.n_clusters, trial.options["labels"]) == (3, 1)


def test_features_are_learned_from_each_member(tmp_path):
    text = CONFIG.replace("all", "all, features: [unit_rows]")
    plan = plan_of(tmp_path, text)
    for data in plan.datasets:
        np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1)
    assert plan.trials[0].options["features"] == ["unit_rows"]


def test_classes_of_a_single_data_set_is_the_same_as_their_number(tmp_path):
    text = "dataset: digits\nn_clusters: {}\ntrials: 1\nmethods: [kmeans]\n"
    by_word = plan_of(tmp_path, text.format("classes"))
    by_number = plan_of(tmp_path, text.format(10))
    assert by_word.config == by_number.config
    assert by_word.trials == by_number.trials


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("all", "al", "write all, {most_samples: N} or a list .* not 'al'"),
        ("all", "{most_samples: 1}", "no member has at most 1 samples"),
        ("all", "[{shap: two}]", 'did you mean "shape"'),
        ("all", "[{shape: two}, {shape: two}]", "member 1 again"),
        ("all", "[{shape: two}], shape: two", "keep one of them"),
        ("classes", "class", "or the word classes"),
        ("classes", "3", "n_clusters: classes"),
        ("name: shapes, mem", "name: digits, mem", "is no collection"),
    ],
)
def test_what_is_wrong_gets_a_sentence_with_its_line(tmp_path, old, new, sentence):
    with pytest.raises(ConfigError, match=sentence) as caught:
        plan_of(tmp_path, CONFIG.replace(old, new))
    assert "line " in str(caught.value)


def test_a_member_of_one_class_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(DATASETS, "shapes", spec("two", "one"))
    with pytest.raises(ConfigError, match=r'line 3: shapes .*"one".* has one class'):
        plan_of(tmp_path)


@pytest.mark.parametrize("members", ["all", "[{shape: two}]"])
def test_an_experiment_file_changed_by_hand_gets_a_sentence(
    finished, tmp_path, members
):
    copy = tmp_path / "results"
    shutil.copytree(finished / "results", copy)
    path = copy / "shapes" / "experiment.yaml"
    data = path.read_text()
    head, _, rest = data.partition("dataset:")
    _, _, tail = rest.partition("n_clusters:")
    path.write_text(
        f"{head}dataset: {{name: shapes, members: {members}}}\nn_clusters:{tail}"
    )
    with pytest.raises(DataError, match="damaged"):
        ExperimentStore(copy / "shapes").trials()
