"""From a table to samples: which columns are features, which names, which classes.

Nothing is taken for a feature by accident: a column that numbers the rows or names them
is set aside, and a sentence says so with what to type instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.errors import DataError, InputError
from symmf.io.sniff import EDGE_WORDS
from symmf.io.table import Table, quoted

_ID_WORDS = re.compile(
    r"(^|[\s_.-])(id|ids|index|idx|key|uuid|guid|no|nr|rownames?|row|record)$|^unnamed"
    r"|^column 1$",
)
# Spreads further apart than this make one column decide.
_FAR_APART = 100.0
# Fewer rows than this cannot tell a counter from data.
_FEW = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Features (n, m) with their names; ids and classes of the rows, if any."""

    X: FloatArray
    names: list[str]
    ids: list[str] | None
    id_name: str
    classes: list[str] | None
    notes: list[str]
    warnings: list[str]
    columns: list[int]


def choose_columns(
    table: Table,
    *,
    id: str | None = None,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    labels: str | None = None,
    points: bool = False,
) -> Chosen:
    """Choose the features of a table.

    Parameters
    ----------
    table : Table
    id : str, optional
        Column that names the rows.
    columns, drop : sequence of str
        Columns to use and no others; columns to leave out.
    labels : str, optional
        Column of known classes.
    points : bool
        The lines are points even if they look like the edges of a graph.

    Raises
    ------
    DataError
        If a column that is left has texts in it, or none is left.
    InputError
        If a column is named that is not there, or for two purposes.
    """
    notes: list[str] = []
    warnings: list[str] = []
    id_at = None if id is None else table.position(id, "--id")
    label_at = None if labels is None else table.position(labels, "--labels")
    dropped = {table.position(name, "--drop") for name in drop}
    wanted = [table.position(name, "--columns") for name in columns]
    _check_purposes(table, id_at, label_at, dropped, wanted)
    left = wanted or [
        j
        for j in range(len(table.names))
        if j not in dropped and j not in (id_at, label_at)
    ]
    if wanted:
        # What is not clustered may still name the rows.
        others = [j for j in range(len(table.names)) if j not in {*left, *dropped}]
        others = [j for j in others if j != label_at]
        id_at = _set_ids_aside(table, others, id_at, [], [])
    else:
        id_at = _set_ids_aside(table, left, id_at, notes, warnings)
        if not points:
            _refuse_edges(table, left)
    _refuse_texts(table, left)
    if not left:
        why = " ".join([*notes, *warnings])
        raise DataError(
            f"{table.source} has no column of numbers left to cluster. {why}".rstrip()
        )
    X = np.column_stack([table.columns[j] for j in left])
    names = [table.names[j] for j in left]
    warnings += constant_columns(X, names)
    return Chosen(
        X=X,
        names=names,
        ids=None if id_at is None else table.texts(id_at),
        id_name="row" if id_at is None else table.names[id_at],
        classes=None if label_at is None else _classes(table, label_at),
        notes=notes,
        warnings=warnings,
        columns=left,
    )


def constant_columns(X: FloatArray, names: Sequence[str]) -> list[str]:
    """Name the columns that are the same in every row."""
    same = [name for name, low, high in _ranges(X, names) if low == high]
    if not same or len(same) == len(names):
        return []
    return [
        f"{_listed(same)} the same value in every row and tell{'s' * (len(same) == 1)} "
        f"nothing; leave out with {_drops(same)}."
    ]


def far_apart(X: FloatArray, names: Sequence[str]) -> tuple[str, str, float] | None:
    """Return the columns of widest and narrowest spread if one drowns the other."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.asarray(X, dtype=np.float64).std(axis=0)
    moving = np.flatnonzero(spread > 0)
    if len(moving) < 2:
        return None
    wide, narrow = moving[spread[moving].argmax()], moving[spread[moving].argmin()]
    ratio = float(spread[wide] / spread[narrow])
    return (names[wide], names[narrow], ratio) if ratio > _FAR_APART else None


def is_counter(values: Any) -> bool:
    """Tell whether a column counts the rows: whole numbers, each one more than before.

    Examples
    --------
    >>> is_counter(np.arange(7.0)), is_counter(np.array([1.0, 2, 2, 3, 4, 5]))
    (True, False)
    """
    return len(values) >= _FEW and bool(np.all(np.diff(values) == 1))


def _set_ids_aside(
    table: Table,
    left: list[int],
    id_at: int | None,
    notes: list[str],
    warnings: list[str],
) -> int | None:
    """Take columns that number or name the rows out of ``left``; return the id."""
    for j in list(left):
        name = table.names[j]
        column = table.columns[j]
        if isinstance(column, list):
            if id_at is None and table.n > 1 and len(set(column)) == table.n:
                left.remove(j)
                id_at = j
                notes.append(
                    f"Column {name!r} has another text in every row and was taken as "
                    f"their names (--id {quoted(name)})."
                )
            continue
        whole = bool(np.all(column == np.floor(column)))
        distinct = whole and len(np.unique(column)) == table.n >= _FEW
        counter = is_counter(column)
        named_id = distinct and table.named and _is_id_name(name)
        if not counter and not named_id:
            continue
        left.remove(j)
        how = "counts the rows" if counter else "is another whole number in every row"
        use = "left out" if id_at is not None else "taken as their names"
        warnings.append(
            f"Column {name!r} {how} and was {use}, not clustered. To cluster it too, "
            "name the columns to use with --columns."
        )
        id_at = j if id_at is None else id_at
    return id_at


def _is_id_name(name: str) -> bool:
    return bool(_ID_WORDS.search(name.lower()) or re.search(r"[a-z]I[dD]$", name))


def _refuse_edges(table: Table, left: list[int]) -> None:
    """Refuse a table of two or three columns that lists the edges of a graph."""
    if len(left) not in (2, 3) or table.n < _FEW:
        return
    first, second = (table.columns[j] for j in left[:2])
    names = [table.names[j].lower() for j in left[:2]]
    said = table.named and {*names} <= {*EDGE_WORDS, "i", "j"}
    if isinstance(first, list) or isinstance(second, list):
        return
    if not said and (table.n < 20 or not _look_like_edges(first, second)):
        return
    raise DataError(
        f"{table.source} looks like a list of edges: columns {table.names[left[0]]!r} "
        "and "
        f"{table.names[left[1]]!r} hold whole numbers that name the same things. Use "
        "--format edges to cluster the graph, or --format table if each line is a "
        "point."
    )


def _look_like_edges(first: FloatArray, second: FloatArray) -> bool:
    """Whole numbers from 0 or 1 on, few gaps, fewer than lines, no pair twice."""
    both = np.concatenate([first, second])
    if not np.all(both == np.floor(both)) or both.min() not in (0, 1):
        return False
    nodes = np.unique(both)
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    few_gaps = len(nodes) >= 0.9 * (both.max() - both.min() + 1)
    shared = len(np.intersect1d(first, second)) >= 0.5 * len(np.unique(first))
    enough = len(nodes) >= 10 and len(pairs) == len(first)
    return bool(few_gaps and shared and enough and len(nodes) < 2 * len(first))


def _refuse_texts(table: Table, left: list[int]) -> None:
    for j in left:
        column = table.columns[j]
        if not isinstance(column, list):
            continue
        name = table.names[j]
        example = next((text for text in column if text), "")
        kinds = len(set(column))
        raise DataError(
            f"{table.source}, line {table.lines[0]}, column {name!r}: {example[:40]!r} "
            "is "
            f"not a number ({kinds} different texts in {table.n} rows). Leave the "
            "column "
            f"out (--drop {quoted(name)}), or take it as names of the rows (--id "
            f"{quoted(name)}) or as known classes (--labels {quoted(name)})."
        )


def _check_purposes(
    table: Table,
    id_at: int | None,
    label_at: int | None,
    dropped: set[int],
    wanted: list[int],
) -> None:
    purposes: list[tuple[str, set[int]]] = [
        ("--id", set() if id_at is None else {id_at}),
        ("--labels", set() if label_at is None else {label_at}),
        ("--drop", dropped),
        ("--columns", set(wanted)),
    ]
    for i, (option, places) in enumerate(purposes):
        for other, taken in purposes[i + 1 :]:
            for j in places & taken:
                raise InputError(
                    f"Column {table.names[j]!r} is named by {option} and by {other}; "
                    "keep one."
                )
    if len(set(wanted)) < len(wanted):
        raise InputError("--columns names a column twice.")


def _classes(table: Table, at: int) -> list[str]:
    texts = table.texts(at)
    for i, text in enumerate(texts):
        if not text:
            raise DataError(
                f"{table.source}, line {table.lines[i]}, column {table.names[at]!r}: "
                "the "
                "label is missing."
            )
    return texts


def _ranges(X: FloatArray, names: Sequence[str]) -> list[tuple[str, float, float]]:
    return list(zip(names, X.min(axis=0), X.max(axis=0), strict=True))


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:4])
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"Column {shown} has" if len(names) == 1 else f"Columns {shown}{more} have"


def _drops(names: list[str]) -> str:
    return " ".join(f"--drop {quoted(name)}" for name in names[:4])
