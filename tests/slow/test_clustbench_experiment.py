"""An experiment over real data sets of the benchmark suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from symmf.datasets import clustbench
from symmf.experiment.plan import make_plans
from symmf.experiment.runner import run
from symmf.experiment.store.trials_table import read_trials
from symmf.experiment.verify import Agreement, verify_sample

pytestmark = pytest.mark.slow
CONFIG = Path(__file__).parents[2] / "configs" / "clustbench.yaml"


@pytest.fixture(autouse=True)
def needs_the_files(real_data):
    real_data("clustbench", set="fcps/hepta")


def test_the_shipped_experiment_lists_each_data_set_once(tmp_path):
    (plan,) = make_plans([CONFIG], results=tmp_path)
    small = [n for n, known in clustbench.SETS.items() if known["samples"] <= 6000]
    assert [data.title for data in plan.datasets] == small
    assert len(plan.trials) == len(small) * len(plan.config.methods)
    for trial in plan.trials:
        known = clustbench.SETS[trial.options["set"]]["labels"][0]
        assert trial.n_clusters == known["classes"]


def test_real_members_are_clustered_scored_without_noise_and_verified(tmp_path):
    members = "dataset.members=[{set: fcps/hepta}, {set: graves/zigzag_outliers}]"
    (plan,) = make_plans([CONFIG], results=tmp_path, settings=[members])
    assert (plan.datasets[1].y < 0).any()
    summary = run([plan], jobs=1)
    assert (summary.ran, summary.failed) == (2 * len(plan.config.methods), 0)
    rows = read_trials(plan.store.folder)
    assert set(rows[rows["n_clusters"] == 7]["ac"]) == {1.0}
    (found,) = verify_sample(tmp_path, 4)
    assert found.count(Agreement.EQUAL) == 4
