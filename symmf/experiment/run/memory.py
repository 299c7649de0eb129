"""Memory of one trial in its process: a hard limit and the highest use."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path
from typing import Self

_TORCH_SENTENCES = ("can't allocate memory", "not enough memory")


class MemoryMeter:
    """Measures and limits the memory of what runs inside a ``with`` block.

    The limit is on private memory added to what the process already holds (code,
    libraries, loaded data), so it means the same whatever ran before. It is enforced
    by the kernel (``RLIMIT_DATA``): an allocation beyond it fails at once. The peak is
    that of the whole process since the block began; where the kernel cannot reset
    its high-water mark, it is the peak of the process's life.
    """

    def __enter__(self) -> Self:
        self._before = resource.getrlimit(resource.RLIMIT_DATA)
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self.peak_mb: float | None = None
        return self

    def limit(self, memory_gb: float | None) -> None:
        """Allow ``memory_gb`` GiB more than now, or as much as before the block."""
        soft, hard = self._before
        if memory_gb is not None:
            wanted = _status_bytes("VmData") + int(memory_gb * 2**30)
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))

    def __exit__(self, *_: object) -> None:
        self.limit(None)
        peak = _status_bytes("VmHWM")
        if not peak:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self.peak_mb = round(peak / 2**20, 1)


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory ran out."""
    # PyTorch reports a failed allocation as a plain RuntimeError.
    told = any(sentence in str(error) for sentence in _TORCH_SENTENCES)
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and told)


def _status_bytes(name: str) -> int:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0
