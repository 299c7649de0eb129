"""The parts of README.md with numbers or names, made from the study and the code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from scripts.docs_benchmarks import BATTERY_TITLES
from symmf.common.texts import markdown_table
from symmf.errors import InputError
from symmf.paper import DATASET_TITLES
from symmf.reporting.results import Results, load_results
from symmf.reporting.tables.beyond import COLUMNS, beyond_table
from symmf.reporting.verdicts.findings import findings
from symmf.solvers import SOLVERS

NOTHING = "No results yet: run `symmf run coil20`."


def found_block(results: Results) -> str:
    """Return what the study found, in a few lines."""
    return "\n".join(f"- {text}" for text in findings(results)) or NOTHING


def quality_block(results: Results) -> str:
    """Return mean ARI of general clusterers, on sets of the design and on others."""
    folder = results.folder / "benchmarks"
    if not (folder / "quality.csv").exists():
        return NOTHING
    frame = pd.read_csv(folder / "quality.csv")
    sets = frame.groupby("battery", sort=False)["sets"].first()
    means = frame.pivot(index="method", columns="battery", values="ari_mean")[
        sets.index
    ]
    best = means.sort_values(sets.index[0], ascending=False).head(4)
    rows = [
        [method, *(f"{mean:.3f}" for mean in line)]
        for method, line in zip(best.index, best.to_numpy(), strict=True)
    ]
    header = [BATTERY_TITLES[str(name)].format(n) for name, n in sets.items()]
    return markdown_table(["mean ARI", *header], rows, "l" + "r" * len(header))


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


def solvers_table() -> str:
    """Return the registered solvers: what each is, and on which sets."""
    rows = []
    for name, solver in SOLVERS.items():
        sets = list(solver.constraints)
        shown = f"`{sets[0]}`" if len(sets) == 1 else f"{len(sets)} sets"
        if len(sets) == 2:
            shown = ", ".join(f"`{each}`" for each in sets)
        rows.append([f"`{name}`", solver.title, shown, solver.never_rises or "-"])
    return markdown_table(["solver", "method", "H in", "never rises"], rows)


def times_line(reference: Path) -> str:
    """Return how long the fits of the main experiments and of all of them took."""
    minutes = {
        path.parent.name: float(pd.read_csv(path)["seconds"].sum()) / 60
        for path in sorted(reference.glob("*/trials.csv"))
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
    "quality": quality_block,
    "beyond": beyond_block,
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
