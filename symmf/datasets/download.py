"""Downloading the files of data sets: continued, limited, checked by pooch.

A file arrives in the folder ``.download`` beside its place and is moved there once its
checksum is right. What an interrupted download left is continued by the next one.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from symmf.datasets.base import DatasetSpec, RemoteFile, Source, data_folder
from symmf.datasets.imports import install, writing
from symmf.datasets.local import LARGEST, State, file_state, known_file
from symmf.errors import DataError

logger = logging.getLogger(__name__)

#: called with the bytes that are here and the bytes of the whole file, if known
Progress: TypeAlias = Callable[[int, int | None], None]

# Seconds to wait before another attempt at the same source.
PAUSES = (0.5, 1.0)
# Seconds to wait for a connection, and for the next byte.
TIMEOUT = 30.0
# A server that gave fewer bytes per second than this, over so many seconds, is left.
LEAST_RATE = 1_000.0
PATIENCE = 60.0
CHUNK = 1 << 16
# Refusals that may pass: a time-out, a range that is not there, too many requests.
_PASSING = (408, 416, 429)


def fetch(
    spec: DatasetSpec,
    folder: Path | None = None,
    *,
    progress: Progress | None = None,
) -> list[str]:
    """Download the files of a data set that are missing or damaged.

    A damaged file is replaced; it is never opened by a reader. The sources are tried in
    order, each up to three times.

    Returns
    -------
    list of str
        The addresses used; empty if nothing had to be downloaded.

    Raises
    ------
    DataError
        If no source gave a file, or the folder cannot be written.
    """
    folder = data_folder(folder)
    return [
        _fetch_file(spec, file, folder / file.path, progress)
        for file in spec.files or (known_file(spec),)
        if file_state(spec, file, folder) is not State.PRESENT
    ]


def _fetch_file(
    spec: DatasetSpec, file: RemoteFile, target: Path, progress: Progress | None
) -> str:
    """Put a file in its place from the first source that gives it."""
    reasons = []
    staging = target.parent / ".download"
    with writing(target):
        for source in file.sources:
            staging.mkdir(parents=True, exist_ok=True)
            try:
                given = _retrieve(source, file, staging, progress)
                install(spec, file, given, target, archive=source.archive is not None)
            except DataError as error:
                reasons.append(f"\n  {source.url}: {error}")
            else:
                # Another source may have begun; the file is complete now.
                _remove(staging, "*.part")
                return source.url
            finally:
                _remove(staging, "*.download")
                # It is not empty after an interrupted download.
                with suppress(OSError):
                    staging.rmdir()
    raise DataError(
        f"{spec.title} could not be downloaded:{''.join(reasons)}\n"
        "Run the same command again to continue, or get the file elsewhere and run "
        f"`symmf data import {spec.name} FILE` ({spec.accepts}). "
        f"It belongs in {target}."
    )


def _retrieve(
    source: Source, file: RemoteFile, staging: Path, progress: Progress | None
) -> Path:
    """Download one source into ``staging``; pooch compares its checksum."""
    import pooch
    from requests import RequestException
    from urllib3.exceptions import HTTPError as ConnectionLost

    # pooch prints what it does; here that is for the callers to say.
    pooch.get_logger().setLevel(logging.WARNING)
    key = hashlib.sha256(source.url.encode()).hexdigest()[:16]
    checksum = source.archive or f"sha256:{file.sha256}"
    part = staging / f"{key}.part"

    def download(url: str, output: str, _: object) -> None:
        _continue(url, part, LARGEST if source.archive else file.size, progress)
        part.replace(output)

    reason = ""
    for pause in (0, *PAUSES):
        if reason:
            logger.info("%s: %s; trying again", source.url, reason)
            time.sleep(pause)
        try:
            path = pooch.retrieve(
                source.url,
                known_hash=checksum,
                fname=f"{key}.download",
                path=staging,
                downloader=download,
            )
            return Path(path)
        except (RequestException, ConnectionLost) as error:
            # Their messages fill several lines.
            reason = f"no complete answer ({type(error).__name__})"
            answer: Any = getattr(error, "response", None)
            status = 0 if answer is None else answer.status_code
            if status:
                reason = f"the server answered {status} {answer.reason}"
            if 400 <= status < 500 and status not in _PASSING:
                break
        except ValueError as error:
            reason = f"its checksum is not {checksum}; the file was discarded"
            raise DataError(reason) from error
    raise DataError(reason)


def _continue(url: str, part: Path, most: int, progress: Progress | None) -> None:
    """Add to the partial file what it lacks of the file at ``url``."""
    import requests

    # Bytes as they are stored: ranges of a compressed stream mean nothing.
    headers = {"Accept-Encoding": "identity"}
    if part.exists():
        headers["Range"] = f"bytes={part.stat().st_size}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == 416:
            # There is nothing after what is here: it is no part of this file.
            part.unlink(missing_ok=True)
        response.raise_for_status()
        # read1 gives what has come; urllib3 1 only has read, which waits for all.
        read = getattr(response.raw, "read1", response.raw.read)
        began, came = time.monotonic(), 0
        with part.open("ab" if response.status_code == 206 else "wb") as file:
            length = response.headers.get("Content-Length", "")
            total = file.tell() + int(length) if length.isdecimal() else None
            while data := read(CHUNK):
                came += len(data)
                if file.tell() + len(data) > most:
                    part.unlink()
                    raise DataError(
                        f"it gives more than the {most} bytes the file may have"
                    )
                file.write(data)
                if progress is not None:
                    progress(file.tell(), total)
                seconds = time.monotonic() - began
                if seconds > PATIENCE and came < LEAST_RATE * seconds:
                    raise DataError(
                        f"it is too slow: {came:,} bytes in {seconds:.0f} seconds"
                    )


def _remove(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        path.unlink()
