"""COIL-20: 72 views of each of 20 objects, 32 x 32 grey pixels.

======== ======= ==========
classes  samples dimensions
20       1440    1024
======== ======= ==========

The MATLAB file holds, for each official 128 x 128 image, the means of its 4 x 4 blocks
divided by 255, with pixels column by column. Loading puts them row by row, so that
``X[i].reshape(32, 32)`` is upright; distances and inner products do not change.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from symmf.common.notation import FloatArray
from symmf.datasets.base import Dataset, DatasetSpec, RemoteFile, Source
from symmf.datasets.matfile import read_mat, write_mat
from symmf.errors import DataError

SIDE = 32
BLOCK = 4
N_OBJECTS = 20
N_VIEWS = 72

_IMAGE_NAME = re.compile(r"obj([0-9]{1,3})__([0-9]{1,3})\.png")


def read(path: Path) -> Dataset:
    """Load the MATLAB file, pixels reordered row by row."""
    fea, gnd = read_mat(path)
    images = fea.reshape(-1, SIDE, SIDE).transpose(0, 2, 1)
    return Dataset.from_arrays(
        images.reshape(-1, SIDE * SIDE),
        gnd,
        name="coil20",
        title="COIL-20",
        kind="image",
        image_shape=(SIDE, SIDE),
    )


def read_image(content: bytes) -> FloatArray:
    """Return the row of the MATLAB file that belongs to one official PNG."""
    from PIL import Image

    with Image.open(io.BytesIO(content), formats=["PNG"]) as image:
        if image.size != (SIDE * BLOCK, SIDE * BLOCK) or image.mode != "L":
            raise DataError(
                f"An image is {image.size[0]} x {image.size[1]} of mode {image.mode}; "
                "the official ones are 128 x 128 of mode L."
            )
        pixels = np.asarray(image, dtype=np.int64)
    # Sums of integers and a division by 16 are exact; only "/ 255" rounds.
    sums = pixels.reshape(SIDE, BLOCK, SIDE, BLOCK).sum(axis=(1, 3))
    row: FloatArray = (sums / BLOCK**2 / 255).flatten(order="F")
    return row


def convert(
    given: Path, path: Path | str, *, n_objects: int = N_OBJECTS, n_views: int = N_VIEWS
) -> None:
    """Write the MATLAB file from the official zip, or a folder of its images."""
    rows: dict[tuple[int, int], FloatArray] = {}
    for name, content in _official_images(given):
        match = _IMAGE_NAME.fullmatch(name)
        if match:
            rows[int(match[1]), int(match[2])] = read_image(content)
    wanted = [(o, v) for o in range(1, n_objects + 1) for v in range(n_views)]
    absent = [key for key in wanted if key not in rows]
    if absent:
        raise DataError(
            f"{given} holds {len(rows)} of the official images; the first of "
            f"{len(absent)} that are not there is "
            f"obj{absent[0][0]}__{absent[0][1]}.png."
        )
    write_mat(path, np.stack([rows[key] for key in wanted]), [o for o, _ in wanted])


def _official_images(given: Path) -> Iterator[tuple[str, bytes]]:
    if given.is_dir():
        for file in sorted(given.rglob("obj*__*.png")):
            # A named pipe or a device under such a name is no image.
            if file.is_file():
                yield file.name, file.read_bytes()
        return
    with zipfile.ZipFile(given) as archive:
        for member in archive.infolist():
            name = member.filename.rpartition("/")[2]
            if _IMAGE_NAME.fullmatch(name):
                yield name, archive.read(member)


SPEC = DatasetSpec(
    name="coil20",
    title="COIL-20",
    description="72 views of each of 20 objects, grey images of 32 x 32 pixels",
    licence="Columbia University, for research",
    citation="S. A. Nene, S. K. Nayar, H. Murase: Columbia Object Image Library "
    "(COIL-20), CUCS-005-96, 1996",
    read=read,
    n_classes=20,
    n_samples=1440,
    n_features=1024,
    file=RemoteFile(
        path="coil20/COIL20.mat",
        size=3022227,
        sha256="2a35c105dbb327492b90389e55612bcbf39187bc7c408252239903e4ce7d6958",
        sources=(
            Source(
                url="https://raw.githubusercontent.com/panji1990/"
                "Deep-subspace-clustering-networks/"
                "4aa83542b8832c2b4586a53aee2c351bc8faf5c0/Data/COIL20.mat",
            ),
            Source(
                url="http://www.cs.columbia.edu/CAVE/databases/"
                "SLAM_coil-20_coil-100/coil-20/coil-20-proc.zip",
                archive="md5:464dec76a6abfcd00e8de6cf1e7d0acc",
            ),
        ),
    ),
    digest="7e21af142575849c130f85d11f870ccc05bb1cbad356d5550382c32a1ef64144",
    convert=convert,
    accepts="COIL20.mat, the official coil-20-proc.zip or the folder of its images",
)
