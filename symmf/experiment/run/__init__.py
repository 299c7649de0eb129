"""Where trials run, this machine's processes or a dask cluster: jobs in, news out."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from symmf.experiment.values import Job, Outcome

if TYPE_CHECKING:
    from symmf.datasets import Dataset

# How long a wish to stop may go unnoticed, in seconds.
TICK = 0.1


@dataclass(frozen=True, slots=True)
class Update:
    """News about a job: given to a worker (no outcome) or finished.

    ``environment`` describes the process that computed the outcome, as it saw itself.
    """

    job: Job
    outcome: Outcome | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)


class Backend(Protocol):
    """Where trials run."""

    def run(
        self,
        jobs: Sequence[Job],
        data: Mapping[str, Dataset],
        stop: threading.Event,
    ) -> Generator[Update]:
        """Run jobs in any order, yielding news, until all are done or ``stop`` is set.

        ``data`` maps digests to data sets. Closing the iterator ends running jobs.
        """
        ...

    def close(self) -> None:
        """Give back processes and connections."""
        ...


def default_jobs() -> int:
    """Return the number of processors this process may use, quotas included."""
    import joblib

    return int(joblib.cpu_count())
