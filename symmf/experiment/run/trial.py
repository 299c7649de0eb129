"""One trial: choose the samples, preprocess, fit, score. Failures are outcomes too."""

from __future__ import annotations

import io
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from symmf.common.notation import FloatArray, LabelArray
from symmf.common.seeds import generator
from symmf.errors import ConfigError, InputError
from symmf.experiment.run.memory import MemoryMeter, is_out_of_memory
from symmf.experiment.values import Job, Outcome, Status, Trial, now
from symmf.similarity.share import Sharing

if TYPE_CHECKING:
    from symmf.datasets import Dataset

# More rows than a picture can show, and n x n numbers to keep.
MOST_ROWS = 400
# Of this process, for the trials that it runs one after another.
SIMILARITIES = Sharing()


def build(job: Job) -> Any:
    """Return the estimator of a trial with all its parameters set."""
    trial = job.trial
    parameters = dict(trial.parameters)
    parameters |= {"n_clusters": trial.n_clusters, "random_state": trial.random_state}
    if trial.laplacian_weight is not None:
        parameters["laplacian_weight"] = trial.laplacian_weight
    return job.estimator(**parameters)


def run_trial(job: Job, data: Dataset) -> Outcome:
    """Run one trial; whatever it raises becomes a failed outcome.

    ``seconds`` is the time of ``fit`` alone: choosing samples, preprocessing and
    scoring are outside. A similarity that an earlier trial of the worker has built is
    used again, but for plugins; its seconds count as if this trial had built it.
    Warnings are kept in the outcome, not shown; that a limit ended a fit is not among
    them, as ``stop`` says it already.
    """
    from sklearn.exceptions import ConvergenceWarning

    # What is known so far: of a trial that fails, too.
    found: dict[str, Any] = {"status": Status.OK, "started": now()}
    with warnings.catch_warnings(record=True) as caught, MemoryMeter() as memory:
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            memory.limit(job.memory_gb)
            _run(job, data, found)
        except Exception as error:
            memory.limit(None)
            out_of_memory = is_out_of_memory(error)
            found["status"] = Status.MEMORY if out_of_memory else Status.FAILED
            message = f"{type(error).__name__}: {error}".strip().rstrip(":")
            if out_of_memory and job.memory_gb is not None:
                message += f" (limit {job.memory_gb:g} GiB)"
            found |= {"message": message, "traceback": traceback.format_exc()}
    texts = (f"{w.category.__name__}: {w.message}" for w in caught)
    return Outcome(
        **found, peak_memory_mb=memory.peak_mb, warnings=tuple(dict.fromkeys(texts))
    )


def _run(job: Job, data: Dataset, found: dict[str, Any]) -> None:
    from symmf.features.preprocess import preprocess
    from symmf.metrics import score, silhouette

    trial = job.trial
    chosen = data.subset(trial.classes) if trial.classes else data
    if trial.draw:
        chosen = chosen.take(drawn_rows(trial, chosen))
    found |= {"n_samples": chosen.n_samples, "y": chosen.y}
    X = preprocess(chosen.X, trial.preprocess)
    estimator = build(job)

    # A ceiling asks what labels would give; a clusterer never sees them.
    labelled = getattr(estimator, "uses_labels", False)
    # A plugin may change what it is given, so it shares nothing with other trials.
    sharing = None if job.sources else SIMILARITIES
    start = time.perf_counter()
    try:
        with sharing or nullcontext():
            estimator.fit(X, chosen.y) if labelled else estimator.fit(X)
    finally:
        found["seconds"] = time.perf_counter() - start
        if sharing is not None:
            found["seconds"] += sharing.saved
            found["similarity_seconds"] = sharing.seconds

    found |= _read_fit(estimator)
    if found["stop"] == "diverged":
        found["status"] = Status.DIVERGED
        found["message"] = f"The iteration diverged after {found['n_iter']} iterations."
        return
    labels = np.asarray(estimator.labels_, dtype=np.int64)
    found |= {"labels": labels, "scores": score(chosen.y, labels)}
    H = getattr(estimator, "H_", ())
    # Of very many samples the factor has a row for each landmark.
    if len(H) == len(labels):
        # Of the factor's own rows: what can choose lambda without knowing classes.
        found["scores"]["silhouette"] = silhouette(H, labels)
    if job.illustrate:
        found["illustration"] = illustration_bytes(trial, estimator, X, chosen)


def drawn_rows(trial: Trial, data: Dataset) -> LabelArray:
    """Return the rows of a trial that uses a part of them: of each class alike.

    They depend on the seed, the data set, K and the number of the trial alone, so all
    methods of a trial see the same ones.
    """
    share = trial.draw.get("share") or trial.draw["rows"] / data.n_samples
    if share > 1:
        raise InputError(
            f"draw: {trial.draw['rows']} rows are requested, but trial {trial.trial} "
            f"of {trial.n_clusters} classes has {data.n_samples}. Ask for fewer."
        )
    names = (trial.seed, trial.dataset, trial.n_clusters, trial.trial, "rows")
    rng = generator(*names)
    rows = []
    for c in np.unique(data.y):
        members = np.flatnonzero(data.y == c)
        count = max(1, round(share * members.size))
        rows.append(rng.choice(members, size=count, replace=False))
    return np.sort(np.concatenate(rows))


def _read_fit(estimator: Any) -> dict[str, Any]:
    """Take from a fitted estimator what it tells beyond its labels.

    An estimator of another package may mean something else by the same name; what does
    not fit is left out.
    """
    fitted = getattr(estimator, "inner", estimator)
    history = getattr(fitted, "history_", None)
    if isinstance(history, (list, np.ndarray)):
        history = {"error": history}
    if not isinstance(history, Mapping):
        names = ("error", "split_error", "seconds")
        history = {name: getattr(history, name, None) for name in names}
    found = {
        "n_iter": _converted(int, getattr(fitted, "n_iter_", None)),
        "objective": _converted(float, getattr(fitted, "objective_", None)),
        "error": _converted(_floats, history.get("error")),
        "split_error": _converted(_floats, history.get("split_error")),
        "trace_seconds": _converted(_floats, history.get("seconds")),
    }
    for name in ("stop", "solver", "matrix"):
        text = getattr(fitted, f"{name}_", "")
        found[name] = text if isinstance(text, str) else ""
    return found


def _converted(convert: Callable[[Any], Any], value: Any) -> Any:
    try:
        return None if value is None else convert(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _floats(values: Any) -> FloatArray:
    return np.asarray(values, dtype=np.float64).ravel()


def illustration_bytes(trial: Trial, model: Any, X: Any, chosen: Dataset) -> bytes:
    """Return the content of ``illustration.npz``, for figures drawn without a solver.

    The similarity, the factor, classes and clusters of at most 400 samples are kept.
    """
    from symmf.similarity import build_similarity

    if not {"H_", "similarity"} <= vars(model).keys():
        raise ConfigError(
            f'illustration: "{trial.method}" has no similarity and factor to show; '
            "choose an entry of a symmetric method such as symmf."
        )
    if model.similarity == "auto":
        raise ConfigError(
            f'illustration: name the similarity of "{trial.method}" in its parameters, '
            "such as similarity: centred_cosine."
        )
    A = build_similarity(X, model.similarity, **(model.similarity_options or {}))
    rng = np.random.default_rng(trial.random_state)
    rows = np.sort(rng.permutation(chosen.n_samples)[:MOST_ROWS])
    every = getattr(model, "n_landmarks_", None) is None
    H = model.H_[rows] if every else model.transform(X[rows])
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        A=A.columns(rows)[rows].astype(np.float32),
        H=H.astype(np.float32),
        classes=chosen.y[rows],
        labels=model.labels_[rows],
    )
    return buffer.getvalue()
