"""The one owner of number and name checks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symmf.common.validation import (
    check_choice,
    check_name,
    check_number,
    check_options,
    did_you_mean,
    is_number,
    is_whole,
    nearest,
)
from symmf.errors import InputError


@pytest.mark.parametrize("value", [1, 1.5, np.float32(2), np.int64(3), -1e300])
def test_numbers_are_numbers(value):
    assert is_number(value)


@pytest.mark.parametrize("value", [True, "1", None, np.nan, np.inf, [1], 1j])
def test_words_flags_and_infinities_are_not(value):
    assert not is_number(value)


def test_whole_numbers():
    assert is_whole(3)
    assert is_whole(np.int32(3))
    assert not is_whole(3.0)
    assert not is_whole(True)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_bounds_are_kept_exactly(value):
    if 0 <= value <= 1:
        check_number("x", value, least=0, most=1)
    else:
        with pytest.raises(InputError, match="x must be"):
            check_number("x", value, least=0, most=1)


def test_an_open_bound_excludes_its_end():
    with pytest.raises(InputError, match="scale must be a finite number > 0, not 0"):
        check_number("scale", 0, above=0)


def test_a_name_is_found_or_explained():
    assert check_name("set", "none", ["none"]) == "none"
    with pytest.raises(InputError, match=r"no set 'nome'. Did you mean 'none'\?"):
        check_name("set", "nome", ["none"])
    with pytest.raises(InputError, match="no set 5"):
        check_name("set", 5, ["none"])


def test_choices_and_options():
    check_choice("mode", "a", ["a", "b"])
    with pytest.raises(InputError, match=r"mode is one of 'a', 'b', not 3\."):
        check_choice("mode", 3, ["a", "b"])
    with pytest.raises(InputError, match=r"The thing has no option 'x'. It takes: a"):
        check_options("The thing", ["x"], ["a"])


@given(st.text(max_size=400))
def test_any_word_gets_an_answer(word):
    assert nearest(word, ["alpha", "beta"]) in (None, "alpha", "beta")
    assert did_you_mean(word, []) == ""
