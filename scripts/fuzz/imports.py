"""Damaged files and archives given to ``symmf data import``, and found by ``list``."""

from __future__ import annotations

import functools
import io
import random
import tarfile
import zipfile
from pathlib import Path

from scripts.fuzz.harness import Case
from scripts.fuzz.mutate import DAMAGES, damage, odd_path
from scripts.fuzz.process import LOST

NAMES = ("coil20", "cifar10", "reuters21578", "tdt2")


@functools.cache
def good_files() -> dict[str, bytes]:
    """Return files to damage: small ones in the form of the data sets' own."""
    import numpy as np
    from PIL import Image
    from scipy import io as scipy_io
    from scipy import sparse

    rng = np.random.default_rng(0)
    files = {}
    counts = sparse.random_array((60, 40), density=0.2, rng=rng)
    for name, fea in (("dense", rng.random((60, 1024))), ("sparse", counts)):
        for compressed in (False, True):
            buffer = io.BytesIO()
            content = {"fea": fea, "gnd": np.arange(60)[:, None] % 6 + 1}
            scipy_io.savemat(buffer, content, do_compression=compressed)
            files[f"{name}{compressed:d}.mat"] = buffer.getvalue()
    image = io.BytesIO()
    pixels = rng.integers(0, 256, (128, 128), dtype=np.uint8)
    Image.fromarray(pixels).save(image, "PNG")
    for name, method in (("stored", 0), ("deflated", 8), ("bzip2", 12), ("lzma", 14)):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            for i in range(6):
                archive.writestr(f"coil-20-proc/obj1__{i}.png", image.getvalue())
        files[f"{name}.zip"] = buffer.getvalue()
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode=mode) as archive:
            member = tarfile.TarInfo("cifar-10-batches-bin/test_batch.bin")
            member.size = 3073 * 4
            archive.addfile(member, io.BytesIO(bytes(member.size)))
        files[f"a.tar.{mode[2:]}"] = buffer.getvalue()
    files["image.png"] = image.getvalue()
    files["batch.bin"] = bytes(3073 * 10)
    return files


def live(case: Case) -> None:
    """Import a damaged file, or leave one in the data folder and look at it."""
    rng, folder = case.rng, case.folder
    name, given, data = rng.choice(NAMES), folder / "given", folder / "data"
    kind = rng.randrange(8)
    if kind == 0:
        _make_folder(rng, given)
    elif kind == 1:
        rng.choice((odd_path, _forge_archive))(rng, given)
    else:
        content = good_files()[rng.choice(sorted(good_files()))]
        given.write_bytes(rng.choice(DAMAGES)(rng, content))
    if kind == 2:
        _leave(case, name, given, data)
    else:
        _import(case, name, given, data)
    if left := {path.name for path in folder.iterdir()} - {"given", "data"}:
        case.blame(LOST, f"written outside: {left}")


def _leave(case: Case, name: str, given: Path, data: Path) -> None:
    """Leave a damaged file in the data folder: the damage is told."""
    from symmf.datasets import DATASETS
    from symmf.datasets.local import file_path

    target = file_path(DATASETS[name], data)
    target.parent.mkdir(parents=True)
    given.replace(target)
    listed = case.run("data", "list", "--folder", data).text.splitlines()
    verified = case.run("data", "verify", name, "--folder", data)
    line = next(line for line in listed if line.startswith(name))
    if "damaged" not in line or verified.code != 3:
        case.blame(LOST, f"not seen: {line!r}, verify gave {verified.code}")


def _import(case: Case, name: str, given: Path, data: Path) -> None:
    """Import a file: only one with the known values may be in the data folder then."""
    from symmf.datasets import DATASETS
    from symmf.datasets.local import State, state

    ended = case.run("data", "import", name, given, "--folder", data)
    files = [path for path in data.rglob("*") if path.is_file()]
    if ended.code == 0 and state(DATASETS[name], data) is not State.PRESENT:
        case.blame(LOST, "something else was imported")
    elif ended.code and files:
        case.blame(LOST, f"left behind: {files}")


def _make_folder(rng: random.Random, folder: Path) -> None:
    folder.mkdir()
    image = good_files()["image.png"]
    images = ("obj1__0.png", "obj1__1.png", f"obj{'9' * 200}__0.png")
    names = (*images, "test_batch.bin", "x")
    for name in rng.sample(names, rng.randint(1, len(names))):
        path = folder / name
        if rng.random() < 0.5:
            odd_path(rng, path)
        else:
            path.write_bytes(damage(rng, image))


def _forge_archive(rng: random.Random, path: Path) -> None:
    """Write an archive with names, links and sizes that nobody should follow."""
    names = ("../obj1__0.png", f"{path.parent}/obj1__0.png", "obj1__0.png\0x",
             f"obj{'1' * 5000}__0.png", "..\\obj1__0.png", "test_batch.bin",
             "obj\u00b2__0.png", "obj1__0.png", "coil/obj1__1.png")  # fmt: skip
    chosen = rng.sample(names, rng.randint(1, len(names)))
    if rng.random() < 0.5:
        with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as tar:
            for name in chosen:
                member = tarfile.TarInfo(name.replace("\0", ""))
                member.type = rng.choice((tarfile.REGTYPE, tarfile.SYMTYPE))
                member.linkname = "/etc/passwd"
                tar.addfile(member)
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in chosen:
            content = rng.choice((b"", bytes(10**6), good_files()["image.png"]))
            archive.writestr(zipfile.ZipInfo(name), content)
    if rng.random() < 0.5:
        path.write_bytes(damage(rng, path.read_bytes()))
