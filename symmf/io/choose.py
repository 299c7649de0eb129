"""From a table to samples: which columns are features, which names, which classes.

Nothing is taken for a feature by accident: a column that numbers the rows or names them
is set aside, one that cannot be a feature is left out, and a sentence says so with what
to type instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from symmf.common.notation import FloatArray
from symmf.errors import DataError, InputError
from symmf.io.columns import (
    SURELY_LEVELS,
    Column,
    as_feature,
    is_counter,
    is_missing,
    is_named_id,
    is_number,
    mostly_numbers,
    why_no_feature,
)
from symmf.io.sniff import EDGE_WORDS
from symmf.io.table import Table, quoted

# Spreads further apart than this make one column decide.
_FAR_APART = 100.0
# Fewer lines than this are points, whatever they look like.
_FEW_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Features (n, m) with their names; ids and classes of the rows, if any.

    ``X`` is an array, or a data frame if it has words or holes; ``rows`` are those that
    were kept, None for all.
    """

    X: Any
    names: list[str]
    ids: list[str] | None
    id_name: str
    classes: list[str] | None
    rows: npt.NDArray[np.intp] | None
    notes: list[str]
    warnings: list[str]


@dataclass(slots=True, kw_only=True)
class _Feature:
    """A column that may be a feature: its place in the table, and what it holds."""

    at: int
    name: str
    values: Column
    kind: str

    def gaps(self) -> npt.NDArray[np.bool_]:
        """Return in which rows the value is missing."""
        if isinstance(self.values, list):
            return np.array([not text for text in self.values])
        return np.isnan(self.values)


@dataclass(slots=True, kw_only=True)
class _Purposes:
    """Places of the columns that options name."""

    id: int | None
    labels: int | None
    dropped: list[int]
    wanted: list[int]
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def check(self, table: Table) -> None:
        """Refuse a column with two purposes."""
        seen: dict[int, str] = {}
        named: list[tuple[str, Iterable[int | None]]] = [
            *(("--id", [self.id]), ("--labels", [self.labels])),
            *(("--drop", set(self.dropped)), ("--columns", self.wanted)),
        ]
        for option, places in named:
            for j in (j for j in places if j is not None):
                if seen.get(j) == option:
                    raise InputError(f"{option} names a column twice.")
                if j in seen:
                    raise InputError(
                        f"Column {table.names[j]!r} is named by {seen[j]} and by "
                        f"{option}; keep one."
                    )
                seen[j] = option


def choose_columns(
    table: Table,
    *,
    id: str | None = None,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    labels: str | None = None,
    points: bool = False,
    missing: str = "error",
    categories: str = "error",
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
    missing : {"median", "drop", "error"}
        Leave holes for :class:`~symmf.features.columns.MixedColumns` to fill, leave out
        rows that have any, or refuse them.
    categories : {"one-hot", "drop", "error"}
        Keep columns of words, leave them out, or refuse them.

    Raises
    ------
    DataError
        If something is to be refused, or no column is left.
    InputError
        If a column is named that is not there, or for two purposes.
    """
    by_index = table.index is not None and id == table.index[0]
    at = _Purposes(
        id=None if id is None or by_index else table.position(id, "--id"),
        labels=None if labels is None else table.position(labels, "--labels"),
        dropped=[table.position(name, "--drop") for name in drop],
        wanted=[table.position(name, "--columns") for name in columns],
    )
    at.check(table)
    used = {at.id, at.labels, *at.dropped, *at.wanted}
    others = _features(table, (j for j in range(len(table.names)) if j not in used))
    named = table.index is not None or at.id is not None
    if at.wanted:
        # What is not clustered may still name the rows.
        left = _features(table, at.wanted)
        id_at = at.id if named else _set_ids_aside(table, others, False, [], [])
    else:
        left = others
        if not points:
            _refuse_named_edges(table, left)
        found = _set_ids_aside(table, left, named, at.notes, at.warnings)
        id_at = at.id if named else found
        if not points:
            _refuse_numbered_edges(table, left)
    _refuse_mistakes(table, left, categories)
    if not at.wanted:
        left = _without_useless(left, categories, at.warnings)
    left = _words(table, left, categories, at.notes)
    if not left:
        why = " ".join([*at.notes, *at.warnings])
        raise DataError(
            f"{table.source} has no column of numbers left to cluster. {why}".rstrip()
        )
    rows = _holes(table, left, missing, at.notes)
    at.notes += _readings(left)
    X = _matrix(left, rows)
    ids = table.texts(id_at) if id_at is not None else None
    id_name = "row" if id_at is None else table.names[id_at]
    if table.index is not None and at.id is None:
        id_name, ids = table.index
    names = [feature.name for feature in left]
    return Chosen(
        X=X,
        names=names,
        ids=_of_rows(ids, rows),
        id_name=id_name,
        classes=_of_rows(
            None if at.labels is None else _classes(table, at.labels), rows
        ),
        rows=rows,
        notes=at.notes,
        warnings=at.warnings + constant_columns(left),
    )


def constant_columns(features: Iterable[_Feature]) -> list[str]:
    """Name the columns of numbers that are the same in every row."""
    features = list(features)
    same = [
        feature.name
        for feature in features
        if not isinstance(feature.values, list)
        and np.nanmin(feature.values) == np.nanmax(feature.values)
    ]
    if not same or len(same) == len(features):
        return []
    plural, has = ("s", "have") if len(same) > 1 else ("", "has")
    return [
        f"Column{plural} {_listed(same)} {has} the same value in every row; leave "
        f"out with {_drops(same)}."
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


def _features(table: Table, places: Iterable[int]) -> list[_Feature]:
    found = []
    for j in places:
        values, kind = as_feature(table.columns[j])
        found.append(_Feature(at=j, name=table.names[j], values=values, kind=kind))
    return found


def _set_ids_aside(
    table: Table,
    left: list[_Feature],
    named: bool,
    notes: list[str],
    warnings: list[str],
) -> int | None:
    """Take columns that number or name the rows out of ``left``.

    Returns the place of the first, which names the rows unless they are ``named``.
    """
    id_at = None
    for feature in list(left):
        texts = table.texts(feature.at)
        words = feature.kind == "dates" or (
            feature.kind == "words" and not mostly_numbers(texts, comma=table.comma)
        )
        free = not named and id_at is None
        if words and free and len(set(texts)) == table.n > 1:
            notes.append(
                f"Column {feature.name!r} has another text in every row and was taken "
                f"as their names (--id {quoted(feature.name)})."
            )
        elif feature.kind == "numbers" and (how := _how_it_numbers(table, feature)):
            use = "taken as their names" if free else "left out"
            warnings.append(
                f"Column {feature.name!r} {how} and was {use}, not clustered. To "
                "cluster it too, name the columns to use with --columns."
            )
        else:
            continue
        left.remove(feature)
        id_at = feature.at if id_at is None else id_at
    return id_at


def _how_it_numbers(table: Table, feature: _Feature) -> str:
    values = np.asarray(feature.values)
    if is_counter(values):
        return "counts the rows"
    if table.named and is_named_id(feature.name, values):
        return "is another whole number in every row"
    return ""


def _refuse_named_edges(table: Table, left: list[_Feature]) -> None:
    """Refuse two columns of names for the same things, and perhaps a weight."""
    if len(left) not in (2, 3) or table.n < _FEW_LINES:
        return
    first, second, *weight = left
    if not first.kind == second.kind == "words" or [
        w for w in weight if w.kind == "words"
    ]:
        return
    said = table.named and {first.name.lower(), second.name.lower()} <= EDGE_WORDS
    shared = set(first.values) & set(second.values)
    if said or 2 * len(shared) > len(set(first.values)):
        raise _edges(table, left, "names of")


def _refuse_numbered_edges(table: Table, left: list[_Feature]) -> None:
    """Refuse two columns of whole numbers that name the same things."""
    if len(left) not in (2, 3) or table.n < _FEW_LINES:
        return
    if any(feature.kind != "numbers" for feature in left[:2]):
        return
    first, second = (np.asarray(feature.values) for feature in left[:2])
    words = {*EDGE_WORDS, "i", "j"}
    said = table.named and {feature.name.lower() for feature in left[:2]} <= words
    if said or (table.n >= 20 and _look_like_edges(first, second)):
        raise _edges(table, left, "whole numbers that name")


def _edges(table: Table, left: list[_Feature], what: str) -> DataError:
    return DataError(
        f"{table.source} looks like a list of edges: columns {left[0].name!r} and "
        f"{left[1].name!r} hold {what} the same things. Use --format edges to cluster "
        "the graph, or --format table if each line is a point."
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


def _refuse_mistakes(table: Table, left: list[_Feature], categories: str) -> None:
    """Refuse numbers that are not finite, and a word among many numbers.

    Among few numbers it is a level: 3, 4, 6, 8 and "rotary".
    """
    for feature in left:
        name = quoted(feature.name)
        if isinstance(feature.values, list):
            few = len(set(feature.values)) <= SURELY_LEVELS
            if (few and categories == "one-hot") or not mostly_numbers(
                feature.values, comma=table.comma
            ):
                continue
            i = next(
                i
                for i, text in enumerate(feature.values)
                if not is_missing(text) and not is_number(text, comma=table.comma)
            )
            raise DataError(
                f"{table.where(i, feature.at)}: {feature.values[i][:60]!r} is not a "
                f"number. Leave the column out (--drop {name}), or take it as names of "
                f"the rows (--id {name}) or as known classes (--labels {name})."
            )
        wrong = np.isinf(feature.values)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise DataError(
                f"{table.where(i, feature.at)}: the value is {feature.values[i]}. Fill "
                "in or leave out such lines first, or leave out the column: --drop "
                f"{name}"
            )


def _without_useless(
    left: list[_Feature], categories: str, warnings: list[str]
) -> list[_Feature]:
    """Leave out columns that cannot be features, all told in one sentence."""
    reasons = {feature.at: why_no_feature(feature.values) for feature in left}
    if categories == "error":
        # Words are refused anyhow.
        reasons = {f.at: reasons[f.at] if f.kind != "words" else "" for f in left}
    useful = [feature for feature in left if not reasons[feature.at]]
    if len(useful) < len(left):
        told = [f"{f.name!r} ({reasons[f.at]})" for f in left if reasons[f.at]]
        names = ",".join(feature.name for feature in useful)
        again = f" The same without this message: --columns {quoted(names)}"
        warnings.append(f"Left out: {', '.join(told)}.{again if useful else ''}")
    return useful


def _words(
    table: Table, left: list[_Feature], categories: str, notes: list[str]
) -> list[_Feature]:
    """Keep columns of words, leave them out, or refuse them all at once."""
    words = [feature for feature in left if feature.kind == "words"]
    if not words or categories == "one-hot":
        return left
    names = [feature.name for feature in words]
    if categories == "drop":
        notes.append(f"Columns of words were left out: {_listed(names)}.")
        return [feature for feature in left if feature.kind != "words"]
    first = words[0]
    texts = [text for text in first.values if text]
    name = quoted(first.name)
    more = f" So are {_listed(names[1:])}." if names[1:] else ""
    raise DataError(
        f"{table.where(0, first.at)}: {str(texts[0] if texts else '')[:40]!r} is not a "
        f"number ({len(set(texts))} different texts in {table.n} rows).{more} Leave "
        f"words out ({_drops(names)}), or take the column as names of the rows (--id "
        f"{name}) or as known classes (--labels {name})."
    )


def _holes(
    table: Table, left: list[_Feature], missing: str, notes: list[str]
) -> npt.NDArray[np.intp] | None:
    """Return the rows to keep, None for all, or refuse missing values."""
    gaps = np.column_stack([feature.gaps() for feature in left])
    incomplete = gaps.any(axis=1)
    if missing == "median" or not incomplete.any():
        return None
    if missing == "error":
        i = int(np.argmax(incomplete))
        feature = left[int(np.argmax(gaps[i]))]
        raise DataError(
            f"{table.where(i, feature.at)}: the value is missing, as in "
            f"{np.count_nonzero(incomplete)} of {table.n} rows. Fill in or leave out "
            "such rows (--missing median, --missing drop), or leave out the column: "
            f"--drop {quoted(feature.name)}"
        )
    rows = np.flatnonzero(~incomplete)
    if not rows.size:
        raise DataError(
            f"{table.source} has a missing value in every row. Use --missing median, "
            "or leave out columns with --drop."
        )
    notes.append(
        f"{np.count_nonzero(incomplete)} of {table.n} rows have missing values and "
        "were left out (--missing drop)."
    )
    return rows


def _readings(left: list[_Feature]) -> list[str]:
    """Say which columns were read as something else than they are written."""
    said = {
        "dates": "read as dates, in days",
        "amounts": "read as numbers without currency, thousands and percent signs",
    }
    return [
        f"Column {feature.name!r} was {said[feature.kind]}."
        for feature in left
        if feature.kind in said
    ]


def _matrix(left: list[_Feature], rows: npt.NDArray[np.intp] | None) -> Any:
    """Return an array of numbers, or a data frame if there are words or holes."""
    if any(feature.kind == "words" or feature.gaps().any() for feature in left):
        import pandas as pd

        frame = pd.DataFrame(
            {i: _as_series(feature) for i, feature in enumerate(left)}
        ).set_axis([feature.name for feature in left], axis=1)
        if rows is None:
            return frame
        if len(left) > 0 and not any(feature.kind == "words" for feature in left):
            return frame.iloc[rows].to_numpy(dtype=np.float64)
        return frame.iloc[rows].reset_index(drop=True)
    X = np.column_stack([np.asarray(feature.values) for feature in left])
    return X if rows is None else X[rows]


def _as_series(feature: _Feature) -> Any:
    if isinstance(feature.values, list):
        return np.array([text or None for text in feature.values], dtype=object)
    return feature.values


def _of_rows(
    texts: list[str] | None, rows: npt.NDArray[np.intp] | None
) -> list[str] | None:
    return texts if texts is None or rows is None else [texts[i] for i in rows]


def _classes(table: Table, at: int | None) -> list[str] | None:
    texts = [] if at is None else table.texts(at)
    for i, text in enumerate(texts):
        if not text:
            raise DataError(f"{table.where(i, at or 0)}: the label is missing.")
    return None if at is None else texts


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(repr(name) for name in names[:4]) + more


def _drops(names: Sequence[str]) -> str:
    return " ".join(f"--drop {quoted(name)}" for name in names[:4])
