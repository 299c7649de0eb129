"""The commands `run`, `status`, `info`, `replay` and `merge` as a user types them."""

from __future__ import annotations

import pytest
from helpers.runner_cases import write_config

from symmf.cli.progress import Lines
from symmf.experiment.recorder import Event
from symmf.experiment.store.folder import ExperimentStore

pytestmark = pytest.mark.usefixtures("methods", "one_pool")


def test_run_status_info_replay(tmp_path, run):
    path = write_config(tmp_path, "[instant, kmeans]")
    results = ("--results", tmp_path / "results")
    code, out, _ = run("run", path, "--dry-run", *results)
    assert code == 0
    assert "8 trials, 0 done (0 failed), 8 to run" in out
    assert "no time is recorded for 8" in out
    assert "memory: about" in out
    assert not (tmp_path / "results").exists()

    code, out, err = run("run", path, "--jobs", 2, *results)
    assert code == 0
    assert "Ran 8 trials." in out
    assert "trials.csv" in out
    assert f"Next: symmf tables --results {tmp_path / 'results'}" in out
    assert "tiny: 0 of 8 trials done" in err

    code, out, err = run("run", path, "--quiet", *results)
    assert code == 0
    assert "Nothing to do" in out
    assert err == ""
    code, out, _ = run("run", path, "--dry-run", "--fresh", *results)
    assert "8 to run" in out
    assert "computing time" in out

    code, out, _ = run("status", *results)
    assert code == 0
    assert out.splitlines()[-1].split()[:6] == ["tiny", "8", "8", "0", "0", "0"]
    key = ExperimentStore(tmp_path / "results/tiny").list_keys()[0]
    code, out, _ = run("info", key[:12], *results)
    assert code == 0
    assert key in out
    code, out, _ = run("replay", key[:12], *results)
    assert code == 0
    assert "Same result." in out


def test_a_failing_method_gives_exit_code_1(tmp_path, run):
    path = write_config(tmp_path, "[raises]", n_clusters="2", trials="1")
    code, out, err = run("run", path, "--results", tmp_path)
    assert code == 1
    assert "1 of 1 trial did not give a result (1 failed):" in err
    assert "raises, K=2, trial 0: failed: ArithmeticError" in err
    assert "--retry-failed" in err
    assert "Results:" in out


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["run", "{config}", "--set", "trails=3"], 2, 'did you mean "trials"?'),
        (["run", "{config}", "--only", "instnt"], 2, 'did you mean "instant"?'),
        (["run", "{config}", "--set", "n_clusters=9"], 2, "more than the 4 classes"),
        (["run", "absent.yaml"], 2, "There is no file absent.yaml"),
        (["run", "{config}", "--results", "{config}/x"], 2, "cannot be written"),
        (["run", "{config}", "--set", "dataset=coil20"], 3, "COIL20"),
        (["info", "xyz", "--results", "{folder}"], 2, "No trial in"),
        (["replay", "xyz", "--results", "{folder}"], 2, "No trial in"),
        (["merge", "{folder}"], 2, "holds no experiment"),
        (["run"], 2, "CONFIG"),
    ],
)
def test_bad_requests_get_a_sentence(
    tmp_path, run, monkeypatch, arguments, code, sentence
):
    monkeypatch.setenv("SYMMF_DATA", str(tmp_path / "nothing"))
    config = write_config(tmp_path, "[instant]")
    monkeypatch.chdir(tmp_path)
    given = [text.format(config=config, folder=tmp_path) for text in arguments]
    found, _, err = run(*given)
    assert found == code, err
    assert sentence in err
    assert not (tmp_path / "results").exists()


def test_an_empty_results_folder_and_an_unreachable_cluster(tmp_path, run, monkeypatch):
    assert "no experiment" in run("status", "--results", tmp_path)[1]
    monkeypatch.setattr("symmf.distributed.client.CONNECT_SECONDS", 0.2)
    config = write_config(tmp_path, "[instant]")
    code, _, err = run("run", config, "--dask", "tcp://127.0.0.1:1")
    assert code == 2
    assert "No dask scheduler answers at tcp://127.0.0.1:1" in err
    for address in ("", "tcp://nowhere"):
        code, _, err = run("run", config, "--dask", address, "--dry-run")
        assert code == 2
        assert "tcp://HOST:8786" in err


def test_shards_and_merge(tmp_path, run):
    path = write_config(tmp_path, "[instant]")
    for i in (1, 2):
        part = tmp_path / f"part{i}"
        code, _, _ = run("run", path, "--shard", f"{i}/2", "--results", part)
        assert code == 0
    parts = (tmp_path / "part1", tmp_path / "part2")
    code, out, _ = run("merge", *parts, "--into", tmp_path / "all")
    assert code == 0
    assert "tiny: 4 records copied, 0 already there, 0 left out" in out


def _events(total, failing):
    yield Event(kind="run_started", experiment="a", details={"total": total, "done": 1})
    for i in range(total - 1):
        about = {"trial": f"m, trial {i}", "method": "m", "key": "0"}
        yield Event(kind="trial_started", experiment="a", details=about)
        status = "failed" if i in failing else "ok"
        about |= {"status": status, "message": "why", "seconds": 0.1}
        yield Event(kind="trial_finished", experiment="a", details=about)
    yield Event(kind="run_finished", experiment="a", details={})


def test_lines_are_few_and_tell_failures(capfd, monkeypatch):
    monkeypatch.setattr("symmf.cli.progress.LINE_EVERY", 1e9)
    with Lines() as progress:
        for event in _events(30, {3}):
            progress(event)
    assert capfd.readouterr().err.splitlines() == [
        "a: 1 of 30 trials done",
        "a: m, trial 3: failed: why",
    ]
    monkeypatch.setattr("symmf.cli.progress.LINE_EVERY", 0.0)
    with Lines() as progress:
        for event in _events(3, {0}):
            progress(event)
    assert "a: 3/3, 1 failed, 0 s left (m, trial 1)" in capfd.readouterr().err


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1/" + "9" * 5000, "1"])
def test_a_part_that_is_none_is_refused(tmp_path, run, shard):
    config = write_config(tmp_path, "[kmeans]")
    code, _, err = run("run", config, "--shard", shard)
    assert code == 2
    assert "--shard needs i/n" in err
