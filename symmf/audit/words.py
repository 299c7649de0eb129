"""The audit in words: sentences that claim what was shown and no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from symmf.audit.judge import Basis, Possibility
from symmf.audit.published import cell_summary, common_verdicts
from symmf.audit.setting import Method
from symmf.common.texts import markdown_table
from symmf.paper import DATASET_TITLES, ROWS

DEFINITIONS = (
    "AC is the share of samples in clusters matched to their class by the best "
    "one-to-one matching.",
    "NMI is mutual information divided by a mean of the two entropies, and 0 for a "
    "trivial partition (or computed with one added sample per class, as a widely "
    "copied MATLAB function does).",
    "Both numbers are arithmetic means over the same runs.",
    "Printed values are rounded; half a unit in the last place is allowed each way.",
    "Runs use whole classes, and at most the stated number of clusters.",
)

EXPLANATIONS = (
    "Possible explanations include a number of clusters other than stated, other class "
    "sizes, another definition of NMI or of accuracy, averages over different runs, or "
    "a slip in typing or typesetting. The scores of the single runs are not available "
    "to us, and no conclusion is drawn about the cause."
)

_MEANS = {
    "max": "the larger entropy",
    "arithmetic": "the arithmetic mean of the entropies",
    "geometric": "the geometric mean of the entropies",
    "harmonic": "the harmonic mean of the entropies",
    "min": "the smaller entropy",
}


def basis_text(line: Mapping[Any, Any]) -> str:
    """Return in words what a verdict rests on, from a line of the audit's frame.

    Examples
    --------
    >>> basis_text({"basis": "exact_runs", "method": "hull", "runs": 10})
    'hull of all tables (T4); for exactly 10 runs (T3)'
    """
    method = Method(line["method"]).meaning
    return Basis(line["basis"]).meaning.format(method=method, runs=_runs(line["runs"]))


def sentence(line: Mapping[Any, Any]) -> str:
    """Return what is claimed about one pair, from a line of the audit's frame.

    Examples
    --------
    >>> line = dict(verdict="impossible", average="max", ac=0.316, nmi=0.296)
    >>> line |= dict(decimals=3, n_classes=3, n_clusters=3, ac_floor=1 / 3)
    >>> line |= dict(basis="ac_floor")
    >>> print(sentence(line))
    With 3 classes and at most 3 clusters the matched accuracy of a run, and so of a
    mean, is never below 0.3333; the published value is 0.316.
    """
    digits = int(line["decimals"])
    ac, nmi = f"{line['ac']:.{digits}f}", f"{line['nmi']:.{digits}f}"
    basis = Basis(line["basis"])
    with_classes = (
        f"With {line['n_classes']} classes and at most {line['n_clusters']} clusters"
    )
    measure = f"NMI divided by {_MEANS[line['average']]}"
    if basis is Basis.AC_FLOOR:
        return (
            f"{with_classes} the matched accuracy of a run, and so of a mean, is never "
            f"below {line['ac_floor']:.4f}; the published value is {ac}."
        )
    if basis is Basis.WITNESS:
        return (
            f"Explicit tables have mean AC {line['witness_ac']:.4f} and mean NMI "
            f"{line['witness_nmi']:.4f} ({measure}), so {ac} and {nmi} are possible "
            "together; that does not make them likely."
        )
    if basis is Basis.NOTHING:
        return (
            f"No bound excludes {ac} and {nmi} together ({measure}), and the search "
            "found no tables that have these means: not decided."
        )
    if basis is Basis.WHOLE_SAMPLES:
        return (
            f"{with_classes} of these sizes, no whole number of matched samples in the "
            f"{_runs(line['runs'])} gives a mean AC that rounds to {ac}."
        )
    if basis is Basis.NMI_FLOOR:
        limit = f"at least {line['nmi_floor']:.4f}"
    else:
        limit = f"at most {line['nmi_bound']:.4f}"
    return (
        f"{with_classes}, means over the same {_runs(line['runs'])} and {measure}: at "
        f"mean AC {ac} the mean NMI is {limit}; the published value is {nmi}. The two "
        "numbers cannot both be such means."
    )


def _runs(runs: float | None) -> str:
    if runs is None or pd.isna(runs):
        return "runs (however many)"
    return "run" if runs == 1 else f"{int(runs)} runs"


def counts_sentence(frame: pd.DataFrame) -> str:
    """Return the totals over all pairs and what they rest on."""
    verdicts = common_verdicts(frame)
    excluded = frame[frame["verdict"] == Possibility.IMPOSSIBLE]
    n = int((verdicts == Possibility.IMPOSSIBLE).sum())
    possible = int((verdicts == Possibility.POSSIBLE).sum())
    words = [
        f"{n} of {len(verdicts)} pairs cannot be means of the same runs with at "
        f"most K clusters, under the stated definitions; {possible} are possible."
    ]
    if n + possible < len(verdicts):
        words.append("The others are undecided or depend on the normalisation.")
    if n:
        keys = [key for key in ("dataset", "name", "row", "n_clusters") if key in frame]
        worst = excluded.groupby(keys, sort=False)[["margin_ac", "margin_any"]].min()
        any_runs = (worst["margin_ac"] > 0) | (worst["margin_any"] > 1e-6)
        words.append(
            f"Of the {n}, {int(any_runs.sum())} are excluded whatever the number of "
            "runs, in every normalisation considered."
        )
    if n and "row" in frame and excluded["row"].nunique() == len(ROWS):
        words.append(
            "They occur in all rows, the baselines as well as the proposed method: "
            "this is a property of the tables, not of a method."
        )
    return " ".join(words)


def pair_label(line: Mapping[Any, Any]) -> str:
    """Return a name for a pair of the paper or of a user's list."""
    if "dataset" in line:
        return (
            f"{DATASET_TITLES[line['dataset']]}, K = {line['n_clusters']}, "
            f"{ROWS[line['row']]}"
        )
    return str(line.get("name") or "the pair")


def markdown(frame: pd.DataFrame) -> str:
    """Return the audit of the paper as a Markdown page."""
    averages = list(dict.fromkeys(frame["average"]))
    parts = [
        "# Which published (AC, NMI) pairs are possible",
        "Can the two numbers printed for a method be the mean AC and the mean NMI of "
        "the same runs? This page answers that question only.",
        counts_sentence(frame),
        "## By cell",
        _summary_table(frame),
        "## Assumptions",
        "\n".join(f"- {text}" for text in DEFINITIONS),
        "For COIL-20 a class has 72 images, for CIFAR-10 300 (our assumption); for "
        "Reuters-21578 and TDT2 any K classes of the public files may occur in any "
        "run.",
        "## Pairs that are not possible",
        "The bound is the largest mean NMI at the printed AC plus its rounding, the "
        "margin what the printed NMI minus its rounding exceeds it by. `any` is the "
        "margin for any number of runs.",
        _excluded_table(frame, averages),
        EXPLANATIONS,
        "## Possible pairs",
        "For these, integer tables with admissible class sizes have the printed means; "
        "`witnesses.json` lists them. Possible does not mean likely: many of the "
        "tables are very special.",
        _possible_table(frame, averages),
    ]
    return "\n\n".join(parts) + "\n"


def _summary_table(frame: pd.DataFrame) -> str:
    summary = cell_summary(frame)
    kinds = [
        kind
        for kind in map(str, Possibility)
        if kind in (Possibility.IMPOSSIBLE, Possibility.POSSIBLE) or summary[kind].any()
    ]
    lines = [
        [DATASET_TITLES[r["dataset"]], str(r["n_clusters"]), str(r["pairs"])]
        + [str(r[kind]) for kind in kinds]
        for r in summary.to_dict("records")
    ]
    total = ["all", "", str(summary["pairs"].sum())]
    lines.append(total + [str(summary[kind].sum()) for kind in kinds])
    return markdown_table(["dataset", "K", "pairs", *kinds], lines)


def _excluded_table(frame: pd.DataFrame, averages: Sequence[str]) -> str:
    def cells(r: Mapping[Any, Any]) -> list[str]:
        if r["basis"] == Basis.AC_FLOOR:
            bound = f"AC >= {r['ac_floor']:.4f}"
            return [bound, f"{r['margin_ac']:+.4f} in AC", "same"]
        if r["verdict"] != Possibility.IMPOSSIBLE:
            return [r["verdict"], "", ""]
        margins = [f"{r[name]:+.4f}" for name in ("margin", "margin_any")]
        return [f"{r['nmi_bound']:.4f}", *margins]

    header = [title for a in averages for title in (f"bound ({a})", "margin", "any")]
    return _pairs_table(frame, Possibility.IMPOSSIBLE, header, cells)


def _possible_table(frame: pd.DataFrame, averages: Sequence[str]) -> str:
    def cells(r: Mapping[Any, Any]) -> list[str]:
        if r["verdict"] != Possibility.POSSIBLE:
            return [r["verdict"]]
        return [f"{r['witness_ac']:.4f} / {r['witness_nmi']:.4f}"]

    header = [f"witness ({average})" for average in averages]
    return _pairs_table(frame, Possibility.POSSIBLE, header, cells)


def _pairs_table(
    frame: pd.DataFrame,
    verdict: Possibility,
    header: Sequence[str],
    cells: Callable[[Mapping[Any, Any]], list[str]],
) -> str:
    """Return a line for every pair with this verdict in some normalisation."""
    lines = []
    for _, group in frame.groupby(["dataset", "n_clusters", "row"], sort=False):
        records = group.to_dict("records")
        if (group["verdict"] == verdict).any():
            shown = [cell for r in records for cell in cells(r)]
            lines.append([pair_label(records[0]), *_scores(records[0]), *shown])
    return markdown_table(["pair", "AC", "NMI", *header], lines) if lines else "None."


def _scores(line: Mapping[Any, Any]) -> list[str]:
    digits = int(line["decimals"])
    return [f"{line['ac']:.{digits}f}", f"{line['nmi']:.{digits}f}"]
