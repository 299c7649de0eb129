import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symmf.common.seeds import as_generator, generator, seed, spawn_seed

parts = st.lists(st.one_of(st.integers(), st.text(), st.booleans(), st.none()))


@given(a=parts, b=parts)
def test_equal_parts_and_only_they_give_equal_seeds(a, b):
    assert 0 <= seed(*a) < 2**32
    assert seed(*a) == seed(*a)
    if [(type(x), x) for x in a] != [(type(x), x) for x in b]:
        # 32 bits: a coincidence among a few thousand draws is not expected.
        assert seed(*a) != seed(*b)


def test_a_seed_is_the_same_on_every_machine():
    """A change of this number would change every stored result."""
    assert seed(2022, "coil20", 10, 3, "classes") == 3125258538


def test_parts_are_separate():
    assert (
        len({seed("ab", "c"), seed("a", "bc"), seed("abc"), seed("a", "b", "c")}) == 4
    )
    assert len({seed(1), seed("1"), seed(1.0), seed(True), seed([1])}) == 5


def test_parts_that_are_not_plain_values_are_refused():
    with pytest.raises(TypeError):
        seed(object())


def test_a_generator_comes_from_its_parts_alone():
    np.random.default_rng(0).random(5)
    a, b = generator("x", 1).random(3), generator("x", 1).random(3)
    assert np.array_equal(a, b)
    assert not np.array_equal(a, generator("x", 2).random(3))


def test_random_states_of_every_kind():
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng
    assert np.array_equal(as_generator(5).random(3), np.random.default_rng(5).random(3))
    old = np.random.RandomState(3)
    first, second = as_generator(old).random(2), as_generator(old).random(2)
    assert not np.array_equal(first, second)
    again = np.random.RandomState(3)
    assert np.array_equal(as_generator(again).random(2), first)
    assert as_generator(None).random() != as_generator(None).random()


def test_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    as_generator(None).random(3)
    generator("x").random(3)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_a_spawned_seed_suits_old_libraries():
    found = [spawn_seed(np.random.default_rng(i)) for i in range(50)]
    assert all(isinstance(value, int) and 0 <= value < 2**31 for value in found)
    assert len(set(found)) == 50
