"""What surrounds a run: merging shards, estimating cost, replaying a record."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from helpers.runner_cases import computed, run_config, write_config

from symmf.errors import InputError
from symmf.experiment.again import find_trial, replay
from symmf.experiment.plan import Shard, make_plans
from symmf.experiment.progress import estimate, survey
from symmf.experiment.store.merge import merge
from symmf.experiment.values import Record

pytestmark = pytest.mark.usefixtures("methods")


def test_shards_merge_into_the_whole(tmp_path, pool):
    path = write_config(tmp_path, "[instant, symmf]")
    run_config(path, tmp_path / "whole", pool)
    for i in (1, 2):
        run_config(path, tmp_path / f"part{i}", pool, shard=Shard(i, 2))
    (merged,) = merge([tmp_path / "part1", tmp_path / "part2/tiny"], tmp_path / "all")
    assert (merged.copied, merged.present, merged.left_out) == (8, 0, 0)
    assert computed(tmp_path / "all/tiny") == computed(tmp_path / "whole/tiny")
    (merged,) = merge([tmp_path / "part1"], tmp_path / "all")
    assert (merged.copied, merged.present) == (0, 4)
    with pytest.raises(InputError, match="holds no experiment"):
        merge([tmp_path / "nothing"], tmp_path / "all")
    run_config(path, tmp_path / "other", pool, settings=["seed=1", "trials=1"])
    with pytest.raises(InputError, match="config digests"):
        merge([tmp_path / "other"], tmp_path / "all")
    other = tmp_path / "other/tiny/provenance.json"
    content = json.loads(other.read_text())
    other.write_text(json.dumps({**content, "data_digest": "0" * 64}))
    with pytest.raises(InputError, match="data digests"):
        merge([tmp_path / "other"], tmp_path / "all")
    assert computed(tmp_path / "all/tiny") == computed(tmp_path / "whole/tiny")


def test_a_dry_run_estimates_from_what_is_recorded(tmp_path, pool):
    path = write_config(tmp_path, "[instant, kmeans]")
    (plan,) = make_plans([path], results=tmp_path)
    cost = estimate(plan)
    assert (cost.missing, cost.timed, cost.memory_recorded) == (8, 0, False)
    assert cost.memory_mb > 100
    run_config(path, tmp_path, pool, only=["kmeans"], shard=Shard(1, 2))
    (plan,) = make_plans([path], results=tmp_path)
    cost = estimate(plan)
    assert (cost.done, cost.missing, cost.timed) == (2, 6, 2)
    assert cost.seconds > 0
    assert cost.memory_recorded
    assert estimate(plan, fresh=True).missing == 8


def test_replay_finds_the_same_result_or_says_what_differs(tmp_path, pool):
    path = write_config(tmp_path, "[symmf]", n_clusters="2", trials="1")
    _, (plan,) = run_config(path, tmp_path, pool)
    (key,) = plan.store.list_keys()
    found = find_trial([tmp_path], key)
    assert not replay(found, pool)[1]
    labels = 1 - found.record.outcome.labels
    plan.store.write(
        Record(
            trial=found.trial,
            outcome=replace(found.record.outcome, labels=labels, n_iter=999),
        )
    )
    # Which cluster has which number is no difference.
    _, (said,) = replay(find_trial([tmp_path], key), pool)
    assert said.startswith("n_iter 999 -> ")
    labels[0] = 1 - labels[0]
    changed = replace(found.record.outcome, labels=labels)
    plan.store.write(Record(trial=found.trial, outcome=changed))
    _, differences = replay(find_trial([tmp_path], key), pool)
    assert differences[0] == "labels"


def test_what_a_killed_worker_left_is_not_done(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "experiment.yaml").write_text("")
    (folder / "provenance.json").write_text('{"trials": {"total": 1, "beside": 1}}')
    rows = ["ok,1,1", "died,,3", "died,,1"]
    text = "status,seconds,attempts\n" + "\n".join(rows) + "\n"
    (folder / "trials.csv").write_text(text)
    (line,) = survey(tmp_path)
    assert (line.done, line.failed) == (1, 1)
