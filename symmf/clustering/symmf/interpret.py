"""What a fitted ``SymMF`` says about its clusters, computed when it is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from symmf.clustering.labels import unit_rows
from symmf.clustering.symmf.evidence import Evidence, cluster_parts, gather_evidence
from symmf.clustering.symmf.landmarks import in_blocks
from symmf.clustering.symmf.membership import Membership, Parts, centre_distances
from symmf.clustering.symmf.number import (
    Numbers,
    compare_numbers,
    compared_rows,
    mean_silhouette,
    part_of,
    sample_of,
)
from symmf.clustering.symmf.outliers import outlier_scores
from symmf.clustering.symmf.recipe import Recipe, recipe_of_columns
from symmf.clustering.symmf.structure import LARGEST, MOST
from symmf.common.notation import AnyMatrix, FloatArray
from symmf.distributed.rows import DistributedRows
from symmf.errors import InputError
from symmf.features.columns import MixedColumns

if TYPE_CHECKING:
    from symmf.clustering.labels.assign import Assignment
    from symmf.clustering.symmf.prepare import NewPoints

T = TypeVar("T")
_ROWS_GONE = (
    "Evidence, outliers and memberships are computed from the rows of the fit, which "
    "this model no longer has: they are not stored with a copy in another process or "
    "file if there are more than 2,000, nor with a fit of a dask array. Ask for them "
    "where the model was fitted."
)


class Interpretable:
    """Evidence, outliers and memberships of a fit; for :class:`symmf.SymMF`."""

    if TYPE_CHECKING:
        H_: FloatArray
        n_clusters_: int
        n_landmarks_: int | None
        n_clusters: Any
        similarity: str
        similarity_options: dict[str, Any] | None
        label_options: dict[str, Any] | None
        _assignment: Assignment
        _new_points: NewPoints
        _recipe: Recipe
        _extend: Callable[[Any], FloatArray]

    # What encodes a data frame with words or gaps.
    _encoder: MixedColumns | None = None
    # The rows of the fit, without a copy, and the answers so far.
    _rows: Any = None
    _answers: Any = MappingProxyType({})

    @property
    def evidence_(self) -> Evidence:
        """What speaks for the clusters, see :class:`~symmf.clustering.symmf.evidence`.

        ``evidence_.sentence``, ``verdict``, ``number``, ``stability`` and more. It
        clusters parts of the rows again, at most 2,000 of them, when first asked for.
        """
        return self._answer("evidence", self.gather_evidence)

    @property
    def outlier_score_(self) -> FloatArray:
        """Local outlier factor of each row; above 1.5 it is flagged."""
        return self._answer("outliers", self._score_outliers)

    @property
    def membership_(self) -> FloatArray:
        """How surely each row belongs to each cluster, (n, n_clusters); rows sum to 1.

        Calibrated: of the rows with .9 about nine in ten keep their cluster when a
        fifth of the rows is left out.
        """
        return self._answer("membership", lambda: self._memberships(self._factor()))

    def gather_evidence(self, *, stability: bool = True) -> Evidence:
        """Return ``evidence_``, or what of it needs no clustering of parts."""
        parts = self._answer("parts", self._parts) if stability else ()
        return gather_evidence(
            self._assignment.labels,
            chosen=self.n_clusters == "auto",
            numbers=self._answer("numbers", self._numbers),
            parts=parts,
            rows=self._compared(),
            embedding=unit_rows(self._factor()),
        )

    def predict_proba(self, X: Any) -> FloatArray:
        """Return how surely new rows belong to each cluster.

        Parameters
        ----------
        X : (n_new, m) array or scipy sparse matrix

        Returns
        -------
        (n_new, n_clusters) array
            Rows sum to 1.
        """
        check_is_fitted(self)
        return self._memberships(self._extend(X))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn's
        """Return the silhouette of rows of H for the rows of X: no classes are needed.

        For comparing parameters with each other, as ``GridSearchCV`` does. It is high
        on data without clusters too; ``evidence_`` is what to believe.

        Parameters
        ----------
        X : (n, m) array, frame or scipy sparse matrix
        y : ignored

        Returns
        -------
        float
            Between -1 and 1; -1 where all rows are in one cluster.
        """
        check_is_fitted(self)
        H = self._extend(X)
        return mean_silhouette(H, H.shape[1], self._assignment.assign(H))

    def _memberships(self, H: FloatArray) -> FloatArray:
        if self.n_clusters_ == 1:
            return np.ones((len(H), 1))
        calibrated = self._answer("calibration", self._calibrate)
        return calibrated.of(centre_distances(self._assignment, H, self.n_clusters_))

    def _remember(self, X: AnyMatrix, recipe: Recipe) -> None:
        """Forget earlier answers: these are the rows of a new fit."""
        self._rows = None if isinstance(X, DistributedRows) else X
        self._recipe = recipe
        self._answers = {}

    def _answer(self, key: str, find: Callable[[], T]) -> T:
        """Return a stored answer, or compute it without warnings."""
        check_is_fitted(self)
        if key not in self._answers:
            if self._rows is None:
                raise InputError(_ROWS_GONE)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                self._answers[key] = find()
        answer: T = self._answers[key]
        return answer

    def _choose_number(self, X: AnyMatrix, rng: np.random.Generator) -> int:
        """Return the number of clusters for "auto", and store the evidence for it."""
        numbers = compare_numbers(X, self._recipe, range(2, LARGEST + 1), rng)
        if self._rows is not None:
            self._answers["numbers"] = numbers
        return numbers.chosen

    def _numbers(self) -> Numbers:
        rng = np.random.default_rng(0)
        return compare_numbers(self._rows, self._recipe, range(2, LARGEST + 1), rng)

    def _factor(self) -> FloatArray:
        """Return a row of H for every sample."""
        if self.n_landmarks_ is None:
            return self.H_
        return np.asarray(in_blocks(self._new_points.extend, self._rows))

    def _parts(self) -> Parts:
        model: Any = clone(self)
        options = {**(self.label_options or {}), "noise": False}
        model.set_params(n_clusters=self.n_clusters_, label_options=options, verbose=0)
        if self._encoder is not None:
            # The rows are encoded already: what made the similarity goes with them.
            name, how = recipe_of_columns(
                self._encoder, self.similarity, self.similarity_options
            )
            model.set_params(similarity=name, similarity_options=how)

        def cluster(part: Any, seed: int) -> Any:
            model.set_params(random_state=seed)
            return model.fit(part_of(self._rows, part, self._recipe)).labels_

        rows = sample_of(len(self._assignment.labels))
        return cluster_parts(rows, self.n_clusters_, cluster)

    def _calibrate(self) -> Membership:
        parts = self._answer("parts", self._parts)
        if not parts:
            raise InputError("There are too few rows to estimate memberships.")
        D = centre_distances(self._assignment, self._factor(), self.n_clusters_)
        return Membership.calibrated(D, self._assignment.labels, parts)

    def _score_outliers(self) -> FloatArray:
        rows = self._compared()
        if rows is None:
            raise InputError("Outliers need rows; a similarity was given.")
        return outlier_scores(rows)

    def _compared(self) -> FloatArray | None:
        """Return the rows of the fit in the units in which they are compared."""
        return compared_rows(self._new_points, self._rows, self._recipe)

    def __getstate__(self) -> dict[str, Any]:
        base: Any = super()
        state: dict[str, Any] = dict(base.__getstate__())
        # A copy elsewhere takes a few rows with it, and leaves many.
        if self._rows is not None and self._rows.shape[0] > MOST:
            state.pop("_rows")
        return state
