"""The parts of README.md that hold numbers, generated from the committed results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from scripts.readme.speed import speed_block
from symmf.errors import InputError
from symmf.paper.values import DATASET_TITLES
from symmf.reporting.results import Results, load_results
from symmf.reporting.verdicts.claims import ledger
from symmf.reporting.verdicts.values import compare, counts

# The readings of the proposed method shown beside the paper's row "Ours".
READINGS = ("symmf_published", "symmf")
METRICS = ("ac", "nmi")


def results_block(results: Results) -> str:
    """Ours beside the paper's, for the proposed method in both readings."""
    comparison = compare(results)
    ours = comparison[(comparison["row"] == "ours") & (comparison["n_good"] > 0)]
    ours = ours[ours["experiment"] == ours["dataset"]]
    if ours.empty:
        return "No results yet: run `symmf run configs/coil20.yaml`."
    lines = [
        "| data | K | reading | paper AC / NMI | our AC | our NMI | trials | verdict |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for dataset in DATASET_TITLES:
        part = ours[ours["dataset"] == dataset]
        for k in sorted(part["n_clusters"].unique()):
            for method in READINGS:
                row = _row(part[part["n_clusters"] == k], method)
                if row:
                    lines.append(f"| {DATASET_TITLES[dataset]} | {k} | {row} |")
    tally = counts(comparison)
    text = ", ".join(f"{n} {verdict}" for verdict, n in tally.items() if n)
    lines += ["", f"All 216 published values, primary reading: {text}."]
    return "\n".join(lines)


def _row(cell: pd.DataFrame, method: str) -> str:
    of = {m: cell[(cell["metric"] == m) & (cell["method"] == method)] for m in METRICS}
    if any(part.empty for part in of.values()):
        return ""
    ac, nmi = (of[m].iloc[0] for m in METRICS)
    verdicts = f"AC {ac['verdict']}, NMI {nmi['verdict']}"
    trials = f"{ac['n_good']}/{ac['n_total']}"
    return (
        f"{ac['label']} | {ac['published']:.3f} / {nmi['published']:.3f} "
        f"| {ac['mean']:.3f} ± {ac['std']:.3f} | {nmi['mean']:.3f} ± {nmi['std']:.3f} "
        f"| {trials} | {verdicts}"
    )


def claims_block(results: Results) -> str:
    """Every claim of the paper with its verdict."""
    lines = ["| claim of the paper | verdict |", "|---|---|"]
    lines += [f"| {each.claim.claim} | {each.verdict} |" for each in ledger(results)]
    return "\n".join(lines)


BLOCKS: dict[str, Callable[[Results], str]] = {
    "results": results_block,
    "claims": claims_block,
    "speed": speed_block,
}


def refreshed(text: str, results: Results) -> str:
    """Return README text with the part between each pair of markers made anew."""
    for name, block in BLOCKS.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        if begin not in text or end not in text:
            raise InputError(f"README.md has no markers {begin} ... {end}.")
        head, rest = text.split(begin, 1)
        text = f"{head}{begin}\n{block(results)}\n{end}{rest.split(end, 1)[1]}"
    return text


def update_readme(readme: Path, results: Path) -> bool:
    """Rewrite the generated parts; tell whether anything changed."""
    old = readme.read_text(encoding="utf-8")
    new = refreshed(old, load_results(results))
    if new != old:
        readme.write_text(new, encoding="utf-8")
    return new != old
