"""One download: continued where it ended, tried again, checked by pooch."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from symmf.datasets.base import Source

logger = logging.getLogger(__name__)

# Seconds to wait before another attempt at the same source.
PAUSES = (0.5, 1.0)
TIMEOUT = 30.0
# A server that gives less than so many bytes per second, over so many seconds and more,
# is given up; what came stays for the next attempt.
LEAST_RATE = 1_000.0
PATIENCE = 60.0
# Seconds between two looks at it.
_LOOK = 0.05
MOST = 1_000_000_000
CHUNK = 1 << 14


class ProgressBar(Protocol):
    """What pooch asks of an object that shows progress."""

    total: float

    def update(self, n: int, /) -> None:
        """Add ``n`` bytes."""

    def reset(self) -> None:
        """Go back to 0 bytes."""

    def close(self) -> None:
        """Show no more."""


class ResumingDownloader:
    """A downloader for pooch that continues a partial file where it ended.

    Parameters
    ----------
    part : Path
        The partial file. It stays after a failure and is moved away by a success.
    progress : ProgressBar, optional
        Told of the bytes that arrive.
    most : int
        Number of bytes after which the download is given up.
    """

    def __init__(
        self, part: Path, progress: ProgressBar | None = None, *, most: int = MOST
    ) -> None:
        self.part = part
        self.progress = progress
        self.most = most

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Download ``url`` to ``output_file`` by way of the partial file."""
        from pooch import HTTPDownloader

        # Bytes as they are stored: ranges of a compressed stream mean nothing.
        headers = {"Accept-Encoding": "identity"}
        try:
            # Its name can be known before, so that a link under it is not followed.
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            with os.fdopen(os.open(self.part, flags, 0o666), "ab") as file:
                limited = _Limited(file, self.most)
                if file.tell():
                    headers["Range"] = f"bytes={file.tell()}-"
                download = HTTPDownloader(
                    progressbar=self.progress or False,
                    chunk_size=CHUNK,
                    timeout=TIMEOUT,
                    headers=headers,
                    hooks={"response": limited.start_over_unless_partial},
                )
                _watched(lambda: download(url, limited, pooch), limited)
            self.part.replace(output_file)
        finally:
            if self.part.exists() and self.part.stat().st_size == 0:
                self.part.unlink()


class _Limited:
    """A file that takes no more than a number of bytes: a server may never end."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.came = 0
        self.response: Any = None
        self.left = False

    def start_over_unless_partial(self, response: Any, *_: Any, **__: Any) -> None:
        """Look at the answer, before its content comes."""
        self.response = response
        if self.left:
            response.close()
            raise SourceFailed("it answered after it was given up")
        # 200: the whole file comes; 416: there is nothing after what we have.
        if response.status_code in (200, 416):
            _empty(self._file)
        # pooch raises on a refusal and leaves its connection open.
        if response.status_code >= 400:
            response.close()

    def write(self, data: bytes) -> int:
        if self._file.tell() + len(data) > self._most:
            # What was begun is of no use.
            _empty(self._file)
            raise SourceFailed(
                f"it gives more than the {self._most} bytes the file may have"
            )
        self.came += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


def _watched(download: Callable[[], None], limited: _Limited) -> None:
    """Download in a thread, and leave it when too little comes.

    A byte a second keeps every single read alive; only the rate tells. What came stays
    for the next attempt, and the thread ends with the connection it reads from.
    """
    failures: list[BaseException] = []

    def work() -> None:
        try:
            download()
        except BaseException as error:
            failures.append(error)

    began = time.monotonic()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK)
        seconds = time.monotonic() - began
        if seconds > PATIENCE and limited.came < LEAST_RATE * seconds:
            # An answer that is still to come is closed where it comes.
            limited.left = True
            if limited.response is not None:
                raw = limited.response.raw
                # Not in urllib3 before 2.3.
                getattr(raw, "shutdown", raw.close)()
                thread.join(TIMEOUT)
                limited.response.close()
            raise SourceFailed(
                f"it is too slow: {limited.came:,} bytes in {seconds:.0f} seconds"
            )
    if failures:
        raise failures[0]


def _empty(file: BinaryIO) -> None:
    # The place is told to whoever asks how long the file is.
    file.seek(0)
    file.truncate()


class SourceFailed(Exception):  # noqa: N818 (what happened, not an error)
    """A source did not give its file; the next one may."""


def retrieve(
    source: Source,
    staging: Path,
    progress: ProgressBar | None,
    *,
    most: int = MOST,
) -> Path:
    """Download one source into ``staging``, with its checksum verified by pooch."""
    import pooch
    from requests.exceptions import HTTPError, RequestException

    # pooch prints what it does; here that is for the callers to say.
    pooch.get_logger().setLevel(logging.WARNING)
    key = hashlib.sha256(source.url.encode()).hexdigest()[:16]
    downloader = ResumingDownloader(staging / f"{key}.part", progress, most=most)
    for pause in (*PAUSES, None):
        try:
            path = pooch.retrieve(
                source.url,
                known_hash=source.checksum,
                fname=f"{key}.download",
                path=staging,
                downloader=downloader,
            )
            return Path(path)
        except HTTPError as error:
            response: Any = error.response
            status = response.status_code
            reason = f"the server answered {status} {response.reason}"
            if 400 <= status < 500 and status not in (408, 416, 429):
                raise SourceFailed(reason) from error
        except RequestException as error:
            reason = f"no complete answer ({_kind(error)})"
        except ValueError as error:
            raise SourceFailed(
                f"its checksum is not {source.checksum}; the file was discarded"
            ) from error
        if pause is None:
            raise SourceFailed(reason)
        logger.info("%s: %s; trying again", source.url, reason)
        time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def _kind(error: Exception) -> str:
    """Return a short name: the messages of requests fill several lines."""
    names = {
        "ConnectTimeout": "timed out",
        "ReadTimeout": "timed out",
        "ConnectionError": "no connection",
        "ChunkedEncodingError": "connection lost",
    }
    name = type(error).__name__
    return names.get(name, name)
