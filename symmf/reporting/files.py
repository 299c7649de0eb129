"""Text files written whole or not at all, the same bytes for the same content."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from symmf.errors import InputError


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 with Unix line ends beside the final name, then rename."""
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{path} could not be written: {reason}. Choose another folder with --out."
        ) from error
    return path


def csv_text(frame: pd.DataFrame) -> str:
    """Return a frame as CSV: six significant digits, empty for NaN.

    The last bits of a mean may differ between processors; six digits do not.
    """
    return str(frame.to_csv(index=False, lineterminator="\n", float_format="%.6g"))
