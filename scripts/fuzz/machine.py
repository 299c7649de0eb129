"""The state machine over the store and the runner, with random steps of its own."""

from __future__ import annotations

import re
import sys

from scripts.fuzz.harness import Case
from scripts.fuzz.process import ROOT

# Of a case; the first story is the shortest there is.
STORIES, STEPS = 11, 50


def live(case: Case) -> None:
    """Let hypothesis choose stories of runs, kills, damage, merges and configs."""
    ended = case.run(lambda: _tell(case.index, case.rng.random()), seconds=1800)
    case.tried = int(re.findall(r"(\d+) steps", ended.text)[-1])


def _tell(index: int, seed: float) -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    from experiment.test_state_machine import Folder
    from helpers import runner_methods
    from hypothesis import HealthCheck, settings
    from hypothesis import seed as seeded
    from hypothesis.stateful import invariant, run_state_machine_as_test

    from symmf.clustering import METHODS

    METHODS.update(runner_methods.METHODS)
    steps = 0

    class Counted(Folder):
        @invariant()
        def count(self) -> None:
            nonlocal steps
            steps += 1

    chosen = settings(
        max_examples=STORIES, stateful_step_count=STEPS, deadline=None,
        database=None, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    try:
        run_state_machine_as_test(seeded(f"{index} {seed}")(Counted), settings=chosen)
    finally:
        print(f"{steps} steps")
