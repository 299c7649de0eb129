"""A record: one trial, its outcome and its provenance in one HDF5 file.

The file is an HDF5 image followed by the 32 bytes of its sha256 (HDF5 readers ignore
what follows the image). A truncated or damaged file is told from a whole one before
HDF5 sees it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from symmf.experiment.values import FORMAT, Outcome, Record, Status, Trial

_DIGEST_SIZE = hashlib.sha256().digest_size
_ARRAYS = ("labels", "y", "error", "split_error", "trace_seconds")


class BrokenRecordError(Exception):
    """A record file is truncated, damaged or of another format."""


def read_record(path: Path) -> Record:
    """Read a record.

    Raises
    ------
    BrokenRecordError
        If the file is not a whole record.
    """
    try:
        return from_bytes(path.read_bytes())
    except OSError as error:
        raise BrokenRecordError(f"{path.name}: {error.strerror}") from None


def to_bytes(record: Record) -> bytes:
    """Return the content of a record's file."""
    outcome = record.outcome
    scalars = {
        item.name: getattr(outcome, item.name)
        for item in fields(Outcome)
        if item.name not in _ARRAYS
    }
    text = {
        "trial": record.trial.as_dict(),
        "outcome": scalars,
        "provenance": record.provenance,
    }
    content = np.frombuffer(json.dumps(text).encode(), dtype=np.uint8)
    arrays = {name: getattr(outcome, name) for name in _ARRAYS}
    image = _image(
        {
            "format": np.array(FORMAT, dtype=np.int64),
            "json": content,
            **{name: _compact(a) for name, a in arrays.items() if a is not None},
        }
    )
    return image + hashlib.sha256(image).digest()


def _image(arrays: dict[str, np.ndarray]) -> bytes:
    """Return an HDF5 file made in memory, the same bytes for the same arrays."""
    # The low-level interface: a fifth of the time, and thousands of records are made.
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fapl_core(2**14, False)
    access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    file = h5py.h5f.create(b"record", h5py.h5f.ACC_TRUNC, fapl=access)
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_obj_track_times(False)
        kind = h5py.h5t.py_create(array.dtype, logical=True)
        space = h5py.h5s.create_simple(array.shape)
        dataset = h5py.h5d.create(file, name.encode(), kind, space, creation)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array)
    h5py.h5f.flush(file)
    image: bytes = file.get_file_image()
    file.close()
    return image


def from_bytes(content: bytes) -> Record:
    """Read what :func:`to_bytes` made."""
    image, digest = content[:-_DIGEST_SIZE], content[-_DIGEST_SIZE:]
    if hashlib.sha256(image).digest() != digest:
        raise BrokenRecordError("its checksum does not match")
    try:
        with h5py.File(h5py.h5f.open_file_image(image)) as file:
            if file["format"][()] != FORMAT:
                raise BrokenRecordError(f"its format is {file['format'][()]}")
            text = json.loads(file["json"][()].tobytes())
            arrays = {
                name: file[name][()].astype(
                    np.int64 if name in ("labels", "y") else np.float64
                )
                for name in _ARRAYS
                if name in file
            }
        return Record(
            trial=Trial.from_dict(text["trial"]),
            outcome=_outcome(text["outcome"], arrays),
            provenance=text["provenance"],
        )
    except (KeyError, TypeError, ValueError, OSError, RuntimeError) as error:
        raise BrokenRecordError(f"it cannot be read: {error}") from None


def _outcome(scalars: dict[str, Any], arrays: dict[str, Any]) -> Outcome:
    # What a later version keeps and this one does not know is left out.
    names = {item.name for item in fields(Outcome)} - set(_ARRAYS)
    known = {name: value for name, value in scalars.items() if name in names}
    known["status"] = Status(known["status"])
    known["warnings"] = tuple(known["warnings"])
    return Outcome(**known, **arrays)


def _compact(array: np.ndarray) -> np.ndarray:
    """Store labels in the smallest integer type that holds them."""
    if array.dtype.kind != "i" or not array.size:
        return array
    low = np.min_scalar_type(int(array.min()))
    high = np.min_scalar_type(int(array.max()))
    return array.astype(np.result_type(low, high))
