"""Jobs given to workers: none is lost, none counts for another."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace

import pytest
from helpers import runner_methods
from helpers.runner_cases import write_config

from symmf.clustering import METHODS
from symmf.experiment.plan import make_plans
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.values import Job
from symmf.plugins import find_method


@pytest.fixture(scope="module")
def pool():
    with LocalPool(1) as workers:
        yield workers


@pytest.fixture(autouse=True)
def methods(monkeypatch):
    for name, estimator in runner_methods.METHODS.items():
        monkeypatch.setitem(METHODS, name, estimator)


def make_jobs(tmp_path, methods, **options):
    path = write_config(tmp_path, methods, n_clusters="2", **options)
    (plan,) = make_plans([path], results=tmp_path)
    jobs = [
        Job(trial=trial, estimator=find_method(trial.estimator))
        for trial in plan.trials
    ]
    return jobs, {plan.data.digest: plan.data}


def outcomes(pool, jobs, data, watch=lambda: None):
    """Run jobs; return how each ended, in the order of ``jobs``."""
    ended = {}
    for update in pool.run(jobs, data, threading.Event()):
        watch()
        if update.outcome is not None:
            assert id(update.job) not in ended
            ended[id(update.job)] = update.outcome
    return [ended[id(job)] for job in jobs]


def test_a_killed_trial_alone_is_lost(tmp_path, pool):
    sleeps = "[{method: sleeps, parameters: {seconds: 0.2}}]"
    jobs, data = make_jobs(tmp_path, sleeps, trials="5")
    killed = []

    def kill_once():
        for worker in pool._workers:
            if worker.job is not None and not killed:
                killed.append(worker.job)
                os.kill(worker.pid, signal.SIGKILL)

    found = outcomes(pool, jobs, data, kill_once)
    died = [job for job, o in zip(jobs, found, strict=True) if o.status == "died"]
    assert [id(job) for job in died] == [id(job) for job in killed]
    assert [outcome.status for outcome in found].count("ok") == 4


def test_data_that_a_worker_cannot_read_fail_their_trials_alone(tmp_path, pool):
    jobs, data = make_jobs(tmp_path, "[instant]", trials="3")
    other = replace(jobs[1], trial=replace(jobs[1].trial, data_digest="unreadable"))
    data["unreadable"] = runner_methods.Unreadable()
    found = outcomes(pool, [jobs[0], other, jobs[2]], data)
    assert [outcome.status.value for outcome in found] == ["ok", "failed", "ok"]
    assert "no such kind of data" in found[1].message
