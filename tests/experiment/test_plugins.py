"""Methods and data from outside: they join, and what is broken gets a sentence."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.runner_cases import run_config, write_config

import symmf.plugins.registry as registry
from symmf.errors import ConfigError, InputError
from symmf.experiment.again import find_trial, replay
from symmf.experiment.config.model import read_config
from symmf.experiment.config.resolve import resolve
from symmf.experiment.plan import make_plans
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.store.trials_table import read_trials
from symmf.experiment.verify import Agreement, verify_sample
from symmf.metrics import METRICS
from symmf.plugins import SklearnMethod, all_datasets, find_method
from symmf.plugins.source import KINDS

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture(autouse=True)
def as_before():
    """Forget what a test registered."""
    found = registry.REGISTRY
    kept = {kind: dict(found.of(kind)) for kind in KINDS}
    yield
    for kind, before in kept.items():
        found._found[kind] = before
    found._has_packages = False


def plugin(folder, text, name="mine.py"):
    path = folder / name
    path.write_text(text)
    return path


MINE = """
import numpy as np
class Mine:
    def __init__(self, n_clusters=2, shift=0): self.k, self.shift = n_clusters, shift
    def fit(self, X):
        {body}
        return self
METHODS = {{"mine": Mine}}
"""
GOOD = MINE.format(body="self.labels_ = np.arange(len(X)) % self.k + self.shift")


def test_the_example_runs_and_is_kept_like_ours(tmp_path, pool):
    source = registry.REGISTRY.add_file(EXAMPLES / "my_methods.py")
    summary, (plan,) = run_config(EXAMPLES / "my_study.yaml", tmp_path, pool)
    assert summary.exit_code == 0
    table = pd.read_csv(plan.store.folder / "trials.csv")
    assert set(table["label"]) >= {"Spherical k-means", "Ward", "Gaussian mixture"}
    assert table["ac"].min() > 0.8
    traces = pd.read_csv(plan.store.folder / "traces.csv")
    assert set(traces["method"]) == {"spherical_kmeans"}
    facts = plan.store.provenance()["facts"]
    assert facts["plugins"]["spherical_kmeans"] == source.identity()
    assert source.version == "1.0"
    trial = next(t for t in plan.trials if t.method == "spherical_kmeans")
    assert plan.store.trials() == plan.trials
    assert not replay(find_trial([tmp_path], trial.key), pool)[1]
    shutil.rmtree(plan.store.records_folder)
    (found,) = verify_sample(tmp_path, 5, backend=pool)
    assert found.count(Agreement.EQUAL) == 5


def test_a_table_of_ones_own_is_found_beside_the_yaml(tmp_path, pool, monkeypatch):
    monkeypatch.chdir(tmp_path)
    summary, (plan,) = run_config(EXAMPLES / "my_points.yaml", tmp_path, pool)
    assert summary.exit_code == 0
    assert plan.data.title == "My points"
    assert plan.data.n_classes == 3
    keys = [trial.key for trial in plan.trials]
    for name in ("my_points.yaml", "my_points.csv"):
        shutil.copy(EXAMPLES / name, tmp_path)
    (moved,) = make_plans([tmp_path / "my_points.yaml"], results=tmp_path)
    assert [trial.key for trial in moved.trials] == keys
    path = tmp_path / "my_points.csv"
    path.write_text(path.read_text().replace(",a\n", ",b\n", 1))
    (changed,) = make_plans([tmp_path / "my_points.yaml"], results=tmp_path)
    assert not set(keys) & {trial.key for trial in changed.trials}


def test_arrays_and_graphs_are_data_too(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "points.npz", X=rng.random((9, 2)), y=np.arange(9) % 3)
    path = tmp_path / "c.yaml"
    text = "n_clusters: 2\ntrials: 1\nmethods: [kmeans]\ndataset: "
    path.write_text(text + "{file: points.npz, variable: X, labels: y, name: pts}\n")
    (plan,) = make_plans([path], results=tmp_path)
    assert (plan.data.name, plan.data.n_samples) == ("pts", 9)
    path.write_text(text + "{file: points.npz, variable: X}\n")
    with pytest.raises(ConfigError, match="has no true classes"):
        make_plans([path], results=tmp_path)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("points.npz", "for a file write `dataset: {file: points.npz, labels"),
        ("{file: points.npz, label: y}", 'no option "label"; did you mean "labels"?'),
        ("{file: points.npz, name: coil20}", '"coil20" is another data set'),
    ],
)
def test_bad_files_in_a_config_get_a_sentence(tmp_path, data, sentence):
    path = tmp_path / "c.yaml"
    path.write_text(f"n_clusters: 2\nmethods: [kmeans]\ndataset: {data}\n")
    with pytest.raises(ConfigError) as caught:
        resolve(*read_config(path))
    assert sentence in str(caught.value)


def test_the_digest_of_a_plugin_is_in_the_key(tmp_path):
    config = write_config(tmp_path, "[mine, kmeans]")
    keys = []
    for text in (GOOD, GOOD + "# changed\n"):
        registry.REGISTRY.add_file(plugin(tmp_path, text))
        (plan,) = make_plans([config], results=tmp_path)
        keys.append({t.key: t.method for t in plan.trials})
    both = keys[0].keys() & keys[1].keys()
    assert {keys[0][key] for key in both} == {"kmeans"}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    registry.REGISTRY.add_file(plugin(elsewhere, GOOD))
    (plan,) = make_plans([config], results=tmp_path)
    assert {t.key: t.method for t in plan.trials} == keys[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import no_such_module\n", "ModuleNotFoundError on line 1: No module named"),
        ("import os; os.abort()\n", "crashed or took more than"),
        ("x = 1\n", "it has none of the dicts METHODS, DATASETS"),
        ("METHODS = [1]\n", "METHODS is a list, not a dict of names"),
        ("METHODS = []\n", "METHODS is a list, not a dict of names"),
        ("METHODS = {'a': object}\n", "METHODS['a'] has no method fit"),
        (
            GOOD.replace('"mine"', '"kmeans"'),
            "METHODS['kmeans'] is a name of symmf's own",
        ),
    ],
)
def test_a_broken_plugin_gets_a_sentence(tmp_path, text, sentence):
    path = plugin(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        registry.REGISTRY.add_file(path)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"--plugin {path}")


def test_an_endless_import_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "IMPORT_SECONDS", 0.5)
    with pytest.raises(ConfigError, match=r"took more than 0\.5 seconds"):
        registry.REGISTRY.add_file(plugin(tmp_path, "while True: pass\n"))
    with pytest.raises(ConfigError, match="there is no such file"):
        registry.REGISTRY.add_file(tmp_path / "absent.py")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("self.labels_ = [0]", "failed", "labels_ has the shape (1,)"),
        ("self.labels_ = np.full(len(X), np.nan)", "failed", "not finite"),
        ("pass", "failed", "Mine has no labels_ after fit"),
        ("import os; os.kill(os.getpid(), 9)", "died", "was killed"),
        ("import time; time.sleep(60)", "timeout", "Stopped at the limit"),
        ("self.labels_ = np.arange(len(X)) % 2; self.history_ = [2, 1]", "ok", ""),
    ],
)
def test_a_broken_method_is_a_failed_trial(tmp_path, pool, body, status, message):
    registry.REGISTRY.add_file(plugin(tmp_path, MINE.format(body=body)))
    config = write_config(
        tmp_path, "[mine]", trials="1", n_clusters="2", limits="{seconds: 2}"
    )
    _, (plan,) = run_config(config, tmp_path, pool)
    (record,) = plan.records.values()
    assert record.outcome.status == status
    assert message in record.outcome.message


def test_replay_asks_for_the_plugin(tmp_path, pool):
    registry.REGISTRY.add_file(plugin(tmp_path, GOOD))
    config = write_config(tmp_path, "[mine]", trials="1", n_clusters="2")
    _, (plan,) = run_config(config, tmp_path, pool)
    kept = find_trial([tmp_path], plan.store.list_keys()[0])
    registry.REGISTRY.add_file(plugin(tmp_path, GOOD + "# changed\n"))
    with pytest.raises(ConfigError, match="is not the code the trial was made with"):
        replay(kept, pool)
    registry.REGISTRY._found["METHODS"].clear()
    with pytest.raises(ConfigError, match="give its file with --plugin"):
        replay(kept, pool)


@pytest.mark.parametrize(
    "name",
    [
        "sklearn.cluster.NoSuch",
        "sklearn.svm.SVC",
        "os.system",
    ],
)
def test_a_yaml_names_clusterers_only(tmp_path, name):
    with pytest.raises(InputError):
        find_method(name)
    config = write_config(tmp_path, f"['{name}']")
    with pytest.raises(ConfigError, match="line 4"):
        resolve(*read_config(config))


def test_clusterers_of_scikit_learn_take_k_by_any_name():
    X = np.random.default_rng(0).random((30, 3))
    for name, k in (
        ("sklearn.cluster.AgglomerativeClustering", 3),
        ("sklearn.mixture.GaussianMixture", 3),
        ("sklearn.cluster.DBSCAN", None),
    ):
        method = pickle.loads(pickle.dumps(SklearnMethod(name)))
        labels = method(n_clusters=3, random_state=0).fit(X).labels_
        assert labels.shape == (30,)
        assert k is None or len(set(labels)) == k


def test_installed_packages_offer_methods(tmp_path, monkeypatch):
    data = "def data(): return [[1.0]] * 4, [0] * 4\n"
    (tmp_path / "outsider.py").write_text(GOOD + data)
    info = tmp_path / "outsider-2.1.dist-info"
    info.mkdir()
    about = "Metadata-Version: 2.1\nName: outsider\nVersion: 2.1\n"
    (info / "METADATA").write_text(about)
    (info / "entry_points.txt").write_text(
        "[symmf.methods]\nmine = outsider:Mine\n[symmf.datasets]\nfew = outsider:data\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.REGISTRY._has_packages = False
    method = find_method("mine")
    assert method.identity() | {"sha256": ""} == {
        "name": "outsider",
        "version": "2.1",
        "sha256": "",
    }
    assert method(n_clusters=2).fit(np.ones((4, 1))).labels_.tolist() == [0, 1, 0, 1]
    assert all_datasets()["few"].read().n_samples == 4


PARTS = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from symmf.constraints import Constraint
from symmf.similarity import build_similarity
from symmf.solvers.projected_gradient import ProjectedGradient

@dataclass(frozen=True, slots=True, kw_only=True)
class Ball(Constraint):
    name: ClassVar[str] = "ball"
    cone: ClassVar[bool] = False
    def project(self, Z, _previous=None):
        return Z / np.maximum(1.0, np.linalg.norm(Z, axis=1, keepdims=True))
    def contains(self, H, atol=1e-8):
        return bool((np.linalg.norm(H, axis=1) <= 1 + atol).all())

@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(ProjectedGradient):
    name: ClassVar[str] = "steps"

def halved(X):
    return build_similarity(X / 2, "inner_product")

def purity(y, labels):
    return sum(np.bincount(y[labels == c]).max() for c in set(labels)) / len(y)

SOLVERS = {"steps": Steps}
CONSTRAINTS = {"ball": Ball}
SIMILARITIES = {"halved": halved}
METRICS = {"purity": purity}
"""


def test_solvers_sets_similarities_and_metrics_come_by_name(tmp_path, pool):
    entry = (
        "[kmeans, {method: symmf, lambda: 0, parameters: "
        "{solver: steps, constraint: ball, similarity: halved, max_iter: 5, tol: 0}}]"
    )
    config = write_config(tmp_path, entry, trials="1", n_clusters="2")
    _, (before,) = run_config(config, tmp_path, pool, only=["kmeans"])
    registry.REGISTRY.add_file(plugin(tmp_path, PARTS))
    try:
        summary, (plan,) = run_config(config, tmp_path, pool)
        assert (summary.failed, summary.ran) == (0, 1)
        rows = read_trials(plan.store.folder).set_index("method")
        assert rows["solver"]["symmf"] == "steps"
        assert "halved" in rows["matrix"]["symmf"]
        # Of old records too: the labels are kept.
        assert rows["purity"].between(0.2, 1).all()
        (key,) = [t.key for t in plan.trials if t.method == "symmf"]
        assert plan.facts.plugins["symmf"]["name"] == "mine"
        registry.REGISTRY.add_file(plugin(tmp_path, PARTS + "# changed\n"))
        (changed,) = make_plans([config], results=tmp_path)
        keys = {t.method: t.key for t in changed.trials}
        assert keys["symmf"] != key
        assert keys["kmeans"] == before.selected[0].key
    finally:
        del METRICS["purity"]


CARELESS = """
import numpy as np
from symmf import build_similarity
class Careless:
    def __init__(self, n_clusters=2): self.k = n_clusters
    def fit(self, X):
        A = build_similarity(X, "self_tuning")
        A.M.data *= np.arange(len(A.M.data))
        A = build_similarity(X, "inner_product")
        X *= 0
        self.labels_ = np.arange(len(X)) % self.k
        return self
class NoHash:
    __hash__ = None
    def __call__(self, X): return X @ X.T
METHODS = {"careless": Careless}
SIMILARITIES = {"no_hash": NoHash()}
"""


def test_a_plugin_cannot_change_what_other_trials_share(tmp_path):
    registry.REGISTRY.add_file(plugin(tmp_path, CARELESS))
    ours = "symnmf, {method: snmf, parameters: {similarity: inner_product}}"
    labels = []
    for name, first in (("alone", ""), ("after", "careless, ")):
        no_hash = "{method: spectral, parameters: {similarity: no_hash}}"
        path = write_config(tmp_path, f"[{first}{ours}, {no_hash}]", name=name)
        with LocalPool(1) as single:
            summary, (plan,) = run_config(path, tmp_path, single)
        assert summary.failed == 0
        rows = read_trials(plan.store.folder)
        labels.append(rows[rows["method"] != "careless"]["labels_sha256"].tolist())
    assert labels[0] == labels[1]
