"""A record: one trial, its outcome and its provenance in one HDF5 file.

The file is an HDF5 image followed by the 32 bytes of its sha256 (HDF5 readers ignore
what follows the image), so a truncated or damaged file is told from a whole one before
HDF5 sees it. Inside are the data sets ``format``, ``json`` (the trial, the provenance
and what of the outcome is no array, as UTF-8) and one per array of the outcome.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from symmf.common.files import damaged, own_file, read_file
from symmf.experiment.values import (
    FORMAT,
    Outcome,
    Record,
    Status,
    Trial,
    known_fields,
)

_DIGEST_SIZE = hashlib.sha256().digest_size
_ARRAYS = {
    "labels": np.int64,
    "y": np.int64,
    "error": np.float64,
    "split_error": np.float64,
    "trace_seconds": np.float64,
}


def read_record(path: Path) -> Record:
    """Read a record.

    Raises
    ------
    DataError
        If the file is not the whole record of its name.
    """
    with own_file(path):
        record = from_bytes(read_file(path))
    if record.key != path.stem:
        raise damaged(path, "it is the record of another trial")
    return record


def to_bytes(record: Record) -> bytes:
    """Return the content of a record's file: the same bytes for the same record."""
    scalars = record.outcome.as_dict()
    # An illustration is a file of its own.
    del scalars["illustration"]
    arrays = {name: scalars.pop(name) for name in _ARRAYS}
    text = {
        "trial": record.trial.as_dict(),
        "outcome": scalars,
        "provenance": record.provenance,
    }
    # The oldest format keeps no time stamp of the root group, and every HDF5 since
    # 1.10 writes an image of it that can be read back; those before 2.0 do not with
    # the latest format.
    bounds = ("earliest", "v110")
    with h5py.File("-", "w", driver="core", backing_store=False, libver=bounds) as file:
        file["format"] = np.int64(FORMAT)
        file["json"] = np.frombuffer(json.dumps(text).encode(), dtype=np.uint8)
        for name, array in arrays.items():
            if array is not None:
                file[name] = _compact(array)
        file.flush()
        image: bytes = file.id.get_file_image()
    return image + hashlib.sha256(image).digest()


def from_bytes(content: bytes) -> Record:
    """Read what :func:`to_bytes` made; other content raises whatever it leads to."""
    image, digest = content[:-_DIGEST_SIZE], content[-_DIGEST_SIZE:]
    if hashlib.sha256(image).digest() != digest:
        raise ValueError("its checksum does not match")
    with h5py.File(h5py.h5f.open_file_image(image)) as file:
        if (found := file["format"][()]) != FORMAT:
            raise ValueError(f"its format is {found}, not {FORMAT}")
        text = json.loads(file["json"][()].tobytes())
        arrays: dict[str, Any] = {
            name: file[name][:].astype(kind)
            for name, kind in _ARRAYS.items()
            if name in file
        }
    known = known_fields(Outcome, text["outcome"])
    known["status"] = Status(known["status"])
    known["warnings"] = tuple(known["warnings"])
    return Record(
        trial=Trial.from_dict(text["trial"]),
        outcome=Outcome(**known, **arrays),
        provenance=text["provenance"],
    )


def _compact(array: np.ndarray) -> np.ndarray:
    """Store labels in the smallest integer type that holds them."""
    if array.dtype.kind != "i" or not array.size:
        return array
    low = np.min_scalar_type(int(array.min()))
    high = np.min_scalar_type(int(array.max()))
    return array.astype(np.result_type(low, high))
