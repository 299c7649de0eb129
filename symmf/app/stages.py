"""The stages of a piece of work: told while they run, timed for the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stages:
    """Seconds by stage, in the order of work.

    Parameters
    ----------
    tell : callable, optional
        Gets the name of each stage when it begins.

    Examples
    --------
    >>> stages = Stages(print)
    >>> with stages("reading"):
    ...     pass
    reading
    >>> list(stages.seconds)
    ['reading']
    """

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._tell = tell

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Run a stage."""
        if self._tell is not None:
            self._tell(name)
        began = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
