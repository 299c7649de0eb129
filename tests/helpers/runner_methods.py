"""Estimators that misbehave on purpose, importable by worker processes."""

from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace

import numpy as np


class Instant:
    """Random labels and a short trace, in no time."""

    def __init__(self, n_clusters=2, random_state=None, length=5):
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.length = length

    def fit(self, X):
        rng = np.random.default_rng(self.random_state)
        self.labels_ = rng.integers(self.n_clusters, size=X.shape[0])
        self.n_iter_ = self.length
        error = np.sort(rng.random(self.length + 1))[::-1]
        seconds = np.linspace(0, 1, self.length + 1)
        self.history_ = SimpleNamespace(error=error, split_error=None, seconds=seconds)
        self.stop_ = "max_iter"
        return self


class Weighted(Instant):
    """Has a Laplacian weight."""

    def __init__(self, n_clusters=2, random_state=None, laplacian_weight=0.25):
        super().__init__(n_clusters, random_state)
        self.laplacian_weight = laplacian_weight


class Sleeps(Instant):
    """Takes its time."""

    def __init__(self, n_clusters=2, random_state=None, seconds=0.05):
        super().__init__(n_clusters, random_state)
        self.seconds = seconds

    def fit(self, X):
        time.sleep(self.seconds)
        return super().fit(X)


class Raises(Instant):
    """Fails, unless the file ``unless`` exists."""

    def __init__(self, n_clusters=2, random_state=None, unless=""):
        super().__init__(n_clusters, random_state)
        self.unless = unless

    def fit(self, X):
        if self.unless and os.path.exists(self.unless):  # noqa: PTH110
            return super().fit(X)
        raise ArithmeticError("the matrix is not to my liking")


class Diverges(Instant):
    """Stops because its iterates explode."""

    def fit(self, X):
        super().fit(X)
        self.stop_ = "diverged"
        return self


class Allocates(Instant):
    """Wants a lot of memory."""

    def __init__(self, n_clusters=2, random_state=None, gigabytes=1.0):
        super().__init__(n_clusters, random_state)
        self.gigabytes = gigabytes

    def fit(self, X):
        block = np.ones(int(self.gigabytes * 2**27))
        assert block[-1] == 1
        return super().fit(X)


class Dies(Instant):
    """Takes its process down, unless the file ``unless`` exists."""

    def __init__(self, n_clusters=2, random_state=None, unless=""):
        super().__init__(n_clusters, random_state)
        self.unless = unless

    def fit(self, X):
        if self.unless and os.path.exists(self.unless):  # noqa: PTH110
            return super().fit(X)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


class Unreadable:
    """Data that no other process can read."""

    def __reduce__(self):
        return (_refuse, ())


def _refuse():
    raise ImportError("there is no such kind of data here")


METHODS = {
    "instant": Instant,
    "weighted": Weighted,
    "sleeps": Sleeps,
    "raises": Raises,
    "diverges": Diverges,
    "allocates": Allocates,
    "dies": Dies,
}
