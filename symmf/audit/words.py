"""The audit in words: sentences that claim what was shown and no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from symmf.audit.judge import Basis, Possibility
from symmf.audit.published import cell_summary, common_verdicts, pair_keys
from symmf.audit.setting import Method
from symmf.common.html import render_text
from symmf.common.shipped import packaged
from symmf.paper import DATASET_TITLES, ROWS

_TEXTS: dict[str, Any] = packaged("symmf.audit", "words.yaml")
DEFINITIONS: list[str] = _TEXTS["definitions"]
EXPLANATIONS: str = _TEXTS["explanations"]


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
    text: str = _TEXTS["sentences"][line["basis"]]
    return text.format(
        **line,
        a=_score(line, "ac"),
        v=_score(line, "nmi"),
        measure=f"NMI divided by {_TEXTS['means'][line['average']]}",
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
    said = {
        "total": len(verdicts),
        "n": int((verdicts == Possibility.IMPOSSIBLE).sum()),
        "possible": int((verdicts == Possibility.POSSIBLE).sum()),
    }
    names = ["all"]
    if said["n"] + said["possible"] < said["total"]:
        names.append("others")
    if said["n"]:
        by_pair = excluded.groupby(pair_keys(frame), sort=False)
        worst = by_pair[["margin_ac", "margin_any"]].min()
        any_runs = (worst["margin_ac"] > 0) | (worst["margin_any"] > 1e-6)
        said["any_runs"] = int(any_runs.sum())
        names.append("any_runs")
        if "row" in frame and {*excluded["row"]} == {*ROWS}:
            names.append("every_row")
    return " ".join(_TEXTS["counts"][name].format(**said) for name in names)


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
