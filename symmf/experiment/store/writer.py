"""Writes records in the background, so that the disk does not hold up the trials."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from symmf.experiment.store.folder import ExperimentStore, cannot_write
from symmf.experiment.store.record_file import to_bytes
from symmf.experiment.values import Record
from symmf.files import write_atomically

# Flushes that wait together are committed together by the file system.
THREADS = 8
# Records on their way at most: what a crash of the machine can cost beyond the trials
# that are running.
PENDING = 64


class RecordWriter:
    """Takes records and writes each atomically; errors surface at the next call."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="records")
        self._pending: dict[Future[None], tuple[ExperimentStore, Record]] = {}

    def put(self, store: ExperimentStore, record: Record) -> None:
        """Start writing a record; wait only if very many are on their way."""
        path = store.path(record.key)
        future = self._threads.submit(write_atomically, path, to_bytes(record))
        self._pending[future] = (store, record)
        while len(self._pending) >= PENDING:
            wait(self._pending, return_when=FIRST_COMPLETED)
            self.check()
        self.check()

    def check(self) -> None:
        """Raise a sentence if a record could not be written."""
        for future in [future for future in self._pending if future.done()]:
            store, record = self._pending.pop(future)
            error = future.exception()
            if isinstance(error, OSError):
                raise cannot_write(store.path(record.key), error) from error
            if error is not None:
                raise error

    def flush(self) -> None:
        """Wait until every record is on the disk."""
        wait(self._pending)
        self.check()

    def close(self) -> None:
        """Finish writing and end the threads."""
        self._threads.shutdown()
