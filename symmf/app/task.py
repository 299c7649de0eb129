"""From what was read to what is clustered: standardised rows, terms, images, graphs."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from symmf.clustering import METHODS
from symmf.clustering.symmf.recipe import recipe_of_columns
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.texts import count
from symmf.errors import DataError, InputError, SymmfError
from symmf.features.columns import MixedColumns
from symmf.features.text import LSA, TermWeights, are_english, count_terms
from symmf.io.matrix import UserMatrix
from symmf.similarity.graphs.normalise import normalised

# Methods that work on nonnegative weights of terms as they are.
_ON_TERMS = ("symmf", "nmf", "gnmf")
_IMAGE_COLUMNS = 30
# Dense similarities of this many images still fit.
_MOST_IMAGES = 12_000
# Sums of fourth powers of numbers within this factor of one are finite and not zero.
_RANGE = 1e60


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an estimator is given.

    Attributes
    ----------
    X : array or csr_array
        Rows, or the similarity itself (images, graphs).
    parameters : dict
        Parameters of the estimator that follow from the kind of data.
    rows : array or None
        Rows in which distances mean something, for quality and pictures.
    weights : csr_array or None
        Weights of terms, of documents.
    features : object or None
        What turns new images, or tables with words and gaps, into features (fitted).
    own_units : bool
        Whether columns are given in their own units, and nothing was asked of them.
    precomputed : bool
        Whether rows hold a similarity.
    """

    data: UserMatrix
    method: str
    X: AnyMatrix
    parameters: dict[str, Any] = field(default_factory=dict)
    rows: FloatArray | None = None
    terms: list[str] = field(default_factory=list)
    weights: Any = None
    features: Any = None
    mean: FloatArray | None = None
    spread: FloatArray | None = None
    own_units: bool = False
    precomputed: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def square(self) -> bool:
        """Whether X relates samples to each other."""
        return self.data.kind in ("graph", "images") and "similarity" in self.parameters

    @property
    def shape(self) -> str:
        """How much there is of what."""
        X, n = self.data.X, self.data.n
        if self.data.kind == "documents":
            return f"{count(n, 'document')}, {count(len(self.terms), 'term')}"
        if self.data.kind == "images":
            return count(n, "image")
        if self.data.kind == "graph":
            return f"{count(n, 'node')}, {count(X.nnz // 2, 'edge')}"
        stored = ", sparse" if sparse.issparse(X) else ""
        what = "similarity" if self.precomputed else count(X.shape[1], "feature")
        return f"{count(n, 'sample')}, {what}{stored}"

    @property
    def column_names(self) -> list[str]:
        """Names of the columns; their numbers from 1 if they have none."""
        width = self.data.X.shape[1]
        return self.data.names or [f"column {j + 1}" for j in range(width)]

    def part(self, rows: Any) -> AnyMatrix:
        """Return X of some samples alone."""
        return self.X[rows][:, rows] if self.square else self.X[rows]


def make_task(
    data: UserMatrix,
    *,
    method: str = "symmf",
    standardize: bool | None = None,
    precomputed: bool = False,
    similarity: str | None = None,
) -> Task:
    """Prepare what was read for a method.

    Parameters
    ----------
    data : UserMatrix
    method : str
        A key of ``METHODS``.
    standardize : bool or None
        Bring columns to mean 0 and standard deviation 1; False also switches off the
        scaling that SymMF would choose.
    precomputed : bool
        X is the similarity itself.
    similarity : str or None
        What the user asked for, which goes before what the kind of data suggests.
    """
    dense, mixed = isinstance(data.X, np.ndarray), hasattr(data.X, "columns")
    precomputed = precomputed or similarity == "precomputed"
    if precomputed and (mixed or data.kind in ("documents", "images")):
        what = "words or missing values" if mixed else data.kind
        raise InputError(f"--precomputed is for a matrix of numbers; this has {what}.")
    asked = standardize is not None if mixed else standardize
    if asked and (precomputed or not dense or data.kind != "rows"):
        option = "--standardize" if standardize else "--no-standardize"
        raise InputError(
            f"{option} is for dense tables of numbers without missing values; leave it "
            "out."
        )
    if data.kind == "documents":
        return _documents(data, method, similarity)
    if data.kind == "images":
        return _images(data, method, similarity)
    if data.kind == "graph":
        return _graph(data, method, similarity)
    if mixed:
        return _columns(data, method)
    _check_range(data)
    if precomputed or not dense:
        return Task(data=data, method=method, X=data.X, precomputed=precomputed)
    return _rows(data, method, standardize)


def _check_range(data: UserMatrix) -> None:
    """Refuse values whose powers leave the range of numbers, whatever the method."""
    values = data.X.data if sparse.issparse(data.X) else data.X
    largest = max(float(np.max(values, initial=0)), -float(np.min(values, initial=0)))
    if largest == 0 or 1 / _RANGE <= largest <= _RANGE:
        return
    size = "large" if largest > 1 else "small"
    power = max(int(np.floor(np.log10(largest))), -300)
    raise InputError(
        f"The largest value is {largest:.3g} in size, too {size} to compute with. "
        f"Divide all by 1e{power}: the clusters stay the same."
    )


def _rows(data: UserMatrix, method: str, standardize: bool | None) -> Task:
    X = data.X
    task = Task(data=data, method=method, X=X, rows=X)
    if standardize:
        mean, spread = X.mean(axis=0), X.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        Z = (X - mean) / spread
        return replace(task, X=Z, rows=Z, mean=mean, spread=spread)
    if standardize is False and method == "symmf":
        unscaled = {"feature_scale": "none"}
        return replace(task, parameters={"similarity_options": unscaled})
    return replace(task, own_units=standardize is None)


def _columns(data: UserMatrix, method: str) -> Task:
    """Encode a table with words or missing values; it is described in its own units."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder = MixedColumns().fit(data.X)
    Z = encoder.transform(data.X)
    told = [str(item.message) for item in caught]
    described = replace(
        data,
        X=Z * encoder.scale_ + encoder.centre_,
        names=encoder.get_feature_names_out().tolist(),
        notes=[*data.notes, *encoder.notes()],
        warnings=[*data.warnings, *told],
    )
    given: dict[str, Any] = {}
    if method == "symmf":
        similarity, options = recipe_of_columns(encoder)
        given = {"similarity": similarity, "similarity_options": options}
    return Task(
        data=described, method=method, X=Z, rows=Z, parameters=given, features=encoder
    )


def _documents(data: UserMatrix, method: str, similarity: str | None) -> Task:
    assert data.documents is not None
    stop_words = data.stop_words
    if stop_words is None:
        stop_words = "english" if are_english(data.documents) else "none"
    corpus = count_terms(
        data.documents, stop_words=None if stop_words == "none" else stop_words
    )
    empty = np.flatnonzero(np.diff(corpus.counts.indptr) == 0)
    notes = [f"{len(corpus.terms):,} terms were counted in {data.n:,} documents."]
    if stop_words != "none" and data.stop_words is None:
        notes.append(
            "The texts are English, so the most common English words were left out; "
            "use --stop-words none to count them."
        )
    if len(empty):
        line = data.ids[empty[0]] if data.ids else str(empty[0] + 1)
        are = "document has" if len(empty) == 1 else "documents have"
        notes.append(
            f"{len(empty):,} {are} no term in common with any other (first in line "
            f"{line})."
        )
    weights = TermWeights().fit_transform(corpus.counts.astype(np.float64))
    weights = sparse.csr_array(weights)
    rows = LSA().fit_transform(weights)
    on_terms = method in _ON_TERMS and (similarity in (None, "auto", "text"))
    X = corpus.counts.astype(np.float64) if on_terms else rows
    return Task(
        data=data,
        method=method,
        X=X,
        rows=rows,
        terms=corpus.terms,
        weights=weights,
        notes=notes,
    )


def _images(data: UserMatrix, method: str, similarity: str | None) -> Task:
    from symmf.features.images import ImageFeatures, image_similarity

    if data.n > _MOST_IMAGES:
        raise DataError(
            f"There are {data.n:,} images, and all pairs are compared; up to "
            f"{_MOST_IMAGES:,} fit in memory. Use fewer images, or --similarity "
            "cosine to compare pixels."
        )
    notes = [
        "Images are compared by edge and patch features learned from these images."
    ]
    if similarity is not None or "similarity" not in parameters_of(method):
        return Task(data=data, method=method, X=data.X, rows=data.X)
    features = ImageFeatures()
    F = features.fit_transform(data.X)
    given: dict[str, Any] = {"similarity": "diffusion"}
    if method == "symmf":
        given |= {"laplacian_weight": 0.0, **wide_assignment(data.n)}
    return Task(
        data=data,
        method=method,
        X=image_similarity(F),
        rows=F,
        parameters=given,
        features=features,
        notes=notes,
    )


def wide_assignment(n: int) -> dict[str, Any]:
    """Return how images are assigned: by 30 columns, unit rows, 20 starts."""
    return {
        "n_columns": min(_IMAGE_COLUMNS, n - 1),
        "label_options": {"unit_rows": True, "n_init": 20},
    }


def _graph(data: UserMatrix, method: str, similarity: str | None) -> Task:
    able = [name for name in METHODS if "similarity" in parameters_of(name)]
    if method not in able or similarity not in (None, "precomputed"):
        raise InputError(
            "The edges of a graph are the similarity: leave --similarity out, and use "
            f"one of the methods for graphs ({', '.join(able)})."
        )
    S = normalised(data.X).M
    given: dict[str, Any] = {"similarity": "precomputed"}
    if method == "symmf":
        given |= {"laplacian_weight": 0.0, "label_options": {"unit_rows": True}}
    return Task(data=data, method=method, X=S, parameters=given)


def merged(given: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with others over them; dicts of options are joined.

    Examples
    --------
    >>> merged({"tol": 0, "label_options": {"a": 1}}, {"label_options": {"b": 2}})
    {'tol': 0, 'label_options': {'a': 1, 'b': 2}}
    """
    joined = {
        name: {**given[name], **value}
        for name, value in over.items()
        if isinstance(value, Mapping) and isinstance(given.get(name), Mapping)
    }
    return {**given, **over, **joined}


def parameters_of(method: str) -> Mapping[str, Any]:
    """Return the parameters of a method."""
    return inspect.signature(METHODS[method]).parameters


@contextmanager
def refusals_of(who: str) -> Iterator[None]:
    """Turn what a library says of data or parameters into a sentence of ours."""
    try:
        yield
    except SymmfError:
        raise
    except (ValueError, TypeError, ArithmeticError) as error:
        raise InputError(f"{who}: {error}") from error
