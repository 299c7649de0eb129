"""The audit in words: sentences that claim what was shown and no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from symmf.audit.judge import Basis, Possibility
from symmf.audit.published import cell_summary, common_verdicts
from symmf.audit.setting import Method
from symmf.common.html import render_text
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
_WITH = "With {n_classes} classes and at most {n_clusters} clusters"
_BOTH = (
    f"{_WITH}, means over the same {{of_runs}} and {{measure}}: at mean AC {{a}} the "
    "mean NMI is {limit}; the published value is {v}. The two numbers cannot both be "
    "such means."
)
# What is claimed, by what it rests on.
_SENTENCES = {
    Basis.AC_FLOOR: f"{_WITH} the matched accuracy of a run, and so of a mean, is "
    "never below {ac_floor:.4f}; the published value is {a}.",
    Basis.WITNESS: "Explicit tables have mean AC {witness_ac:.4f} and mean NMI "
    "{witness_nmi:.4f} ({measure}), so {a} and {v} are possible together; that does "
    "not make them likely.",
    Basis.NOTHING: "No bound excludes {a} and {v} together ({measure}), and the search "
    "found no tables that have these means: not decided.",
    Basis.WHOLE_SAMPLES: f"{_WITH} of these sizes, no whole number of matched samples "
    "in the {of_runs} gives a mean AC that rounds to {a}.",
    Basis.NMI_FLOOR: _BOTH.replace("{limit}", "at least {nmi_floor:.4f}"),
    Basis.ANY_RUNS: _BOTH.replace("{limit}", "at most {nmi_bound:.4f}"),
    Basis.EXACT_RUNS: _BOTH.replace("{limit}", "at most {nmi_bound:.4f}"),
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
    return _SENTENCES[Basis(line["basis"])].format(
        **line,
        a=_score(line, "ac"),
        v=_score(line, "nmi"),
        measure=f"NMI divided by {_MEANS[line['average']]}",
        of_runs=_runs(line.get("runs")),
    )


def _score(line: Mapping[Any, Any], name: str) -> str:
    """Return a published value with the decimals it was printed with."""
    return f"{line[name]:.{int(line['decimals'])}f}"


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
    if n and "row" in frame and {*excluded["row"]} == {*ROWS}:
        words.append(
            "They occur in all rows, the baselines as well as the proposed method: "
            "this is a property of the tables, not of a method."
        )
    return " ".join(words)


def dataset_title(name: str) -> str:
    """Return the title of a data set of the paper; another is called by its name."""
    return DATASET_TITLES.get(name, name)


def pair_label(line: Mapping[Any, Any]) -> str:
    """Return a name for a pair of published tables or of a user's list."""
    if "dataset" not in line:
        return str(line.get("name") or "the pair")
    row = ROWS.get(line["row"], line["row"])
    return f"{dataset_title(line['dataset'])}, K = {line['n_clusters']}, {row}"


def markdown(frame: pd.DataFrame) -> str:
    """Return the audit of published pairs as a Markdown page."""
    summary = cell_summary(frame)
    shown = Possibility.IMPOSSIBLE, Possibility.POSSIBLE
    by_pair = frame.groupby(["dataset", "n_clusters", "row"], sort=False)
    pairs = [pair.to_dict("records") for _, pair in by_pair]
    impossible, possible = (
        [lines for lines in pairs if any(r["verdict"] == kind for r in lines)]
        for kind in shown
    )
    facts = {
        "sentence": counts_sentence(frame),
        "kinds": [str(k) for k in Possibility if k in shown or summary[k].any()],
        "summary": summary.to_dict("records"),
        "title": dataset_title,
        "definitions": DEFINITIONS,
        "of_paper": set(frame["dataset"]) <= set(DATASET_TITLES),
        "averages": list(dict.fromkeys(frame["average"])),
        "excluded": impossible,
        "explanations": EXPLANATIONS,
        "possible": possible,
        "label": pair_label,
        "score": _score,
    }
    return render_text("symmf.audit", "audit.md.j2", facts)
