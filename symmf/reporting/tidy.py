"""One tidy table of a results folder: from its text to a frame, misfits left out."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from symmf.common.notation import FloatArray
from symmf.experiment.store import layout

# Without these a row cannot be placed.
WHOLE = ("n_clusters", "trial")


def stack_tables(
    frames: Iterable[pd.DataFrame], columns: Mapping[str, layout.Kind]
) -> pd.DataFrame:
    """Return several tables as one."""
    filled = [frame for frame in frames if len(frame)]
    if not filled:
        return _empty(columns)
    return pd.concat(filled, ignore_index=True)


def _empty(columns: Mapping[str, layout.Kind]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: pd.Series(
                dtype=int if name in WHOLE else object if kind is str else float
            )
            for name, kind in columns.items()
        }
    )


def read_table(
    text: str,
    where: str,
    columns: Mapping[str, layout.Kind],
    problems: list[str],
) -> pd.DataFrame:
    """Return the table; what cannot be read or placed is said in ``problems``."""
    if not text:
        return _empty(columns)
    try:
        found = list(pd.read_csv(io.StringIO(text), nrows=0).columns)
        frame = _parsed(text, {n: k for n, k in columns.items() if n in found})
    except ValueError as error:  # pandas' parser errors are ValueErrors
        reason = str(error).splitlines()[0] if str(error) else "it is not a table"
        problems.append(f"{where} could not be read and is left out: {reason}.")
        return _empty(columns)
    absent = [name for name in columns if name not in found]
    if set(absent) - layout.OPTIONAL_COLUMNS:
        named = [name for name in absent if name not in layout.OPTIONAL_COLUMNS]
        problems.append(f"{where} lacks the columns {', '.join(named)}.")
    for name in absent:
        frame[name] = "" if columns[name] is str else np.nan
    frame = frame[list(columns)]
    fits = _placed(frame)
    if not fits.all():
        problems.append(
            f"{where} has {int((~fits).sum())} rows that cannot be placed (n_clusters "
            "or trial is no whole number) or with a score outside 0 to 1; they are "
            "left out."
        )
        frame = frame[fits].reset_index(drop=True)
    return frame.astype(dict.fromkeys(WHOLE, int))


def _placed(frame: pd.DataFrame) -> pd.Series[bool]:
    """Tell which rows have a K, a trial, and scores that can be scores."""
    fits = pd.Series(True, index=frame.index)
    for name, least in zip(WHOLE, (1, 0), strict=True):
        values = frame[name]
        fits &= (values % 1 == 0) & (values >= least) & (values < 2**31)
    for name in ("ac", "nmi"):
        if name in frame:
            fits &= frame[name].isna() | frame[name].between(-1e-9, 1 + 1e-9)
    return fits


def _parsed(text: str, columns: Mapping[str, layout.Kind]) -> pd.DataFrame:
    """Parse a table; a cell that should be a number and is none becomes NaN."""
    frame = pd.read_csv(
        io.StringIO(text), usecols=list(columns), dtype=object, keep_default_na=False
    )
    numbers = [name for name, kind in columns.items() if kind is not str]
    return frame.assign(**{name: _numbers(frame[name]) for name in numbers})


def _numbers(cells: pd.Series[Any]) -> FloatArray:
    # Not pandas' own parser: its last bits depend on its version.
    texts = cells.to_numpy(dtype=object)
    try:
        return np.where(texts == "", "nan", texts).astype(float)
    except ValueError:
        return np.array([_number(text) for text in texts])


def _number(text: object) -> float:
    try:
        return float(str(text))
    except ValueError:
        return float("nan")
