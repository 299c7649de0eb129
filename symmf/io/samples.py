"""What a user's file holds once it is read: samples, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from symmf.common.notation import LabelArray
from symmf.errors import DataError

#: what the rows of X are
Kind = Literal["rows", "images", "graph", "documents"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMatrix:
    """The matrix, dense or csr, and what is known of its rows.

    Attributes
    ----------
    X : array, csr_array or data frame, shape (n, m)
        One sample per row; a data frame if there are words or missing values; pixels of
        images; the adjacency of a graph. Of documents there is no matrix yet: X is None
        and ``documents`` holds them.
    y : array of int or None
        Known class of each row, if labels were named; ``classes[c]`` is its name.
    names : list of str
        Names of the columns of X, or nothing.
    ids : list of str or None
        Names of the rows; ``id_name`` says what they are.
    stop_words : {"english", "none"} or None
        What was asked for documents.
    dates : list of str
        Names of the columns that were read as dates, in days since 1970.
    kept : list of list of str or None
        All cells of the table, the names first, if they were asked for.
    comma : bool
        Numbers of the table have a decimal comma.
    notes, warnings : list of str
        What was decided without being asked, and what may be wrong.
    """

    X: Any
    y: LabelArray | None = None
    kind: Kind = "rows"
    names: list[str] = field(default_factory=list)
    ids: list[str] | None = None
    id_name: str = "row"
    classes: list[str] = field(default_factory=list)
    documents: list[str] | None = None
    stop_words: str | None = None
    dates: list[str] = field(default_factory=list)
    kept: list[list[str]] | None = None
    comma: bool = False
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.documents) if self.documents is not None else self.X.shape[0]

    def with_labels(self, source: str, labels: Sequence[Any]) -> UserMatrix:
        """Return the samples with known classes, in the order of their names."""
        if len(labels) != self.n:
            raise DataError(
                f"The labels of {source} are {len(labels)} for {self.n} samples."
            )
        texts = np.array([str(label) for label in labels])
        classes, codes = np.unique(texts, return_inverse=True)
        return replace(self, y=codes.astype(np.int64), classes=classes.tolist())
