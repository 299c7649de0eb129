"""The audit of the paper's own 108 pairs, and the files it is kept in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from symmf.audit.contingency import AVERAGES
from symmf.audit.judge import Pair, Result, audit_pairs, results_frame
from symmf.audit.setting import Setting
from symmf.files import csv_text, write_text
from symmf.paper.values import DATASET_TITLES, ROWS, class_sizes, published_values

AUDIT_FILE = "audit.csv"
VERDICTS = ("impossible", "possible", "mixed", "undecided")


def paper_pairs(runs: int | None = 10) -> dict[tuple[str, int, str], Pair]:
    """Return the published pairs by (dataset, K, row), with the paper's setting.

    Each run clusters K whole classes into at most K clusters. The classes of the image
    sets have one size, those of the text sets their own, and any K of them are
    admitted in any run.
    """
    pairs = {}
    for dataset, title in DATASET_TITLES.items():
        values = published_values().query("dataset == @dataset")
        for K in sorted(set(values["n_clusters"])):
            cell = values[values["n_clusters"] == K]
            scores = cell.set_index(["row", "metric"])["value"].to_dict()
            setting = Setting(
                pool=class_sizes(dataset), n_classes=K, n_clusters=K, runs=runs
            )
            for row, label in ROWS.items():
                pairs[dataset, K, row] = Pair(
                    setting=setting,
                    ac=scores[row, "ac"],
                    nmi=scores[row, "nmi"],
                    name=f"{title}, K = {K}, {label}",
                )
    return pairs


def audit_paper(
    averages: Iterable[str] = AVERAGES, *, runs: int | None = 10, search: bool = True
) -> tuple[pd.DataFrame, list[Result]]:
    """Judge all published pairs.

    Returns
    -------
    frame : pandas.DataFrame
        The columns of :func:`symmf.audit.judge.results_frame` after ``dataset`` and
        ``row``; a line per pair and normalisation, in the order of the paper's tables.
    results : list of Result
        The same, with the witnesses.
    """
    averages = list(averages)
    pairs = paper_pairs(runs)
    results = audit_pairs(list(pairs.values()), averages, search=search)
    frame = results_frame(results).drop(columns="name")
    keys = [key for key in pairs for _ in averages]
    frame.insert(0, "dataset", [dataset for dataset, _, _ in keys])
    frame.insert(1, "row", [row for _, _, row in keys])
    return frame, results


def common_verdicts(frame: pd.DataFrame) -> pd.Series:
    """Return one verdict per pair, over all normalisations of the frame.

    A pair is impossible (possible) only if it is so in every normalisation; otherwise
    it is ``undecided`` if some are undecided, and else ``mixed``.
    """
    keys = [key for key in ("dataset", "name", "n_clusters", "row") if key in frame]
    return frame.groupby(keys, sort=False)["verdict"].agg(_common_verdict)


def _common_verdict(verdicts: pd.Series) -> str:
    kinds = set(verdicts)
    if len(kinds) == 1:
        return str(verdicts.iloc[0])
    return "undecided" if "undecided" in kinds else "mixed"


def cell_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Count the common verdicts per cell of the paper's tables.

    Returns
    -------
    pandas.DataFrame
        Columns ``dataset``, ``n_clusters``, ``pairs`` and one per kind of verdict.
    """
    verdicts = common_verdicts(frame).reset_index()
    lines = []
    for (dataset, K), cell in verdicts.groupby(["dataset", "n_clusters"], sort=False):
        counts = {kind: int((cell["verdict"] == kind).sum()) for kind in VERDICTS}
        lines.append(
            {"dataset": dataset, "n_clusters": K, "pairs": len(cell), **counts}
        )
    return pd.DataFrame(lines)


def save_audit(frame: pd.DataFrame, results: Sequence[Result], folder: Path) -> None:
    """Write ``audit.csv`` and the tables of all witnesses, ``witnesses.json``."""
    write_text(folder / AUDIT_FILE, csv_text(frame))
    lines = [
        json.dumps(
            {
                "name": result.pair.name,
                "average": result.average,
                "ac": round(result.witness.ac, 6),
                "nmi": round(result.witness.nmi, 6),
                "tables": [
                    {"runs": count, "table": table}
                    for count, table in result.witness.tables
                ],
            },
            separators=(",", ":"),
        )
        for result in results
        if result.witness is not None
    ]
    write_text(folder / "witnesses.json", "[" + ",\n".join(lines) + "]\n")


def load_audit(results: Path) -> pd.DataFrame | None:
    """Return the audit kept in a results folder, or None if there is none."""
    path = results / "audit" / AUDIT_FILE
    return pd.read_csv(path) if path.is_file() else None
