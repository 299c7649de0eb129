"""Trials in supervised local processes.

joblib's process pool cannot stop a single task: a trial past its time limit, or one
that takes its process down, would end the whole pool. The pool here is small for that
reason alone: each worker runs one trial at a time, and a worker that is too slow or
dead is replaced while the others go on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, Self

from symmf.errors import SymmfError
from symmf.experiment.run.backend import TICK, Update
from symmf.experiment.run.fork_server import ForkServer
from symmf.experiment.run.process import WorkerProcess
from symmf.experiment.values import Job, Outcome, Status

if TYPE_CHECKING:
    from symmf.datasets import Dataset

#: jobs by the rows they use, so that a worker can share what it builds from them
Waiting = dict[tuple[Any, ...], deque[Job]]


class LocalPool:
    """A number of worker processes on this machine.

    Workers start on first use and stay for later calls of :meth:`run`. They are forked
    by a server of the pool's own, unless it is given one.
    """

    def __init__(self, n_workers: int, server: ForkServer | None = None) -> None:
        self.n_workers = n_workers
        self._workers: list[WorkerProcess] = []
        self._server = server

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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
        waiting: Waiting = {}
        for job in jobs:
            waiting.setdefault(job.trial.sample, deque()).append(job)
        try:
            while not stop.is_set():
                while waiting and (worker := self._idle(waiting)) is not None:
                    yield from self._give(worker, waiting, data)
                if not waiting and not any(worker.job for worker in self._workers):
                    return
                yield from self._listen(waiting, data)
        finally:
            for worker in [worker for worker in self._workers if worker.job]:
                worker.kill()
                self._workers.remove(worker)

    def _idle(self, waiting: Waiting) -> WorkerProcess | None:
        """Return a worker without a job; start as many more as are of use."""
        free = [worker for worker in self._workers if worker.job is None]
        wanted = sum(map(len, waiting.values()))
        missing = min(self.n_workers - len(self._workers), wanted - len(free))
        for _ in range(missing):
            self._workers.append(WorkerProcess(self.warm_up()))
        return next((worker for worker in free if worker.idle), None)

    def _give(
        self, worker: WorkerProcess, waiting: Waiting, data: Mapping[str, Dataset]
    ) -> Iterator[Update]:
        """Give a job on the rows that the worker has, or else on rows nobody is at."""
        sample = worker.sample
        if sample not in waiting:
            taken = {other.sample for other in self._workers}
            free = (sample for sample in waiting if sample not in taken)
            sample = next(free, next(iter(waiting)))
        job = waiting[sample][0]
        try:
            worker.give(job, data[job.trial.data_digest])
        except OSError:
            # It died between two jobs, so the job has lost nothing.
            self._bury(worker)
            return
        waiting[sample].popleft()
        if not waiting[sample]:
            del waiting[sample]
        yield Update(job)

    def _listen(
        self, waiting: Waiting, data: Mapping[str, Dataset]
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
                outcome = self._bury(worker)
            if job is None or outcome is None:
                continue
            news = [Update(job, outcome, worker.environment)]
            if outcome.status is Status.MEMORY and worker in self._workers:
                # What ran out of memory may have left its process in disorder.
                self._workers.remove(worker)
                worker.kill()
            elif waiting and worker.idle:
                # The next job first: the worker computes while the outcome is kept.
                news += self._give(worker, waiting, data)
            yield from news
        for worker in list(self._workers):
            left = worker.remaining()
            if left is not None and left <= 0 and (job := worker.job) is not None:
                self._workers.remove(worker)
                yield Update(job, worker.timed_out())

    def _bury(self, worker: WorkerProcess) -> Outcome:
        """Remove a dead worker; return the outcome of what it was doing."""
        self._workers.remove(worker)
        outcome = worker.died()
        if not worker.ready:
            raise SymmfError(
                f"A worker process could not start. {outcome.message}\n"
                f"{outcome.traceback}"
            )
        return outcome
