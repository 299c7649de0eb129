"""Plain data as an NPZ archive and back: arrays, and the rest as a text in JSON.

For what a child process hands back and for model files. Nothing is ever pickled: an
object is a name from a list that the reader has, and the values of its attributes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import IO, Any

import numpy as np
from scipy import sparse

# Kinds of arrays whose bytes are numbers or texts.
_PLAIN = "biufcmMUS"
# Keys that no name in a file has.
_ARRAY, _SPARSE, _OBJECT = "\0array", "\0sparse", "\0object"


class OtherFormatError(ValueError):
    """A file is not of the format that was asked for."""


def save(
    file: IO[bytes],
    value: Any,
    *,
    format: str = "",
    classes: Iterable[type] = (),
    left_out: tuple[type, ...] = (),
    compressed: bool = False,
) -> None:
    """Write a value of plain data.

    Parameters
    ----------
    file
        Open for writing, and for seeking.
    value
        Numbers, texts, None, numpy arrays, scipy sparse matrices, objects of
        ``classes``, and lists and dicts of them. Tuples become lists, sparse matrices
        csr arrays.
    format
        Name and version of what is written, compared by :func:`load`.
    classes
        Classes whose objects may be written, with all of their attributes.
    left_out
        Classes whose objects become None.
    compressed
        Whether to take time for a smaller file.

    Raises
    ------
    TypeError
        If the value holds anything else, as a structure of MATLAB.
    """
    arrays: dict[str, Any] = {}
    known = tuple(classes)

    def describe(part: Any) -> Any:
        if isinstance(part, left_out):
            return None
        if isinstance(part, np.generic) and part.dtype.kind in "biuf":
            return part.item()
        if isinstance(part, np.ndarray) and part.dtype.kind in _PLAIN:
            name = f"array{len(arrays)}"
            arrays[name] = part
            return {_ARRAY: name}
        if sparse.issparse(part):
            X = sparse.csr_array(part)
            return {_SPARSE: [X.data, X.indices, X.indptr], "shape": X.shape}
        if type(part) in known:
            return {_OBJECT: type(part).__name__, "attributes": _attributes(part)}
        kind = getattr(part, "dtype", type(part).__name__)
        raise TypeError(f"a value of type {kind} is not plain data")

    text = json.dumps(value, default=describe)
    arrays |= {"format": np.array(format), "json": np.frombuffer(text.encode(), "u1")}
    (np.savez_compressed if compressed else np.savez)(file, **arrays)


def load(file: IO[bytes], *, format: str = "", classes: Iterable[type] = ()) -> Any:
    """Read what :func:`save` wrote; index arrays of sparse matrices are checked.

    Raises
    ------
    OtherFormatError
        If the file is of another format, or is no archive at all.
    Exception
        Any, if the content is not what :func:`save` wrote.
    """
    known = {cls.__name__: cls for cls in classes}
    with _open(file, format) as archive:

        def build(found: dict[str, Any]) -> Any:
            if _ARRAY in found:
                return archive[found[_ARRAY]]
            if _SPARSE in found:
                X = sparse.csr_array(tuple(found[_SPARSE]), shape=tuple(found["shape"]))
                X.check_format(full_check=True)
                return X
            if _OBJECT in found:
                return _rebuilt(known[found[_OBJECT]], found["attributes"])
            return found

        return json.loads(archive["json"].tobytes(), object_hook=build)


def _open(file: IO[bytes], format: str) -> Any:
    """Open an archive, or raise if it is none of this format."""
    try:
        archive = np.load(file, allow_pickle=False)
        found = str(archive["format"])
    except (ValueError, LookupError, EOFError):
        # No archive, or one of somebody else; a damaged archive raises other errors.
        found = "something else"
    if found != format:
        raise OtherFormatError(f"it is {found!r}, not {format!r}")
    return archive


def _attributes(thing: Any) -> dict[str, Any]:
    if hasattr(thing, "__dict__"):
        return dict(vars(thing))
    return {item.name: getattr(thing, item.name) for item in fields(thing)}


def _rebuilt(cls: type, attributes: dict[str, Any]) -> Any:
    """Make an object of attributes alone: none of its code is run, frozen or not."""
    thing: Any = object.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(thing, name, value)
    return thing
