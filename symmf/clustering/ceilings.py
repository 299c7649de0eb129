"""What labels would give: cross-validated classifiers, scored like a clustering.

No clusterer: it sees the classes. It answers which scores are within reach of the
features at all, so that a published value above every classifier's can be named.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import LabelEncoder
from sklearn.svm import SVC, LinearSVC

from symmf.common.notation import AnyMatrix, LabelArray
from symmf.common.seeds import RandomState, as_generator
from symmf.common.validation import check_name, check_number
from symmf.errors import InputError

#: the settings are the textbook ones and were not tuned
CLASSIFIERS: dict[str, Any] = {
    "nearest": KNeighborsClassifier(1),
    "nine_nearest": KNeighborsClassifier(9),
    "linear_svm": LinearSVC(dual="auto"),
    # Entries can be counts; where some are negative the Gaussian one is taken.
    "naive_bayes": MultinomialNB(),
    "shrunk_lda": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "kernel_nearest": KNeighborsClassifier(9, metric="precomputed"),
    "kernel_svm": SVC(kernel="precomputed"),
}
# Classifiers that take the (n, n) similarities of the samples instead of rows.
PAIRWISE = ("kernel_nearest", "kernel_svm")


@dataclass(eq=False, repr=False)
class Ceiling(BaseEstimator):
    """Predict every sample by a classifier trained on the other folds.

    Parameters
    ----------
    n_clusters : int
        Number of classes; taken for the sake of one interface and not used.
    classifier : str
        ``nearest`` (1 neighbour), ``nine_nearest``, ``linear_svm``, ``naive_bayes``
        (multinomial; Gaussian for data with negative entries) or ``shrunk_lda``
        (linear discriminants with Ledoit-Wolf shrinkage); where X holds the (n, n)
        similarities of the samples, ``kernel_nearest`` (9 neighbours) or
        ``kernel_svm``.
    n_splits : int
        Folds; fewer where the smallest class has fewer samples.
    random_state : int, Generator, RandomState or None
        Seeds the folds and the classifier.

    Attributes
    ----------
    labels_ : (n,) array
        Predicted class of each sample, each from a model that did not see it.

    Notes
    -----
    A classifier is not an upper bound in the sense of a proof: another one may do
    better. It is evidence of another kind than :mod:`symmf.audit`, and a weaker one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Ceiling(3, classifier="shrunk_lda", random_state=0).fit(X, y)
    >>> round(float((model.labels_ == y).mean()), 2)
    0.98
    """

    #: ``fit`` needs the classes; a run hands them over to such a method only
    uses_labels = True
    #: as in :class:`~symmf.clustering.base.Clusterer`
    behaviour: ClassVar[int] = 1

    n_clusters: int = 2
    _: KW_ONLY
    classifier: str = "nearest"
    n_splits: int = 5
    random_state: RandomState = None

    def fit(self, X: AnyMatrix, y: Any = None) -> Ceiling:
        """Predict every row of X from the classes of the other folds."""
        check_name("classifier", self.classifier, CLASSIFIERS)
        check_number("n_splits", self.n_splits, least=2, whole=True)
        if y is None:
            raise InputError("A ceiling is found with labels: give y.")
        codes = LabelEncoder().fit_transform(y)
        smallest = int(np.bincount(codes).min())
        if smallest < 2:
            raise InputError("Every class needs at least 2 samples to be predicted.")
        seed = int(as_generator(self.random_state).integers(2**31))
        model = clone(CLASSIFIERS[self.classifier])
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        if self.classifier == "naive_bayes" and X.min() < 0:
            model = GaussianNB()
        if self.classifier == "shrunk_lda" and sparse.issparse(X):
            raise InputError(
                "The classifier 'shrunk_lda' needs dense rows: add the step 'lsa'."
            )
        if self.classifier in PAIRWISE and X.shape[0] != X.shape[1]:
            raise InputError(
                f"The classifier {self.classifier!r} needs the similarities of all "
                f"pairs of samples, an n x n matrix; X is {X.shape[0]} x {X.shape[1]}. "
                "Add a step such as 'image_similarity'."
            )
        folds = StratifiedKFold(
            min(self.n_splits, smallest), shuffle=True, random_state=seed
        )
        if self.classifier == "kernel_nearest":
            X = X.max() - X
        predicted = cross_val_predict(model, X, codes, cv=folds)
        self.labels_: LabelArray = np.asarray(predicted, dtype=np.int64)
        return self


#: methods that see the classes: listed apart from the clusterers
CEILINGS: dict[str, Any] = {"ceiling": Ceiling}
