"""Plain data as bytes and back: a header in JSON, then the buffers of the arrays.

The other side may be a process that parsed a forged file, so that nothing here trusts
what it reads: sizes are compared with the bytes there are, types are numbers only, and
the index arrays of sparse matrices are checked before anything is computed with them.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from symmf.errors import DataError

_ALIGNMENT = 64
_PREFIX = struct.Struct("<QQ")
# The kinds of numpy whose bytes are numbers, whatever they are.
_NUMBERS = "biufcmM"
_COMPRESSED = {
    "csr": (sparse.csr_array, sparse.csr_matrix),
    "csc": (sparse.csc_array, sparse.csc_matrix),
    "bsr": (sparse.bsr_array, sparse.bsr_matrix),
}


class NotPlainData(TypeError):  # noqa: N818 (what it is, not an error of ours)
    """A value that has no place in plain data, as a structure of MATLAB."""


def check_sparse(X: Any) -> None:
    """Raise ``DataError`` unless the index arrays of a sparse matrix are right.

    scipy's C code writes wherever they point, so that this comes before any arithmetic
    or conversion of a matrix from a file.

    Examples
    --------
    >>> X = sparse.csr_array(np.eye(3))
    >>> check_sparse(X)
    >>> X.indices[0] = 7
    >>> check_sparse(X)
    Traceback (most recent call last):
    symmf.errors.DataError: The sparse matrix of shape (3, 3) is damaged: ...
    """
    try:
        if X.format in _COMPRESSED:
            X.check_format(full_check=True)
            if X.format == "bsr":
                _check_blocks(X)
        elif X.format == "coo":
            _check_coordinates(X)
    except ValueError as error:
        raise DataError(
            f"The sparse matrix of shape {X.shape} is damaged: {error}."
        ) from error


def _check_blocks(X: Any) -> None:
    rows, columns = X.blocksize
    if rows * columns == 0 or X.shape[0] % rows or X.shape[1] % columns:
        raise ValueError(f"blocks of {X.blocksize} do not fit")


def _check_coordinates(X: Any) -> None:
    for index, size in zip((X.row, X.col), X.shape, strict=True):
        if index.shape != X.data.shape:
            raise ValueError("index and data arrays differ in length")
        if index.size and not 0 <= index.min() <= index.max() < size:
            raise ValueError("indices lie outside of the matrix")


def encode(value: Any, write: Callable[[bytes | memoryview], object]) -> None:
    """Write a value of plain data, piece by piece."""
    buffers: list[memoryview] = []
    header = json.dumps(_describe(value, buffers)).encode()
    write(_PREFIX.pack(len(header), sum(_padded(b.nbytes) for b in buffers)))
    write(header + b" " * (_padded(len(header) + _PREFIX.size) - len(header) - 16))
    for buffer in buffers:
        write(buffer)
        write(bytes(_padded(buffer.nbytes) - buffer.nbytes))


def decode(content: Any) -> Any:
    """Read a value back; its arrays are views of ``content`` (bytes or a mmap).

    Raises
    ------
    DataError
        If a sparse matrix has wrong index arrays.
    ValueError, KeyError, TypeError
        If the bytes are not what :func:`encode` writes.
    """
    length, size = _PREFIX.unpack_from(content)
    start = _padded(length + _PREFIX.size)
    if start + size != len(content):
        raise ValueError("the length does not fit")
    header = json.loads(bytes(content[_PREFIX.size : _PREFIX.size + length]))
    return _Rebuilder(content, start).value(header)


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _describe(value: Any, buffers: list[memoryview]) -> Any:
    """Return what JSON can say of a value; arrays go to ``buffers``."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biufUS":
        value = value.item()
    if isinstance(value, int):
        return value if abs(value) < 2**53 else ["int", hex(value)]
    if isinstance(value, float):
        return ["float", value.hex()]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, dict):
        pairs = [(_key(k), _describe(v, buffers)) for k, v in value.items()]
        return ["dict", [list(pair) for pair in pairs]]
    if isinstance(value, list | tuple):
        name = "tuple" if isinstance(value, tuple) else "list"
        return [name, [_describe(v, buffers) for v in value]]
    if sparse.issparse(value):
        return _describe_sparse(value, buffers)
    if isinstance(value, np.ndarray):
        return _describe_array(value, buffers)
    raise NotPlainData(f"a value of type {type(value).__name__} is not plain data")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise NotPlainData(f"a key of type {type(key).__name__} is not plain data")
    return key


def _describe_array(array: Any, buffers: list[memoryview]) -> Any:
    if array.dtype.kind in "OUS":
        cells = [_describe(v, buffers) for v in array.ravel().tolist()]
        return ["texts", array.dtype.kind, list(array.shape), cells]
    if array.dtype.kind not in _NUMBERS:
        raise NotPlainData(f"an array of type {array.dtype} is not plain data")
    columns = array.flags.f_contiguous and not array.flags.c_contiguous
    order = "F" if columns else "C"
    array = np.ascontiguousarray(array.T if columns else array)
    buffers.append(memoryview(array.reshape(-1).view(np.uint8)))
    shape = list(array.shape[::-1] if columns else array.shape)
    return ["array", array.dtype.str, shape, order]


def _describe_sparse(X: Any, buffers: list[memoryview]) -> Any:
    check_sparse(X)
    if X.format != "coo" and X.format not in _COMPRESSED:
        X = X.tocsr()
    if X.format == "coo":
        parts = [X.data, X.row, X.col]
    else:
        parts = [X.data, X.indices, X.indptr]
    shape = [int(size) for size in X.shape]
    is_array = isinstance(X, sparse.sparray)
    described = [_describe_array(part, buffers) for part in parts]
    return ["sparse", X.format, is_array, shape, described]


class _Rebuilder:
    """Makes the values of a header, taking buffers in the order they were written."""

    def __init__(self, content: Any, start: int) -> None:
        self._content = content
        self._place = start

    def value(self, described: Any) -> Any:
        if described is None or isinstance(described, bool | int | str):
            return described
        kind, *rest = described
        builders: dict[str, Callable[..., Any]] = {
            "int": lambda text: int(text, 16),
            "float": float.fromhex,
            "bytes": bytes.fromhex,
            "dict": lambda pairs: {str(k): self.value(v) for k, v in pairs},
            "list": lambda items: [self.value(v) for v in items],
            "tuple": lambda items: tuple(self.value(v) for v in items),
            "texts": self._texts,
            "array": self._array,
            "sparse": self._sparse,
        }
        return builders[kind](*rest)

    def _texts(self, kind: str, shape: list[int], cells: list[Any]) -> Any:
        values = [self.value(cell) for cell in cells]
        if kind in "US":
            return np.array(values, dtype=kind).reshape(shape)
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made.reshape(shape)

    def _array(self, dtype: str, shape: list[int], order: str) -> Any:
        kind = np.dtype(dtype)
        if kind.kind not in _NUMBERS or kind.hasobject:
            raise ValueError(f"an array of type {dtype}")
        count = math.prod(shape)
        if min(shape, default=0) < 0 or order not in ("C", "F"):
            raise ValueError("an array of an odd shape")
        end = self._place + count * kind.itemsize
        if end > len(self._content):
            raise ValueError("an array that is cut off")
        flat = np.frombuffer(self._content, kind, count, self._place)
        self._place += _padded(count * kind.itemsize)
        return flat.reshape(shape, order=order)  # type: ignore[call-overload]

    def _sparse(
        self, layout: str, is_array: bool, shape: list[int], described: list[Any]
    ) -> Any:
        data, first, second = (self._array(*rest) for _, *rest in described)
        if layout == "coo":
            build = sparse.coo_array if is_array else sparse.coo_matrix
            return build((data, (first, second)), shape=tuple(shape))
        build = _COMPRESSED[layout][0 if is_array else 1]
        try:
            X = build((data, first, second), shape=tuple(shape))
        except ValueError as error:
            raise DataError(f"The sparse matrix is damaged: {error}.") from error
        check_sparse(X)
        return X
