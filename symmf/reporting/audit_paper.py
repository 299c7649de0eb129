"""The audit of the paper's own 108 pairs, and the files it is kept in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from symmf.reporting.audit import Pair, Result, audit_pairs, results_frame
from symmf.reporting.audit_setting import Setting
from symmf.reporting.audit_tables import AVERAGES
from symmf.reporting.paper import DATASET_TITLES, ROWS, class_sizes, published_values

AUDIT_FILE = "audit.csv"


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
        The columns of :func:`symmf.reporting.audit.results_frame` after ``dataset`` and
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


def cell_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Count verdicts per cell of the paper's tables.

    A pair counts as impossible (possible) only if it is so in every normalisation of
    the frame; otherwise it is ``mixed``, or ``undecided`` if some are undecided.
    """
    keys = ["dataset", "n_clusters", "row"]
    pairs = frame.groupby(keys, sort=False)["verdict"].agg(_common_verdict)
    kinds = ["impossible", "possible", "mixed", "undecided"]
    counts = pairs.groupby(["dataset", "n_clusters"], sort=False).value_counts()
    table = counts.unstack(fill_value=0).reindex(columns=kinds, fill_value=0)
    order = pairs.reset_index()[keys[:2]].drop_duplicates()
    summary = order.merge(table.reset_index(), on=keys[:2], how="left")
    summary.insert(2, "pairs", summary[kinds].sum(axis=1))
    return summary


def _common_verdict(verdicts: pd.Series) -> str:
    kinds = set(verdicts)
    if len(kinds) == 1:
        return str(verdicts.iloc[0])
    return "undecided" if "undecided" in kinds else "mixed"


def save_audit(frame: pd.DataFrame, results: Sequence[Result], folder: Path) -> None:
    """Write ``audit.csv`` and the tables of all witnesses, ``witnesses.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    text = frame.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    (folder / AUDIT_FILE).write_text(text, encoding="utf-8")
    lines = [
        json.dumps(
            {
                "name": result.pair.name,
                "average": result.average,
                "ac": result.witness.ac,
                "nmi": result.witness.nmi,
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
    content = "[" + ",\n".join(lines) + "]\n"
    (folder / "witnesses.json").write_text(content, encoding="utf-8")


def load_audit(results: Path) -> pd.DataFrame | None:
    """Return the audit kept in a results folder, or None if there is none."""
    path = results / "audit" / AUDIT_FILE
    return pd.read_csv(path) if path.is_file() else None
