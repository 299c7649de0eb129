"""Plain data as bytes: every value comes back, and no bytes do harm."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from symmf.common.sandbox.transport import NotPlainData, decode, encode
from symmf.errors import DataError


def to_bytes(value: Any) -> bytes:
    pieces: list[bytes] = []
    encode(value, lambda piece: pieces.append(bytes(piece)))
    return b"".join(pieces)


arrays = hnp.arrays(
    st.one_of(hnp.floating_dtypes(), hnp.integer_dtypes(), hnp.boolean_dtypes()),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0),
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(plain)
def test_plain_values_come_back(value: Any) -> None:
    # repr, because NaN is not equal to itself.
    assert repr(decode(to_bytes(value))) == repr(value)


@given(arrays)
def test_arrays_come_back(array: Any) -> None:
    found = decode(to_bytes([array, array.T]))
    for given_, back in zip([array, array.T], found, strict=True):
        assert back.dtype == given_.dtype
        np.testing.assert_array_equal(back, given_)


@given(st.data())
def test_damaged_bytes_raise_what_the_caller_catches(data: st.DataObject) -> None:
    X = sparse.csr_array(np.eye(3))
    content = bytearray(to_bytes({"X": X, "a": np.arange(4), "t": "text"}))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    expected = (DataError, ValueError, KeyError, TypeError, OverflowError)
    with suppress(*expected):
        decode(bytes(content))


@pytest.mark.parametrize("value", [object(), {1: 2}, np.zeros(2, "i4,f8"), {"a": {3}}])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(NotPlainData):
        to_bytes(value)
