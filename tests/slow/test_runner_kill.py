"""Twenty kills at random moments of a run, and other slow ways to die."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from helpers.crashes import finish, is_running, start
from helpers.runner_cases import computed

from scripts.benchmarks.runner import measure
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.run.process import WorkerProcess
from symmf.experiment.store.folder import ExperimentStore

pytestmark = pytest.mark.slow


def test_twenty_kills_at_random_moments(study, commands, tmp_path):
    path, expected = study
    store = ExperimentStore(tmp_path / "tiny")
    begin = time.monotonic()
    assert finish(commands, *start(commands, path, tmp_path / "timed"))[0] == 0
    duration = time.monotonic() - begin
    rng = np.random.default_rng(1)
    kills = 0
    while kills < 20:
        pid, log = start(commands, path, tmp_path)
        time.sleep(float(rng.uniform(0, duration)))
        if is_running(pid):
            assert finish(commands, pid, log, signal.SIGKILL)[0] == -signal.SIGKILL
            kills += 1
        else:
            assert commands.wait(pid) == 0
        keys = store.list_keys()
        assert all(store.read(key) is not None for key in keys)
        # The run gets done in between; take some away so that there is work left.
        if len(keys) == 20:
            for key in rng.choice(keys, size=12, replace=False):
                store.discard(str(key))
    code, output = finish(commands, *start(commands, path, tmp_path))
    assert code == 0, output
    assert computed(store.folder) == expected
    assert not list(store.folder.rglob("*.tmp"))


def test_a_dead_fork_server_is_replaced():
    with LocalPool(1) as pool:
        worker = WorkerProcess(pool.warm_up())
        os.kill(pool._server._process.pid, signal.SIGKILL)
        pool._server._process.wait()
        other = WorkerProcess(pool.warm_up())
        assert other.receive() is None
        assert other.ready
        other.kill()
        worker.kill()


def test_the_overhead_is_measured():
    found = measure(n_trials=60)
    assert found.runner_seconds > 0
    assert found.joblib_seconds > 0
