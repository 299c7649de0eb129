"""The only place where random generators are made.

A seed comes from named parts (experiment, data set, K, trial, purpose), never from
the order in which things run, so results do not depend on scheduling.
"""

from __future__ import annotations

import hashlib
import json
from typing import TypeAlias

import numpy as np

from symmf.common.validation import is_whole, shown
from symmf.errors import InputError

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def seed(*parts: object) -> int:
    """Return a 32-bit seed determined by ``parts`` alone.

    Examples
    --------
    >>> seed(2022, "coil20", 10, 3, "classes") == seed(2022, "coil20", 10, 3, "classes")
    True
    >>> seed("a", 1) == seed("a1")
    False
    """
    text = json.dumps(parts, separators=(",", ":"), ensure_ascii=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def generator(*parts: object) -> np.random.Generator:
    """Return a generator determined by ``parts`` alone."""
    return np.random.default_rng(seed(*parts))


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Turn scikit-learn's ``random_state`` into a generator.

    A generator is used as it is; a ``RandomState`` is advanced by one draw.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31 - 1)))
    if random_state is not None and not (is_whole(random_state) and random_state >= 0):
        raise InputError(
            "random_state must be a whole number >= 0, a numpy Generator or "
            f"RandomState, or None, not {shown(random_state)}."
        )
    return np.random.default_rng(random_state)


def spawn_seed(rng: np.random.Generator) -> int:
    """Draw an integer seed for a library that does not take a generator."""
    return int(rng.integers(2**31 - 1))
