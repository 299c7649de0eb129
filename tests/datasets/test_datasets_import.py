"""Importing files and official archives that the user has."""

import hashlib
import io
import os
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import small_data
from PIL import Image

from symmf.datasets import DATASETS, cifar10, coil20, data_folder, load_dataset
from symmf.datasets.imports import import_file
from symmf.datasets.local import file_path, file_sha256, verify
from symmf.errors import DataError


def real_file(name):
    path = file_path(DATASETS[name], data_folder())
    if not path.is_file():
        pytest.skip(f"{path} is not there; run `symmf data fetch {name}`")
    return path


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def official_image(sums):
    """Return 128 x 128 pixels whose 4 x 4 blocks have the given 32 x 32 sums."""
    place = (4 * np.arange(4)[:, None] + np.arange(4)).reshape(1, 4, 1, 4)
    blocks = sums.reshape(32, 1, 32, 1)
    return (blocks // 16 + (place < blocks % 16)).reshape(128, 128)


def official_zip(path, images, folder="coil-20-proc/"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(folder, "")
        archive.writestr(folder + "README.txt", "not an image")
        for name, content in images.items():
            archive.writestr(folder + name, content)


@pytest.fixture
def small_coil20():
    """COIL-20 of 2 objects and 3 views: its spec, images and expected rows."""
    rng = np.random.default_rng(1)
    pixels = {
        f"obj{o}__{v}.png": rng.integers(0, 256, (128, 128))
        for o in (1, 2)
        for v in range(3)
    }
    rows = [
        p.reshape(32, 4, 32, 4).mean(axis=(1, 3)).ravel() / 255 for p in pixels.values()
    ]
    expected = coil20.Dataset.from_arrays(
        np.array(rows), [1, 1, 1, 2, 2, 2], name="coil20", title="", kind="image"
    )
    images = {name: png(p) for name, p in pixels.items()}
    convert = small_data.convert_coil20
    return replace(DATASETS["coil20"], digest=expected.digest, convert=convert), images


def test_official_zip_becomes_the_file(small_coil20, tmp_path):
    spec, images = small_coil20
    # Neither the order in the archive nor names of other files matter.
    odd = {f"obj{'1' * 5000}__0.png": b"x", "obj\u00b2__0.png": b"x"}
    given = tmp_path / "coil-20-proc.zip"
    official_zip(given, odd | dict(reversed(images.items())))
    path = import_file(spec, given, tmp_path / "data")
    assert path == tmp_path / "data" / "coil20" / "COIL20.mat"
    data = spec.read(path)
    assert data.digest == spec.digest
    assert data.class_ids == (1, 2)
    names = sorted(p.name for p in path.parent.iterdir())
    assert names == ["COIL20.mat", "COIL20.mat.sha256"]
    given.write_bytes(given.read_bytes()[:100_000])
    with pytest.raises(DataError, match="was not imported"):
        import_file(spec, given, tmp_path / "data")


def test_zip_without_some_image_is_refused(small_coil20, tmp_path):
    spec, images = small_coil20
    del images["obj2__1.png"]
    official_zip(tmp_path / "a.zip", images)
    with pytest.raises(DataError, match=r"5 of the official images.*obj2__1\.png"):
        import_file(spec, tmp_path / "a.zip", tmp_path / "data")
    assert not list((tmp_path / "data").rglob("*.*"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"no image", "cannot be read"),
        (png(np.zeros((64, 64))), "64 x 64"),
        (png(np.zeros((128, 128, 3))), "mode RGB"),
        (png(np.zeros((128, 128))), "not the known ones"),
        (png(np.ones((128, 128)))[:60], "cannot be read"),
    ],
)
def test_zip_with_a_wrong_image_is_refused(small_coil20, tmp_path, content, sentence):
    spec, images = small_coil20
    images["obj1__0.png"] = content
    official_zip(tmp_path / "a.zip", images)
    with pytest.raises(DataError, match=sentence):
        import_file(spec, tmp_path / "a.zip", tmp_path / "data")


@pytest.mark.slow
def test_full_official_layout_gives_the_real_coil20(tmp_path):
    data = load_dataset("coil20", folder=real_file("coil20").parents[1])
    sums = np.round(data.X * 255 * 16).astype(int).reshape(-1, 32, 32)
    images = {
        f"obj{i // 72 + 1}__{i % 72}.png": png(official_image(s))
        for i, s in enumerate(sums)
    }
    official_zip(tmp_path / "coil-20-proc.zip", images)
    import_file(DATASETS["coil20"], tmp_path / "coil-20-proc.zip", tmp_path / "data")
    found = verify(DATASETS["coil20"], tmp_path / "data")
    assert found.data[0].digest == data.digest
    assert not found.original


@pytest.fixture
def small_cifar10():
    """CIFAR-10 of 2 images per class: its spec and the bytes of its test batch."""
    records = np.random.default_rng(2).integers(0, 256, (30, 3073), dtype=np.uint8)
    records[:, 0] = np.arange(30) % 10
    content = records.tobytes()
    spec = replace(
        DATASETS["cifar10"],
        read=small_data.read_cifar10,
        convert=small_data.convert_cifar10,
    )
    file = replace(
        spec.file, size=len(content), sha256=hashlib.sha256(content).hexdigest()
    )
    return replace(spec, file=file), content


def official_tar(path, members, mode="w:gz"):
    options = {"compresslevel": 1} if mode == "w:gz" else {}
    with tarfile.open(path, mode, **options) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_official_tar_becomes_the_file(small_cifar10, tmp_path, mode):
    spec, content = small_cifar10
    members = {"cifar-10-batches-bin/readme.html": b"hello", cifar10.MEMBER: content}
    official_tar(tmp_path / "cifar", members, mode)
    path = import_file(spec, tmp_path / "cifar", tmp_path / "data")
    assert path.read_bytes() == content
    data = spec.read(path)
    assert (data.n_samples, data.n_classes) == (20, 10)
    assert [p.name for p in path.parent.iterdir()] == ["test_batch.bin"]


def test_own_file_and_unpacked_folder_are_imported(small_cifar10, tmp_path):
    spec, content = small_cifar10
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    (folder / "test_batch.bin").write_bytes(content)
    for given in (folder / "test_batch.bin", folder, tmp_path):
        path = import_file(spec, given, tmp_path / "data")
        assert path.read_bytes() == content
        path.unlink()
    # In its place already: nothing is lost.
    path = import_file(spec, folder, tmp_path / "data")
    assert import_file(spec, path, tmp_path / "data").read_bytes() == content


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"cifar-10-batches-py/test_batch": b"pickle"}, "must be the binary version"),
        ({cifar10.MEMBER: b"short"}, "has 5 bytes"),
        ({"../../test_batch.bin": b"x"}, "has no member"),
    ],
)
def test_other_tars_are_refused(small_cifar10, tmp_path, members, sentence):
    spec, _ = small_cifar10
    official_tar(tmp_path / "a.tar.gz", members)
    with pytest.raises(DataError, match=sentence):
        import_file(spec, tmp_path / "a.tar.gz", tmp_path / "data")
    assert not list((tmp_path / "data").rglob("*.*"))


def test_altered_and_truncated_tars_are_refused(small_cifar10, tmp_path):
    spec, content = small_cifar10
    official_tar(tmp_path / "a.tgz", {cifar10.MEMBER: content[:-1] + b"?"})
    with pytest.raises(DataError, match="not the known ones"):
        import_file(spec, tmp_path / "a.tgz", tmp_path / "data")
    whole = (tmp_path / "a.tgz").read_bytes()
    for cut in (len(whole) // 2, 30):
        (tmp_path / "a.tgz").write_bytes(whole[:cut])
        with pytest.raises(DataError, match="was not imported"):
            import_file(spec, tmp_path / "a.tgz", tmp_path / "data")


def test_refused_file_leaves_the_folder_as_it_was(small_cifar10, tmp_path):
    spec, content = small_cifar10
    given = tmp_path / "test_batch.bin"
    given.write_bytes(content[:-3073])
    with pytest.raises(DataError) as caught:
        import_file(spec, given, tmp_path / "data")
    text = str(caught.value)
    assert str(given) in text
    assert spec.file.sha256 in text
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_official_layout_gives_the_real_cifar10(tmp_path):
    content = real_file("cifar10").read_bytes()
    official_tar(tmp_path / "cifar-10-binary.tar.gz", {cifar10.MEMBER: content})
    import_file(DATASETS["cifar10"], tmp_path / "cifar-10-binary.tar.gz", tmp_path)
    assert verify(DATASETS["cifar10"], tmp_path).original


@pytest.mark.parametrize("name", ["coil20", "reuters21578", "tdt2"])
def test_real_file_is_imported_as_it_is(name, tmp_path):
    given = real_file(name)
    path = import_file(DATASETS[name], given, tmp_path)
    assert file_sha256(path) == DATASETS[name].file.sha256
    assert verify(DATASETS[name], tmp_path).original


def test_file_of_another_data_set_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"was not imported.*than that of TDT2"):
        import_file(DATASETS["tdt2"], real_file("reuters21578"), tmp_path)


def test_texts_have_no_archive(tmp_path):
    official_tar(tmp_path / "a.tgz", {"TDT2.mat": b"x"})
    with pytest.raises(DataError, match=r"folder or an archive.*TDT2\.mat"):
        import_file(DATASETS["tdt2"], tmp_path / "a.tgz", tmp_path / "data")


def test_absent_file_and_data_without_file_get_sentences(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        import_file(DATASETS["tdt2"], tmp_path / "nothing", tmp_path)
    with pytest.raises(DataError, match="needs no file"):
        import_file(DATASETS["digits"], tmp_path, tmp_path)


def test_a_folder_of_official_images_without_pipes_and_devices(small_coil20, tmp_path):
    spec, images = small_coil20
    folder = tmp_path / "somewhere" / "images"
    folder.mkdir(parents=True)
    for name, content in images.items():
        (folder / name).write_bytes(content)
    path = import_file(spec, folder.parent, tmp_path / "data")
    assert spec.read(path).digest == spec.digest
    (folder / "obj1__0.png").unlink()
    os.mkfifo(folder / "obj1__0.png")
    (folder / "obj9__0.png").symlink_to("/dev/zero")
    with pytest.raises(DataError, match=r"obj1__0\.png"):
        import_file(spec, folder, tmp_path / "data")
    with pytest.raises(DataError, match="is a named pipe"):
        import_file(spec, folder / "obj1__0.png", tmp_path / "data")
    with pytest.raises(DataError, match="is a device"):
        import_file(spec, Path("/dev/zero"), tmp_path / "data")
