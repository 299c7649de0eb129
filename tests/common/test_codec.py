"""Plain data as an archive: every value comes back, and other bytes only raise."""

from __future__ import annotations

import io
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from symmf.common import codec


def to_bytes(value: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    codec.save(file, value, **options)
    return file.getvalue()


def back(value: Any, **options: Any) -> Any:
    return codec.load(io.BytesIO(to_bytes(value, **options)), **options)


arrays = hnp.arrays(
    st.one_of(hnp.floating_dtypes(), hnp.integer_dtypes(), hnp.boolean_dtypes()),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0),
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(plain)
def test_plain_values_come_back(value: Any) -> None:
    # repr, because NaN is not equal to itself.
    assert repr(back(value)) == repr(value)


@given(arrays)
def test_arrays_come_back(array: Any) -> None:
    for given_, found in zip([array, array.T], back([array, array.T]), strict=True):
        assert found.dtype == given_.dtype
        np.testing.assert_array_equal(found, given_)


@dataclass(frozen=True, slots=True)
class Pair:
    first: Any
    second: Any


def test_objects_of_listed_classes_come_back() -> None:
    X = np.arange(6.0).reshape(3, 2)
    value = Pair({"S": sparse.coo_array(X)}, StandardScaler().fit(X))
    found = back(value, classes=[Pair, StandardScaler])
    np.testing.assert_array_equal(found.first["S"].toarray(), X)
    np.testing.assert_array_equal(found.second.transform(X), value.second.transform(X))
    with pytest.raises(KeyError):
        codec.load(io.BytesIO(to_bytes(Pair(1, 2), classes=[Pair])))


@given(st.data())
def test_damaged_bytes_only_raise(data: st.DataObject) -> None:
    X = sparse.csr_array(np.eye(3))
    content = bytearray(to_bytes({"X": X, "a": np.arange(4), "t": "text"}))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    with suppress(Exception):
        codec.load(io.BytesIO(content))


def test_index_arrays_are_checked() -> None:
    X = sparse.csr_array(np.eye(3))
    X.indices[1] = 1000
    with pytest.raises(ValueError, match="indices"):
        back(X)


@pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n", to_bytes(1, format="b 1")])
def test_another_format_is_named(content: bytes) -> None:
    with pytest.raises(codec.OtherFormatError, match="not 'a 1'"):
        codec.load(io.BytesIO(content), format="a 1")


@pytest.mark.parametrize(
    "value", [object(), np.zeros(2, "i4,f8"), np.array([None]), {"a": {3}}, Pair(1, 2)]
)
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="not plain data"):
        to_bytes(value)
