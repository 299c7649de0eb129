"""The measurements of scripts/benchmark as tables of the documentation.

A table shows what a reader compares; ranges are those of the rounds. The CSV files in
``results/reference/benchmarks`` hold every column.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

from scripts.benchmarks.corpus import exponents
from scripts.benchmarks.quality import OURS, with_interval
from scripts.benchmarks.race import decisions, usable
from symmf.common.texts import markdown_table

#: sets of ``scripts/benchmark quality``
BATTERY_TITLES = {
    "design": "{} sets used in design",
    "unseen tables": "{} tables never used",
    "unseen shapes": "{} drawn shapes never used",
}
# Solvers within this factor of the fastest are named beside it.
_NEARLY = 1.5
# Counts as the ratio of a solver that did not get there.
_FAR = 100.0


def quality_table(folder: Path) -> str:
    """Tell how well clusterers did with their defaults and the true K."""
    frame = pd.read_csv(folder / "quality.csv")
    parts = []
    for battery, part in frame.groupby("battery", sort=False):
        rows = []
        for line in part.itertuples(index=False):
            gain = with_range(line.gain, line.gain_low, line.gain_high)
            beside = [gain, f"{line.wins} : {line.losses}"]
            scores = [f"{line.ari_mean:.3f}", f"{line.ac_mean:.3f}"]
            rows.append(
                [
                    line.method,
                    *scores,
                    *(["", ""] if line.method == OURS else beside),
                ]
            )
        header = [BATTERY_TITLES[str(battery)], "ARI", "AC", f"gain of {OURS}", "wins"]
        header[0] = header[0].format(part["sets"].iloc[0])
        parts.append(markdown_table(header, rows, align="lrrrr"))
    return "\n\n".join(parts)


def evidence_page(folder: Path) -> str:
    """Tell how often verdicts, memberships and flags were right."""
    frame = pd.read_csv(folder / "evidence.csv")
    facts = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    counts = ["none", "weak", "clear"]
    rows = [
        [f"{line.group}: {line.data}", *(str(getattr(line, name)) for name in counts)]
        for line in frame.itertuples(index=False)
    ]
    along = frame["data"].isin(("noisy curve", "noisy line", "closed curve"))
    false = frame["group"] == "no clusters"
    told = [
        f"{what}: {part['weak'].sum()} weak and {part['clear'].sum()} clear verdicts "
        f"in {part[counts].to_numpy().sum()} draws."
        for what, part in (
            ("Curves and lines without any gap", frame[along]),
            ("Other data without clusters", frame[false & ~along]),
        )
    ]
    found = pd.DataFrame(facts["partitions"]).T
    told.append(
        "Of partitions that SymMF finds when it is given K, "
        f"{int(found[['weak', 'clear']].to_numpy().sum())} of "
        f"{int(found.to_numpy().sum())} are called weak or clear."
    )
    sure = [
        [f"{line['mean']:.2f}", f"{line['kept']:.2f}", f"{line['rows']:,}"]
        for line in facts["memberships"]
    ]
    names = ("precision", "recall", "apart", "clean_flagged")
    flags = [
        [line["data"], *(f"{line[name]:.2f}" for name in names)]
        for line in facts["outliers"]
    ]
    return "\n\n".join(
        [
            "**Verdicts.** " + " ".join(told),
            markdown_table(["verdict", *counts], rows, align="lrrr"),
            "**Memberships.** The share of rows that kept their cluster when parts of "
            "the data were clustered again, other parts than those from which the "
            "memberships were estimated. The data sets were never used in design:",
            markdown_table(["membership, mean", "kept", "rows"], sure, align="rrr"),
            "**Outliers.** Shapes with and without 5 % of uniform noise. Apart: the "
            "share of the noise that is farther from the shape than its own rows are:",
            markdown_table(
                ["data", "precision", "recall", "apart", "flagged without noise"],
                flags,
                align="lrrrr",
            ),
        ]
    )


def mixed_table(folder: Path) -> str:
    """Tell the scores on tables with words and missing values."""
    frame = pd.read_csv(folder / "mixed.csv")
    methods = [name for name in frame if name not in ("table", "n", "k", "read")]
    rows = [
        [line["table"], str(line["n"]), str(line["k"])]
        + [f"{line[name]:.3f}" for name in methods]
        for line in frame.to_dict("records")
    ]
    rows.append(["mean", "", "", *(f"{frame[name].mean():.3f}" for name in methods)])
    gains = [with_range(*with_interval(frame[OURS] - frame[m])) for m in methods[1:]]
    rows.append([f"gain of {OURS}, 95 % interval", "", "", "", *gains])
    header = ["ARI", "rows", "K", *methods]
    return markdown_table(header, rows, align="l" + "r" * (len(header) - 1))


def fits_table(folder: Path, threads: str = "default") -> str:
    """Tell the time of whole fits, and in units of SpectralClustering's."""
    frame = pd.read_csv(folder / "fits.csv", dtype={"threads": str})
    frame = frame[frame["threads"] == threads]
    if frame.empty:
        return "Not measured yet."
    names = [n for n in ("symmf", "spectral", "KMeans") if n in set(frame["task"])]
    rows = []
    for told, group in frame.groupby(["case", "load"], sort=False):
        by_task = {line.task: line for line in group.itertuples(index=False)}
        seconds = [by_task[name].seconds for name in ("symmf", "SpectralClustering")]
        shown = [f"{value:.3f}" for value in seconds]
        rows.append([*map(str, told), *shown, *(_ratio(by_task[n]) for n in names)])
    header = ["data", "machine", "symmf, s", "SpectralClustering, s"]
    header += [f"ratio: {name}" for name in names]
    return markdown_table(header, rows, align="llrr" + "r" * len(names))


def threads_table(folder: Path) -> str:
    """Tell the time with default threads in units of that with one."""
    frame = pd.read_csv(folder / "threads.csv")
    rows = []
    for told, group in frame.groupby(["case", "load"], sort=False):
        ratio = group.set_index("method")["ratio"]
        rows.append([*map(str, told), *(f"{value:.2f}" for value in ratio)])
    header = ["data", "machine", *frame["method"].unique()]
    return markdown_table(header, rows, align="ll" + "r" * (len(header) - 2))


def eigenpairs_table(folder: Path) -> str:
    """Tell the time of eigenpairs in units of eigsh's."""
    frame = pd.read_csv(folder / "eigenpairs.csv").fillna({"note": ""})
    rows = [
        [line.case, line.task, _ratio(line), line.note]
        for line in frame.itertuples(index=False)
    ]
    return markdown_table(["data", "what", "ratio", ""], rows, align="llrl")


def solvers_table(folder: Path) -> str:
    """Tell an iteration of Algorithm 2 in bare products M H."""
    frame = pd.read_csv(folder / "solvers.csv")
    rows = [
        [line.problem, str(line.threads), _ratio(line), f"{line.with_setup:.2f}"]
        for line in frame.itertuples(index=False)
    ]
    header = ["problem", "threads", "iteration", "whole call"]
    return markdown_table(header, rows, align="llrr")


def scale_table(folder: Path) -> str:
    """Tell time and memory of SymMF() up to a million rows, and how they grow."""
    frame = pd.read_csv(folder / "scale.csv")
    rows = [
        [
            line.kind,
            f"{line.n:,}",
            f"{line.seconds:.1f}",
            f"{line.peak_mb / 1024:.1f}",
            f"{line.ari:.3f}",
        ]
        for line in frame.itertuples(index=False)
    ]
    table = markdown_table(["rows", "n", "s", "GiB", "ARI"], rows, align="lrrrr")
    shown = [f"{name}: n^{power:.2f}" for name, power in exponents(frame).items()]
    return f"{table}\n\nTime grows as {', '.join(shown)}."


def startup_table(folder: Path) -> str:
    """Tell how long commands take before and while they report."""
    rows = []
    for line in pd.read_csv(folder / "startup.csv").itertuples(index=False):
        command, comma, state = line.command.partition(",")
        shown = f"`{command}`{comma}{state}"
        rows.append([shown, f"{line.ratio:.1f}", f"{line.wall_seconds:.2f}"])
    return markdown_table(["command", "`python -c pass`", "s"], rows, align="lrr")


def runner_table(folder: Path) -> str:
    """Tell a run of trivial trials in units of a bare joblib loop."""
    ratio = pd.read_csv(folder / "runner.csv")["runner_over_joblib"]
    told = with_range(ratio.median(), ratio.min(), ratio.max())
    facts = json.loads((folder / "runner.json").read_text(encoding="utf-8"))
    trials = f"{facts['trials']:,} trivial trials"
    return f"{trials} take {told} times as long as a bare joblib loop."


def race_table(folder: Path) -> str:
    """Tell the seconds of all solvers to 1.001 of the best f known, by problem."""
    table = pd.read_csv(folder / "race.csv", dtype={"threads": str})
    seconds = usable(table[table["threads"] == "1"], "seconds_1.001")
    order = seconds.div(seconds.min(axis=1), axis=0).fillna(_FAR).median().sort_values()
    rows = [
        [
            str(solver),
            *(f"{value:.2g}" if value > 0 else "" for value in seconds[solver]),
        ]
        for solver in order.index
    ]
    return markdown_table(["", *seconds.index], rows, "l" + "r" * len(seconds))


def decision_table(folder: Path) -> str:
    """Tell which solvers are fastest to 1.001 of the best f known, by problem."""
    table = pd.read_csv(folder / "race.csv", dtype={"threads": str})
    columns = [
        usable(table[table["threads"] == threads], f"{unit}_1.001")
        for threads, unit in (
            ("1", "seconds"),
            ("default", "seconds"),
            ("1", "products"),
        )
    ]
    rows = []
    for problem in columns[0].index:
        cells = [str(problem)]
        for column in columns:
            values = column.loc[problem].sort_values()
            near = values[values <= _NEARLY * values.min()]
            cells.append(", ".join(f"{n} ({v:.2g})" for n, v in near.items()) or "none")
        rows.append(cells)
    header = ["problem", "seconds, one thread", "seconds, default", "products"]
    shown = markdown_table(header, rows, align="llll")
    return "\n\n".join([shown, *decisions(table)])


#: Name of the file, title, what the numbers are, and the table.
TABLES: list[tuple[str, str, str, Callable[[Path], str]]] = [
    (
        "fits",
        "Whole fits with default threads",
        "With the default threads of two cores. A ratio is the time divided by that of "
        "scikit-learn's `SpectralClustering` on a graph of neighbours, timed in turn "
        "with it; below 1 is faster. Busy: another process keeps one core busy.",
        fits_table,
    ),
    (
        "fits",
        "Whole fits with one thread",
        "The same with `OMP_NUM_THREADS=1`.",
        partial(fits_table, threads="1"),
    ),
    (
        "threads",
        "Default threads",
        "The time with default threads divided by that with one.",
        threads_table,
    ),
    (
        "eigenpairs",
        "Eigenpairs",
        "Divided by the time of scipy's `eigsh` with the same k, at the same accuracy "
        "and at machine precision.",
        eigenpairs_table,
    ),
    (
        "solvers",
        "Algorithm 2",
        "The time of iterations, and of the whole call of `factorize`, divided by that "
        "of as many products M H.",
        solvers_table,
    ),
    (
        "scale",
        "Growth with the number of rows",
        "`SymMF()` on planted clusters.",
        scale_table,
    ),
    (
        "startup",
        "Commands",
        "Processor time to start, divided by that of `python -c pass`, and seconds on "
        "the wall clock.",
        startup_table,
    ),
    ("runner", "The runner", "", runner_table),
    (
        "race",
        "The race of the solvers",
        "Seconds on one thread until f, with H >= 0, is at most 1.001 times the best "
        "known: medians over starts; empty: reached from fewer than half of them, or "
        "later than 20 times the seconds of momentum.",
        race_table,
    ),
]


def speed_page(folder: Path) -> str:
    """Return every table that was measured."""
    return "\n\n".join(
        "\n\n".join(filter(None, [f"## {title}", words, table(folder)]))
        for name, title, words, table in TABLES
        if (folder / f"{name}.csv").exists()
    )


def _ratio(line: object) -> str:
    return with_range(line.ratio, line.ratio_low, line.ratio_high)  # type: ignore[attr-defined]


def with_range(value: float, low: float, high: float) -> str:
    """Show a value with the range of its rounds, in digits that suit its size."""
    digits = 2 if abs(value) < 10 else 0
    if 0 < abs(value) < 0.05:
        digits = 3
    shown = [f"{number:.{digits}f}" for number in (value, low, high)]
    return f"{shown[0]} ({shown[1]} to {shown[2]})"
