"""Clustbench: data sets of a benchmark suite for clustering, with reference labels.

``load_dataset("clustbench", set="fcps/atom")`` gives one of 75: points as rows, in the
order of the file, and the expert's labels; ``labels=1`` the second expert's, where
there are several. Label 0 marks noise: such points are clustered, but not scored.

The batteries ``mnist``, ``g2mg`` and ``h2mg`` of the suite are left out for their size,
and ``sipu/worms_2`` because its labels were not at hand to take their checksum.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from symmf.common.notation import FloatArray
from symmf.common.validation import check_name, check_number
from symmf.datasets.base import Dataset, DatasetSpec, RemoteFile, Source
from symmf.errors import InputError

FOLDER = "clustbench"
# The tag v1.1.0; a commit cannot be moved.
_SOURCE = (
    "https://raw.githubusercontent.com/gagolews/clustering-data-v1/"
    "27ac73a6fd331fb18181419838d2e753dd1b5f80"
)
_NOISE = 0
# By name: numbers of samples and features, size and SHA-256 of the data file, and for
# each labelling the number of its classes, of noise points, size and SHA-256.
SETS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("ascii")
)


def needs(*, set: str = "", labels: int = 0) -> tuple[RemoteFile, RemoteFile]:
    """Return the two files of a data set, or raise ``InputError``."""
    if not set:
        raise InputError(
            "The data set 'clustbench' needs the option 'set', the name of one of its "
            f"{len(SETS)} data sets: {', '.join(SETS)}."
        )
    known = SETS[check_name("clustbench data set", set, SETS)]
    most = len(known["labels"]) - 1
    check_number(
        f"labels of the clustbench data set {set!r}",
        labels,
        least=0,
        most=most,
        whole=True,
    )
    return _file(set, "data", known["data"]), _file(
        set, f"labels{labels}", known["labels"][labels]["file"]
    )


def _file(name: str, part: str, known: tuple[int, str]) -> RemoteFile:
    size, sha256 = known
    path = f"{name}.{part}.gz"
    source = Source(url=f"{_SOURCE}/{path}")
    return RemoteFile(
        path=f"{FOLDER}/{path}", size=size, sha256=sha256, sources=(source,)
    )


def read(folder: Path, *, set: str = "", labels: int = 0) -> Dataset:
    """Load one data set from the data folder."""
    points, classes = needs(set=set, labels=labels)
    X = _numbers(folder / points.path)
    y = _numbers(folder / classes.path)
    return Dataset.from_arrays(
        X, y.ravel(), name="clustbench", title=set, kind="vector", noise=_NOISE
    )


def _numbers(path: Path) -> FloatArray:
    with gzip.open(path, "rt", encoding="ascii") as file:
        values: FloatArray = np.loadtxt(file, ndmin=2)
    return values


_MEMBERS: tuple[dict[str, Any], ...] = tuple(
    {"set": name, "labels": number}
    for name, known in SETS.items()
    for number in range(len(known["labels"]))
)

SPEC = DatasetSpec(
    name="clustbench",
    title="Clustbench",
    description=f"{len(SETS)} data sets with reference labels, of the benchmark suite "
    "of M. Gagolewski, version 1.1.0",
    licence="for research; the suite names the source of each data set",
    citation="M. Gagolewski et al. (Eds.): A benchmark suite for clustering "
    "algorithms: Version 1.1.0, 2022, doi:10.5281/zenodo.7088171",
    read=read,
    # Labellings of a data set share its points.
    files=tuple(dict.fromkeys(file for one in _MEMBERS for file in needs(**one))),
    needs=needs,
    members=_MEMBERS,
    member_sizes=tuple(SETS[one["set"]]["samples"] for one in _MEMBERS),
    accepts="a clone or an unpacked archive of the suite: the folder that holds fcps, "
    "graves, other, sipu, uci and wut",
    options={
        "set": "which data set, as fcps/atom or wut/x2",
        "labels": "which labelling, counted from 0, where there are several",
    },
)
