"""Steps between the data and the similarity; sparse data stay sparse.

Each step takes X (samples in rows) and returns a new matrix; X is never modified.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from symmf.common.notation import AnyMatrix, FloatArray
from symmf.common.validation import check_name
from symmf.datasets.arrays import as_matrix
from symmf.errors import InputError, SymmfWarning
from symmf.linalg.threads import one_thread

# A row of smaller norm counts as zero: what is left of it is rounding.
TINY = 1e-12


def none(X: AnyMatrix) -> AnyMatrix:
    """Return X as it is."""
    return X


def unit_rows(X: AnyMatrix) -> AnyMatrix:
    """Divide each row by its Euclidean norm, or by 1e-12 if the norm is smaller.

    Zero rows stay zero; their number is reported in a ``SymmfWarning``.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    norms = _row_norms(X)
    zero = int(np.count_nonzero(norms <= TINY))
    if zero:
        rows = "1 row is" if zero == 1 else f"{zero} rows are"
        warnings.warn(
            f"{rows} zero among {norms.size} and cannot be scaled to length 1; such a "
            "sample has similarity 0 to all others.",
            SymmfWarning,
            stacklevel=2,
        )
    scale = np.maximum(norms, TINY)
    if not sparse.issparse(X):
        return X / scale[:, np.newaxis]
    X = X.copy()
    X.data /= np.repeat(scale, np.diff(X.indptr))
    return X


def centre(X: AnyMatrix) -> AnyMatrix:
    """Subtract from each column its mean over the rows given.

    Raises
    ------
    InputError
        If X is sparse: the result would be dense.
    """
    return _centred(X, "centre")


def standardize(X: AnyMatrix) -> AnyMatrix:
    """Centre each column and divide it by its standard deviation.

    So that the units of columns do not decide. A column of one value becomes zero.

    Raises
    ------
    InputError
        If X is sparse: the result would be dense.

    Examples
    --------
    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    X = _centred(X, "standardize")
    deviations = X.std(axis=0)
    # What rounding leaves of a constant column is no deviation.
    constant = deviations <= TINY
    return np.where(constant, 0.0, X / np.where(constant, 1.0, deviations))


def tfidf(X: AnyMatrix) -> AnyMatrix:
    r"""Weight counts of terms by the rarity of the term.

    .. math:: x_{ij} \cdot \log(n / \mathrm{df}_j)

    with n the number of rows and df_j the number of rows in which term j is not zero,
    both of the rows given. The weight is 0 where df_j = 0, so an empty column stays
    empty; it is 0 as well for a term of all documents.

    Examples
    --------
    >>> tfidf(np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])).round(3)
    array([[1.386, 0.   , 0.   ],
           [0.   , 0.   , 0.   ]])
    """
    return _weighted(X, "raw")


def log_tfidf(X: AnyMatrix) -> AnyMatrix:
    """Weight counts c of terms as (1 + ln c) ln(n / df), n and df of the rows given."""
    return _weighted(X, "log")


def tfidf_views(X: AnyMatrix) -> AnyMatrix:
    """Put two weightings of counts side by side: tf raw and 1 + ln, each times idf.

    Two blocks of columns, which ``ConsensusSymMF(blocks=2)`` takes for two views.
    """
    views = [_weighted(sparse.csr_array(X), tf) for tf in ("raw", "log")]
    return sparse.csr_array(sparse.hstack(views))


def lsa(X: AnyMatrix) -> AnyMatrix:
    """Return latent semantic analysis: 100 dimensions, learned from the rows given."""
    from symmf.features.text import LSA

    return LSA().fit_transform(X)


def lsa_300(X: AnyMatrix) -> AnyMatrix:
    """Return latent semantic analysis: 300 dimensions, learned from the rows given."""
    from symmf.features.text import LSA

    return LSA(n_components=300).fit_transform(X)


def hog(X: AnyMatrix) -> AnyMatrix:
    """Return histograms of oriented gradients of square images."""
    from symmf.features.images import HOG

    return HOG().fit_transform(_dense(X, "hog"))


def image_features(X: AnyMatrix) -> AnyMatrix:
    """Return gradients and patch codes of square images, learned from the rows given.

    The next step is ``image_similarity``.
    """
    from symmf.features.images import ImageFeatures

    return ImageFeatures().fit_transform(_dense(X, "image_features"))


def image_similarity(X: AnyMatrix) -> AnyMatrix:
    """Return the (n, n) similarities of images from rows of ``image_features``.

    For methods with ``similarity: diffusion``, which makes a graph of them.
    """
    from symmf.features import images

    return images.image_similarity(_dense(X, "image_similarity"))


def diffusion_rows(X: AnyMatrix) -> AnyMatrix:
    """Return 30 columns of a diffusion on given (n, n) similarities, rows of length 1.

    Rows of H as ``similarity: diffusion`` gives it, for methods on inner products.
    """
    from symmf.common.seeds import generator
    from symmf.similarity.graphs import diffusion

    return diffusion.diffusion_rows(X, generator("diffusion_rows"))


PREPROCESS: dict[str, Callable[[AnyMatrix], AnyMatrix]] = {
    "none": none,
    "unit_rows": unit_rows,
    "centre": centre,
    "standardize": standardize,
    "tfidf": tfidf,
    "log_tfidf": log_tfidf,
    "tfidf_views": tfidf_views,
    "lsa": lsa,
    "lsa_300": lsa_300,
    "hog": hog,
    "image_features": image_features,
    "image_similarity": image_similarity,
    "diffusion_rows": diffusion_rows,
}


def preprocess(X: AnyMatrix, steps: Sequence[str]) -> AnyMatrix:
    """Apply the named steps in order.

    Parameters
    ----------
    X : ndarray or scipy sparse, shape (n, m)
        One sample per row.
    steps : sequence of str
        Keys of ``PREPROCESS``; one name alone may be given as a string.

    Raises
    ------
    InputError
        If a step is not known or cannot be applied to X.
    """
    names = [steps] if isinstance(steps, str) else list(steps)
    for name in names:
        check_name("preprocessing step", name, PREPROCESS)
    if set(names) - {"none"}:
        X = as_matrix(X)
    with one_thread():
        for name in names:
            X = PREPROCESS[name](X)
    return X


def _weighted(X: AnyMatrix, tf: str) -> AnyMatrix:
    """Return weights of terms from counts; dense counts give dense weights."""
    from symmf.features.text import TermWeights

    weights = TermWeights(tf=tf).fit_transform(sparse.csr_array(X))
    return weights if sparse.issparse(X) else weights.toarray()


def _centred(X: AnyMatrix, step: str) -> AnyMatrix:
    if sparse.issparse(X):
        raise InputError(
            "Centring would turn a sparse matrix into a dense one. Leave out the step "
            f"{step!r} and use the similarity 'centred_cosine', which centres without "
            "forming the dense matrix."
        )
    return X - X.mean(axis=0)


def _dense(X: AnyMatrix, step: str) -> AnyMatrix:
    if sparse.issparse(X):
        raise InputError(f"The step {step!r} needs images, not sparse rows.")
    return X


def _row_norms(X: AnyMatrix) -> FloatArray:
    """Return the Euclidean norms of the rows."""
    if not sparse.issparse(X):
        return np.asarray(np.linalg.norm(X, axis=1))
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.asarray(np.sqrt(np.bincount(rows, X.data**2, minlength=X.shape[0])))
