"""Files of data sets: the real ones if they are there, and damaged ones."""

import os
from dataclasses import replace

import numpy as np
import pytest
from scipy import io, sparse

from symmf.datasets import DATASETS, cifar10, coil20, data_folder, load_dataset
from symmf.datasets.imports import import_file
from symmf.datasets.local import State, file_path, state, verify
from symmf.datasets.matfile import read_mat
from symmf.errors import DataError, InputError

# What loading gives: a change here changes every result.
DIGESTS = {
    "coil20": "7e21af142575849c130f85d11f870ccc05bb1cbad356d5550382c32a1ef64144",
    "cifar10": "d4e469630ad1fea85dc8829f7a42879c54d3a63d9b3c9b84b91bc03b2f2a5a50",
    "reuters21578": "789dec252ab89dcd25c5a9c82bbf24a2faf5f8c1c3a0ad0ae354a1f1f0b6dc4d",
    "tdt2": "05f0b35d58dc5482f4749c2fc651c84219a7c38ce36c94075f64a158a7ba8787",
}
ON_FILE = [name for name, spec in DATASETS.items() if spec.file]


def real(name):
    """Return the folder with the real file, or skip."""
    folder = data_folder()
    path = file_path(DATASETS[name], folder)
    if not path.is_file():
        pytest.skip(f"{path} is not there; run `symmf data fetch {name}`")
    return folder


@pytest.mark.parametrize("name", ON_FILE)
def test_real_file_gives_table_one(name):
    found = verify(DATASETS[name], real(name))
    (data,) = found.data
    assert found.original
    assert data.digest == DIGESTS[name]
    assert DATASETS[name].digest in (DIGESTS[name], None)
    assert data.X.dtype == np.float64
    assert data.name == name


def test_coil20_pixels_are_the_files_put_row_by_row():
    folder = real("coil20")
    data = load_dataset("coil20", folder=folder)
    fea, gnd = read_mat(file_path(DATASETS["coil20"], folder))
    for i in (0, 700, 1439):
        image = data.X[i].reshape(data.image_shape)
        assert np.array_equal(image, fea[i].reshape(32, 32, order="F"))
    assert np.array_equal(data.y, gnd.ravel().astype(int) - 1)
    assert np.bincount(data.y).tolist() == [72] * 20
    # The order of pixels changes no inner product beyond rounding.
    assert np.allclose(data.X[:50] @ data.X[:50].T, fea[:50] @ fea[:50].T, rtol=1e-13)


def test_official_coil20_images_equal_the_file_bit_for_bit():
    folder = real("coil20")
    images = sorted((folder / "coil20" / "proc_sample").glob("*.png"))
    if not images:
        pytest.skip("coil20/proc_sample with official images is not there")
    fea, _ = read_mat(file_path(DATASETS["coil20"], folder))
    for file in images:
        number, view = file.stem.removeprefix("obj").split("__")
        row = fea[(int(number) - 1) * 72 + int(view)]
        assert np.array_equal(coil20.read_image(file.read_bytes()), row), file.name


def test_cifar10_is_the_first_300_of_each_class_in_grey():
    folder = real("cifar10")
    data = load_dataset("cifar10", folder=folder)
    raw = np.fromfile(file_path(DATASETS["cifar10"], folder), np.uint8)
    raw = raw.reshape(10000, 3073)
    seen, taken = dict.fromkeys(range(10), 0), []
    for i, label in enumerate(raw[:, 0].tolist()):
        seen[label] += 1
        if seen[label] <= 300:
            taken.append(i)
    assert np.array_equal(data.y, raw[taken, 0])
    planes = raw[taken[17], 1:].reshape(3, 32, 32).astype(float)
    grey = (0.2989 * planes[0] + 0.5870 * planes[1] + 0.1140 * planes[2]) / 255
    assert np.allclose(data.X[17].reshape(data.image_shape), grey, rtol=1e-15)
    assert 0 <= data.X.min() < data.X.max() <= 1


@pytest.mark.parametrize(
    ("name", "empty", "duplicates"), [("reuters21578", 14, 94), ("tdt2", 678, 162)]
)
def test_texts_are_sparse_counts_with_known_oddities(name, empty, duplicates):
    data = load_dataset(name, folder=real(name))
    assert sparse.issparse(data.X)
    assert data.X.format == "csr"
    assert (data.X.data > 0).all()
    assert np.array_equal(data.X.data, np.round(data.X.data))
    df = np.bincount(data.X.indices, minlength=data.n_features)
    assert np.count_nonzero(df == 0) == empty
    assert np.diff(data.X.indptr).min() > 0
    rows = {
        (
            data.X.indices[a:b].tobytes(),
            data.X.data[a:b].tobytes(),
        )
        for a, b in zip(data.X.indptr[:-1], data.X.indptr[1:], strict=True)
    }
    assert data.n_samples - len(rows) == duplicates


def test_reuters_keeps_classes_of_ten_or_more_and_their_numbers():
    folder = real("reuters21578")
    data = load_dataset("reuters21578", folder=folder)
    _, gnd = read_mat(file_path(DATASETS["reuters21578"], folder))
    ids, counts = np.unique(gnd, return_counts=True)
    assert data.class_ids == tuple(ids[counts >= 10].tolist())
    assert np.bincount(data.y).tolist() == counts[counts >= 10].tolist()


@pytest.mark.parametrize("name", ON_FILE)
def test_missing_file_says_where_it_goes_and_how(name, tmp_path):
    with pytest.raises(DataError) as caught:
        load_dataset(name, folder=tmp_path)
    text = str(caught.value)
    assert str(tmp_path / DATASETS[name].file.path) in text
    assert f"symmf data fetch {name}" in text
    assert f"symmf data import {name} FILE" in text
    assert state(DATASETS[name], tmp_path) is State.MISSING


@pytest.mark.parametrize("name", ON_FILE)
def test_damaged_file_says_what_it_should_be(name, tmp_path):
    spec = DATASETS[name]
    path = file_path(spec, tmp_path)
    path.parent.mkdir()
    original = file_path(spec, real(name)).read_bytes()
    altered = bytearray(original)
    altered[len(original) // 2] ^= 4
    for content in (b"", b"<html>not found</html>", original[:-1], altered):
        path.write_bytes(content)
        with pytest.raises(DataError) as caught:
            load_dataset(name, folder=tmp_path)
        text = str(caught.value)
        assert str(path) in text
        assert spec.file.sha256 in text
        assert f"symmf data fetch {name}" in text
        assert state(spec, tmp_path) is State.DAMAGED


def test_same_values_in_another_container_are_accepted_by_import(tmp_path):
    spec = DATASETS["reuters21578"]
    content = io.loadmat(file_path(spec, real("reuters21578")), spmatrix=False)
    given = tmp_path / "other.mat"
    with given.open("wb") as file:
        io.savemat(file, {"fea": content["fea"], "gnd": content["gnd"]})
    path = import_file(spec, given, tmp_path)
    found = verify(spec, tmp_path)
    assert not found.original
    assert found.data[0].digest == spec.digest
    assert state(spec, tmp_path) is State.PRESENT
    # The proof holds for these bytes only.
    path.write_bytes(path.read_bytes() + b"x")
    assert state(spec, tmp_path) is State.DAMAGED


def test_same_values_in_another_container_are_not_looked_into_unasked(tmp_path):
    spec = DATASETS["coil20"]
    path = file_path(spec, tmp_path)
    path.parent.mkdir()
    content = io.loadmat(file_path(spec, real("coil20")))
    io.savemat(path, {"fea": content["fea"], "gnd": content["gnd"]})
    assert state(spec, tmp_path) is State.DAMAGED
    with pytest.raises(DataError, match="symmf data import coil20 FILE"):
        load_dataset("coil20", folder=tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"fea": np.eye(2)}, "cannot be read.*gnd"),
        ({"fea": np.ones((2, 2, 2)), "gnd": [1, 2]}, "shape"),
        ({"fea": np.eye(2), "gnd": [1, 1.5]}, "whole numbers"),
        ({"fea": np.eye(2), "gnd": sparse.csc_matrix([[1], [2]])}, "one label for"),
        ({"fea": np.eye(2), "gnd": [1, 2]}, "other values than TDT2"),
    ],
)
def test_mat_file_with_wrong_content_gets_a_sentence(content, sentence, tmp_path):
    given = tmp_path / "given.mat"
    io.savemat(given, content)
    with pytest.raises(DataError, match=sentence):
        import_file(DATASETS["tdt2"], given, tmp_path)
    assert not (tmp_path / "tdt2").exists()


def test_one_wrong_byte_that_crashed_the_reader_is_damage(tmp_path, monkeypatch):
    """Every data command ended with a segmentation fault: the hash comes first now."""
    spec = DATASETS["reuters21578"]
    content = bytearray(file_path(spec, real("reuters21578")).read_bytes())
    content[182919] = ord("Y")
    path = file_path(spec, tmp_path)
    path.parent.mkdir()
    path.write_bytes(content)
    monkeypatch.setattr("scipy.io.loadmat", pytest.fail)
    assert state(spec, tmp_path) is State.DAMAGED
    with pytest.raises(DataError, match="symmf data fetch reuters21578"):
        load_dataset("reuters21578", folder=tmp_path)
    with pytest.raises(DataError, match="damaged"):
        verify(spec, tmp_path)
    # Imported from elsewhere, it is parsed, but not here.
    other = tmp_path / "given.mat"
    other.write_bytes(content)
    with pytest.raises(DataError, match="was not imported"):
        import_file(spec, other, tmp_path / "data")


def test_a_file_of_another_size_is_not_hashed(tmp_path, monkeypatch):
    path = file_path(DATASETS["tdt2"], tmp_path)
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(7_000_000_000)
    monkeypatch.setattr("symmf.datasets.local.file_sha256", pytest.fail)
    assert state(DATASETS["tdt2"], tmp_path) is State.DAMAGED
    with pytest.raises(DataError, match="has 7000000000 bytes"):
        load_dataset("tdt2", folder=tmp_path)
    with pytest.raises(DataError, match="files of more than 1 GB are not read"):
        import_file(DATASETS["tdt2"], path, tmp_path / "data")


@pytest.mark.parametrize("kind", ["fifo", "folder", "dangling"])
def test_something_else_in_the_place_of_the_file_is_damage(kind, tmp_path):
    path = file_path(DATASETS["tdt2"], tmp_path)
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "nowhere")
    assert state(DATASETS["tdt2"], tmp_path) is State.DAMAGED
    with pytest.raises(DataError, match="is not a regular file"):
        load_dataset("tdt2", folder=tmp_path)


def test_cifar10_takes_the_images_asked_for_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "batch.bin"
    records = np.zeros((50, cifar10.RECORD), np.uint8)
    records[:, 0] = np.arange(50) % 10
    records[:, 1:] = np.arange(50)[:, None]
    records.tofile(path)
    data = cifar10.read(path, skip=1, n_per_class=3)
    grey = np.arange(10, 40) * 0.9999 / 255
    np.testing.assert_allclose(data.X[:, 0], grey, rtol=1e-9)
    assert np.array_equal(data.y, np.arange(30) % 10)
    with pytest.raises(InputError, match="6 or more images"):
        cifar10.read(path, skip=3, n_per_class=3)
    with pytest.raises(InputError, match="skip"):
        cifar10.read(path, skip=-1)


def test_wrong_sizes_are_told_by_verify():
    folder = real("tdt2")
    spec = replace(DATASETS["tdt2"], n_classes=31)
    with pytest.raises(DataError, match=r"30 classes, 9394 samples .* are 31"):
        verify(spec, folder)
