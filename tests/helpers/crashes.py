"""Runs in processes of their own, to be killed."""

from __future__ import annotations

import os
from pathlib import Path

METHODS = "[{method: sleeps, parameters: {seconds: 0.1}}, instant]"


def start(commands, path, results):
    """Start a run; return its process number and the file with its output."""
    log = path.with_name(f"{results.name}.log")
    log.unlink(missing_ok=True)
    return commands.start(log, "run", path, "--results", results, "--jobs", 2), log


def finish(commands, pid, log, number=0):
    """Send a signal if any, wait for the end, return exit code and output."""
    os.kill(pid, number)
    return commands.wait(pid), log.read_text()


def is_running(pid):
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        )
    except OSError:
        return False
