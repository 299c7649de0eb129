"""The parts of README.md with numbers or names, made from the study and the code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from symmf.common.texts import markdown_table
from symmf.errors import InputError
from symmf.paper import DATASET_TITLES
from symmf.reporting.results import Results, load_results
from symmf.reporting.tables.beyond import COLUMNS, beyond_table
from symmf.reporting.verdicts.claims import ledger
from symmf.reporting.verdicts.decision import ClaimVerdict
from symmf.reporting.verdicts.values import compare, counts
from symmf.solvers import SOLVERS

NOTHING = "No results yet: run `symmf run coil20`."


def found_block(results: Results) -> str:
    """Return what the study found, in a few lines."""
    comparison = compare(results)
    tally = counts(comparison)
    if not any(n for verdict, n in tally.items() if verdict != "not run"):
        return NOTHING
    decided = ledger(results)
    own = Counter(each.verdict for each in decided)
    equal = Counter(each.decision.equal_terms for each in decided)
    del equal[None]
    lines = [
        f"- Of {own.total()} claims of the paper, in its own setting: {_claims(own)}; "
        f"of {equal.total()} that compare, on equal terms: {_claims(equal)}.",
        f"- Of {sum(tally.values())} published scores: {_listed(tally)}.",
        *_audit_line(results.folder / "audit" / "audit.csv"),
        *_quality_line(results.folder / "benchmarks" / "quality.csv"),
    ]
    return "\n".join(lines)


_PLURAL = {
    ClaimVerdict.HOLDS: "hold",
    ClaimVerdict.PARTLY: "hold partly",
    ClaimVerdict.DOES_NOT_HOLD: "do not hold",
    ClaimVerdict.CANNOT: "cannot be decided",
}
_SINGULAR = {
    "hold": "holds",
    "hold partly": "holds partly",
    "do not hold": "does not hold",
}


def _claims(found: Counter[ClaimVerdict]) -> str:
    return _listed({word: found[verdict] for verdict, word in _PLURAL.items()})


def _listed(tally: dict[str, int]) -> str:
    # One claim holds, two hold.
    return ", ".join(
        f"{n} {_SINGULAR.get(verdict, verdict) if n == 1 else verdict}"
        for verdict, n in tally.items()
        if n
    )


def _audit_line(path: Path) -> list[str]:
    if not path.exists():
        return []
    frame = pd.read_csv(path)
    pairs = frame.assign(out=frame["verdict"] == "impossible").groupby(
        ["dataset", "n_clusters", "row"]
    )["out"]
    impossible, total = int(pairs.all().sum()), len(pairs)
    return [
        f"- {impossible} of {total} published (AC, NMI) pairs cannot be means over the "
        "same runs with at most K clusters, whatever the method."
    ]


def _quality_line(path: Path) -> list[str]:
    """Name the best general clusterers of the quality benchmark."""
    if not path.exists():
        return []
    frame = pd.read_csv(path).sort_values("ari_mean", ascending=False)
    # Means over fewer data sets are not comparable.
    sets = int(frame["sets"].max())
    whole = frame[frame["sets"] == sets].head(4)
    shown = ", ".join(
        f"{row['method']} {row['ari_mean']:.3f}" for _, row in whole.iterrows()
    )
    return [f"- Mean ARI over {sets} benchmark data sets: {shown}."]


def beyond_block(results: Results) -> str:
    """Return AC / NMI of the proposed method by cell: published, and what it takes."""
    frame = beyond_table(results).frame
    if frame.empty:
        return NOTHING
    rows = []
    for dataset, title in DATASET_TITLES.items():
        part = frame[frame["dataset"] == dataset]
        for k in sorted(part["n_clusters"].unique()):
            cell = part[part["n_clusters"] == k]
            published = cell.drop_duplicates("metric").set_index("metric")["published"]
            values = [
                _pair(cell[cell["column"] == column]) for column in COLUMNS.values()
            ]
            shown = f"{published['ac']:.3f} / {published['nmi']:.3f}"
            rows.append([title, str(k), shown, *values])
    met = frame[frame["met"] == "yes"]["column"].value_counts()
    run = frame["column"].value_counts()
    reached = ", ".join(
        f"{column} {int(met.get(column, 0))} of {int(run[column])}"
        for column in COLUMNS.values()
        if column in run
    )
    header = ["data", "K", "published", *COLUMNS.values()]
    table = markdown_table(header, rows, "lr" + "r" * (len(header) - 2))
    return f"{table}\n\nPublished values reached: {reached}."


def _pair(cell: pd.DataFrame) -> str:
    if cell.empty:
        return "–"
    of = cell.set_index("metric")
    shown = [
        f"**{of.loc[m, 'mean']:.3f}**"
        if of.loc[m, "met"] == "yes"
        else f"{of.loc[m, 'mean']:.3f}"
        for m in ("ac", "nmi")
    ]
    return " / ".join(shown)


def solvers_block(results: Results) -> str:  # noqa: ARG001 - made from the registry
    """Return the registered solvers: what each is, and on which sets."""
    rows = []
    for name, solver in SOLVERS.items():
        sets = list(solver.constraints)
        shown = f"`{sets[0]}`" if len(sets) == 1 else f"{len(sets)} sets"
        if len(sets) == 2:
            shown = ", ".join(f"`{each}`" for each in sets)
        rows.append([f"`{name}`", solver.title, shown, solver.never_rises or "-"])
    return markdown_table(["solver", "method", "H in", "never rises"], rows)


def times_block(results: Results) -> str:
    """Return how long the fits of the main experiments and of all of them took."""
    minutes = {
        path.parent.name: float(pd.read_csv(path)["seconds"].sum()) / 60
        for path in sorted(results.folder.glob("*/trials.csv"))
    }
    shown = [f"{n} {minutes[n]:.0f} min" for n in DATASET_TITLES if n in minutes]
    if not shown:
        return NOTHING
    return (
        f"The fits of the reference study, added up: {', '.join(shown)}; all "
        f"{len(minutes)} experiments {sum(minutes.values()) / 60:.1f} h."
    )


BLOCKS: dict[str, Callable[[Results], str]] = {
    "found": found_block,
    "beyond": beyond_block,
    "solvers": solvers_block,
    "times": times_block,
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
