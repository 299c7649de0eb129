"""Which results are read: a user's own runs, or the committed reference study.

Own runs are in ``results/<experiment>/``, which git ignores; the committed study is in
``results/reference/<experiment>/``. Reading commands look at own runs if there are any,
else at the reference. What they make of own runs goes below ``results/``, what they
make of the reference below ``results/from_reference/``: the two never mix.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from symmf.common.shipped import reference_folder
from symmf.experiment.store.layout import (
    EXPERIMENT_FILE,
    FROM_REFERENCE,
    REFERENCE_FOLDER,
)
from symmf.experiment.values import is_reserved


class Source(StrEnum):
    """Whose results are read."""

    OWN = "own"
    REFERENCE = "reference"


# Where commands look without --results. Outside a checkout it has no reference of its
# own, and the one inside the package is read.
DEFAULT = Path("results")


@dataclass(frozen=True, slots=True)
class ResultsPlace:
    """A folder to read results from, and the one to write what is made of them."""

    folder: Path
    out: Path
    source: Source

    @property
    def sentence(self) -> str:
        """Say whose results these are, for a line above a command's output."""
        if self.source is Source.OWN:
            return f"Results: your own runs in {self.folder}"
        return f"Results: the reference study in {self.folder}"


def experiment_folders(results: Path | str) -> list[Path]:
    """Return the folders of the experiments in a results folder, by name."""
    results = Path(results)
    if not results.is_dir():
        return []
    folders = sorted(path.parent for path in results.glob(f"*/{EXPERIMENT_FILE}"))
    return [path for path in folders if not is_reserved(path.name)]


def results_place(results: Path, *, reference: bool = False) -> ResultsPlace:
    """Choose what is read below ``results``.

    Parameters
    ----------
    results
        The results folder, as given with ``--results``.
    reference
        Whether the reference study is asked for; otherwise it is read only where
        there are no own runs.

    Returns
    -------
    The place. Without own runs and without a reference: the empty results folder.
    """
    study = results / REFERENCE_FOLDER
    if not study.is_dir() and (reference or results == DEFAULT):
        study = reference_folder()
    if study.is_dir() and (reference or not experiment_folders(results)):
        return ResultsPlace(study, results / FROM_REFERENCE, Source.REFERENCE)
    # The reference is made anew in its own folder.
    named = results.name == REFERENCE_FOLDER
    return ResultsPlace(results, results, Source.REFERENCE if named else Source.OWN)
