"""Writes records at once, and brings them to the disk in groups.

A record that was put outlives the run, however that ends. What a crash of the machine
can cost is the records of the last moment: their files may be missing or damaged then,
which their checksums tell, and the next run computes those trials again.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from symmf.common.files import sync_to_disk
from symmf.experiment.store.folder import ExperimentStore, cannot_write
from symmf.experiment.store.record_file import to_bytes
from symmf.experiment.values import Record

# Flushes that wait together are committed together by the file system.
THREADS = 8
# Seconds in which records gather: each commit of its own would cost as much as a short
# trial.
GATHER = 0.2
# Records that may wait for the disk; one more waits for them.
PENDING = 500


class RecordWriter:
    """Takes records and writes each atomically; errors surface at the next call."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="records")
        self._written: queue.Queue[Path | None] = queue.Queue(PENDING)
        self._hurry = threading.Event()
        self._problems: list[tuple[Path, OSError]] = []
        self._thread = threading.Thread(target=self._bring_to_disk, daemon=True)
        self._thread.start()

    def put(self, store: ExperimentStore, record: Record) -> None:
        """Write a record; wait for the disk only if very many are on their way."""
        path = store.path(record.key)
        store.write_file(path, to_bytes(record), sync=False)
        self._written.put(path)
        self.check()

    def check(self) -> None:
        """Raise a sentence if a record could not be brought to the disk."""
        if self._problems:
            path, error = self._problems.pop(0)
            raise cannot_write(path, error) from error

    def flush(self) -> None:
        """Wait until every record is on the disk."""
        self._hurry.set()
        self._written.join()
        self._hurry.clear()
        self.check()

    def close(self) -> None:
        """Bring everything to the disk and end the threads."""
        self._hurry.set()
        self._written.put(None)
        self._thread.join()
        self._threads.shutdown()

    def _bring_to_disk(self) -> None:
        """Flush what has gathered, until None comes."""
        more = True
        while more:
            group = [self._written.get()]
            self._hurry.wait(GATHER)
            while not self._written.empty():
                group.append(self._written.get())
            more = None not in group
            files = [path for path in group if path is not None]
            try:
                self._sync(files)
                self._sync({path.parent for path in files})
            except RuntimeError as error:  # the system gives no more threads
                self._problems.append((files[0], OSError(str(error))))
            for _ in group:
                self._written.task_done()

    def _sync(self, paths: Collection[Path]) -> None:
        for path, error in zip(paths, self._threads.map(_sync, paths), strict=True):
            if error is not None:
                self._problems.append((path, error))


def _sync(path: Path) -> OSError | None:
    try:
        sync_to_disk(path)
    except FileNotFoundError:
        return None  # removed meanwhile: nothing to lose
    except OSError as error:
        return error
    return None
