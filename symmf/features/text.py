"""Documents as rows: counting terms, weighting them, and latent semantic analysis.

Everything is learned on the rows it is given: on the documents of a trial, or, where a
data set has ``features``, on the whole collection (``idf`` of the collection).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from symmf.common.notation import AnyMatrix, FloatArray, LabelArray
from symmf.common.validation import check_choice, check_number
from symmf.errors import DataError, InputError
from symmf.linalg.eigen.singular import singular_directions

# A term in more than this share of the documents tells them not apart.
_TOO_COMMON = 0.5
# So many documents tell the language.
_READ_FOR_LANGUAGE = 200
# Below this many documents a term need not come twice.
_FEW = 50
_TINY = 1e-12
# Directions are learned from at most so many documents, in fewer rounds if from a part.
LEARNED_FROM = 20_000
_ROUNDS, _FEWER_ROUNDS = 7, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Counts of terms: ``counts[i, j]`` times term ``terms[j]`` in document i."""

    counts: Any
    terms: list[str]


def count_terms(
    documents: Sequence[str],
    *,
    terms: Sequence[str] | None = None,
    stop_words: str | None = None,
) -> Corpus:
    """Count the words of documents.

    A word has two or more letters or digits, at least one of them a letter; upper and
    lower case are one. Words of a single document are left out (unless there are fewer
    than 50 documents), and so are words of more than half of them.

    Parameters
    ----------
    documents : sequence of str
    terms : sequence of str, optional
        Count these and no others: the terms of a corpus known before.
    stop_words : {"english"} or None
        Leave out the commonest words of a language.

    Examples
    --------
    >>> corpus = count_terms(["red red apple", "green apple", "green pear", "a plum"])
    >>> corpus.terms
    ['apple', 'green', 'pear', 'plum', 'red']
    >>> corpus.counts.toarray()[0].tolist()
    [1, 0, 0, 0, 2]
    """
    from sklearn.feature_extraction.text import CountVectorizer

    known = None if terms is None else {term: j for j, term in enumerate(terms)}
    vectorizer = CountVectorizer(
        token_pattern=r"(?u)\b(?=\w*[^\W\d_])\w\w+\b",
        min_df=1 if len(documents) < _FEW else 2,
        max_df=_TOO_COMMON if len(documents) > 2 else 1.0,
        vocabulary=known,
        stop_words=stop_words if known is None else None,
    )
    try:
        if known is None:
            counts = vectorizer.fit_transform(documents)
        else:
            counts = vectorizer.transform(documents)
    except ValueError as error:
        raise DataError(
            "The documents have no word in common that tells them apart: every word is "
            "either in one document alone or in more than half of them."
        ) from error
    return Corpus(
        counts=sparse.csr_array(counts),
        terms=vectorizer.get_feature_names_out().tolist(),
    )


def are_english(documents: Sequence[str]) -> bool:
    """Tell whether every fifth word of the first documents is a common English one.

    Examples
    --------
    >>> are_english(["The price of tea went up", "It is the tax that we pay for it"])
    True
    >>> are_english(["Der Preis von Tee ist gestiegen", "Das ist die Steuer"])
    False
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = re.findall(r"[^\W\d_]+", " ".join(documents[:_READ_FOR_LANGUAGE]).lower())
    common = sum(word in ENGLISH_STOP_WORDS for word in words)
    return 5 * common > len(words)


class TermWeights(TransformerMixin, BaseEstimator):
    """Weigh counts of terms: tf times the logarithm of N / df.

    Parameters
    ----------
    tf : {"raw", "log"}
        The count c, or 1 + ln c.
    idf : bool
        Multiply by ln(N / df), N and df of the rows that :meth:`fit` was given.

    Examples
    --------
    >>> X = sparse.csr_array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    >>> TermWeights().fit_transform(X).toarray().round(3)
    array([[1.386, 0.   , 0.   ],
           [0.   , 0.   , 0.   ]])
    """

    def __init__(self, tf: str = "raw", idf: bool = True) -> None:
        self.tf = tf
        self.idf = idf

    def fit(self, X: Any, y: Any = None) -> TermWeights:
        """Count in how many rows each term is."""
        del y
        check_choice("tf", self.tf, ("raw", "log"))
        X = self._counts(X, reset=True)
        df = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
        self.idf_: FloatArray = np.zeros(X.shape[1])
        self.idf_[df > 0] = np.log(X.shape[0] / df[df > 0])
        return self

    def transform(self, X: Any) -> Any:
        """Return the weighted rows, sparse."""
        check_is_fitted(self)
        X = self._counts(X, reset=False)
        data = X.data
        if self.tf == "log":
            data = np.where(data > 0, 1 + np.log(np.maximum(data, _TINY)), 0.0)
        if self.idf:
            data = data * self.idf_[X.indices]
        return sparse.csr_array((data, X.indices, X.indptr), X.shape, copy=True)

    def _counts(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        X = sparse.csr_array(X)
        X.sum_duplicates()
        if X.nnz and X.data.min() < 0:
            raise InputError(
                "Weights of terms are made of counts, and this matrix has negative "
                "entries."
            )
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class LSA(TransformerMixin, BaseEstimator):
    """Latent semantic analysis: unit rows, truncated SVD, rows of U S to unit length.

    Above 20,000 rows the directions are learned from 20,000 of them, drawn with a fixed
    seed, and rows are transformed in single precision.

    Parameters
    ----------
    n_components : int
        Dimensions; fewer if the matrix has fewer rows or columns.

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> Z = LSA(2).fit_transform(X)
    >>> np.abs(Z @ Z.T).round(3)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, n_components: int = 100) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> LSA:
        """Find the directions."""
        del y
        check_number("n_components", self.n_components, least=1, whole=True)
        X = self._checked(X, reset=True)
        rows = learning_rows(X.shape[0])
        X = self._unit(X if rows is None else X[rows])
        k = min(self.n_components, *X.shape)
        rounds = _ROUNDS if rows is None else _FEWER_ROUNDS
        # The seed is fixed: the same documents give the same features.
        s, V = singular_directions(X, k, rounds, np.random.default_rng(0))
        self.components_: FloatArray = V.T if rows is None else V.T.astype(np.float32)
        self.singular_values_: FloatArray = s
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return rows of unit length (a document without known terms stays 0)."""
        check_is_fitted(self)
        X = self._unit(self._checked(X, reset=False))
        X = X.astype(self.components_.dtype, copy=False)
        Z: FloatArray = np.asarray(X @ self.components_.T)
        norms = np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), _TINY)
        return np.asarray(Z / norms)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        return sparse.csr_array(X)

    def _unit(self, X: Any) -> Any:
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sparse.csr_array(X.multiply(1 / np.maximum(norms, _TINY)[:, None]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def learning_rows(n: int) -> npt.NDArray[np.intp] | None:
    """Return the rows that directions are learned from; None for all of them."""
    if n <= LEARNED_FROM:
        return None
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(n, LEARNED_FROM, replace=False))


def top_terms(
    X: AnyMatrix, labels: LabelArray, terms: Sequence[str], *, count: int = 8
) -> list[list[str]]:
    """Name for each cluster the terms that weigh more in it than in the others.

    A term's score is its mean weight in the cluster less its mean weight outside.

    Parameters
    ----------
    X : (n, m) array or sparse matrix
        Weights of terms, such as :class:`TermWeights` gives.
    labels : (n,) array of int
        Cluster of each row, from 0.
    terms : sequence of str
        Names of the columns.
    count : int
        How many at most.

    Examples
    --------
    >>> X = np.array([[2.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    >>> top_terms(X, np.array([0, 0, 1]), ["tea", "tax", "the"])
    [['tea'], ['tax']]
    """
    labels = np.asarray(labels)
    n, k = len(labels), int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=k)
    member = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(k, n))
    sums = member @ X
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    total = sums.sum(axis=0)
    inside = sums / np.maximum(sizes, 1)[:, None]
    outside = (total - sums) / np.maximum(n - sizes, 1)[:, None]
    score = inside - outside
    return [
        [terms[j] for j in np.argsort(-row, kind="stable")[:count] if row[j] > _TINY]
        for row in score
    ]


def are_counts(X: AnyMatrix) -> bool:
    """Tell whether all entries are whole numbers, none negative."""
    values = X.data if sparse.issparse(X) else np.asarray(X)
    return bool(np.all(values >= 0) and np.all(values == np.floor(values)))
