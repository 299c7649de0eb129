"""What the tests of the runner share: a small config, running it, comparing tables."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import runner_methods

from symmf.experiment.export import MEASURED_COLUMNS
from symmf.experiment.plan import make_plans
from symmf.experiment.runner import run

DATA = "{name: synthetic, kind: planted, n: 60, k: 4, m: 8}"
REPOSITORY = Path(__file__).resolve().parents[1]


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
            kept = [c for c in table.columns if c not in MEASURED_COLUMNS]
            texts.append(table[kept].to_csv(index=False))
    return texts


def start_command(*arguments):
    """Start ``symmf`` with the test methods in a process of its own."""
    paths = [str(REPOSITORY), str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen(
        [sys.executable, __file__, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def stop(process, number=signal.SIGKILL):
    """Send a signal, wait for the end, return exit code and output."""
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    return process.returncode, output


if __name__ == "__main__":
    from symmf.cli.main import main
    from symmf.clustering import METHODS

    METHODS.update(runner_methods.METHODS)
    main()
