"""Runs that are killed or interrupted from outside, and what is left of them."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import numpy as np
from helpers.crashes import finish, is_running, start
from helpers.runner_cases import computed

from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.lock import is_locked


def wait_for_records(pid, store, more):
    """Wait until the run has written ``more`` records than there are now."""
    wanted = len(store.list_keys()) + more
    limit = time.monotonic() + 60
    while is_running(pid) and len(store.list_keys()) < wanted:
        assert time.monotonic() < limit
        time.sleep(0.005)


def descendants(pid):
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += [int(child), *descendants(child)]
    return found


def kill_one_run(commands, path, store, delay, more=3):
    """Kill a run in the middle and check that nothing is broken or left behind."""
    pid, log = start(commands, path, store.folder.parent)
    wait_for_records(pid, store, more)
    time.sleep(delay)
    family = descendants(pid)
    code, output = finish(commands, pid, log, signal.SIGKILL)
    assert code == -signal.SIGKILL, output
    assert family
    assert not is_locked(store.folder)
    assert all(store.read(key) is not None for key in store.list_keys())
    limit = time.monotonic() + 20
    while any(map(is_running, family)):
        assert time.monotonic() < limit, "workers outlive their run"
        time.sleep(0.02)


def test_killed_runs_continue_to_the_same_tables(study, commands, tmp_path):
    path, expected = study
    store = ExperimentStore(tmp_path / "tiny")
    rng = np.random.default_rng(0)
    for _ in range(2):
        kill_one_run(commands, path, store, float(rng.uniform(0, 0.15)))
    code, output = finish(commands, *start(commands, path, tmp_path))
    assert code == 0, output
    assert computed(store.folder) == expected
    assert not list(store.folder.rglob("*.tmp"))


def test_an_interrupted_run_says_how_to_continue(study, commands, tmp_path):
    path, expected = study
    store = ExperimentStore(tmp_path / "tiny")
    pid, log = start(commands, path, tmp_path)
    wait_for_records(pid, store, more=2)
    code, output = finish(commands, pid, log, signal.SIGINT)
    assert code == 130, output
    assert "Repeat the same command to continue" in output
    assert "Traceback" not in output
    assert len(computed(store.folder)[0].splitlines()) == 1 + len(store.list_keys())
    code, output = finish(commands, *start(commands, path, tmp_path))
    assert code == 0, output
    assert computed(store.folder) == expected
