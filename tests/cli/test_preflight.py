"""What is told before the first trial: libraries, memory, data, names."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import pytest
from helpers.runner_cases import write_config

from symmf.errors import DataError, InputError
from symmf.experiment import progress
from symmf.experiment.plan import make_plans

pytestmark = pytest.mark.usefixtures("methods", "one_pool")


@pytest.mark.parametrize(
    ("need", "jobs", "free", "advice"),
    [
        (400, 4, 1000, "Give --jobs 2."),
        (2000, 1, 1000, "Even one job may not fit"),
        (400, 2, 1000, None),
        (400, 2, None, None),
    ],
)
def test_too_little_memory_is_told_with_the_jobs_that_fit(
    tmp_path, monkeypatch, need, jobs, free, advice
):
    (plan,) = make_plans([write_config(tmp_path, "[kmeans]")], results=tmp_path)
    assert progress.memory_mb(plan, tmp_path / "reference") > 100
    monkeypatch.setattr(progress, "memory_mb", lambda *_: need)
    found = progress.memory_warning(plan, jobs, free, tmp_path)
    assert bool(found) == (advice is not None)
    assert advice is None or advice in found
    plan.selected = []
    assert not progress.memory_warning(plan, jobs, free, tmp_path)
    assert progress.available_mb() is None or progress.available_mb() > 0


def test_without_a_library_the_rest_is_run(tmp_path, run, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n: None if n == "torch" else find(n)
    )
    config = write_config(tmp_path, "[instant, dsc]")
    results = tmp_path / "results"
    code, _, err = run("run", config, "--dry-run", "--results", results)
    assert (code, results.exists()) == (0, False)
    assert "4 of 8 trials use dsc, which needs torch; they are left out." in err
    assert "pip install " in err
    assert "[deep]" in err
    code, out, err = run("run", config, "--results", results)
    assert code == 0
    assert "Ran 4 trials." in out
    assert "4 trials left out" in err
    (plan,) = make_plans([config], results=results, skip=["instant"])
    assert len(plan.missing()) == 4


@pytest.mark.parametrize(
    ("checkout", "origin", "line"),
    [
        (None, None, 'pip install "symmf[deep]"'),
        ("/home/me/symmf", "{}", 'pip install "/home/me/symmf[deep]"'),
        (
            "/home/me/symmf",
            '{"dir_info": {"editable": true}}',
            'pip install -e "/home/me/symmf[deep]"',
        ),
    ],
)
def test_the_pip_line_fits_how_symmf_was_installed(monkeypatch, checkout, origin, line):
    monkeypatch.setattr("symmf.common.shipped.checkout", lambda: checkout)
    installed = SimpleNamespace(read_text=lambda _: origin)
    monkeypatch.setattr(progress.metadata, "distribution", lambda _: installed)
    assert progress.pip_line("deep") == line


def test_missing_data_of_all_experiments_are_told_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMMF_DATA", str(tmp_path / "nothing"))
    paths = [
        write_config(tmp_path, "[kmeans]", name="here"),
        write_config(tmp_path, "[kmeans]", name="a", dataset="coil20"),
        write_config(tmp_path, "[kmeans]", name="b", dataset="tdt2"),
    ]
    with pytest.raises(DataError) as caught:
        make_plans(paths, results=tmp_path)
    for text in ("data fetch coil20", "data fetch tdt2", "--skip a --skip b"):
        assert text in str(caught.value)
    (plan,) = make_plans(paths, results=tmp_path, skip=["a", "b"])
    assert plan.name == "here"
    with pytest.raises(InputError, match='did you mean "here"'):
        make_plans(paths, results=tmp_path, skip=["hree"])


def test_skipped_methods_stay_in_the_grid(tmp_path):
    path = write_config(tmp_path, "[kmeans, spectral]")
    (plan,) = make_plans([path], results=tmp_path, skip=["spectral"])
    assert {trial.method for trial in plan.selected} == {"kmeans"}
    assert {trial.method for trial in plan.trials} == {"kmeans", "spectral"}
    with pytest.raises(InputError):
        make_plans([path], results=tmp_path, only=["tiny"])
