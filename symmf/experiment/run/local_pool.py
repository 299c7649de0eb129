"""Trials in supervised local processes.

joblib's process pool cannot stop a single task: a trial past its time limit, or one
that takes its process down, would end the whole pool. The pool here is small for that
reason alone: each worker runs one trial at a time, and a worker that is too slow or
dead is replaced while the others go on. Where trials are short a worker has its next
one at hand before it is done with the one before, and need not wait for an answer.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing import connection
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from symmf.errors import SymmfError
from symmf.experiment.run.backend import TICK, Update
from symmf.experiment.run.fork_server import ForkServer
from symmf.experiment.run.process import WorkerProcess
from symmf.experiment.values import Job, Outcome, Status

if TYPE_CHECKING:
    from symmf.datasets import Dataset

# A trial that takes less, in seconds, may have another waiting behind it. A longer one
# never has: at the end of a run that other one is better begun elsewhere.
QUICK = 0.05


class LocalPool:
    """A number of worker processes on this machine.

    Workers start on first use and stay for later calls of :meth:`run`.
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._workers: list[WorkerProcess] = []
        self._server: ForkServer | None = None
        # Kinds of trials whose latest one was quick.
        self._quick: set[tuple[Any, ...]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()
        if self._server is not None:
            self._server.close()
            self._server = None

    def warm_up(self) -> ForkServer:
        """Begin to import what workers need, while the caller does something else."""
        if self._server is not None and not self._server.alive:
            self._server.close()
            self._server = None
        if self._server is None:
            self._server = ForkServer()
        return self._server

    def run(
        self,
        jobs: Sequence[Job],
        data: Mapping[str, Dataset],
        stop: threading.Event,
    ) -> Generator[Update]:
        """Run jobs; see :class:`symmf.experiment.run.backend.Backend`."""
        waiting = deque(jobs)
        try:
            while not stop.is_set():
                while waiting and (worker := self._idle(len(waiting))) is not None:
                    yield from self._give(worker, waiting, data)
                if not waiting and not any(worker.job for worker in self._workers):
                    return
                yield from self._listen(waiting, data)
        finally:
            for worker in [worker for worker in self._workers if worker.job]:
                worker.kill()
                self._workers.remove(worker)

    def _idle(self, wanted: int) -> WorkerProcess | None:
        """Return a worker without a job; start as many more as are of use."""
        free = [worker for worker in self._workers if worker.job is None]
        missing = min(self.n_workers - len(self._workers), wanted - len(free))
        for _ in range(missing):
            self._workers.append(WorkerProcess(self.warm_up()))
        return next((worker for worker in free if worker.idle), None)

    def _give(
        self, worker: WorkerProcess, waiting: deque[Job], data: Mapping[str, Dataset]
    ) -> Iterator[Update]:
        job = waiting.popleft()
        try:
            worker.give(job, data[job.trial.data_digest])
        except OSError:
            # It died between two jobs, so the job has lost nothing.
            self._bury(worker, waiting)
            waiting.appendleft(job)
        else:
            yield Update(job)

    def _give_ahead(
        self, worker: WorkerProcess, waiting: deque[Job], data: Mapping[str, Dataset]
    ) -> None:
        """Let a short trial wait where it will run, behind another short one."""
        if len(worker.jobs) != 1 or not waiting or not worker.has_data_of(waiting[0]):
            return
        if {_kind(worker.jobs[0]), _kind(waiting[0])} <= self._quick:
            # A worker that has died is told by its connection.
            with suppress(OSError):
                worker.give(waiting[0], data[waiting[0].trial.data_digest])
                waiting.popleft()

    def _learn(self, worker: WorkerProcess, job: Job) -> None:
        change = self._quick.add if worker.took < QUICK else self._quick.discard
        change(_kind(job))

    def _listen(
        self, waiting: deque[Job], data: Mapping[str, Dataset]
    ) -> Iterator[Update]:
        """Wait a moment for news of the workers."""
        limits = [left for w in self._workers if (left := w.remaining()) is not None]
        timeout = max(0.0, min([TICK, *limits]))
        owner = {id(worker.connection): worker for worker in self._workers}
        for source in connection.wait([w.connection for w in self._workers], timeout):
            worker = owner[id(source)]
            job = worker.job
            try:
                outcome = worker.receive()
            except (EOFError, OSError):
                outcome = self._bury(worker, waiting)
            if job is None or outcome is None:
                continue
            news = [Update(job, outcome, worker.environment)]
            if outcome.status is Status.MEMORY and worker in self._workers:
                # What ran out of memory may have left its process in disorder.
                self._remove(worker, waiting)
                worker.kill()
            if worker in self._workers:
                # The next job first: the worker computes while the outcome is kept.
                self._learn(worker, job)
                if worker.jobs:
                    news.append(Update(worker.jobs[0]))
                elif waiting:
                    news += self._give(worker, waiting, data)
                self._give_ahead(worker, waiting, data)
            yield from news
        for worker in list(self._workers):
            left = worker.remaining()
            if left is not None and left <= 0 and worker.job is not None:
                outcome, job = worker.timed_out(), worker.jobs.popleft()
                self._remove(worker, waiting)
                yield Update(job, outcome)

    def _remove(self, worker: WorkerProcess, waiting: deque[Job]) -> None:
        """Take a worker out of the pool; what it has not begun is for others."""
        self._workers.remove(worker)
        waiting.extendleft(reversed(worker.jobs))
        worker.jobs.clear()

    def _bury(self, worker: WorkerProcess, waiting: deque[Job]) -> Outcome:
        """Remove a dead worker; return the outcome of what it was doing."""
        if worker.jobs:
            worker.jobs.popleft()
        self._remove(worker, waiting)
        started = worker.ready
        outcome = worker.died()
        if not started:
            raise SymmfError(
                f"A worker process could not start. {outcome.message}\n"
                f"{outcome.traceback}"
            )
        return outcome


def _kind(job: Job) -> tuple[Any, ...]:
    """Return what trials of about the same length have in common."""
    trial = job.trial
    return (trial.data_digest, trial.experiment, trial.method, trial.n_clusters)
