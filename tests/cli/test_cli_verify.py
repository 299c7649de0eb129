"""`info`, `replay` and `verify` on a study kept without records."""

from __future__ import annotations

import shutil

import pytest
from helpers.runner_cases import run_config, write_config

pytestmark = pytest.mark.usefixtures("methods", "one_pool")


@pytest.fixture
def folder(tmp_path, pool):
    path = write_config(tmp_path, "[kmeans, raises]", n_clusters="2", trials="2")
    results = tmp_path / "results"
    run_config(path, results, pool)
    shutil.copytree(
        results / "tiny",
        results / "reference" / "tiny",
        ignore=shutil.ignore_patterns("records"),
    )
    return results


def keys(folder):
    lines = (folder / "reference/tiny/trials.csv").read_text().splitlines()[1:]
    return [line.rpartition(",")[2] for line in lines]


def test_info_and_replay_without_a_record(folder, run):
    good, failed = keys(folder)[0], keys(folder)[-1]
    options = ("--reference", "--results", folder)
    code, out, _ = run("info", good[:16], *options)
    assert code == 0
    assert good in out
    assert "trials.csv" in out
    assert "labels       sha256" in out
    code, out, _ = run("replay", good, *options)
    assert code == 0
    assert "Same result." in out
    code, out, err = run("replay", failed, *options)
    assert code == 1
    assert "recorded failed: ArithmeticError: the matrix is not to my liking" in out
    assert "nothing to compare" in err
    assert "Same" not in out + err


def test_verify_says_equal_different_and_not_run(folder, run):
    code, out, _ = run("verify", "--results", folder)
    assert (code, "tiny: 4 equal" in out) == (0, True)
    table = folder / "reference" / "tiny" / "trials.csv"
    table.write_text(table.read_text().replace("ok,", "diverged,", 1))
    code, out, _ = run("verify", "tiny", "--results", folder)
    assert code == 1
    assert "tiny: 3 equal, 1 different" in out
    assert "status diverged -> ok" in out
    shutil.rmtree(folder / "tiny")
    code, _, err = run("verify", "--results", folder)
    assert code == 2
    assert "--sample 5" in err
    code, out, _ = run("verify", "--sample", 1, "--results", folder)
    assert (code, "tiny: 1 equal" in out) == (0, True)
