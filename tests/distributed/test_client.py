"""Addresses of dask schedulers: taken, or refused in a sentence before connecting."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symmf.distributed.client import check_address, connected
from symmf.errors import InputError


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
        *("", "node", "foo://node:1", "tcp://node:0", "tcp://node:65536"),
        *("tcp://node:²", "http://node:80/x", "tcp://a b:1", "tcp://user@node:1"),
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
    assert re.match(r"(tcp|tls|ws|wss)://.+:\d+$", address, re.DOTALL)


@pytest.mark.parametrize(
    ("address", "error", "sentence"),
    [
        ("tls://node:1", TypeError("ssl_context"), "certificates"),
        ("tcp://node:1", OSError("no"), "No dask scheduler answers at tcp://node:1"),
    ],
)
def test_why_nobody_answers_is_said(monkeypatch, address, error, sentence):
    distributed = pytest.importorskip("distributed")

    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(InputError, match=sentence), connected(address):
        pass
