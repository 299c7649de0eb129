"""Any order of runs, kills, damage, merges and other configs: nothing lost or wrong.

``HYPOTHESIS_PROFILE=thorough`` takes 10,000 steps.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest
from helpers.runner_cases import run_config, write_config
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from symmf.errors import SymmfError
from symmf.experiment.run import Update
from symmf.experiment.run.trial import run_trial
from symmf.experiment.store.folder import ExperimentStore
from symmf.experiment.store.lock import FolderLock
from symmf.experiment.store.merge import merge
from symmf.experiment.store.trials_table import read_trials

pytestmark = pytest.mark.usefixtures("methods")

THOROUGH = settings().max_examples > 100
DAMAGES = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
}


class Here:
    """Runs trials in this process."""

    def run(self, jobs, data, stop):
        for job in jobs:
            if stop.is_set():
                return
            yield Update(job)
            outcome = run_trial(job, data[job.trial.data_digest])
            yield Update(job, outcome, {"python": "3"})


def config(folder, trials, k, mended=None):
    methods = f"[instant, {{method: raises, parameters: {{unless: '{mended}'}}}}]"
    return write_config(folder, methods, trials=trials, n_clusters=f"[{k}]")


class Folder(RuleBasedStateMachine):
    """One results folder, and what must be in it."""

    @initialize()
    def begin(self):
        self.root = Path(tempfile.mkdtemp(prefix="machine-"))
        self.results, self.mended = self.root / "r", self.root / "mended"
        self.store = ExperimentStore(self.results / "tiny")
        # Labels of each key that was recorded and not damaged since; None if it failed.
        self.good = {}
        self.trials, self.k = 1, 2

    def teardown(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def run_now(self, **options):
        path = config(self.root, self.trials, self.k, self.mended)
        return run_config(path, self.results, Here(), **options)

    def look(self):
        """Read what there is; every record is what its key says."""
        self.good = {}
        for key in self.store.list_keys():
            record = self.store.read(key)
            if record is not None:
                labels = record.outcome.labels
                self.good[key] = None if labels is None else labels.tolist()
                if record.outcome.ok:
                    rng = np.random.default_rng(record.trial.random_state)
                    n, k = record.outcome.n_samples, record.trial.n_clusters
                    assert self.good[key] == rng.integers(k, size=n).tolist()

    @rule(fresh=st.booleans(), retry=st.booleans())
    def run(self, fresh, retry):
        summary, (plan,) = self.run_now(fresh=fresh, retry_failed=retry)
        assert summary.remaining == 0
        assert summary.failed in (0, self.trials)
        if self.mended.exists() and (fresh or retry):
            assert summary.failed == 0
        table = read_trials(self.store.folder)
        keys = {trial.key for trial in plan.trials}
        assert keys <= set(table["key"])
        rows = table[table["key"].isin(keys)]
        assert (rows["status"] != "ok").sum() == summary.failed
        self.look()
        assert keys <= set(self.good)
        assert not list(self.results.rglob(".*.tmp"))
        again, _ = self.run_now()
        assert again.ran == 0

    @rule(after=st.integers(0, 12), fresh=st.booleans())
    def kill(self, after, fresh):
        """SIGKILL when so many events have been told."""
        events = iter(range(after))

        def listen(_):
            if next(events, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        child = os.fork()
        if child == 0:
            try:
                self.run_now(listener=listen, fresh=fresh)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        before = self.good
        self.look()
        # A fresh run discards first; any other adds.
        assert fresh or set(before) <= set(self.good)

    @rule(trials=st.integers(1, 3), k=st.integers(2, 4))
    def other_config(self, trials, k):
        self.trials, self.k = trials, k

    @rule()
    def mend(self):
        self.mended.touch()

    @rule(data=st.data(), damage=st.sampled_from(sorted(DAMAGES)))
    def damage_record(self, data, damage):
        whole = [key for key in self.good if self.store.path(key).is_file()]
        if whole:
            key = data.draw(st.sampled_from(whole))
            DAMAGES[damage](self.store.path(key))
            del self.good[key]

    @rule(
        name=st.sampled_from(["trials.csv", "traces.csv", "events.jsonl", "run.lock"]),
        damage=st.sampled_from(["gone", "empty", "cut", "zeros"]),
    )
    def damage_table(self, name, damage):
        path = self.store.folder / name
        if path.is_file():
            DAMAGES[damage](path)

    @rule()
    def second_run_is_refused(self):
        if self.store.folder.is_dir():
            with FolderLock(self.store.folder), pytest.raises(SymmfError):
                self.run_now()

    @rule()
    def merge_elsewhere(self):
        if not (self.store.folder / "provenance.json").is_file():
            return
        target = self.root / "merged"
        shutil.rmtree(target, ignore_errors=True)
        merge([self.results], target)
        merged = ExperimentStore(target / "tiny")
        for key in merged.list_keys():
            labels = merged.read(key).outcome.labels
            assert self.good[key] == (None if labels is None else labels.tolist())

    @invariant()
    def nothing_is_lost(self):
        for key in self.good:
            assert self.store.read(key) is not None


class TestFolder(Folder.TestCase):
    settings = settings(
        max_examples=200 if THOROUGH else 3, stateful_step_count=50 if THOROUGH else 25
    )


@pytest.mark.slow
class TestFolderLonger(Folder.TestCase):
    settings = settings(max_examples=8, stateful_step_count=25)
