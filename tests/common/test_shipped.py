"""Shipped configs and the reference: found by name, and carried by the wheel."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from symmf.common import shipped
from symmf.errors import ConfigError

ROOT = Path(__file__).parents[2]


def test_names_are_those_of_the_files():
    names = shipped.config_names()
    assert names[0] == "quickstart"
    assert set(names) == {path.stem for path in (ROOT / "configs").glob("*.yaml")}
    assert shipped.config_path("coil20").read_bytes().startswith(b"# Tables II")
    with pytest.raises(ConfigError, match=r"Did you mean 'coil20'\?"):
        shipped.config_path("coil2")


def test_a_path_wins_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shipped.find_config("coil20") == ROOT / "configs" / "coil20.yaml"
    assert shipped.find_config("configs/coil20.yaml") == ROOT / "configs/coil20.yaml"
    assert shipped.find_config("coil20.yaml") == ROOT / "configs" / "coil20.yaml"
    Path("coil20").write_text("mine")
    assert shipped.find_config("coil20") == Path("coil20")


@pytest.mark.parametrize("text", ["coil2", "./coil2.yaml", "elsewhere/coil20.yaml"])
def test_what_is_neither_gets_a_sentence(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"Did you mean 'coil20'|elsewhere"):
        shipped.find_config(text)


@pytest.mark.parametrize("text", ["a\0b", "a" * 5000])
def test_what_cannot_be_a_name_gets_a_sentence(text):
    with pytest.raises(ConfigError):
        shipped.find_config(text)


def test_outside_a_checkout_the_package_is_asked(monkeypatch):
    monkeypatch.setattr(shipped, "checkout", lambda: None)
    inside = Path(shipped.__file__).parents[1] / "_shipped"
    assert shipped.configs_folder() == inside / "configs"
    assert shipped.reference_folder() == inside / "reference"
    assert shipped.config_names() == []


def test_the_reference_that_travels_is_small():
    pytest.importorskip("setuptools")  # for setup.py, which knows what travels
    spec = importlib.util.spec_from_file_location("setup_script", ROOT / "setup.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    files = {
        str(path.relative_to(script.REFERENCE)) for path in script.reference_files()
    }
    experiments = {path.parent.name for path in script.REFERENCE.glob("*/trials.csv")}
    for name in experiments:
        assert {f"{name}/trials.csv", f"{name}/experiment.yaml"} <= files
    total = sum(script._compressed(script.REFERENCE / name) for name in files)
    assert total < 5_000_000


@pytest.mark.slow
def test_the_wheel_alone_lists_runs_and_compares(tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    source = tmp_path / "source"
    _copy_sources(source)
    _run([sys.executable, "-c", BUILD, str(tmp_path)], cwd=source)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 6_000_000
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    home = tmp_path / "home"
    home.mkdir()

    def symmf(*arguments):
        command = [sys.executable, "-m", "symmf", *arguments]
        return _run(command, cwd=home, PYTHONPATH=str(installed))

    assert "coil20 " in symmf("configs")
    assert symmf("configs", "coil20") == shipped.config_path("coil20").read_text()
    symmf("run", "quickstart", "--quiet", "--set", "trials=1", "--set", "n_clusters=3")
    assert (home / "results" / "quickstart" / "trials.csv").is_file()
    assert "reference" in symmf("compare", "--reference")
    for name in ("my_methods.py", "my_study.yaml", "my_points.csv", "my_points.yaml"):
        shutil.copy(ROOT / "docs" / "examples" / name, home)
    symmf("run", "my_study.yaml", "--plugin", "my_methods.py", "--quiet")
    symmf("run", "my_points.yaml", "--quiet")
    assert "Spherical k-means" in symmf("tables", "my_study")
    assert "AgglomerativeClustering" in symmf("tables", "my_points")
    assert "equal" in symmf("verify", "convergence", "--sample", "1", "--jobs", "1")
    assert not any((installed / "symmf" / "_shipped").rglob("tables"))


BUILD = (
    "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
)


def _copy_sources(target):
    target.mkdir()
    left_out = shutil.ignore_patterns("__pycache__", "records", "*.egg-info", "build")
    for name in ("symmf", "configs", "results/reference"):
        shutil.copytree(ROOT / name, target / name, ignore=left_out)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)


def _run(command, *, cwd, **variables):
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
