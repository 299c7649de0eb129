"""A record: one trial, its outcome and its provenance in one HDF5 file.

The file is an HDF5 image followed by the 32 bytes of its sha256 (HDF5 readers ignore
what follows the image). A truncated or damaged file is told from a whole one before
HDF5 sees it, and content that is no record although its checksum fits is told before
anything uses it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from symmf.common.files import read_file
from symmf.experiment.values import FORMAT, Outcome, Record, Status, Trial

_DIGEST_SIZE = hashlib.sha256().digest_size
_LABELS = ("labels", "y")
_ARRAYS = (*_LABELS, "error", "split_error", "trace_seconds")
_NUMBER = (int, float, type(None))
# Kinds of what an outcome keeps beside arrays; a bool is no number here.
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("status", "message", "traceback", "started"), (str,)),
    **dict.fromkeys(("stop", "solver", "matrix"), (str,)),
    **dict.fromkeys(("seconds", "peak_memory_mb", "objective"), _NUMBER),
    **dict.fromkeys(("n_samples", "n_iter"), (int, type(None))),
    "warnings": (list,),
    "scores": (dict,),
    "attempts": (int,),
}


_TRIAL_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("experiment", "dataset", "data_digest", "method"), (str,)),
    **dict.fromkeys(("estimator", "label", "paper_row"), (str,)),
    **dict.fromkeys(("seed", "n_clusters", "trial", "random_state", "threads"), (int,)),
    **dict.fromkeys(("options", "parameters", "defaults"), (dict,)),
    **dict.fromkeys(("classes", "preprocess"), (list,)),
    "laplacian_weight": _NUMBER,
}


class BrokenRecordError(Exception):
    """A record file is truncated, damaged or of another format."""


def read_record(path: Path) -> Record:
    """Read a record.

    Raises
    ------
    BrokenRecordError
        If there is no file of this name that is a whole record.
    """
    try:
        return from_bytes(read_file(path))
    except OSError as error:
        raise BrokenRecordError(f"{error.strerror}") from None


def to_bytes(record: Record) -> bytes:
    """Return the content of a record's file."""
    outcome = record.outcome
    text = {
        "trial": record.trial.as_dict(),
        "outcome": {name: getattr(outcome, name) for name in _KINDS},
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
    access, creation = _properties()
    file = h5py.h5f.create(b"record", h5py.h5f.ACC_TRUNC, fapl=access)
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        kind = h5py.h5t.py_create(array.dtype, logical=True)
        space = h5py.h5s.create_simple(array.shape)
        dataset = h5py.h5d.create(file, name.encode(), kind, space, creation)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array)
    h5py.h5f.flush(file)
    image: bytes = file.get_file_image()
    file.close()
    return image


@cache
def _properties() -> tuple[Any, Any]:
    """Return how the file is made, and how its arrays are."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fapl_core(2**14, False)
    # The oldest format keeps no time stamp of the root group, and every HDF5 since
    # 1.10 writes an image of it that can be read back; those before 2.0 do not with
    # the latest format.
    access.set_libver_bounds(h5py.h5f.LIBVER_EARLIEST, h5py.h5f.LIBVER_V110)
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_obj_track_times(False)
    return access, creation


def from_bytes(content: bytes) -> Record:
    """Read what :func:`to_bytes` made.

    Raises
    ------
    BrokenRecordError
        If it is anything else.
    """
    image, digest = content[:-_DIGEST_SIZE], content[-_DIGEST_SIZE:]
    if hashlib.sha256(image).digest() != digest:
        raise BrokenRecordError("its checksum does not match")
    try:
        arrays = _arrays(image)
        if arrays["format"] != FORMAT:
            raise BrokenRecordError(f"its format is {arrays['format']}")
        text = json.loads(arrays["json"].tobytes())
        return Record(
            trial=_trial(text["trial"]),
            outcome=_outcome(text["outcome"], arrays),
            provenance=_checked("provenance", text["provenance"], (dict,)),
        )
    except BrokenRecordError:
        raise
    except Exception as error:
        # The content is anybody's: whatever goes wrong here means that it is no record.
        reason = f"{type(error).__name__}: {error}"
        raise BrokenRecordError(f"it cannot be read: {reason}") from None


def _arrays(image: bytes) -> dict[str, np.ndarray]:
    file = h5py.h5f.open_file_image(image)
    try:
        return {
            name: _array(file, name.encode(), len(image))
            for name in ("format", "json", *_ARRAYS)
            if file.links.exists(name.encode())
        }
    finally:
        file.close()


def _array(file: Any, name: bytes, most: int) -> np.ndarray:
    # A link or external storage would make the reader open another file.
    if file.links.get_info(name).type != h5py.h5l.TYPE_HARD:
        raise BrokenRecordError(f"{name.decode()} is a link")
    dataset = h5py.h5d.open(file, name)
    if dataset.get_create_plist().get_external_count():
        raise BrokenRecordError(f"{name.decode()} is stored elsewhere")
    kind, shape = dataset.dtype, dataset.shape
    if kind.kind not in "iuf" or len(shape) > 1 or (shape and shape[0] > most):
        raise BrokenRecordError(f"{name.decode()} is not a list of numbers")
    array = np.empty(shape, kind)
    dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, array)
    return array


def _trial(data: Any) -> Trial:
    for name, kinds in _TRIAL_KINDS.items():
        _checked(name, data[name], kinds)
    for number in data["classes"]:
        _checked("classes", number, (int,))
    return Trial.from_dict(data)


def _outcome(scalars: dict[str, Any], arrays: dict[str, np.ndarray]) -> Outcome:
    # What another version keeps and this one does not know is left out.
    known = {
        name: _checked(name, scalars[name], kinds)
        for name, kinds in _KINDS.items()
        if name in scalars
    }
    known["status"] = Status(known["status"])
    known["warnings"] = tuple(
        _checked("warnings", text, (str,)) for text in known["warnings"]
    )
    for value in known["scores"].values():
        _checked("scores", value, (int, float))
    found: dict[str, Any] = {
        name: arrays[name].astype(np.int64 if name in _LABELS else np.float64)
        for name in _ARRAYS
        if name in arrays
    }
    if len({len(found[name]) for name in _LABELS if name in found}) > 1:
        raise BrokenRecordError("its labels and classes differ in number")
    return Outcome(**known, **found)


def _checked(name: str, value: Any, kinds: tuple[type, ...]) -> Any:
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise BrokenRecordError(f"{name} is {type(value).__name__}")
    return value


def _compact(array: np.ndarray) -> np.ndarray:
    """Store labels in the smallest integer type that holds them."""
    if array.dtype.kind != "i" or not array.size:
        return array
    low = np.min_scalar_type(int(array.min()))
    high = np.min_scalar_type(int(array.max()))
    return array.astype(np.result_type(low, high))


_NOT_KEPT = {"illustration"}
assert {item.name for item in fields(Outcome)} == {*_KINDS, *_ARRAYS, *_NOT_KEPT}
