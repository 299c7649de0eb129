"""Counting and weighting terms, latent semantic analysis, top terms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from symmf.errors import DataError, InputError
from symmf.features.preprocess import preprocess
from symmf.features.text import (
    LSA,
    TermWeights,
    are_counts,
    count_terms,
    top_terms,
)

DOCUMENTS = [
    "The cat sat on the mat",
    "A cat and another cat",
    "Stocks fell as the markets closed",
    "Markets rose; stocks rose too",
]


def counts(n: int = 12, m: int = 7, seed: int = 0) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    return sparse.csr_array(rng.poisson(0.8, (n, m)).astype(float))


def test_words_are_counted_without_regard_to_case():
    corpus = count_terms(DOCUMENTS)
    assert "cat" in corpus.terms
    assert "a" not in corpus.terms
    assert corpus.counts[1, corpus.terms.index("cat")] == 2
    again = count_terms(["Cat cat dog"], terms=corpus.terms)
    assert again.counts.shape == (1, len(corpus.terms))
    assert again.counts.sum() == 2


def test_numbers_are_no_words_and_letters_of_any_script_are():
    assert count_terms(["12345 Äpfel яблоко", "x1 2"]).terms == [
        "x1",
        "äpfel",
        "яблоко",
    ]


def test_documents_that_share_nothing_get_a_sentence():
    with pytest.raises(DataError, match="no word"):
        count_terms(["1 2 3", "4 5 6"])


@pytest.mark.parametrize("tf", ["raw", "log"])
def test_weights_are_the_formula_and_the_collection_s_idf_may_be_kept(tf):
    X = counts()
    dense = X.toarray()
    df = np.count_nonzero(dense, axis=0)
    with np.errstate(divide="ignore"):
        part = dense if tf == "raw" else np.where(dense > 0, 1 + np.log(dense), 0)
        idf = np.where(df > 0, np.log(len(dense) / df), 0)
    model = TermWeights(tf=tf).fit(X)
    np.testing.assert_allclose(model.transform(X).toarray(), part * idf)
    np.testing.assert_allclose(model.transform(X[:3]).toarray(), (part * idf)[:3])
    assert X.toarray().sum() == dense.sum()


def test_steps_and_transformers_agree():
    X = counts()
    np.testing.assert_allclose(
        preprocess(X, ["tfidf"]).toarray(), TermWeights().fit_transform(X).toarray()
    )
    np.testing.assert_array_equal(preprocess(X, ["lsa"]), LSA().fit_transform(X))
    assert preprocess(X, ["log_tfidf"]).shape == X.shape


def test_lsa_keeps_the_cosines_when_nothing_is_cut_off():
    X = counts(10, 20, seed=1)
    unit = X.toarray() / np.linalg.norm(X.toarray(), axis=1, keepdims=True)
    Z = LSA(10).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, unit @ unit.T, atol=1e-8)
    np.testing.assert_array_equal(Z, clone(LSA(10)).fit(X).transform(X))


def test_top_terms_tell_clusters_apart():
    corpus = count_terms(DOCUMENTS)
    found = top_terms(corpus.counts, np.array([0, 0, 1, 1]), corpus.terms, count=2)
    assert "cat" in found[0]
    assert set(found[1]) <= {"stocks", "markets", "rose"}


def test_refusals_and_small_helpers():
    with pytest.raises(InputError, match="negative"):
        TermWeights().fit(np.array([[1.0, -1.0]]))
    with pytest.raises(InputError, match="tf is one of"):
        TermWeights(tf="cubed").fit(counts())
    assert are_counts(counts())
    assert not are_counts(np.array([[0.5]]))
