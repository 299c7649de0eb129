"""Tables with words, dates and missing values as rows of numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from symmf.common.notation import FloatArray
from symmf.common.validation import check_choice
from symmf.errors import InputError, SymmfWarning
from symmf.io.columns import (
    Column,
    as_feature,
    as_texts,
    date_order,
    dates,
    from_series,
    is_named_id,
    why_no_feature,
)

if TYPE_CHECKING:
    import pandas as pd

# How far apart two levels are. Then a word of two even levels and a normal number
# contribute alike to the mean squared distance of rows; farther apart, as in Gower's
# distance (1), words alone decide.
_APART = 0.6
_ONE_HOT = _APART / np.sqrt(2)
# Levels beyond so many, the rarest, are all one: no level.
_MOST_LEVELS = 100


@dataclass(slots=True, kw_only=True)
class Encoding:
    """How one column becomes numbers.

    Attributes
    ----------
    name : str
    at : int
        Its place in the table.
    kind : {"numbers", "amounts", "dates", "words"}
    centre, spread : float
        Of numbers: the median, and the range between the 5 and 95 % quantiles.
    levels : list of str
        Of words; "" is the level of missing values.
    order : str or None
        Of dates: how they are written.
    missing : int
        Rows of the fit without a value.
    """

    name: str
    at: int
    kind: str
    centre: float = 0.0
    spread: float = 1.0
    levels: list[str] | None = None
    order: str | None = None
    missing: int = 0

    @classmethod
    def of(cls, name: str, at: int, column: Column) -> Encoding:
        """Learn the encoding of a column."""
        values, kind = as_feature(column)
        if isinstance(values, list):
            texts, counts = np.unique(np.array(values), return_counts=True)
            often = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
            levels = sorted(texts[often].tolist())
            return cls(
                name=name, at=at, kind=kind, levels=levels, missing=values.count("")
            )
        known = values[~np.isnan(values)]
        low, high = np.quantile(known, [0.05, 0.95])
        # A column that is nearly constant still differs where it does.
        spread = float(high - low) or float(np.ptp(known)) or 1.0
        return cls(
            name=name,
            at=at,
            kind=kind,
            centre=float(np.median(known)),
            spread=spread,
            order=date_order(as_texts(column)) if kind == "dates" else None,
            missing=len(values) - len(known),
        )

    @property
    def names(self) -> list[str]:
        """Names of the columns that come out."""
        if self.levels is None:
            return [self.name]
        return [f"{self.name}={level or 'missing'}" for level in self.levels]

    def rows(self, column: Column) -> FloatArray:
        """Return (n, columns) numbers; a level that was not there before is none."""
        if self.levels is not None:
            texts = as_texts(column)
            place = {level: i for i, level in enumerate(self.levels)}
            codes = np.array([place.get(text, -1) for text in texts], dtype=np.intp)
            out = np.zeros((len(codes), len(self.levels)))
            out[codes >= 0, codes[codes >= 0]] = _ONE_HOT
            return out
        known = dates(as_texts(column), self.order) if self.order else None
        values = as_feature(column)[0] if known is None else known
        if isinstance(values, list):
            if any(values):
                word = next(text for text in values if text)
                raise InputError(
                    f"Column {self.name!r} held {self.kind} in the fit, and here it "
                    f"has {word[:40]!r}."
                )
            values = np.full(len(values), np.nan)
        filled = np.where(np.isnan(values), self.centre, values)
        return np.asarray((filled - self.centre) / self.spread)[:, None]


class MixedColumns(TransformerMixin, BaseEstimator):
    """Turn a table with words, dates and missing values into rows of numbers.

    Numbers, amounts such as $1,234 and dates (in days) are divided by their range
    between the 5 and 95 % quantiles, with the median for missing values. Every level of
    a column of words, a missing one included, becomes a column of two values, such that
    two levels are 0.6 apart: two equally common words and normal numbers then
    contribute alike to the mean squared distance of rows.

    Parameters
    ----------
    categories : {"one-hot", "drop", "error"}
        What becomes of columns of words and of True and False.
    missing : {"median", "drop", "error"}
        What becomes of missing values: they are filled (in words they are a level of
        their own), columns that have any are left out, or they are refused.

    Attributes
    ----------
    encodings_ : list of Encoding
        How each column that is used becomes numbers.
    ignored_ : dict
        Columns that are left out, with the reason: names and ids of rows, free text,
        constant columns.
    centre_, scale_ : arrays
        ``transform(X) * scale_ + centre_`` has the units of the table; levels become
        0 and 1.
    has_categories_ : bool
        A column that is used holds words.
    n_features_in_, feature_names_in_
        Of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [20, 30, None, 40], "city": list("abba")})
    >>> encoder = MixedColumns().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'city=a', 'city=b']
    >>> encoder.transform(table).round(2)
    array([[-0.56,  0.42,  0.  ],
           [ 0.  ,  0.  ,  0.42],
           [ 0.  ,  0.  ,  0.42],
           [ 0.56,  0.42,  0.  ]])
    """

    def __init__(self, categories: str = "one-hot", missing: str = "median") -> None:
        self.categories = categories
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> MixedColumns:
        """Learn what each column holds and how it becomes numbers.

        Parameters
        ----------
        X : (n, m) data frame (pandas, polars) or array
        y : ignored
        """
        del y
        check_choice("categories", self.categories, ("one-hot", "drop", "error"))
        check_choice("missing", self.missing, ("median", "drop", "error"))
        frame = self._frame(X, reset=True)
        self.encodings_: list[Encoding] = []
        self.ignored_: dict[str, str] = {}
        for j, label in enumerate(frame.columns):
            column = from_series(frame.iloc[:, j])
            values, name = as_feature(column)[0], str(label)
            reason = _why_ignored(name, values) or self._why_asked(values)
            if reason:
                self.ignored_[name] = reason
            else:
                self.encodings_.append(Encoding.of(name, j, column))
        self._judge_ignored()
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the rows as numbers.

        Parameters
        ----------
        X : (n, m) data frame or array
            With the columns of the fit.

        Returns
        -------
        (n, p) array
        """
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        parts = [e.rows(from_series(frame.iloc[:, e.at])) for e in self.encodings_]
        return np.hstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of what comes out: ``age``, ``city=Rome``."""
        del input_features
        check_is_fitted(self)
        names = [name for encoding in self.encodings_ for name in encoding.names]
        return np.array(names, dtype=object)

    @property
    def centre_(self) -> FloatArray:
        """What to add for the units of the table."""
        return np.concatenate(
            [np.full(len(e.names), e.centre) for e in self.encodings_]
        )

    @property
    def scale_(self) -> FloatArray:
        """What to multiply with for the units of the table."""
        units = [1 / _ONE_HOT if e.levels else e.spread for e in self.encodings_]
        return np.repeat(units, [len(e.names) for e in self.encodings_])

    @property
    def has_categories_(self) -> bool:
        """Whether a column holds words."""
        return any(encoding.levels is not None for encoding in self.encodings_)

    def notes(self) -> list[str]:
        """Say in sentences what was done to which column, and to how many rows."""
        check_is_fitted(self)
        words = [e for e in self.encodings_ if e.levels is not None]
        holes = [e for e in self.encodings_ if e.missing]
        said = []
        if words:
            told = ", ".join(
                f"{e.name!r} ({len(e.levels or [])} levels)" for e in words
            )
            said.append(f"Categories were encoded as columns of 0 and 1: {told}.")
        if holes:
            told = ", ".join(
                f"{e.name!r} in {e.missing} row{'s' * (e.missing > 1)} with "
                + ("a category of its own" if e.levels else f"the median {e.centre:g}")
                for e in holes
            )
            said.append(f"Missing values were filled: {told}.")
        return said

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        import pandas as pd

        frame = _frame_of(X)
        if frame is None:
            X = validate_data(
                self, X, dtype=None, ensure_all_finite="allow-nan", reset=reset
            )
            return pd.DataFrame(X)
        twice = frame.columns[frame.columns.duplicated()]
        if len(twice):
            raise InputError(
                f"Several columns are called {twice[0]!r}; give each a name of its own."
            )
        validate_data(self, X, skip_check_array=True, reset=reset)
        if frame.shape[0] == 0:
            raise InputError("The table has no rows.")
        return frame

    def _why_asked(self, values: Column) -> str:
        """Say what of a feature is not to be encoded."""
        words = isinstance(values, list)
        if words and self.categories != "one-hot":
            return "words"
        holes = "" in values if words else bool(np.isnan(values).any())
        return "missing values" if holes and self.missing != "median" else ""

    def _judge_ignored(self) -> None:
        """Refuse what is not to be left out, and say what was."""
        asked = {"words": self.categories, "missing values": self.missing}

        def told(policy: Callable[[str | None], bool]) -> str:
            names = [n for n, why in self.ignored_.items() if policy(asked.get(why))]
            return ", ".join(f"{name!r} ({self.ignored_[name]})" for name in names)

        if refused := told(lambda policy: policy == "error"):
            raise InputError(
                f"Columns that cannot be used as they are: {refused}. Leave them out, "
                "or use categories='one-hot' and missing='median'."
            )
        if not self.encodings_:
            raise InputError(
                f"No column is left to cluster; left out: {told(lambda _: True)}."
            )
        if unasked := told(lambda policy: policy != "drop"):
            warnings.warn(
                f"Left out: {unasked}. Leave such columns out to be rid of this "
                "message.",
                SymmfWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def encoder_for(X: Any) -> MixedColumns | None:
    """Return a fitted encoder for a data frame with words or gaps, else None."""
    from pandas.api import types

    frame = _frame_of(X)
    if frame is None:
        return None
    plain = all(
        types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind)
        for kind in frame.dtypes
    )
    if not plain or frame.isna().any(axis=None):
        return MixedColumns().fit(X)
    ids = [
        str(name)
        for j, name in enumerate(frame.columns)
        if is_named_id(str(name), frame.iloc[:, j].to_numpy(np.float64))
    ]
    if ids:
        warnings.warn(
            f"Numbered rows, and clustered like the rest: {', '.join(map(repr, ids))}. "
            "Leave such columns out if they only name the rows.",
            SymmfWarning,
            stacklevel=4,
        )
    return None


def _frame_of(X: Any) -> pd.DataFrame | None:
    """Return a data frame of pandas, or of polars in memory; None of anything else."""
    if not hasattr(X, "columns"):
        return None
    frame: pd.DataFrame | None = X if hasattr(X, "iloc") else None
    return X.to_pandas() if frame is None and hasattr(X, "to_pandas") else frame


def _why_ignored(name: str, values: Column) -> str:
    if isinstance(values, list):
        return why_no_feature(values)
    if np.isinf(values).any():
        raise InputError(f"Column {name!r} has infinite values; fill in or leave out.")
    named = not np.isnan(values).any() and is_named_id(name, values)
    return "a different whole number in every row" if named else why_no_feature(values)
