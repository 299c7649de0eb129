"""The YAML reader: any text gives plain data or a sentence, in bounded time."""

from __future__ import annotations

import json
import os
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symmf.common.yaml import (
    MAX_BYTES,
    dump_yaml,
    parse_value,
    parse_yaml,
    read_yaml,
)
from symmf.errors import ConfigError

LAUGHS = "".join(
    f"a{i + 1}: &a{i + 1} [{','.join([f'*a{i}'] * 10)}]\n" for i in range(7)
)
BOMBS = {
    "aliases": f"a0: &a0 [x]\n{LAUGHS}",
    "mappings": "a0: &a0 {x: 1}\n"
    + "".join(
        f"a{i + 1}: &a{i + 1} {{{', '.join(f'k{j}: *a{i}' for j in range(10))}}}\n"
        for i in range(7)
    ),
    "merges": "a0: &a0 {x: 1}\n"
    + "".join(
        f"a{i + 1}: &a{i + 1} {{<<: [{', '.join([f'*a{i}'] * 10)}], y{i}: 1}}\n"
        for i in range(9)
    ),
    "items": "a: [" + "1," * 60_000 + "1]",
    "brackets": "a: " + "[" * 5000 + "]" * 5000,
    "blocks": "".join(f"{' ' * i}a:\n" for i in range(500)),
}


def refusal(text):
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, source="file.yaml")
    return str(caught.value)


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_end_at_once_with_the_limit_said(name):
    start = time.process_time()
    assert "more than" in refusal(BOMBS[name])
    assert time.process_time() - start < 20  # without limits: hours


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\nb: x\x01y", "file.yaml, line 2: the character U+0001 cannot"),
        ('a: "\\UFFFFFFFF"', "file.yaml: not valid YAML"),
        ('a: 1\nb: "\\uD800"', "line 2: '\\ud800' holds half a character"),
        ('a: "x\\0y"', "a zero byte"),
        ("a: 1\nb: !!bool maybe", "line 2: 'maybe' is not of type bool"),
        ("a: !!int ''", "line 1: '' is not of type int"),
        ("? !!int abc\n: 1", "'abc' is not of type int"),
        ("a: 1\nb: !!timestamp x", "line 2: the tag !!timestamp does not make plain"),
        ("a: !!python/object/apply:os.system [ls]", "the tag !!python/object"),
        ("a: !mine 3", "the tag !mine"),
        ("a: !!str [x]", "the tag !!str"),
        (f"a: {'9' * 5000}", "is not of type int"),
        (f"a: {'9' * 30}", "needs more than 64 bits"),
        ("a: 1e400", "'1e400' is too large for a number"),
        ("a: &a [*a]", "more than 40 levels"),
        ("a: {<<: [{x: 1}, 3]}", "<< needs `key: value` lines"),
        ("? [a]\n: 1", "a key must be text, but YAML reads this as a list"),
        ("1: 2", "a key must be text, but YAML reads 1 as 1"),
        ("a: *nothing", "line 1: not valid YAML: found undefined alias"),
        ("a: 1\n---\nb: 2", "line 2: not valid YAML: but found another document"),
        ("%YAML 9.9\n---\na: 1", "not valid YAML"),
    ],
)
def test_what_is_not_plain_data_gets_a_sentence(text, sentence):
    assert sentence in refusal(text)
    with pytest.raises(ConfigError):
        parse_value(text, source="--set a")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("=", "="),
        ("<<", "<<"),
        ("[1e-3, x]", [1e-3, "x"]),
        (".5e1", 5.0),
        ("1E5", 1e5),
        ("e5", "e5"),
        ("2020-99-99", "2020-99-99"),
        ("!!str 5", "5"),
        ("!!float 5", 5.0),
        (".inf", float("inf")),
        ("0x10", 16),
        ("18446744073709551615", 2**64 - 1),
        ("", None),
        ("é ü 数", "é ü 数"),
    ],
)
def test_values_that_stay(text, value):
    assert parse_value(text, source="--set x") == value


def test_merges_take_the_first_and_own_keys_win():
    text = "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {z: 3, <<: [*a, *b]}\n"
    document = parse_yaml(text, source="f")
    assert document.data["c"] == {"x": 1, "y": 1, "z": 3}
    assert document.where(("c", "z")) == "line 3"
    assert document.where(("b", "unknown", "deeper")) == "line 2"


def test_pipes_and_large_files_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(ConfigError, match="not a file"):
        read_yaml(tmp_path / "pipe.yaml")
    with pytest.raises(ConfigError, match="not a file"):
        read_yaml("/dev/zero")
    large = tmp_path / "large.yaml"
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ConfigError, match="more than 1 MB"):
        read_yaml(large)
    with pytest.raises(ConfigError, match="cannot be the name of a file"):
        read_yaml("a\0b")


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="ascii"), max_size=5), inner)
    ),
    max_leaves=12,
)


def is_plain(value):
    if isinstance(value, dict):
        return all(isinstance(k, str) and is_plain(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def parsed_or_refused(text):
    try:
        data = parse_yaml(text, source="x").data
    except ConfigError as error:
        assert str(error).startswith("x")  # noqa: PT017
        return
    assert is_plain(data)
    json.dumps(data)


# Pieces that mean something to YAML, so that random texts get past the first token.
pieces = st.sampled_from(
    [
        *("a: ", "- ", "[", "]", "{", "}", "&a ", "*a ", "<<: ", "? ", ": ", ", "),
        *("!!int ", "!!map ", "!x ", "|\n", ">\n", "'", '"', "\\", "\n", "  ", "%"),
        *("---\n", "...\n", "#", "1e5", "0x", "~", "yes", ".nan", "1:30", "0b1"),
        *("methods: ", "dataset: ", "figures: ", "\t", "\x85", "\ufeff", "\ud800"),
        *("\x07", "\U0001f600"),
    ]
)


@given(st.text(max_size=200) | st.lists(pieces, max_size=40).map("".join))
@settings(max_examples=300)
@example("a: !!bool {}")
@example("!!python/name:os.system")
def test_any_text_is_plain_data_or_a_sentence(text):
    parsed_or_refused(text)


@given(st.binary(max_size=200))
def test_any_bytes_are_plain_data_or_a_sentence(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(content)
    try:
        assert is_plain(read_yaml(path).data)
    except ConfigError as error:
        assert "any.yaml" in str(error)  # noqa: PT017


@given(plain)
def test_what_is_written_is_read_back(value):
    assert parse_yaml(dump_yaml(value), source="x").data == value
