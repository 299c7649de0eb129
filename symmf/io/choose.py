"""From a table to samples: which columns are features, which names, which classes.

Nothing becomes a feature by accident: a column that numbers the rows or names them is
set aside, one that cannot be a feature is left out, and a sentence says so with what
to type instead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from symmf.common.notation import FloatArray
from symmf.errors import DataError, InputError
from symmf.io.columns import (
    SURELY_LEVELS,
    Column,
    are_compact_dates,
    as_feature,
    is_called_id,
    is_counter,
    is_missing,
    is_named_id,
    is_number,
    mostly_numbers,
    why_no_feature,
)
from symmf.io.samples import UserMatrix
from symmf.io.sniff import EDGE_WORDS
from symmf.io.table import Table

# Spreads further apart than this make one column decide.
_FAR_APART = 10.0
# Fewer lines than this are points, whatever they look like.
_FEW_LINES = 5
_Rows = npt.NDArray[np.intp]


@dataclass(slots=True, kw_only=True)
class _Feature:
    """A column that may be a feature: its place in the table, and what it holds."""

    at: int
    name: str
    #: what options call it: its name, or its number if the name is not enough
    option: str
    values: Column
    kind: str

    @property
    def gaps(self) -> npt.NDArray[np.bool_]:
        """In which rows the value is missing."""
        if isinstance(self.values, list):
            return np.array([not text for text in self.values])
        return np.isnan(self.values)

    @property
    def constant(self) -> bool:
        """Whether all rows have the same number."""
        if isinstance(self.values, list):
            return False
        return bool(np.nanmin(self.values) == np.nanmax(self.values))


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
    keep: bool = False,
) -> UserMatrix:
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
        Leave gaps for :class:`~symmf.features.columns.MixedColumns` to fill, leave out
        rows that have any, or refuse them.
    categories : {"one-hot", "drop", "error"}
        Keep columns of words, leave them out, or refuse them.
    keep : bool
        Keep the cells of all columns.

    Raises
    ------
    DataError
        If something is to be refused, or no column is left.
    InputError
        If a column is named that is not there, or for two purposes.
    """
    at = _places(
        table,
        id=[] if id is None else [id],
        labels=[] if labels is None else [labels],
        drop=drop,
        columns=columns,
    )
    index = [0] if table.indexed else []
    id_at = at["id"] or index
    used = {j for places in (index, *at.values()) for j in places}
    left = _features(table, [j for j in range(len(table.names)) if j not in used])
    notes, warnings = list(table.notes), list[str]()
    numbering = _numbering(table, left, named=bool(id_at))
    if columns:
        left = _features(table, at["columns"])
    elif not points:
        _refuse_edges(table, left, "words")
    if numbering and not id_at:
        id_at = [numbering[0][0].at]
    if not columns:
        for feature, how in numbering:
            left.remove(feature)
            use = "used to name the rows" if [feature.at] == id_at else "left out"
            told = f"Column {feature.name!r} {how} and was {use}"
            if feature.kind == "numbers":
                warnings.append(
                    f"{told}, not clustered. To cluster it too, name the columns to "
                    "use with --columns."
                )
            else:
                notes.append(f"{told} (--id {feature.option}).")
        if not points:
            _refuse_edges(table, left, "numbers")
    _refuse_mistakes(table, left, categories)
    if not columns:
        left = _without_useless(left, categories, warnings)
        warnings += filter(None, (_doubt(table, feature) for feature in left))
    left = _words(table, left, categories, notes)
    if not left:
        raise DataError(_nothing_left(table, notes, warnings))
    rows = _complete_rows(table, left, missing, notes)
    notes += [_how_parsed(table, f) for f in left if f.kind in ("amounts", "dates")]
    same = [feature for feature in left if feature.constant]
    if same and len(same) < len(left):
        plural, has, it = ("s", "have", "them") if same[1:] else ("", "has", "it")
        warnings.append(
            f"Column{plural} {_listed(same)} {has} the same value in every row; leave "
            f"{it} out with {_drops(same)}."
        )
    names = _told_apart([f.name if table.named else f"column {f.name}" for f in left])
    ids = table.texts(id_at[0]) if id_at else None
    found = UserMatrix(
        X=_matrix(left, names, rows),
        names=names,
        ids=None if ids is None else [ids[i] for i in rows],
        id_name=table.names[id_at[0]] if id_at else "row",
        dates=[n for n, f in zip(names, left, strict=True) if f.kind == "dates"],
        kept=table.kept(rows) if keep else None,
        comma=table.comma,
        notes=notes,
        warnings=warnings,
    )
    if not at["labels"]:
        return found
    classes = table.texts(at["labels"][0])
    if "" in classes:
        where = table.where(classes.index(""), at["labels"][0])
        raise DataError(f"{where}: the label is missing.")
    return found.with_labels(table.source, [classes[i] for i in rows])


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


def _places(table: Table, **named: Sequence[str]) -> dict[str, list[int]]:
    """Return where the columns that options name are, each for one purpose."""
    found: dict[str, list[int]] = {}
    for option, names in named.items():
        places = list(
            dict.fromkeys(table.position(name, f"--{option}") for name in names)
        )
        for other, taken in found.items():
            if both := set(places) & set(taken):
                raise InputError(
                    f"Column {table.names[both.pop()]!r} is named by --{other} and by "
                    f"--{option}; keep one."
                )
        found[option] = places
    return found


def _features(table: Table, places: Collection[int]) -> list[_Feature]:
    found = []
    for j in places:
        values, kind = as_feature(table.columns[j], comma=table.comma)
        name = table.names[j]
        # Options are cut at commas, and a name that comes twice means the first.
        alone = "," not in name and table.names.index(name) == j
        option = quote(name) if alone else str(j + 1)
        found.append(_Feature(at=j, name=name, option=option, values=values, kind=kind))
    return found


def _numbering(
    table: Table, features: list[_Feature], *, named: bool
) -> list[tuple[_Feature, str]]:
    """Return the columns that number the rows, and how they do.

    If the rows are not ``named`` yet, a column of texts that all differ names them.
    """
    found: list[tuple[_Feature, str]] = []
    for feature in features:
        if feature.kind == "numbers":
            values = np.asarray(feature.values)
            if is_counter(values):
                found.append((feature, "counts the rows"))
            elif table.named and is_named_id(feature.name, values):
                found.append((feature, "has a different whole number in every row"))
        elif feature.kind in ("words", "dates") and not named and not found:
            texts = table.texts(feature.at)
            all_differ = len(set(texts)) == table.n > 1
            if all_differ and not mostly_numbers(texts, comma=table.comma):
                found.append((feature, "has a different text in every row"))
    return found


def _refuse_edges(table: Table, left: list[_Feature], kind: str) -> None:
    """Refuse two columns for the same things, and perhaps a weight: a graph's edges.

    They come first, but for an index of pandas: --format edges takes the first two
    columns for nodes.
    """
    first_at = int(table.indexed)
    if [f.at - first_at for f in left] not in ([0, 1], [0, 1, 2]):
        return
    first, second, *weight = left
    if not first.kind == second.kind == kind or (weight and weight[0].kind == "words"):
        return
    usual = EDGE_WORDS if kind == "words" else {*EDGE_WORDS, "i", "j"}
    said = table.named and {first.name.lower(), second.name.lower()} <= usual
    alike = _name_the_same if kind == "words" else _number_the_same
    alone = len(table.names) - first_at == len(left)
    seen = table.n >= _FEW_LINES and alike(first.values, second.values)
    if alone and (said or seen):
        what = "names of" if kind == "words" else "whole numbers that name"
        raise DataError(
            f"{table.source} looks like a list of edges: columns {first.name!r} and "
            f"{second.name!r} hold {what} the same things. Use --format edges to "
            "cluster the graph, or --format table if each line is a point."
        )


def _name_the_same(first: Column, second: Column) -> bool:
    """Half of the first names again among the second, and few pairs twice."""
    shared = set(first) & set(second)
    pairs = set(zip(first, second, strict=True))
    return 2 * len(shared) > len(set(first)) and 2 * len(pairs) > len(first)


def _number_the_same(first: Column, second: Column) -> bool:
    """Whole numbers from 0 or 1 on, few gaps, fewer than lines, no pair twice."""
    both = np.concatenate([first, second])
    if len(first) < 20 or not np.all(both == np.floor(both)):
        return False
    nodes = np.unique(both)
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    few_gaps = len(nodes) >= 0.9 * (nodes[-1] - nodes[0] + 1) and nodes[0] in (0, 1)
    shared = len(np.intersect1d(first, second)) >= 0.5 * len(np.unique(first))
    enough = len(nodes) >= 10 and len(pairs) == len(first)
    return bool(few_gaps and shared and enough and len(nodes) < 2 * len(first))


def _refuse_mistakes(table: Table, left: list[_Feature], categories: str) -> None:
    """Refuse numbers that are not finite, and a word among many numbers.

    Among few numbers it is a level: 3, 4, 6, 8 and "rotary".
    """
    for feature in left:
        values, name = feature.values, feature.option
        if not isinstance(values, list):
            if np.isinf(values).any():
                i = int(np.argmax(np.isinf(values)))
                raise DataError(
                    f"{table.where(i, feature.at)}: the value is {values[i]}. Correct "
                    "or leave out such lines first, or leave out the column: --drop "
                    f"{name}"
                )
            continue
        level = categories == "one-hot" and len(set(values)) <= SURELY_LEVELS
        if level or not mostly_numbers(values, comma=table.comma):
            continue
        i = next(
            i
            for i, text in enumerate(values)
            if not is_missing(text) and not is_number(text, comma=table.comma)
        )
        raise DataError(
            f"{table.where(i, feature.at)}: {values[i][:60]!r} is not a number. "
            "Correct it (an empty cell is a missing value), leave the column out "
            f"(--drop {name}), or take it as names of the rows (--id {name}) or as "
            f"known classes (--labels {name})."
        )


def _doubt(table: Table, feature: _Feature) -> str:
    """Say why numbers may be no measurements; an empty text if they look like some."""
    if feature.kind != "numbers":
        return ""
    told = f"Column {feature.name!r} holds numbers that may only name things."
    if are_compact_dates(np.asarray(feature.values)):
        told = (
            f"Column {feature.name!r} was read as plain numbers; write dates as "
            "2020-12-31 to have them read as such."
        )
    elif not (table.named and is_called_id(feature.name)):
        return ""
    return f"{told} Leave the column out with --drop {feature.option}."


def _how_parsed(table: Table, feature: _Feature) -> str:
    """Say how a column was parsed, of dates by the first of them."""
    how = "numbers, without signs of currency or unit"
    if feature.kind == "dates":
        i = int(np.argmin(feature.gaps))
        text, day = table.texts(feature.at)[i], int(np.floor(feature.values[i]))
        date = str(np.datetime64(day, "D"))
        # A time of day has no date, and an ISO date speaks for itself.
        told = day and not text.startswith(date)
        how = f"dates: {text!r} is {date}" if told else "dates"
    return f"Column {feature.name!r} was read as {how}."


def _without_useless(
    left: list[_Feature], categories: str, warnings: list[str]
) -> list[_Feature]:
    """Leave out columns that cannot be features, all told in one sentence."""
    useful, told = [], []
    for feature in left:
        # Words are refused anyhow if they are not wanted.
        refused = categories == "error" and feature.kind == "words"
        if why := "" if refused else why_no_feature(feature.values):
            told.append(f"{feature.name!r} ({why})")
        else:
            useful.append(feature)
    if told:
        names = ",".join(f.option for f in useful if not f.constant)
        again = f" The same without this message: --columns {names}" if names else ""
        warnings.append(f"Left out: {', '.join(told)}.{again}")
    return useful


def _words(
    table: Table, left: list[_Feature], categories: str, notes: list[str]
) -> list[_Feature]:
    """Keep columns of words, leave them out, or refuse them all at once."""
    words = [feature for feature in left if feature.kind == "words"]
    if not words or categories == "one-hot":
        return left
    if categories == "drop":
        notes.append(f"Columns of words were left out: {_listed(words)}.")
        return [feature for feature in left if feature.kind != "words"]
    first = words[0]
    texts = [text for text in first.values if text] or [""]
    more = f" The same holds for {_listed(words[1:])}." if words[1:] else ""
    raise DataError(
        f"{table.where(0, first.at)}: {str(texts[0])[:40]!r} is not a number "
        f"({len(set(texts))} different texts in {table.n} rows).{more} Leave words out "
        f"({_drops(words)}), or take the column as names of the rows (--id "
        f"{first.option}) or as known classes (--labels {first.option})."
    )


def _nothing_left(table: Table, notes: list[str], warnings: list[str]) -> str:
    told = [*notes, *warnings]
    if table.unit == "line" and len(table.names) == 1:
        told.append("If something else separates the cells, use --separator.")
    if table.unit == "line" and any("text" in sentence for sentence in told):
        told.append("For documents, one in each line, use --format text.")
    return f"{table.source} has no column left to cluster. {' '.join(told)}".rstrip()


def _complete_rows(
    table: Table, left: list[_Feature], missing: str, notes: list[str]
) -> _Rows:
    """Return the rows to keep, or refuse missing values."""
    gaps = np.column_stack([feature.gaps for feature in left])
    incomplete = gaps.any(axis=1)
    if missing == "median" or not incomplete.any():
        return np.arange(table.n)
    count = f"{np.count_nonzero(incomplete)} of {table.n} rows"
    if missing == "error":
        i = int(np.argmax(incomplete))
        feature = left[int(np.argmax(gaps[i]))]
        raise DataError(
            f"{table.where(i, feature.at)}: the value is missing, as in {count}. Fill "
            "in or leave out such rows (--missing median, --missing drop), or leave "
            f"out the column: --drop {feature.option}"
        )
    if incomplete.all():
        raise DataError(
            f"{table.source} has a missing value in every row. Use --missing median, "
            "or leave out columns with --drop."
        )
    notes.append(f"{count} have missing values and were left out (--missing drop).")
    return np.flatnonzero(~incomplete)


def _matrix(left: list[_Feature], names: list[str], rows: _Rows) -> Any:
    """Return an array of numbers, or a data frame if there are words or gaps."""
    columns = [
        np.array([text or None for text in feature.values], dtype=object)[rows]
        if isinstance(feature.values, list)
        else feature.values[rows]
        for feature in left
    ]
    if not any(f.kind == "words" or f.gaps[rows].any() for f in left):
        return np.column_stack(columns)
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


def _told_apart(names: list[str]) -> list[str]:
    """Return names with a number behind those that come again."""
    told: dict[str, None] = {}
    for name in names:
        again, number = name, 1
        while again in told:
            number += 1
            again = f"{name} ({number})"
        told[again] = None
    return list(told)


def _listed(features: Sequence[_Feature]) -> str:
    more = f" and {len(features) - 4} more" if len(features) > 4 else ""
    return ", ".join(repr(feature.name) for feature in features[:4]) + more


def _drops(features: Sequence[_Feature]) -> str:
    return " ".join(f"--drop {feature.option}" for feature in features[:4])
