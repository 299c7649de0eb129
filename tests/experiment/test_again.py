"""Trials kept as rows: found, run again, and compared with own ones by key."""

from __future__ import annotations

import csv
import json
import shutil

import pandas as pd
import pytest
from helpers.runner_cases import run_config, write_config

from symmf.clustering import METHODS
from symmf.errors import ConfigError, DataError, InputError
from symmf.experiment.again import find_trial, replay
from symmf.experiment.plan import make_plans
from symmf.experiment.progress import estimate, survey
from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.trials_table import read_trials
from symmf.experiment.verify import Agreement, verify, verify_sample

pytestmark = pytest.mark.usefixtures("methods")


@pytest.fixture
def study(tmp_path, pool):
    """A finished experiment as the reference keeps it: without records."""
    path = write_config(tmp_path, "[symmf, kmeans, raises]", trials="1")
    run_config(path, tmp_path / "results", pool)
    folder = tmp_path / "reference" / "tiny"
    shutil.copytree(
        tmp_path / "results" / "tiny", folder, ignore=shutil.ignore_patterns("records")
    )
    return tmp_path


def change(folder, **columns):
    """Change columns of the first row of a table of trials."""
    path = folder / "trials.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0] |= columns
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return rows[0]["key"]


def test_a_row_is_enough_to_run_a_trial_again(study, pool):
    reference = study / "reference"
    rows = read_trials(reference / "tiny")
    assert len(rows) == 6
    for key, status in zip(rows["key"], rows["status"], strict=True):
        found = find_trial([reference], key[:16])
        assert found.trial.key == found.row["key"] == key
        outcome, differences = replay(found, pool)
        assert not differences
        assert outcome.status == status


def test_what_differs_is_named(study, pool):
    folder = study / "reference" / "tiny"
    key = change(folder, ac="0.123", labels_sha256="0" * 64, n_iter="7")
    outcome, differences = replay(find_trial([folder.parent], key), pool)
    assert differences[:2] == ("labels", f"ac 0.123 -> {outcome.scores['ac']}")
    assert differences[2].startswith("n_iter 7 -> ")


def test_a_method_whose_numbers_changed_by_design_is_told(
    study,
    pool,
    monkeypatch,
):
    found = find_trial([study / "reference"], _key_of(study, "symmf"))
    monkeypatch.setattr(METHODS["symmf"], "behaviour", 99)
    with pytest.raises(ConfigError, match="behaviour 99 instead of"):
        replay(found, pool)


def _key_of(study, method):
    rows = read_trials(study / "reference" / "tiny")
    return rows[rows["method"] == method]["key"].iloc[0]


def test_keys_are_found_in_order_or_refused(study):
    places = [study / "results", study / "reference"]
    key = _key_of(study, "kmeans")
    assert find_trial(places, key).record is not None
    assert find_trial(places[::-1], key).record is None
    for prefix in ("zz", ""):
        with pytest.raises(InputError, match="No trial in"):
            find_trial(places, prefix)
    keys = read_trials(study / "reference" / "tiny")["key"]
    crowded = [p for p in "0123456789abcdef" if sum(k[0] == p for k in keys) > 1]
    for prefix in crowded:
        with pytest.raises(InputError, match="Give more characters of it"):
            find_trial(places, prefix)
    folder = study / "reference" / "tiny"
    experiment = folder / "experiment.yaml"
    experiment.write_text(experiment.read_text().replace("seed: 2022", "seed: 1"))
    with pytest.raises(InputError, match="does not follow from"):
        find_trial([study / "reference"], key)


def test_own_trials_are_set_beside_the_reference(study, pool):
    own, reference = study / "results", study / "reference"
    (found,) = verify(own, reference)
    assert found.count(Agreement.EQUAL) == 6
    assert not found.different()
    assert found.environment == ()
    # a record without a row counts, a missing one is "not run"
    (own / "tiny" / "trials.csv").unlink()
    store = ExperimentStore(own / "tiny")
    store.discard(store.list_keys()[0])
    change(reference / "tiny", stop="other", seconds="1e9")
    (found,) = verify(own, reference, ["tiny"])
    assert found.count(Agreement.NOT_RUN) == 1
    assert found.count(Agreement.EQUAL) + found.count(Agreement.DIFFERENT) == 5
    path = study / "tiny.yaml"
    run_config(path, own, pool, settings=["seed=5", "trials=1"])
    (found,) = verify(own, reference)
    assert found.count(Agreement.ELSEWHERE) == 6
    with pytest.raises(InputError, match="Did you mean 'tiny'"):
        verify(own, reference, ["tinny"])


def test_the_environment_is_compared(study):
    path = study / "reference" / "tiny" / "provenance.json"
    content = json.loads(path.read_text())
    content["environment"]["libraries"]["numpy"] = "0.1"
    path.write_text(json.dumps(content))
    change(study / "reference" / "tiny", n_iter="99")
    (found,) = verify(study / "results", study / "reference")
    (different,) = found.different()
    assert "n_iter 99 -> " in different.differences[0]
    assert any(line.startswith("numpy ") for line in found.environment)
    assert any(line.endswith("reference 0.1") for line in found.environment)


def test_a_sample_of_the_reference_is_run_again(study, pool):
    reference = study / "reference"
    (found,) = verify_sample(reference, 3, seed=1, backend=pool)
    assert found.count(Agreement.EQUAL) == 3
    drawn = {trial.key for trial in found.trials}
    (again,) = verify_sample(reference, 3, seed=1, backend=pool)
    assert {trial.key for trial in again.trials} == drawn
    (every,) = verify_sample(reference, 99, backend=pool)
    assert len(every.trials) == 4  # the failed ones are no results to compare
    with pytest.raises(InputError, match="no finished trial"):
        verify_sample(study / "nothing", 1)


def test_a_trial_of_two_experiments_counts_for_the_one_it_is_drawn_from(
    study,
    pool,
):
    twin = study / "reference" / "twin"
    shutil.copytree(study / "reference" / "tiny", twin)
    yaml = twin / "experiment.yaml"
    yaml.write_text(yaml.read_text().replace("name: tiny", "name: twin"))
    found = verify_sample(study / "reference", 99, backend=pool)
    assert [(v.experiment, v.count(Agreement.EQUAL)) for v in found] == [
        ("tiny", 4),
        ("twin", 4),
    ]


def test_what_cannot_run_again_is_told(study, pool, monkeypatch):
    def missing(*_):
        raise DataError("The data set is not there.")

    monkeypatch.setattr("symmf.experiment.again.load_data", missing)
    (found,) = verify_sample(study / "reference", 2, backend=pool)
    assert found.count(Agreement.MISSING) == 2
    assert found.trials[0].reason == "The data set is not there."


def test_times_come_from_the_reference(study):
    path = study / "tiny.yaml"
    (plan,) = make_plans([path], results=study / "fresh")
    assert estimate(plan).timed == 0
    cost = estimate(plan, reference=study / "reference")
    assert cost.timed == 4  # what failed there has no time
    assert cost.memory_recorded
    table = study / "results" / "tiny" / "trials.csv"
    table.write_text(table.read_text().splitlines()[0] + "\n")
    (line,) = survey(study / "results", study / "reference")
    assert (line.done, line.left) == (0, None)
    change(study / "reference" / "tiny", seconds="soon")
    assert estimate(plan, reference=study / "reference").timed == 4


def test_rows_of_earlier_versions_lack_columns(study):
    path = study / "reference" / "tiny" / "trials.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    earlier = ["silhouette", "solver", "matrix", "attempts", "labels_sha256", "options"]
    table.drop(columns=earlier).to_csv(path, index=False)
    (found,) = verify(study / "results", study / "reference")
    assert found.count(Agreement.EQUAL) == 6
    table.loc[table["method"] == "symmf", "matrix"] = "M: another"
    table.to_csv(path, index=False)
    (found,) = verify(study / "results", study / "reference")
    assert found.count(Agreement.DIFFERENT) == 2
