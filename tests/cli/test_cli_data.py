import shutil

import pytest
from click.testing import CliRunner

from symmf.cli.data import data
from symmf.datasets import DATASETS, data_folder
from symmf.datasets.local import file_path
from symmf.errors import DataError, InputError


def run(*arguments):
    """Invoke the group; an error of symmf is raised, as main would see it."""
    result = CliRunner().invoke(data, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        result.exception.output = result.output
        raise result.exception
    return result


def copy_real(name, folder):
    original = file_path(DATASETS[name], data_folder())
    if not original.is_file():
        pytest.skip(f"{original} is not there; run `symmf data fetch {name}`")
    path = file_path(DATASETS[name], folder)
    path.parent.mkdir(parents=True)
    shutil.copyfile(original, path)
    return path


def test_list_is_one_plain_line_per_data_set(tmp_path):
    output = run("list", "--folder", tmp_path).output
    lines = [line.split("\t") for line in output.splitlines()]
    assert [line[0] for line in lines[1:-1]] == list(DATASETS)
    states = {line[0]: line[1] for line in lines[1:-1]}
    assert states["coil20"] == "missing"
    assert states["digits"] == "built in"
    assert lines[-1] == [f"Folder: {tmp_path}"]
    assert "Columbia University" in output


def test_list_tells_present_from_damaged(tmp_path):
    copy_real("reuters21578", tmp_path)
    path = copy_real("coil20", tmp_path)
    path.write_bytes(path.read_bytes()[:1000])
    lines = run("list", "--folder", tmp_path).output.splitlines()
    states = {line.split("\t")[0]: line.split("\t")[1] for line in lines[1:-1]}
    assert states["reuters21578"] == "present"
    assert states["coil20"] == "damaged"


def test_list_on_a_terminal_is_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    monkeypatch.setenv("COLUMNS", "80")
    output = run("list", "--folder", tmp_path).output
    assert "\t" not in output
    assert "reuters21578" in output
    assert max(map(len, output.splitlines())) <= max(80, len(f"Folder: {tmp_path}"))


def test_folder_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMMF_DATA", str(tmp_path))
    assert run("list").output.endswith(f"Folder: {tmp_path}\n")


def test_verify_reports_what_is_there(tmp_path):
    copy_real("reuters21578", tmp_path)
    with pytest.raises(DataError, match="Missing: coil20, cifar10") as caught:
        run("verify", "--folder", tmp_path)
    assert caught.value.exit_code == 3
    output = caught.value.output
    assert "coil20: missing" in output
    assert "41 classes, 8213 samples, 18933 dimensions" in output
    assert DATASETS["reuters21578"].file.sha256 in output
    assert "digits: ok, built in; 10 classes, 1797 samples, 64 dimensions" in output


def test_verify_goes_on_after_a_damaged_file_and_fails_at_the_end(tmp_path):
    path = file_path(DATASETS["coil20"], tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"short")
    with pytest.raises(DataError, match="5 bytes") as caught:
        run("verify", "--folder", tmp_path)
    assert "coil20: damaged" in caught.value.output
    assert "digits: ok" in caught.value.output
    assert caught.value.exit_code == 3


def test_fetch_reports_and_fails_at_the_end(tmp_path, monkeypatch):
    def fetch(spec, _, *, progress):
        assert progress is None
        if spec.name == "coil20":
            raise DataError("coil20 is gone.")
        if spec.name == "clustbench":
            return ["http://a.org/b/c/1", "http://a.org/b/d/2"]
        return ["http://somewhere"] if spec.name == "tdt2" else []

    monkeypatch.setattr("symmf.datasets.download.fetch", fetch)
    with pytest.raises(DataError, match="coil20 is gone") as caught:
        run("fetch", "all", "--folder", tmp_path)
    output = caught.value.output
    assert "tdt2: downloaded from http://somewhere" in output
    assert "cifar10: already there" in output
    assert "digits: built in" in output
    assert "clustbench: 2 files downloaded from http://a.org/b to" in output


def test_fetch_shows_a_bar_on_a_terminal(tmp_path, monkeypatch):
    def fetch(*_, progress):
        progress(4, None)
        progress(10, 10)
        return []

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("symmf.datasets.download.fetch", fetch)
    assert "tdt2: already there" in run("fetch", "tdt2", "--folder", tmp_path).output


@pytest.mark.parametrize("command", ["fetch", "verify"])
def test_misspelt_name_gets_the_nearest_even_beside_all(command, tmp_path):
    with pytest.raises(InputError, match="Did you mean 'tdt2'") as caught:
        run(command, "all", "tdt", "--folder", tmp_path)
    assert caught.value.exit_code == 2


def test_import_checks_and_says_where(tmp_path):
    given = copy_real("reuters21578", tmp_path / "given")
    output = run("import", "reuters21578", given, "--folder", tmp_path / "data").output
    assert str(tmp_path / "data/reuters21578/Reuters21578.mat") in output
    with pytest.raises(DataError, match="was not imported"):
        run("import", "tdt2", given, "--folder", tmp_path / "data")
