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

from symmf.texts import markdown_table

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "results" / "reference"
OUT = ROOT / "docs" / "_generated"


def configs_page() -> str:
    """List the shipped configurations with the first comment of each."""
    rows = []
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        rows.append([f"`{path.stem}`", first.removeprefix("#").strip()])
    return markdown_table(["configuration", "what it is"], rows)


def hits_page() -> str:
    """Tell how often the rules for the number of clusters were right."""
    from symmf.clustering.select import hit_rate

    return hit_rate()


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
    parts = [_values(reference), _claims(reference)]
    for name, title in {
        "quality": "Quality beside other clusterers",
        "fits": "Whole fits beside scikit-learn",
        "baselines": "The baselines beside version 0.1",
        "solvers": "Algorithm 2: an iteration over a bare product",
        "scale": "Growth with the number of rows",
        "runner": "The runner over a bare loop",
    }.items():
        if (reference / "benchmarks" / f"{name}.csv").exists():
            parts.append(_benchmark(reference, name, title))
    return "\n\n".join(parts)


def _values(reference: Path) -> str:
    frame = pd.read_csv(reference / "verdicts" / "compare.csv")
    primary = frame[frame["reading"] == "primary"]
    counts = primary["verdict"].value_counts()
    listed = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    text = f"## Published values\n\nOf the {len(primary)} published values: {listed}."
    beyond = reference / "tables" / "beyond.md"
    if beyond.exists():
        text += "\n\n" + beyond.read_text(encoding="utf-8").strip()
    return text


def _claims(reference: Path) -> str:
    frame = pd.read_csv(reference / "verdicts" / "claims.csv", keep_default_na=False)
    rows = frame[["claim", "verdict"]].astype(str).to_numpy().tolist()
    table = markdown_table(["claim of the paper", "verdict"], rows)
    return f"## Claims\n\n{table}"


def _benchmark(reference: Path, name: str, title: str) -> str:
    folder = reference / "benchmarks"
    frame = pd.read_csv(folder / f"{name}.csv")
    rows = [
        [_number(value) if isinstance(value, float) else str(value) for value in line]
        for line in frame.itertuples(index=False)
    ]
    facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    header = [str(column).replace("_", " ") for column in frame.columns]
    numeric = map(pd.api.types.is_numeric_dtype, frame.dtypes)
    align = "".join("r" if each else "l" for each in numeric)
    table = markdown_table(header, rows, align=align)
    cpu = facts.get("machine", {}).get("cpu", "not recorded")
    return f"## {title}\n\n{table}\n\nMeasured on: {cpu}. Made by `scripts/benchmark`."


def _number(value: float) -> str:
    """Show scores and ratios to three decimals, large values without any."""
    if value != value:
        return "–"
    if 0 < abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3f}"


PAGES: dict[str, Callable[[], str]] = {
    "configs": configs_page,
    "hits": hits_page,
    "first_fit": first_fit_page,
    "audit": audit_page,
    "study": study_page,
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
