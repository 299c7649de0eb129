"""Addresses of dask schedulers: taken, or refused in a sentence before connecting."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symmf.errors import InputError
from symmf.experiment.run.dask import SCHEMES, _no_answer, check_address


@pytest.mark.parametrize(
    ("given_address", "address"),
    [
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("node-7.cluster:8786", "tcp://node-7.cluster:8786"),
        ("tls://node:8786", "tls://node:8786"),
        ("tcp://[::1]:8786\n", "tcp://[::1]:8786"),
    ],
)
def test_addresses_as_schedulers_print_them_are_taken(given_address, address):
    assert check_address(given_address) == address


@pytest.mark.parametrize(
    "address",
    [
        *("", "  ", "tcp://", "tcp://node", "node", "foo://node:1", "ucx://node:1"),
        *("tcp://node:0", "tcp://node:65536", "tcp://node:x", "tcp://node:²", "/tmp"),
        *("inproc://", "http://node:80/x", "tcp://a b:1", "tcp://user@node:1"),
    ],
)
def test_other_addresses_are_refused_with_an_example(address):
    with pytest.raises(InputError, match="tcp://HOST:8786"):
        check_address(address)


@given(st.text())
def test_any_text_is_an_address_or_a_sentence(text):
    try:
        address = check_address(text)
    except InputError:
        return
    assert re.match(rf"({'|'.join(SCHEMES)})://.+:\d+$", address, re.DOTALL)


def test_what_tls_lacks_is_told_and_a_silent_port_too():
    assert "certificates" in _no_answer("tls://node:1", TypeError("ssl_context"))
    text = _no_answer("tcp://node:1", OSError("no"))
    assert text.startswith("No dask scheduler answers at tcp://node:1")
