"""The runner: what is run, kept, refused and reported, with real worker processes."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import runner_methods
from helpers.runner_cases import computed, read_events, run_config, write_config

from symmf.clustering import METHODS
from symmf.common import files
from symmf.errors import ConfigError, InputError, SymmfError
from symmf.experiment.again import describe, find_trial
from symmf.experiment.plan import Shard, make_plans, read_study
from symmf.experiment.progress import survey
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.run.trial import drawn_rows
from symmf.experiment.runner import run
from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.lock import FolderLock
from symmf.experiment.store.trials_table import read_trials, time_spent
from symmf.experiment.values import Record, Status

pytestmark = pytest.mark.usefixtures("methods")


def table(results, name="tiny"):
    return pd.read_csv(results / name / "trials.csv", keep_default_na=False)


def test_a_run_records_every_trial_and_a_second_does_nothing(tmp_path, pool):
    path = write_config(tmp_path, "[kmeans, weighted]", **{"lambda": "[0, 1]"})
    summary, _ = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.failed, summary.exit_code) == (12, 0, 0)
    found = table(tmp_path)
    assert set(found["status"]) == {"ok"}
    assert (found["peak_memory_mb"] > 1).all()
    folder = tmp_path / "tiny"
    before = {
        p: p.read_bytes() for p in folder.rglob("*.*") if p.name != "events.jsonl"
    }
    summary, _ = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.skipped) == (0, 12)
    assert {p: p.read_bytes() for p in before} == before


def test_records_carry_their_provenance(tmp_path, pool):
    path = write_config(tmp_path, "[kmeans]", n_clusters="2", trials="1")
    _, (plan,) = run_config(path, tmp_path, pool)
    (record,) = plan.records.values()
    (key,) = plan.store.list_keys()
    stored = plan.store.read(key)
    assert stored.provenance == record.provenance
    origin = stored.provenance
    assert origin["symmf"]
    assert origin["command"]
    assert origin["config_digest"] == plan.config.digest()
    assert origin["data_digest"] == plan.data.digest
    machine = origin["environment"]
    assert {"python", "libraries", "blas", "cpu"} <= set(machine)
    assert {library["num_threads"] for library in machine["blas"]} == {1}
    assert stored.outcome.started
    assert stored.outcome.seconds > 0
    text = describe(find_trial([tmp_path], key))
    for piece in (key, "kmeans", "config_digest", "random_state", "nmi_max"):
        assert piece in text


def test_the_tables_do_not_depend_on_the_number_of_workers(tmp_path, pool):
    path = write_config(tmp_path, "[kmeans, symmf, instant]")
    run_config(path, tmp_path / "two", pool)
    with LocalPool(1) as single:
        run_config(path, tmp_path / "one", single)
    assert computed(tmp_path / "one/tiny") == computed(tmp_path / "two/tiny")


def test_the_methods_of_a_draw_share_their_similarity(tmp_path):
    path = write_config(tmp_path, "[symnmf, snmf, kmeans]")
    with LocalPool(1) as single:
        run_config(path, tmp_path, single)
    found = table(tmp_path).pivot(
        index=["n_clusters", "trial"], columns="method", values="similarity_seconds"
    )
    # Those of the fit that built it.
    assert (found["symnmf"] == found["snmf"]).all()
    assert found["snmf"].is_unique
    assert (found["kmeans"] == "").all()
    spent = time_spent(read_trials(tmp_path / "tiny"))
    assert spent < table(tmp_path)["seconds"].sum()
    (line,) = survey(tmp_path)
    assert line.seconds == pytest.approx(spent)


def test_failures_are_rows_and_are_retried_on_request(tmp_path, pool):
    switch = tmp_path / "switch"
    path = write_config(
        tmp_path,
        f"[instant, {{method: raises, parameters: {{unless: '{switch}'}}}}, diverges]",
        n_clusters="2",
    )
    summary, (plan,) = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.failed, summary.exit_code) == (6, 4, 1)
    found = table(tmp_path)
    assert dict(found.groupby("method")["status"].first()) == {
        "diverges": "diverged",
        "instant": "ok",
        "raises": "failed",
    }
    told = {failure.status: failure for failure in summary.failures}
    assert told.keys() == {Status.FAILED, Status.DIVERGED}
    assert (told[Status.FAILED].count, told[Status.DIVERGED].count) == (2, 2)
    assert told[Status.FAILED].title.startswith("raises, K=2")
    bad = found[found["status"] != "ok"]
    assert set(bad["ac"]) == {""}
    message = "ArithmeticError: the matrix is not to my liking"
    assert set(bad[bad["method"] == "raises"]["message"]) == {message}
    key = bad[bad["method"] == "raises"]["key"].iloc[0]
    assert "runner_methods.py" in plan.store.read(key).outcome.traceback

    summary, _ = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.exit_code) == (0, 1)
    switch.write_text("")
    summary, _ = run_config(path, tmp_path, pool, retry_failed=True)
    assert (summary.ran, summary.failed) == (4, 2)
    assert set(table(tmp_path).query("method == 'raises'")["status"]) == {"ok"}


def test_fail_fast_stops_and_the_rest_can_follow(tmp_path, pool):
    path = write_config(tmp_path, "[raises]", trials="20")
    summary, _ = run_config(path, tmp_path, pool, fail_fast=True)
    assert summary.failed == summary.ran == 1
    assert summary.remaining == 39
    assert (summary.interrupted, summary.exit_code) == (False, 1)
    assert len(table(tmp_path)) == 1


def test_limits_are_hard_and_cost_one_trial_each(tmp_path, pool):
    path = write_config(
        tmp_path,
        "[instant, {method: sleeps, parameters: {seconds: 60}}, "
        "{method: allocates, parameters: {gigabytes: 3}}, dies]",
        n_clusters="2",
        trials="1",
        limits="{seconds: 1, memory_gb: 0.5}",
    )
    start = time.monotonic()
    summary, (plan,) = run_config(path, tmp_path, pool)
    assert time.monotonic() - start < 50
    assert (summary.ran, summary.failed) == (4, 3)
    found = table(tmp_path).set_index("method")
    assert dict(found["status"]) == {
        "instant": "ok",
        "sleeps": "timeout",
        "allocates": "memory",
        "dies": "died",
    }
    assert found.loc["sleeps", "message"] == "Stopped at the limit of 1 seconds."
    assert "(limit 0.5 GiB)" in found.loc["allocates", "message"]
    assert "was killed" in found.loc["dies", "message"]
    # The same allocation is fine without the limit, in the same pool.
    summary, _ = run_config(
        path,
        tmp_path,
        pool,
        only=["allocates"],
        retry_failed=True,
        settings=["limits=null", "methods.allocates.parameters.gigabytes=0.6"],
    )
    assert summary.failed == 0
    assert plan.name == "tiny"


def test_a_killed_worker_costs_its_trial_alone(tmp_path, pool):
    path = write_config(tmp_path, "[{method: sleeps, parameters: {seconds: 0.3}}]")
    run_config(path, tmp_path / "calm", pool)
    killed = []

    def kill_one(event):
        if event.kind == "trial_started" and not killed:
            busy = [worker for worker in pool._workers if worker.job is not None]
            killed.append(busy[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    summary, (plan,) = run_config(path, tmp_path / "shaken", pool, listener=kill_one)
    assert (summary.ran, summary.statuses) == (4, {"ok": 4})
    assert computed(tmp_path / "calm/tiny") == computed(tmp_path / "shaken/tiny")
    assert sorted(table(tmp_path / "shaken")["attempts"]) == [1, 1, 1, 2]
    kinds = [event["event"] for event in read_events(plan.store.folder)]
    assert (kinds.count("trial_lost"), kinds.count("trial_finished")) == (1, 4)


def test_a_trial_that_kills_its_worker_is_tried_three_times(tmp_path, pool):
    switch = tmp_path / "switch"
    method = f"[{{method: dies, parameters: {{unless: '{switch}'}}}}]"
    path = write_config(tmp_path, method, n_clusters="2", trials="1")
    summary, (plan,) = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.failed, summary.exit_code) == (1, 1, 1)
    (failure,) = summary.failures
    assert (failure.status, failure.count) == (Status.DIED, 1)
    assert "was killed" in failure.message
    (record,) = plan.records.values()
    assert record.outcome.attempts == 3
    # The same command does not begin a fourth time unless it is asked to.
    summary, _ = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.failed) == (0, 1)
    # An earlier run that was stopped after the first attempt is continued.
    once = Record(trial=record.trial, outcome=replace(record.outcome, attempts=1))
    plan.store.write(once)
    switch.touch()
    summary, _ = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.failed) == (1, 0)
    assert table(tmp_path)["attempts"].tolist() == [2]


def test_an_illustration_is_a_job_with_limits(tmp_path, pool):
    shown = "{method: symmf, name: shown, parameters: {similarity: centred_cosine}}"
    methods = f"[{shown}, instant, {{method: symmf, name: chosen}}]"
    path = write_config(tmp_path, methods, illustration="shown", n_clusters="2")
    summary, (plan,) = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.problems, summary.exit_code) == (6, (), 0)
    with np.load(plan.store.folder / "illustration.npz") as found:
        first = plan.store.read(plan.trials[0].key)
        assert found["A"].shape == (len(found["H"]), len(found["H"]))
        np.testing.assert_array_equal(found["classes"], first.outcome.y)
        np.testing.assert_array_equal(found["labels"], first.outcome.labels)
    # What has nothing to show is told, and takes nothing with it.
    for name, reason in (("instant", "no similarity and"), ("chosen", "name the sim")):
        path = write_config(tmp_path, methods, illustration=name, name="other")
        summary, (plan,) = run_config(path, tmp_path, pool)
        assert (summary.failed, summary.exit_code) == (0, 1)
        assert reason in summary.problems[0]
        assert len(table(tmp_path, "other")) == 12


def test_the_description_names_the_environment_of_the_workers(tmp_path, pool):
    path = write_config(tmp_path, "[kmeans]", n_clusters="2", trials="1")
    _, (plan,) = run_config(path, tmp_path, pool)
    told = plan.store.environment()
    (record,) = plan.records.values()
    assert told == record.provenance["environment"]
    assert {library["num_threads"] for library in told["blas"]} == {1}
    # A run in which no worker takes part keeps what is known.
    run_config(path, tmp_path, pool, settings=["title=New"])
    assert plan.store.environment() == told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_wish_to_stop_keeps_what_is_finished(tmp_path, pool, number):
    path = write_config(tmp_path, "[{method: sleeps}]", trials="30")

    def interrupt(event):
        if event.kind == "trial_finished":
            os.kill(os.getpid(), number)
            threading.Event().wait(0.01)

    plans = make_plans([path], results=tmp_path)
    before = signal.getsignal(number)
    summary = run(plans, backend=pool, listener=_once(interrupt))
    assert signal.getsignal(number) is before
    assert (summary.interrupted, summary.exit_code) == (True, 130)
    assert len(table(tmp_path)) == summary.ran == 60 - summary.remaining
    assert read_events(tmp_path / "tiny")[-1]["event"] == "interrupted"


def test_an_ignored_signal_stays_ignored(tmp_path, pool):
    path = write_config(tmp_path, "[instant]")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        plans = make_plans([path], results=tmp_path)
        stop = _once(lambda _: os.kill(os.getpid(), signal.SIGINT))
        summary = run(plans, backend=pool, listener=stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (summary.interrupted, summary.ran) == (False, 4)


def _once(action):
    seen = []

    def listener(event):
        if event.kind == "trial_finished" and not seen:
            seen.append(event)
            action(event)

    return listener


def test_damaged_records_and_leftovers_are_mended(tmp_path, pool):
    path = write_config(tmp_path, "[instant, kmeans]")
    run_config(path, tmp_path, pool)
    expected = computed(tmp_path / "tiny")
    store = ExperimentStore(tmp_path / "tiny")
    one, two, three, *_ = store.list_keys()
    store.path(one).write_bytes(store.path(one).read_bytes()[:-40])
    store.path(two).write_bytes(b"")
    store.path(three).unlink()
    (store.records_folder / f".{three}.h5.999999999.tmp").write_bytes(b"half")
    (store.folder / "trials.csv").unlink()
    (store.folder / "experiment.yaml").unlink()
    with (store.folder / "events.jsonl").open("a") as log:
        log.write('{"torn')
    summary, _ = run_config(path, tmp_path, pool)
    assert summary.ran == 3
    assert computed(tmp_path / "tiny") == expected
    assert not list(store.records_folder.glob("*.tmp"))
    assert all("event" in event for event in read_events(store.folder))


def test_fresh_computes_again_what_is_selected(tmp_path, pool):
    path = write_config(tmp_path, "[instant, kmeans]")
    run_config(path, tmp_path, pool)
    summary, _ = run_config(path, tmp_path, pool, fresh=True, only=["kmeans"])
    assert (summary.ran, summary.skipped) == (4, 0)
    assert len(table(tmp_path)) == 8


def test_a_full_disk_is_a_sentence_and_loses_nothing(tmp_path, pool, monkeypatch):
    path = write_config(tmp_path, "[instant]", trials="5")
    written = []
    real = files._write_all

    def full_after_three(handle, data):
        if data[:4] == b"\x89HDF":
            written.append(data)
            if len(written) > 3:
                raise OSError(errno.ENOSPC, "No space left on device")
        real(handle, data)

    monkeypatch.setattr(files, "_write_all", full_after_three)
    with pytest.raises(SymmfError, match="No space left on device"):
        run_config(path, tmp_path, pool)
    monkeypatch.undo()
    monkeypatch.setitem(METHODS, "instant", runner_methods.Instant)
    assert len(ExperimentStore(tmp_path / "tiny").list_keys()) == 3
    summary, _ = run_config(path, tmp_path, pool)
    assert (summary.ran, summary.skipped) == (7, 3)


def test_two_runs_on_one_folder_are_kept_apart(tmp_path, pool):
    path = write_config(tmp_path, "[instant]")
    (tmp_path / "tiny").mkdir()
    with (
        FolderLock(tmp_path / "tiny"),
        pytest.raises(InputError, match=f"process {os.getpid()}"),
    ):
        run_config(path, tmp_path, pool)


def test_an_unwritable_folder_and_bad_requests(tmp_path, pool):
    path = write_config(tmp_path, "[instant]")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        run_config(path, tmp_path / "file", pool)
    with pytest.raises(InputError, match='did you mean "instant"'):
        make_plans([path], only=["instnat"])
    with pytest.raises(ConfigError, match="both describe"):
        make_plans([path, path])
    for text in ("0/2", "3/2", "x", "1"):
        with pytest.raises(InputError, match="--shard needs"):
            Shard.parse(text)


def test_several_experiments_share_one_run(tmp_path, pool):
    one = write_config(tmp_path, "[instant]", name="one")
    two = write_config(tmp_path, "[kmeans]", name="two")
    events = []
    plans = make_plans([one, two], results=tmp_path)
    summary = run(plans, backend=pool, listener=events.append)
    assert summary.ran == 8
    assert {event.experiment for event in events} == {"one", "two"}
    kinds = [event.kind for event in events if event.experiment == "one"]
    assert kinds[0] == "run_started"
    assert kinds.count("trial_finished") == 4
    assert kinds[-1] == "run_finished"
    logged = [event["event"] for event in read_events(tmp_path / "one")]
    assert logged == kinds
    lines = {line.experiment: line for line in survey(tmp_path)}
    one = lines["one"]
    assert (one.done, one.total, one.state) == (4, 4, "complete")


def notices(path, results, pool, *settings):
    """Run with changed settings; return what was said before it began."""
    told = []

    def listen(event):
        if event.kind == "notice":
            told.append(event.details["text"])

    run_config(path, results, pool, settings=settings, listener=listen)
    return told


def test_a_smaller_config_keeps_the_finished_rows_and_says_so(tmp_path, pool):
    path = write_config(tmp_path, "[weighted, instant]", **{"lambda": "[0, 1]"})
    assert notices(path, tmp_path, pool) == []
    whole = computed(tmp_path / "tiny")
    assert notices(path, tmp_path, pool, "methods.instant.label=Fast") == []
    assert set(table(tmp_path)["label"]) == {"weighted", "Fast"}
    (text,) = notices(path, tmp_path, pool, "trials=1", "n_clusters=2")
    assert "another config (n_clusters [2,3] -> [2]; trials 2 -> 1)." in text
    assert "9 finished trials that are not requested now are kept." in text
    assert "0 trials are to be run." in text
    assert "otherwise" not in text
    assert computed(tmp_path / "tiny") == whole
    # The same from the records alone, as a reading command sees it.
    written = read_trials(tmp_path / "tiny")
    (tmp_path / "tiny/trials.csv").unlink()
    pd.testing.assert_frame_equal(read_trials(tmp_path / "tiny"), written)


def test_another_seed_or_parameter_is_not_mixed_with_what_was_there(tmp_path, pool):
    path = write_config(
        tmp_path, "[instant, {method: instant, name: b, parameters: {length: 7}}]"
    )
    run_config(path, tmp_path, pool)
    before = computed(tmp_path / "tiny")
    setting = "methods.b.parameters.length=9"
    (text,) = notices(path, tmp_path, pool, setting)
    assert "methods.b.parameters.length 7 -> 9" in text
    assert "4 records of trials with other settings leave the tables" in text
    assert "4 trials are to be run." in text
    found = table(tmp_path)
    assert len(found) == 8
    assert set(found[found["method"] == "b"]["n_iter"]) == {9}
    notices(path, tmp_path, pool, "seed=1")
    assert len(table(tmp_path)) == 8
    # The first config finds everything it had.
    summary, _ = run_config(path, tmp_path, pool)
    assert (summary.ran, computed(tmp_path / "tiny")) == (0, before)


def test_a_method_that_workers_cannot_import_fails_its_trials(
    tmp_path, pool, monkeypatch
):
    class Local(runner_methods.Instant):
        pass

    Local.__qualname__ = "Nowhere"
    monkeypatch.setattr(runner_methods, "Nowhere", Local, raising=False)
    Local.__module__ = "helpers.runner_methods"
    monkeypatch.setitem(METHODS, "local", Local)
    path = write_config(tmp_path, "[local]", n_clusters="2")
    summary, _ = run_config(path, tmp_path, pool)
    assert summary.statuses == {"failed": 2}
    assert "Nowhere" in table(tmp_path)["message"].iloc[0]


def test_trials_of_a_part_of_the_rows_see_the_same_ones(tmp_path, pool):
    path = write_config(tmp_path, "[kmeans, instant]", draw="{share: 0.5}", trials="3")
    summary, (plan,) = run_config(path, tmp_path, pool)
    assert summary.exit_code == 0
    rows = table(tmp_path)
    # Two or three of four classes of 15 samples, half of each.
    assert set(rows["n_samples"]) == {16, 24}
    drawn = {}
    for trial in plan.trials:
        data = plan.data.subset(trial.classes)
        chosen = drawn_rows(trial, data)
        assert set(np.bincount(data.y[chosen])) == {8}
        drawn.setdefault((trial.n_clusters, trial.trial), set()).add(tuple(chosen))
    assert all(len(found) == 1 for found in drawn.values())
    assert len({rows for found in drawn.values() for rows in found}) == 6
    path = write_config(tmp_path, "[kmeans]", draw="{rows: 50}", name="many")
    summary, _ = run_config(path, tmp_path, pool)
    messages = [failure.message for failure in summary.failures]
    assert all("50 rows are requested" in message for message in messages)
    assert summary.failed == 4
    path = write_config(tmp_path, "[kmeans]", draw="{rows: 5, share: 0.5}")
    with pytest.raises(ConfigError, match="give share or rows, not both"):
        make_plans([path], results=tmp_path)


def test_an_experiment_is_planned_when_the_one_before_is_done(tmp_path, pool):
    paths = [write_config(tmp_path, "[instant]", name=name) for name in ("a", "b")]
    study = read_study(paths, results=tmp_path)
    order = []

    def plans():
        for plan in study.plans():
            order.append(f"plan {plan.name}")
            yield plan

    def listen(event):
        if event.kind == "run_finished":
            order.append(f"done {event.experiment}")

    assert run(plans(), backend=pool, listener=listen).ran == 8
    assert order == ["plan a", "done a", "plan b", "done b"]
