"""The public names: typed for a strict user, complete, and in the reference."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import symmf
from symmf.clustering.base import Clusterer
from symmf.constraints import ConstraintName
from symmf.similarity import SimilarityName
from symmf.solvers import SolverName

ROOT = Path(__file__).parents[1]
REFERENCE = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")

# An ignored error that is none is itself an error of strict mypy, so the lines at the
# end say that mistakes are found: results are not Any.
SNIPPET = """
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeAlias, assert_type

import symmf
from symmf import METHODS, SOLVERS, ConsensusSymMF, SymMF

Labels: TypeAlias = npt.NDArray[np.int64]

data = symmf.load_dataset("digits")
assert_type(data, symmf.Dataset)
model = SymMF(n_clusters=10, solver="auto", similarity="mutual_knn").fit(data.X)
assert_type(model, SymMF)
assert_type(SymMF("auto").set_params(tol=0.0), SymMF)
assert_type(ConsensusSymMF(3).fit(data.X), ConsensusSymMF)
assert_type(model.labels_, Labels)
assert_type(model.predict(data.X), Labels)
assert_type(SymMF().fit_predict(data.X), Labels)
assert_type(METHODS["gnmf"](n_clusters=3, random_state=0).fit(data.X).labels_, Labels)
assert_type(symmf.accuracy(data.y, model.labels_), float)
assert_type(symmf.metrics.silhouette(model.H_, model.labels_), float)

A = symmf.build_similarity(data.X, "cosine_knn", n_neighbors=5)
fit = symmf.factorize(symmf.regularise(A, 0.5), 3, constraint="nonnegative")
assert_type(fit, symmf.Factorization)
assert_type(fit.H, npt.NDArray[np.floating[Any]])
assert_type(fit.stop, symmf.Stop)
assert_type(symmf.factorize_path(A, 3, [0, 0.1]), list[symmf.Factorization])
choice = symmf.select(data.X, n_clusters=range(2, 5))
assert_type(choice, symmf.Selection)
assert_type(choice.n_clusters, int)
names: list[str] = [*SOLVERS, *symmf.CONSTRAINTS, *symmf.SIMILARITIES, *METHODS]

fit.errors  # type: ignore[attr-defined]
SymMF(n_cluster=3)  # type: ignore[call-arg]
symmf.factorize(A, 3, tol="small")  # type: ignore[arg-type]
choice.k  # type: ignore[attr-defined]
"""


@pytest.mark.slow
def test_a_users_strict_mypy_passes(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(SNIPPET, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "user.py"],
        cwd=tmp_path,  # outside the checkout, whose settings a user does not have
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(symmf.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize(
    ("names", "registry"),
    [
        (SolverName, symmf.SOLVERS),
        (SimilarityName, symmf.SIMILARITIES),
        (ConstraintName, symmf.CONSTRAINTS),
    ],
    ids=["solvers", "similarities", "constraints"],
)
def test_editors_offer_what_the_registry_has(names: object, registry: dict) -> None:
    assert list(get_args(names)) == list(registry)


def test_top_level_names() -> None:
    assert set(symmf.__all__) == {
        *("SymMF", "ConsensusSymMF", "METHODS"),
        *("select", "Selection"),
        *("factorize", "factorize_path", "Factorization", "Stop"),
        *("SOLVERS", "CONSTRAINTS", "SIMILARITIES", "build_similarity", "regularise"),
        *("load_dataset", "Dataset"),
        *("metrics", "accuracy", "nmi", "ari"),
        "__version__",
    }


def test_the_version_is_the_same_everywhere() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {symmf.__version__}\n" in cited
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{symmf.__version__}] - " in changes


def listed() -> set[str]:
    """Return the last part of every name in the reference."""
    names = re.findall(r"^   ~?([A-Za-z0-9_.]+)$", REFERENCE, re.M)
    return {name.rpartition(".")[2] for name in names}


@pytest.mark.parametrize("name", sorted(set(symmf.__all__) - {"__version__"}))
def test_a_top_level_name_is_in_the_reference(name: str) -> None:
    assert name in listed() or f"``symmf.{name}``" in REFERENCE


def test_what_the_registries_hold_is_in_the_reference() -> None:
    kinds = [*symmf.SOLVERS.values(), *symmf.CONSTRAINTS.values()]
    kinds += [
        kind
        for kind in symmf.METHODS.values()
        if isinstance(kind, type) and issubclass(kind, Clusterer)
    ]
    kinds += symmf.SIMILARITIES.values()
    assert {kind.__name__ for kind in kinds} <= listed()
