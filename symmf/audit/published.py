"""The audit of published pairs by cell, and its files: the paper's, or a study's.

Pairs are known by (data set, K, row), like the cells of a table of scores.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata, resources
from pathlib import Path

import pandas as pd

from symmf.audit.contingency import AVERAGES
from symmf.audit.judge import (
    Pair,
    PairVerdict,
    Possibility,
    audit_pairs,
    verdicts_frame,
)
from symmf.audit.setting import Setting
from symmf.common.files import csv_text, read_file, read_text, write_text
from symmf.paper import DATASET_TITLES, ROWS, class_sizes, published_values

AUDIT_FILE = "audit.csv"
WITNESS_FILE = "witnesses.json"
DIGEST_FILE = "inputs.sha256"

Pairs = Mapping[tuple[str, int, str], Pair]


def paper_pairs(runs: int | None = 10) -> dict[tuple[str, int, str], Pair]:
    """Return the paper's pairs by (dataset, K, row), with the paper's setting.

    Each run clusters K whole classes into at most K clusters. The classes of the image
    sets have one size, those of the text sets their own, and any K of them are
    admitted in any run.
    """
    places = ["dataset", "n_clusters", "row"]
    scores = published_values().set_index([*places, "metric"])["value"].unstack()
    return {
        (dataset, K, row): Pair(
            setting=Setting(
                pool=class_sizes(dataset), n_classes=K, n_clusters=K, runs=runs
            ),
            ac=float(scores.loc[(dataset, K, row), "ac"]),
            nmi=float(scores.loc[(dataset, K, row), "nmi"]),
            name=f"{title}, K = {K}, {label}",
        )
        for dataset, title in DATASET_TITLES.items()
        for K in scores.loc[dataset].index.unique("n_clusters")
        for row, label in ROWS.items()
    }


def audit_published(
    pairs: Pairs,
    averages: Iterable[str] = AVERAGES,
    *,
    search: bool = True,
    progress: Callable[[float], object] | None = None,
) -> tuple[pd.DataFrame, list[PairVerdict]]:
    """Judge published pairs; see :func:`symmf.audit.judge.audit_pairs`.

    Returns
    -------
    frame : pandas.DataFrame
        The columns of :func:`symmf.audit.judge.verdicts_frame` after ``dataset`` and
        ``row``; a line per pair and normalisation, in the order of the pairs.
    verdicts : list of PairVerdict
        The same, with the witnesses.
    """
    averages = list(averages)
    verdicts = audit_pairs(
        list(pairs.values()), averages, search=search, progress=progress
    )
    frame = verdicts_frame(verdicts).drop(columns="name")
    keys = [key for key in pairs for _ in averages]
    frame.insert(0, "dataset", [dataset for dataset, _, _ in keys])
    frame.insert(1, "row", [row for _, _, row in keys])
    return frame, verdicts


def pair_keys(frame: pd.DataFrame) -> list[str]:
    """Return the columns that tell pairs apart."""
    return [key for key in ("dataset", "name", "n_clusters", "row") if key in frame]


def common_verdicts(frame: pd.DataFrame) -> pd.Series:
    """Return one verdict per pair, over all normalisations of the frame.

    A pair is impossible (possible) only if it is so in every normalisation; otherwise
    it is ``undecided`` if some are undecided, and else ``mixed``.
    """

    def common(verdicts: pd.Series) -> str:
        kinds = set(verdicts)
        if len(kinds) == 1:
            return str(kinds.pop())
        undecided = Possibility.UNDECIDED in kinds
        return str(Possibility.UNDECIDED if undecided else Possibility.MIXED)

    return frame.groupby(pair_keys(frame), sort=False)["verdict"].agg(common)


def cell_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Count the common verdicts per cell of the published tables.

    Returns
    -------
    pandas.DataFrame
        Columns ``dataset``, ``n_clusters``, ``pairs`` and one per kind of verdict.
    """
    found = common_verdicts(frame).reset_index()
    cells = ["dataset", "n_clusters"]
    for kind in map(str, Possibility):
        found[kind] = found["verdict"] == kind
    found["pairs"] = 1
    columns = ["pairs", *map(str, Possibility)]
    return found.groupby(cells, sort=False)[columns].sum().reset_index()


def save_audit(
    frame: pd.DataFrame, verdicts: Sequence[PairVerdict], folder: Path
) -> None:
    """Write ``audit.csv`` and the tables of all witnesses, ``witnesses.json``."""
    write_text(folder / AUDIT_FILE, csv_text(frame))
    lines = [
        json.dumps(
            {
                "name": verdict.pair.name,
                "average": verdict.average,
                "ac": round(verdict.witness.ac, 6),
                "nmi": round(verdict.witness.nmi, 6),
                "tables": [
                    {"runs": count, "table": table}
                    for count, table in verdict.witness.tables
                ],
            },
            separators=(",", ":"),
        )
        for verdict in verdicts
        if verdict.witness is not None
    ]
    write_text(folder / WITNESS_FILE, "[" + ",\n".join(lines) + "]\n")


def make_audit(
    pairs: Pairs,
    folder: Path,
    averages: Iterable[str] = AVERAGES,
    *,
    search: bool = True,
    progress: Callable[[float], object] | None = None,
) -> pd.DataFrame:
    """Judge published pairs and write the files; return the frame as it is stored.

    A digest of the inputs and of the files is written too, for :func:`stored_audit`.
    """
    from symmf.audit.words import markdown

    averages = list(averages)
    frame, verdicts = audit_published(pairs, averages, search=search, progress=progress)
    save_audit(frame, verdicts, folder)
    write_text(folder / "audit.md", markdown(frame))
    inputs = _inputs_digest(pairs, averages, search=search)
    write_text(folder / DIGEST_FILE, f"{inputs} {_files_digest(folder)}\n")
    return pd.read_csv(folder / AUDIT_FILE)


def stored_audit(
    pairs: Pairs, folder: Path, averages: Iterable[str], *, search: bool
) -> pd.DataFrame | None:
    """Return the audit in a folder if :func:`make_audit` would make the same one."""
    return _read_audit(folder, _inputs_digest(pairs, averages, search=search))


def load_audit(results: Path) -> pd.DataFrame | None:
    """Return the audit stored in a results folder, or None if there is none.

    Files that are not as they were written count as none: the audit takes seconds.
    """
    return _read_audit(results / "audit")


def _read_audit(folder: Path, inputs: str | None = None) -> pd.DataFrame | None:
    """Read an audit whose files, and whose inputs if given, match the digests."""
    try:
        of_inputs, of_files = read_text(folder / DIGEST_FILE).split()
        fits = of_files == _files_digest(folder) and inputs in (None, of_inputs)
    except (OSError, ValueError):
        return None
    return pd.read_csv(folder / AUDIT_FILE) if fits else None


def _inputs_digest(pairs: Pairs, averages: Iterable[str], *, search: bool) -> str:
    """Return a digest of all that decides the audit: pairs, options, code."""
    versions = [metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")]
    asked = [versions, list(averages), search, list(map(repr, pairs.values()))]
    digest = hashlib.sha256(json.dumps(asked).encode())
    package = resources.files("symmf")
    sources = [package / name for name in ("metrics.py", "common/seeds.py")]
    sources += [path for path in (package / "audit").iterdir() if path.is_file()]
    for path in sorted(sources, key=lambda path: path.name):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files_digest(folder: Path) -> str:
    names = AUDIT_FILE, "audit.md", WITNESS_FILE
    content = b"".join(read_file(folder / name) for name in names)
    return hashlib.sha256(content).hexdigest()
