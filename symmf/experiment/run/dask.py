"""Trials on a dask.distributed cluster.

The scheduler hands out trials, moves those of a lost worker elsewhere and keeps one
copy of the data on each of its workers. A dask worker does not compute a trial
itself: each of its threads keeps a pool of one process for that, so limits are as hard
as on one machine and the bits are the same. Records are
written by the caller alone.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from symmf.distributed.client import connected
from symmf.errors import SymmfError
from symmf.experiment.run import TICK, Update
from symmf.experiment.run.local_pool import LocalPool
from symmf.experiment.run.process import ForkServer
from symmf.experiment.values import Job, Outcome, Status

if TYPE_CHECKING:
    from symmf.datasets import Dataset

logger = logging.getLogger(__name__)

# Submissions of one trial: the scheduler itself retries a few lost workers; a further
# submission is needed when all copies of the data were lost.
ATTEMPTS = 3

# Of the dask worker's process; they end with it.
_idle: list[LocalPool] = []
_lock = threading.Lock()


@cache
def _server() -> ForkServer:
    return ForkServer()


def run_on_worker(job: Job, data: Dataset) -> tuple[Outcome, Mapping[str, Any]]:
    """Run a job in a process of its own; called by dask on its workers.

    Return its outcome and the environment of that process.
    """
    with _lock:
        pool = _idle.pop() if _idle else LocalPool(1, _server())
    try:
        updates = pool.run([job], {job.trial.data_digest: data}, threading.Event())
        (update,) = [update for update in updates if update.outcome is not None]
    finally:
        with _lock:
            _idle.append(pool)
    assert update.outcome is not None
    return update.outcome, update.environment


class DaskBackend:
    """Runs trials through the futures of a dask client."""

    def __init__(self, address: str) -> None:
        self._connection = connected(address)
        self.client = self._connection.__enter__()

    def close(self) -> None:
        """Leave the cluster; it goes on running."""
        self._connection.__exit__(None, None, None)

    def run(
        self,
        jobs: Sequence[Job],
        data: Mapping[str, Dataset],
        stop: threading.Event,
    ) -> Generator[Update]:
        """Run jobs; see :class:`symmf.experiment.run.Backend`."""
        run = _Run(self.client, data, stop)
        try:
            for job in jobs:
                run.submit(job, attempt=1)
            while run.sent and not stop.is_set():
                yield from run.listen()
        except SymmfError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, OSError | asyncio.CancelledError) or not run.connected:
                raise _connection_lost() from error
            raise
        finally:
            run.cancel()


@dataclass(frozen=True, slots=True)
class _Sent:
    job: Job
    attempt: int
    future: Any
    data: Any


class _Run:
    """The futures of one call of :meth:`DaskBackend.run`."""

    def __init__(
        self, client: Any, data: Mapping[str, Dataset], stop: threading.Event
    ) -> None:
        self.client, self.data, self.stop = client, data, stop
        self.name = f"symmf-{uuid.uuid4().hex[:8]}"
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.on_cluster: dict[str, Any] = {}
        self.sent: dict[str, _Sent] = {}

    def submit(self, job: Job, attempt: int) -> None:
        """Send a job, and before it its data to all workers, unless they have them."""
        digest = job.trial.data_digest
        if digest not in self.on_cluster:
            self._wait_for_workers()
            if self.stop.is_set():
                return
            data = self._scatter(self.data[digest])
            if data is None:
                return
            self.on_cluster[digest] = data
        future = self.client.submit(
            run_on_worker,
            job,
            self.on_cluster[digest],
            key=f"{self.name}-{job.trial.experiment}-{job.trial.key}-{attempt}",
            pure=False,
        )
        self.sent[future.key] = _Sent(job, attempt, future, self.on_cluster[digest])
        future.add_done_callback(self.done.put)

    def _scatter(self, data: Dataset) -> Any:
        """Send data to all workers; None if the run is to end before they have it.

        A worker that is lost in between can make this wait for ever, so that it waits
        beside the stop.
        """
        found: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def send() -> None:
            try:
                found.put(self.client.scatter(data, broadcast=True, hash=False))
            except BaseException as error:
                found.put(error)

        threading.Thread(target=send, daemon=True).start()
        while not self.stop.is_set():
            with suppress(queue.Empty):
                sent = found.get(timeout=TICK)
                if isinstance(sent, BaseException):
                    raise sent
                return sent
            self._check_connection()
        return None

    def listen(self) -> Iterator[Update]:
        """Wait a moment for a future to be done."""
        try:
            future = self.done.get(timeout=TICK)
        except queue.Empty:
            self._check_connection()
            return
        sent = self.sent.pop(future.key)
        found = _outcome(future)
        if found is not None:
            yield Update(sent.job, *found)
        elif sent.attempt < ATTEMPTS:
            self._check_connection()
            logger.warning("Sending %s again.", sent.job.trial.title)
            digest = sent.job.trial.data_digest
            if self.on_cluster.get(digest) is sent.data:
                # All copies may be gone; jobs sent from now on get new ones.
                del self.on_cluster[digest]
            self.submit(sent.job, sent.attempt + 1)
        else:
            message = "The cluster lost the trial several times."
            yield Update(sent.job, Outcome(status=Status.DIED, message=message))

    def cancel(self) -> None:
        """Give up what is still running."""
        if self.sent:
            with suppress(Exception):
                self.client.cancel([sent.future for sent in self.sent.values()])

    def _wait_for_workers(self) -> None:
        told = False
        # Without a connection the information is empty.
        while not self.client.scheduler_info().get("workers"):
            self._check_connection()
            if not told:
                logger.warning("The dask cluster has no workers now; waiting for one.")
            told = True
            if self.stop.wait(1.0):
                return

    @property
    def connected(self) -> bool:
        """Whether the scheduler is there, as far as the client knows."""
        return self.client.status in ("running", "connecting")

    def _check_connection(self) -> None:
        if not self.connected:
            raise _connection_lost()


def _connection_lost() -> SymmfError:
    return SymmfError(
        "The connection to the dask scheduler was lost. Finished trials are kept; "
        "repeat the same command to continue."
    )


def _outcome(future: Any) -> tuple[Outcome, Mapping[str, Any]] | None:
    """Return what a future came to, or None if it has to be sent again."""
    if future.status == "finished":
        with suppress(asyncio.CancelledError):
            found: tuple[Outcome, Mapping[str, Any]] = future.result()
            return found
    if future.status != "error":
        return None
    error = future.exception()
    status, message = Status.FAILED, f"{type(error).__name__}: {error}"
    if message.startswith("KilledWorker:"):
        status, message = Status.DIED, "Every dask worker that took the trial was lost."
    return Outcome(status=status, message=message), {}
