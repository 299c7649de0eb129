"""Trials on a real dask cluster: a scheduler and two workers on loopback."""

from __future__ import annotations

import os
import signal
import time

import pytest
from helpers import runner_methods
from helpers.dask_processes import Cluster
from helpers.runner_cases import computed, run_config, write_config

from symmf.clustering import METHODS
from symmf.errors import SymmfError
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.store.folder import ExperimentStore

pytest.importorskip("distributed", reason="needs the extra dask")
from symmf.experiment.run.dask import DaskBackend

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def methods(monkeypatch):
    for name, estimator in runner_methods.METHODS.items():
        monkeypatch.setitem(METHODS, name, estimator)


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.fixture
def backend(cluster):
    made = DaskBackend(cluster.address)
    yield made
    made.close()


def wait_for_workers(backend, n):
    while len(backend.client.scheduler_info()["workers"]) < n:
        time.sleep(0.05)


def test_a_cluster_gives_the_same_bits_although_a_worker_is_lost(
    cluster, backend, tmp_path
):
    path = write_config(
        tmp_path,
        "[{method: sleeps, parameters: {seconds: 0.2}}, kmeans, symmf]",
        trials="5",
    )
    for jobs in (1, 2):
        with LocalPool(jobs) as pool:
            run_config(path, tmp_path / f"jobs{jobs}", pool)
    doomed, _ = cluster.add_worker("--no-nanny"), cluster.add_worker()
    seen = []

    def kill_one(event):
        if event.kind == "trial_finished":
            seen.append(event)
            if len(seen) == 6:
                os.kill(doomed.pid, signal.SIGKILL)

    wait_for_workers(backend, 2)
    summary, _ = run_config(path, tmp_path / "dask", backend, listener=kill_one)
    assert doomed.wait() == -signal.SIGKILL
    assert (summary.ran, summary.failed) == (30, 0)
    expected = computed(tmp_path / "jobs1/tiny")
    assert computed(tmp_path / "jobs2/tiny") == expected
    assert computed(tmp_path / "dask/tiny") == expected


def test_limits_hold_on_a_cluster(cluster, backend, tmp_path):
    cluster.add_worker()
    path = write_config(
        tmp_path,
        "[{method: sleeps, parameters: {seconds: 60}}, dies, raises, "
        "{method: allocates, parameters: {gigabytes: 3}}]",
        n_clusters="2",
        trials="1",
        limits="{seconds: 1, memory_gb: 0.5}",
    )
    summary, _ = run_config(path, tmp_path, backend)
    assert summary.statuses == {"timeout": 1, "died": 1, "failed": 1, "memory": 1}


def test_data_are_sent_again_when_every_worker_is_lost(cluster, backend, tmp_path):
    path = write_config(tmp_path, "[sleeps]", trials="5")
    first = cluster.add_worker("--no-nanny")
    seen = []

    def replace_worker(event):
        if event.kind == "trial_finished":
            seen.append(event)
            if len(seen) == 3:
                os.kill(first.pid, signal.SIGKILL)
                cluster.add_worker()

    summary, _ = run_config(path, tmp_path, backend, listener=replace_worker)
    assert (summary.ran, summary.failed) == (10, 0)


def test_a_lost_scheduler_is_a_sentence_and_loses_nothing(
    cluster, backend, tmp_path, capfd
):
    path = write_config(tmp_path, "[sleeps]", trials="20")
    cluster.add_worker()
    seen = []

    def end_scheduler(event):
        if event.kind == "trial_finished":
            seen.append(event)
            if len(seen) == 3:
                cluster.processes[0].kill()

    with pytest.raises(SymmfError, match="scheduler was lost"):
        run_config(path, tmp_path, backend, listener=end_scheduler)
    backend.close()
    assert "Traceback" not in capfd.readouterr().err
    kept = len(ExperimentStore(tmp_path / "tiny").list_keys())
    assert kept >= 3
    with LocalPool(2) as pool:
        summary, _ = run_config(path, tmp_path, pool)
        assert (summary.ran, summary.skipped) == (40 - kept, kept)
        run_config(path, tmp_path / "whole", pool)
    assert computed(tmp_path / "tiny") == computed(tmp_path / "whole/tiny")
