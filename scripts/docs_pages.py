"""The parts of the documentation that hold numbers, made from results/reference.

``python -m scripts.docs_pages`` writes ``docs/_generated`` and copies the report page;
``scripts/docs`` calls it before Sphinx.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from scripts.docs_benchmarks import (
    BATTERY_TITLES,
    decision_table,
    evidence_page,
    mixed_table,
    quality_table,
    speed_page,
)
from scripts.readme.results import solvers_table, times_line
from symmf.common.texts import markdown_table

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "results" / "reference"
OUT = ROOT / "docs" / "_generated"
# Tables of the study that its page shows, as far as their experiments were run.
SHOWN = ("beyond", "effects", "sets")


def configs_page() -> str:
    """List the shipped configurations with the first comment of each."""
    rows = []
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        rows.append([f"`{path.stem}`", first.removeprefix("#").strip()])
    return markdown_table(["configuration", "what it is"], rows)


def hits_page() -> str:
    """Tell how often the rules for the number of clusters were right."""
    from symmf.clustering.symmf.evidence import hit_rates

    rates = hit_rates()
    rows = []
    for battery, title in BATTERY_TITLES.items():
        hits = rates[battery]
        shares = [f"{hits[name]:.0%}" for name in ("silhouette", "eigengap", "score")]
        agreed = [hits["by_agreement"][case] for case in ("4", "3", "fewer")]
        cells = [f"{case['right']} of {case['sets']}" for case in agreed]
        rows.append([title.format(hits["sets"]), *shares, *cells])
    header = ["right", "silhouette", "eigengap", "score", "four rules agree"]
    header += ["three agree", "fewer"]
    return markdown_table(header, rows, align="lrrrrrr")


def first_fit_page(start: Path = ROOT / "docs" / "start.md") -> str:
    """Run the programs of the page Start in order; show what they print."""
    code = re.findall(
        r"^```python\n(.*?)^```", start.read_text(encoding="utf-8"), re.S | re.M
    )
    printed = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as scratch,
        contextlib.chdir(scratch),
        contextlib.redirect_stdout(printed),
    ):
        exec(compile("\n".join(code), str(start), "exec"), {})
    return f"```text\n{printed.getvalue().rstrip()}\n```"


def audit_page(reference: Path = REFERENCE) -> str:
    """Count the pairs per cell and verdict, impossible under every normalisation."""
    from symmf.paper import DATASET_TITLES

    frame = pd.read_csv(reference / "audit" / "audit.csv")
    keys = ["dataset", "n_clusters", "row"]
    # A pair is impossible if it is so for every normalisation.
    worst = frame.assign(out=frame["verdict"] == "impossible").groupby(keys, sort=False)
    pairs = worst["out"].all().reset_index()
    rows = []
    for (name, k), cell in pairs.groupby(["dataset", "n_clusters"], sort=False):
        out = int(cell["out"].sum())
        title = DATASET_TITLES.get(str(name), str(name))
        rows.append([title, str(k), str(len(cell)), str(out), str(len(cell) - out)])
    total = int(pairs["out"].sum())
    rows.append(["all", "", str(len(pairs)), str(total), str(len(pairs) - total)])
    header = ["data", "K", "pairs", "impossible", "possible"]
    return markdown_table(header, rows, align="lrrrr")


def study_page(reference: Path = REFERENCE) -> str:
    """Tell the counts, the claims and the measurements of the reference study."""
    quality = quality_table(reference / "benchmarks")
    words = (
        "Every clusterer has its defaults and is given the true number of classes "
        "(`scripts/benchmark quality`). Gain: the mean difference of ARI with its 95 % "
        "interval over data sets. Wins: the data sets on which SymMF is better : worse "
        "by more than 0.01."
    )
    parts = [_values(reference), _claims(reference)]
    parts.append(f"## Comparison with other clusterers\n\n{words}\n\n{quality}")
    return "\n\n".join(parts)


def inputs_page(reference: Path = REFERENCE) -> str:
    """Return what the study says of the input, convergence and lambda."""
    text = (reference / "verdicts" / "compare.md").read_text(encoding="utf-8")
    return text.split("## What the input decides\n")[1].split("\n## ")[0].strip()


def measured_page(reference: Path = REFERENCE) -> str:
    """Tell what scripts/benchmark measured, and where."""
    folder = reference / "benchmarks"
    facts = json.loads((folder / "fits.json").read_text(encoding="utf-8"))
    cpu = facts.get("machine", {}).get("cpu", "not recorded")
    return f"Measured on: {cpu}.\n\n{speed_page(folder)}"


def _values(reference: Path) -> str:
    frame = pd.read_csv(reference / "verdicts" / "compare.csv")
    primary = frame[frame["reading"] == "primary"]
    counts = primary["verdict"].value_counts()
    listed = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    text = f"## Published values\n\nOf the {len(primary)} published values: {listed}."
    tables = (reference / "tables" / f"{name}.md" for name in SHOWN)
    shown = [p.read_text(encoding="utf-8").strip() for p in tables if p.exists()]
    return "\n\n".join([text, *shown])


def _claims(reference: Path) -> str:
    frame = pd.read_csv(reference / "verdicts" / "claims.csv", keep_default_na=False)
    rows = frame[["claim", "own_setting", "equal_terms"]].to_numpy().tolist()
    heads = ["claim of the paper", "in its own setting", "on equal terms"]
    table = markdown_table(heads, rows)
    return f"## Claims\n\n{table}"


PAGES: dict[str, Callable[[], str]] = {
    "configs": configs_page,
    "hits": hits_page,
    "first_fit": first_fit_page,
    "audit": audit_page,
    "solvers": solvers_table,
    "study": study_page,
    "inputs": inputs_page,
    "speed": measured_page,
    "times": lambda: times_line(REFERENCE),
    "evidence": lambda: evidence_page(REFERENCE / "benchmarks"),
    "mixed": lambda: mixed_table(REFERENCE / "benchmarks"),
    "which_solver": lambda: decision_table(REFERENCE / "benchmarks"),
}


def framework_picture(path: Path) -> None:
    """Draw the picture of the concepts page by its example of the gallery."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    example = ROOT / "docs" / "gallery" / "plot_framework.py"
    exec(compile(example.read_text(encoding="utf-8"), str(example), "exec"), {})
    plt.savefig(path, dpi=120)
    plt.close("all")


def main() -> None:
    """Write every generated part and copy the report."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    from cluster_pages import make_pages

    OUT.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (OUT / f"{name}.md").write_text(page() + "\n", encoding="utf-8")
    framework_picture(OUT / "framework.png")
    extra = ROOT / "docs" / "_extra"
    extra.mkdir(exist_ok=True)
    shutil.copy(REFERENCE / "report.html", extra / "report.html")
    # What the guide on `symmf cluster` shows, made by its own commands.
    make_pages(extra / "cluster")


if __name__ == "__main__":
    main()
