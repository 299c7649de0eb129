"""What the tests of the runner share: a small config, running it, comparing tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pandas as pd

from helpers import runner_methods
from symmf.experiment.plan import make_plans
from symmf.experiment.runner import run

DATA = "{name: synthetic, kind: planted, n: 60, k: 4, m: 8}"
# What differs between two runs of the same trial.
MEASURED = ("seconds", "similarity_seconds", "peak_memory_mb", "attempts")
REPOSITORY = Path(__file__).resolve().parents[2]


def write_config(folder, methods, *, name="tiny", **keys):
    """Write a config with the given methods (YAML text) and return its path."""
    lines = {"dataset": DATA, "n_clusters": "[2, 3]", "trials": "2", **keys}
    text = "\n".join(f"{key}: {value}" for key, value in lines.items())
    path = folder / f"{name}.yaml"
    path.write_text(f"{text}\nmethods: {methods}\n")
    return path


def run_config(path, results, pool, **options):
    """Plan and run; return the summary and the plans."""
    chosen = {
        key: options.pop(key) for key in ("settings", "only", "shard") if key in options
    }
    plans = make_plans([path], results=results, **chosen)
    return run(plans, backend=pool, **options), plans


def computed(folder):
    """Return the text of the tables without what is measured."""
    texts = []
    for name in ("trials.csv", "traces.csv"):
        file = Path(folder) / name
        if file.exists():
            table = pd.read_csv(file, dtype=str, keep_default_na=False)
            kept = [c for c in table.columns if c not in MEASURED]
            texts.append(table[kept].to_csv(index=False))
    return texts


def read_events(folder):
    """Return the event log, without lines that are unfinished or no events."""
    events = []
    file = Path(folder) / "events.jsonl"
    for line in file.read_text("utf-8", "replace").splitlines():
        with suppress(ValueError):
            events.append(json.loads(line))
    return events


class Commands:
    """Runs ``symmf`` with the test methods, each time in a process of its own.

    The processes are forks of one helper that has imported everything once.
    """

    def __init__(self):
        paths = [str(REPOSITORY), str(Path(__file__).parents[1])]
        self._helper = subprocess.Popen(
            [sys.executable, __file__],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _ask(self, *request):
        self._helper.stdin.write(json.dumps(request) + "\n")
        self._helper.stdin.flush()
        return json.loads(self._helper.stdout.readline())

    def start(self, output, *arguments):
        """Start a command that prints to the file ``output``; return its number."""
        return self._ask("start", str(output), [str(a) for a in arguments])

    def wait(self, pid):
        """Wait for a command; return its exit code, negative for a signal."""
        return self._ask("wait", pid)

    def close(self):
        self._helper.communicate()


def _help():
    """Serve the requests of ``Commands`` on standard input and output."""
    from symmf.cli import run as _run_commands  # noqa: F401
    from symmf.cli.main import main
    from symmf.clustering import METHODS

    METHODS.update(runner_methods.METHODS)
    for line in sys.stdin:
        kind, *content = json.loads(line)
        if kind == "start":
            answer = os.fork()
            if answer == 0:
                handle = os.open(content[0], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                for stream in (1, 2):
                    os.dup2(handle, stream)
                main(content[1])
        else:
            answer = os.waitstatus_to_exitcode(os.waitpid(content[0], 0)[1])
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _help()
