"""One similarity for the fits that ask for the same.

The methods of a trial get the same rows and mostly ask for the same similarity, and the
search for neighbours takes most of the time of many fits. Inside :class:`Sharing` what
was built for the same rows and options is handed out again.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import joblib

Built = TypeVar("Built")

# What the latest similarities may take: a dense one of 5800 rows, many sparse ones.
_MOST_BYTES = 2**28


@dataclass(frozen=True, slots=True)
class _Kept:
    value: Any
    seconds: float
    n_bytes: float


class Sharing:
    """Keeps the latest similarities from one ``with`` block to the next.

    Attributes
    ----------
    seconds : float or None
        What building the similarities of this block takes, whether they were built in
        it or before; None if it asked for none.
    saved : float
        By how much the block would have been longer without sharing.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[Any, _Kept] = {}

    def __enter__(self) -> Self:
        self.seconds: float | None = None
        self.saved = 0.0
        self._token: Token[Sharing | None] = _SHARING.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _SHARING.reset(self._token)

    def take(
        self, build: Callable[..., Built], X: Any, options: dict[str, Any]
    ) -> Built:
        """Return ``build(X, **options)``, or the same from before."""
        start = time.perf_counter()
        # By content: each fit gets a copy of the rows.
        key = (build, joblib.hash((X, options), hash_name="sha1"))
        found = self._kept.pop(key, None) or _build(build, X, options)
        self._kept[key] = found
        while sum(kept.n_bytes for kept in self._kept.values()) > self._most_bytes:
            del self._kept[next(iter(self._kept))]
        self.seconds = (self.seconds or 0.0) + found.seconds
        self.saved += found.seconds - (time.perf_counter() - start)
        value: Built = found.value
        return value


_SHARING: ContextVar[Sharing | None] = ContextVar("sharing", default=None)


def shared(build: Callable[..., Built], X: Any, **options: Any) -> Built:
    """Return ``build(X, **options)``; inside :class:`Sharing` each is built once.

    What is returned must not be changed.
    """
    sharing = _SHARING.get()
    if sharing is None:
        return build(X, **options)
    return sharing.take(build, X, options)


def _build(build: Callable[..., Any], X: Any, options: dict[str, Any]) -> _Kept:
    start = time.perf_counter()
    value = build(X, **options)
    seconds = time.perf_counter() - start
    return _Kept(value, seconds, _n_bytes(value))


def _n_bytes(value: Any) -> float:
    """Return the size of an object; contiguous arrays are counted without a copy."""
    arrays: list[pickle.PickleBuffer] = []
    try:
        rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    except Exception:
        # What a plugin returns may hold anything, such as an open file.
        return float("inf")
    return len(rest) + sum(array.raw().nbytes for array in arrays)
