"""The collection of benchmark data sets: its files, labels and sizes."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from symmf.datasets import DATASETS, data_folder, load_dataset
from symmf.datasets.clustbench import SETS, needs
from symmf.datasets.download import fetch
from symmf.datasets.imports import import_file
from symmf.datasets.local import State, state
from symmf.errors import DataError, InputError

SPEC = DATASETS["clustbench"]


def copy_real(folder: Path, *names: str) -> None:
    """Copy the files of some data sets, or skip."""
    for name in names:
        for number in range(len(SETS[name]["labels"])):
            for file in needs(set=name, labels=number):
                original = data_folder() / file.path
                if not original.is_file():
                    pytest.skip(f"{original} is not there")
                target = folder / file.path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(original, target)


def test_the_table_is_complete() -> None:
    assert len(SETS) == 75
    assert "sipu/worms_2" not in SETS
    assert len(SPEC.files) == len({file.path for file in SPEC.files})
    assert len(SPEC.members) == sum(len(known["labels"]) for known in SETS.values())
    for file in SPEC.files:
        (source,) = file.sources
        assert source.url.endswith(file.path.removeprefix("clustbench"))
        assert source.archive is None


def test_a_data_set_has_points_and_classes(tmp_path: Path) -> None:
    copy_real(tmp_path, "fcps/atom")
    data = load_dataset("clustbench", folder=tmp_path, set="fcps/atom")
    assert data.X.shape == (800, 3)
    assert data.title == "fcps/atom"
    assert np.bincount(data.y).tolist() == [400, 400]
    assert state(SPEC, tmp_path) is State.INCOMPLETE


def test_other_labels_know_noise(tmp_path: Path) -> None:
    copy_real(tmp_path, "fcps/target")
    first = load_dataset("clustbench", folder=tmp_path, set="fcps/target")
    second = load_dataset("clustbench", folder=tmp_path, set="fcps/target", labels=1)
    assert first.is_scored.all()
    assert np.count_nonzero(~second.is_scored) == 12
    assert (first.n_classes, second.n_classes) == (6, 2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "needs the option 'set'.*fcps/atom"),
        ({"set": "fcps/atoms"}, "Did you mean 'fcps/atom'"),
        ({"set": "sipu/worms_2"}, "no clustbench data set"),
        ({"set": 5}, "no clustbench data set 5"),
        ({"set": "fcps/atom", "labels": 1}, "<= 0, not 1"),
        ({"set": "fcps/atom", "labels": "0"}, "whole number"),
        ({"set": "fcps/atom", "label": 0}, "Did you mean 'labels'"),
    ],
)
def test_bad_options_get_a_sentence(
    options: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        load_dataset("clustbench", folder=tmp_path, **options)


def test_missing_and_damaged_files_say_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="symmf data fetch clustbench"):
        load_dataset("clustbench", folder=tmp_path, set="fcps/atom")
    assert state(SPEC, tmp_path) is State.MISSING
    copy_real(tmp_path, "fcps/atom")
    path = tmp_path / "clustbench/fcps/atom.labels0.gz"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"?")
    with pytest.raises(DataError, match=r"atom\.labels0\.gz is damaged.*data fetch"):
        load_dataset("clustbench", folder=tmp_path, set="fcps/atom")
    assert state(SPEC, tmp_path) is State.DAMAGED


def test_a_clone_is_imported_as_far_as_it_is_right(tmp_path: Path) -> None:
    copy_real(tmp_path, "fcps/atom", "wut/x2")
    clone = tmp_path / "clustbench"
    with pytest.raises(DataError, match=r"5 files were imported.*167 are not there"):
        import_file(SPEC, clone, tmp_path / "data")
    data = load_dataset("clustbench", folder=tmp_path / "data", set="wut/x2", labels=1)
    assert np.count_nonzero(~data.is_scored) == 10
    with pytest.raises(DataError, match="is not a folder"):
        import_file(SPEC, clone / "fcps/atom.data.gz", tmp_path / "data")


def test_only_what_is_not_right_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_real(tmp_path, "fcps/atom")
    asked: list[str] = []

    def retrieve(url: str, **_: object) -> str:
        asked.append(url)
        return "somewhere"

    monkeypatch.setattr("pooch.retrieve", retrieve)
    monkeypatch.setattr("symmf.datasets.download.install", lambda *_, **__: None)
    assert len(fetch(SPEC, tmp_path)) == len(SPEC.files) - 2
    assert not any("/fcps/atom" in url for url in asked)


def test_noise_is_not_scored() -> None:
    from symmf.metrics import score

    y = np.array([0, 0, 1, 1, -1, -1])
    assert score(y, np.array([5, 5, 3, 3, 5, 7]))["ac"] == 1
