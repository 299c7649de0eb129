"""Shared fixtures: golden trajectories, real data, and hypothesis settings."""

import os
import signal
import sys

import h5py
import pytest
from helpers.golden import GOLDEN_FILE
from hypothesis import HealthCheck, settings

# The same examples on every machine, and no time limits on slow ones.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", parent=settings.get_profile("ci"), max_examples=400
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# A shell starts what runs in its background with interrupts ignored, nohup ignores
# hang-ups, children inherit that, and tests that send these would wait for nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def golden():
    """The authors' own trajectories, opened for reading."""
    with h5py.File(GOLDEN_FILE) as file:
        yield file


@pytest.fixture
def symmf(capfd):
    """Run the command line in this process; return exit code and all it printed."""
    from symmf.cli.main import main

    def run(*arguments):
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return int(end.value.code or 0), out + err

    return run


@pytest.fixture
def real_data():
    """A function that loads a real data set, or skips the test without it."""
    from symmf.datasets import load_dataset
    from symmf.errors import DataError

    def load(name, **options):
        try:
            return load_dataset(name, **options)
        except DataError as error:
            pytest.skip(f"needs the real data set {name} (set SYMMF_DATA): {error}")

    return load


@pytest.fixture(scope="session", autouse=True)
def _measured_workers():
    """Let workers save their coverage, where it is measured (``nox -s coverage``)."""
    if "COVERAGE_PROCESS_CONFIG" not in os.environ:
        yield
        return
    from helpers.measured_workers import end_gently

    with pytest.MonkeyPatch.context() as patch:
        end_gently(patch)
        yield


@pytest.fixture
def methods(monkeypatch):
    """Make the estimators that misbehave on purpose known by their names."""
    from helpers import runner_methods

    from symmf.clustering import METHODS

    for name, estimator in runner_methods.METHODS.items():
        monkeypatch.setitem(METHODS, name, estimator)


@pytest.fixture(scope="module")
def pool():
    """Two workers."""
    from symmf.experiment.run.local_pool import LocalPool

    with LocalPool(2) as workers:
        yield workers


@pytest.fixture(scope="module")
def commands():
    """``symmf`` in processes of its own."""
    from helpers.runner_cases import Commands

    helper = Commands()
    yield helper
    helper.close()


@pytest.fixture(scope="module")
def study(tmp_path_factory, commands):
    """A config and the tables of its undisturbed run."""
    from helpers.crashes import METHODS, finish, start
    from helpers.runner_cases import computed, write_config

    folder = tmp_path_factory.mktemp("study")
    path = write_config(folder, METHODS, trials="5")
    code, output = finish(commands, *start(commands, path, folder / "whole"))
    assert code == 0, output
    assert "Next: symmf tables --results" in output
    return path, computed(folder / "whole/tiny")
