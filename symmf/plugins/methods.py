"""Outside clusterers made to look like ours: K, random state, labels, history."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symmf.common.validation import unknown_name
from symmf.errors import InputError
from symmf.plugins.source import CodeSource, plain

if TYPE_CHECKING:
    from symmf.datasets import DatasetSpec

SKLEARN = "sklearn."


def find_method(name: str) -> Any:
    """Return a method by the name a YAML file gives it.

    Ours and those of ``--plugin`` files first, then entry points of installed packages,
    then clusterers of scikit-learn by their full name. ``ceiling`` is a classifier that
    sees the classes: it can be asked for, but is no clusterer and not listed as one.

    Raises
    ------
    InputError
        If there is none; the sentence gives the nearest name.

    Examples
    --------
    >>> find_method("sklearn.cluster.AgglomerativeClustering")
    SklearnMethod(name='sklearn.cluster.AgglomerativeClustering')
    """
    from symmf.clustering.ceilings import CEILINGS

    known = all_methods()
    if name in known or name in CEILINGS:
        return known.get(name) or CEILINGS[name]
    if name.startswith(SKLEARN):
        return SklearnMethod(name=name)
    raise InputError(unknown_name("method", name, known))


def all_methods() -> dict[str, Any]:
    """Return our methods and those of plugins, by name."""
    from symmf.clustering import METHODS
    from symmf.plugins.registry import REGISTRY

    return {**REGISTRY.of("METHODS"), **METHODS}


def all_datasets() -> dict[str, DatasetSpec]:
    """Return our data sets and those of plugins, by name."""
    from symmf.datasets import DATASETS
    from symmf.plugins.registry import REGISTRY

    return {**REGISTRY.of("DATASETS"), **DATASETS}


@dataclass(frozen=True, slots=True)
class SklearnMethod:
    """A clusterer of scikit-learn, by its full name.

    Raises
    ------
    InputError
        Unless the name is that of a clusterer or a mixture below ``sklearn``.
    """

    name: str

    def __post_init__(self) -> None:
        self._class()

    @property
    def __signature__(self) -> inspect.Signature:
        return _as_ours(inspect.signature(self._class()))

    @property
    def behaviour(self) -> str:
        """A digest of the defaults: another version may change them."""
        names = self.__signature__.parameters
        text = json.dumps({n: plain(p.default) for n, p in names.items()})
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def __call__(self, **parameters: Any) -> OutsideEstimator:
        """Return the estimator with its parameters set."""
        kind = self._class()
        names = list(inspect.signature(kind).parameters)
        return OutsideEstimator(kind(**_as_theirs(parameters, names, others=False)))

    def _class(self) -> Any:
        from sklearn.base import ClusterMixin
        from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

        module, _, last = self.name.rpartition(".")
        found: Any = None
        if all(part.isidentifier() for part in self.name.split(".")):
            with suppress(ImportError):
                found = getattr(importlib.import_module(module), last, None)
        wanted = (ClusterMixin, GaussianMixture, BayesianGaussianMixture)
        if (
            not isinstance(found, type)
            or not issubclass(found, wanted)
            or not found.__module__.startswith(SKLEARN)
        ):
            raise InputError(
                f"There is no clusterer {self.name!r} in scikit-learn. Give its full "
                "name, such as sklearn.cluster.AgglomerativeClustering."
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideMethod:
    """A method of a plugin file or package; its code runs where the trial runs."""

    name: str
    source: CodeSource = field(repr=False)
    parameters: Mapping[str, Any] = field(repr=False)
    others: bool = False

    def identity(self) -> dict[str, str]:
        """Return what enters the keys of trials."""
        return self.source.identity()

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter.KEYWORD_ONLY
        names = dict(self.parameters)
        if self.others:
            names.setdefault("n_clusters", None)
        return _as_ours(
            inspect.Signature(
                [inspect.Parameter(n, kind, default=v) for n, v in names.items()]
            )
        )

    def __call__(self, **parameters: Any) -> OutsideEstimator:
        """Load the code and return the estimator with its parameters set."""
        found = self.source.objects("METHODS")
        if self.name not in found:
            raise InputError(f"The plugin {self.source.name} has no {self.name} here.")
        given = _as_theirs(parameters, list(self.parameters), others=self.others)
        return OutsideEstimator(found[self.name](**given))


def _as_ours(signature: inspect.Signature) -> inspect.Signature:
    """Name the number of clusters as we do."""
    found = signature.parameters
    if "n_clusters" in found or "n_components" not in found:
        return signature
    return signature.replace(
        parameters=[
            p.replace(name="n_clusters") if p.name == "n_components" else p
            for p in found.values()
        ]
    )


def _as_theirs(
    parameters: Mapping[str, Any], names: list[str], *, others: bool
) -> dict[str, Any]:
    """Name the number of clusters as they do; leave out what they do not take."""
    given = dict(parameters)
    if "n_clusters" in given and "n_clusters" not in names and not others:
        k = given.pop("n_clusters")
        if "n_components" in names:
            given["n_components"] = k
    if "random_state" not in names and not others:
        given.pop("random_state", None)
    return given


class OutsideEstimator:
    """An outside clusterer with ``labels_`` as ours; ``inner`` is what was fitted."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def fit(self, X: Any) -> OutsideEstimator:
        """Fit, and take the labels from wherever the estimator has them."""
        fitted = self.inner.fit(X)
        self.inner = inner = self.inner if fitted is None else fitted
        labels = getattr(inner, "labels_", None)
        if labels is None and hasattr(inner, "predict"):
            labels = inner.predict(X)
        if labels is None:
            raise TypeError(f"{type(inner).__name__} has no labels_ after fit")
        self.labels_ = _as_labels(labels, X.shape[0])
        return self


def _as_labels(labels: Any, n: int) -> Any:
    """Return whole numbers for labels of any kind, or raise with what they are."""
    found = np.asarray(labels)
    if found.shape != (n,):
        raise ValueError(f"labels_ has the shape {found.shape}, but there are {n} rows")
    if found.dtype.kind in "iub":
        return found.astype(np.int64)
    # NaN would become a cluster like any other.
    if found.dtype.kind in "fc" and not np.isfinite(found).all():
        raise ValueError("labels_ has entries that are not finite")
    return np.unique(found, return_inverse=True)[1].astype(np.int64)
