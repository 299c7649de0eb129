"""CIFAR-10: small photographs of ten kinds of things, in grey or in colour.

======== ======= ==========
classes  samples dimensions
10       3000    1024
======== ======= ==========

Which 3000 images the paper used is not known. The choice here is this project's own:
the first 300 of each class in ``test_batch``, in the order of the file, as
grey = (0.2989 R + 0.5870 G + 0.1140 B) / 255, which lies in [0, 1]. With the option
``colour: true`` a row has 3072 values, R, G and B of a pixel together, divided by 255.
``skip: 300`` passes over so many images of each class first, and ``n_per_class: 150``
takes so many of each: other images of the same kind.

With ``learn_from: batch`` in an experiment, steps under ``features`` are given all
10,000 images of the batch; the 3000 of the study are clustered and scored.
"""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from symmf.common.validation import check_number
from symmf.datasets.base import Dataset, DatasetSpec, RemoteFile, Source
from symmf.errors import DataError, InputError

SIDE = 32
PIXELS = SIDE * SIDE
# A label byte, then the planes R, G and B, each row by row.
RECORD = 1 + 3 * PIXELS
N_CLASSES = 10
N_PER_CLASS = 300
MEMBER = "cifar-10-batches-bin/test_batch.bin"
FILE_SIZE = 30730000
# Images converted at a time.
_IMAGES = 1000


def read(path: Path, *, colour: bool = False, **which: int) -> Dataset:
    """Load images of each class of the binary test batch, by default the first 300."""
    if not isinstance(colour, bool):
        raise InputError(f"colour is true or false, not {colour!r}.")
    records, rows = _records(path, **which)
    return Dataset.from_arrays(
        _pixels(records[rows], colour=colour),
        records[rows, 0],
        name="cifar10",
        title="CIFAR-10",
        kind="image",
        image_shape=(SIDE, SIDE, 3) if colour else (SIDE, SIDE),
    )


def read_batch(path: Path, *, colour: bool = False, **which: int) -> tuple[Any, Any]:
    """Return all images of the test batch, float32, and which are those of ``read``."""
    records, rows = _records(path, **which)
    out = np.empty((len(records), (3 if colour else 1) * PIXELS), dtype=np.float32)
    for first in range(0, len(records), _IMAGES):
        part = slice(first, first + _IMAGES)
        out[part] = _pixels(records[part], colour=colour)
    return out, rows


def _records(
    path: Path, *, skip: int = 0, n_per_class: int = N_PER_CLASS
) -> tuple[Any, Any]:
    """Return the records of the file, and which are those asked for of each class."""
    check_number("skip", skip, least=0, whole=True)
    check_number("n_per_class", n_per_class, least=1, whole=True)
    records = np.fromfile(path, dtype=np.uint8).reshape(-1, RECORD)
    labels = records[:, 0]
    taken = slice(skip, skip + n_per_class)
    chosen = [np.flatnonzero(labels == c)[taken] for c in range(N_CLASSES)]
    if any(rows.size < n_per_class for rows in chosen):
        raise InputError(
            f"{path} does not have {taken.stop} or more images of each class. Ask for "
            "fewer with skip and n_per_class."
        )
    return records, np.sort(np.concatenate(chosen))


def _pixels(records: Any, *, colour: bool) -> Any:
    planes = records[:, 1:].reshape(-1, 3, PIXELS)
    if colour:
        return planes.swapaxes(1, 2).reshape(-1, 3 * PIXELS) / 255
    red, green, blue = planes.swapaxes(0, 1)
    # Products and sums one by one: the same bits on every machine.
    return (0.2989 * red + 0.5870 * green + 0.1140 * blue) / 255


def convert(given: Path, path: Path | str, *, size: int = FILE_SIZE) -> None:
    """Take the test batch out of the official binary archive or its folder."""
    if given.is_dir():
        files = sorted(given.rglob(Path(MEMBER).name))
        # A named pipe or a device under that name is no batch.
        found = [file for file in files if file.is_file()]
        if not found:
            raise DataError(f"The folder {given} has no {Path(MEMBER).name}.")
        shutil.copyfile(found[0], path)
        return
    # Members are read as streams and never unpacked by name.
    with tarfile.open(given, "r|*") as archive:
        for member in archive:
            if member.name.removeprefix("./") == MEMBER and member.isfile():
                if member.size != size:
                    raise DataError(
                        f"{MEMBER} in {given} has {member.size} bytes; it should have "
                        f"{size}."
                    )
                stream = archive.extractfile(member)
                assert stream is not None
                with Path(path).open("wb") as file:
                    shutil.copyfileobj(stream, file)
                return
    raise DataError(
        f"{given} has no member {MEMBER}. The archive must be the binary version, "
        "cifar-10-binary.tar.gz."
    )


SPEC = DatasetSpec(
    name="cifar10",
    title="CIFAR-10",
    description="300 photographs of each of 10 classes (the first of the test batch: "
    "a choice of this study), grey images of 32 x 32 pixels",
    licence="free to use with a citation of Krizhevsky 2009",
    citation="A. Krizhevsky: Learning Multiple Layers of Features from Tiny Images, "
    "University of Toronto, 2009",
    read=read,
    n_classes=10,
    n_samples=3000,
    n_features=1024,
    file=RemoteFile(
        path="cifar10/test_batch.bin",
        size=FILE_SIZE,
        sha256="8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
        sources=(
            Source(
                url="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                archive="md5:c32a1d4ab5d03f1284b67883e8d87530",
            ),
        ),
    ),
    wider={"batch": read_batch},
    convert=convert,
    options={
        "colour": "true: rows of 3072 values, R, G and B of each pixel; else grey",
        "skip": "pass over so many images of each class first",
        "n_per_class": "take so many images of each class; 300 by default",
    },
    accepts="test_batch.bin, the official cifar-10-binary.tar.gz or its folder",
)
