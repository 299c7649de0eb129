"""``symmf audit``: which published (AC, NMI) pairs are possible at all."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symmf.cli.options import complete_experiments, results_option
from symmf.cli.terminal import progress_bar, say, show_frame, show_table
from symmf.common.texts import count
from symmf.common.validation import shown
from symmf.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from symmf.audit import Pair
    from symmf.audit.published import Pairs

# As in symmf.audit, which is imported only when the command runs; a test compares them.
AVERAGES = ("max", "arithmetic", "geometric", "harmonic", "min")
COLUMNS = ("classes", "clusters", "ac", "nmi", "choose", "runs", "decimals", "name")


@click.command()
@click.argument("experiments", nargs=-1, shell_complete=complete_experiments)
@click.option("--classes", help="Class sizes, as 72,72 or 72*20 (twenty times 72).")
@click.option(
    "--choose", type=int, help="Number of classes drawn for a run; default: all."
)
@click.option(
    "--clusters",
    type=int,
    help="Largest number of clusters; default: number of classes.",
)
@click.option("--ac", help="Published mean accuracy, between 0 and 1.")
@click.option("--nmi", help="Published mean NMI, between 0 and 1.")
@click.option(
    "--runs",
    default="10",
    show_default=True,
    help="Number of runs that were averaged, or 'any'.",
)
@click.option(
    "--average",
    type=click.Choice([*AVERAGES, "all"]),
    default="all",
    show_default=True,
    help="Mean of the entropies that NMI is divided by.",
)
@click.option(
    "--decimals", type=int, help="Decimals of the published means; default: as typed."
)
@click.option(
    "--pairs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV file of pairs.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the files; default for the paper: results/audit.",
)
@results_option
@click.option(
    "--search/--no-search",
    default=True,
    help="Look for tables that show a pair to be possible.",
)
@click.option("--fresh", is_flag=True, help="Ignore the cache.")
@click.option("--theory", is_flag=True, help="Check the theorems numerically instead.")
def audit(
    experiments: tuple[str, ...],
    average: str,
    pairs: Path | None,
    out: Path | None,
    results: Path,
    search: bool,
    fresh: bool,
    theory: bool,
    **values: Any,
) -> None:
    """Check whether published means of AC and NMI can belong to the same runs.

    Without options: the 108 pairs of the paper. With EXPERIMENTS (names, or patterns):
    the pairs that their files give as published. With --classes, --ac and --nmi: one
    pair. With --pairs: every line of a CSV file with the columns classes, ac, nmi and,
    optionally, clusters, choose, runs, decimals, name; class sizes are separated by
    spaces, or by commas within quotes.

    A verdict is 'impossible' (a proven bound is exceeded, rounding allowed for),
    'possible' (tables with these means were found) or 'undecided'.

    \b
    symmf audit --classes 72,72 --ac 0.975 --nmi 0.958
    symmf audit --classes 300*3 --clusters 6 --ac 0.316 --nmi 0.296
    symmf audit --pairs table3.csv --average arithmetic --out checked
    symmf audit largest_tdt2 --runs any
    symmf audit --theory
    """  # noqa: D301
    averages = AVERAGES if average == "all" else (average,)
    single = [values[key] for key in ("classes", "ac", "nmi")]
    asked: dict[str, Any] = {"averages": averages, "search": search}
    if sum(map(bool, (experiments, pairs, any(single)))) > 1:
        raise InputError(
            "Give experiments, or either --pairs or a single pair, not several of them."
        )
    if theory:
        _check_theory(out or Path("results/audit"))
    elif experiments:
        runs, decimals = _runs(values["runs"]), values["decimals"]
        for study, found in _study_pairs(experiments, results, runs, decimals):
            folder = (out or results / "verdicts") / study
            _audit_published(found, folder, fresh=fresh, **asked)
    elif pairs is not None:
        _audit_list(_read_pairs(pairs, values), out, **asked)
    elif all(single):
        _audit_list([_pair(values, "")], out, **asked)
    elif any(values[key] for key in values if key != "runs"):
        raise InputError("A single pair needs all of --classes, --ac and --nmi.")
    else:
        from symmf.audit.published import paper_pairs

        found = paper_pairs(_runs(values["runs"]))
        _audit_published(found, out or Path("results/audit"), fresh=fresh, **asked)


def _check_theory(out: Path) -> None:
    from symmf.audit.theory import theory_frame
    from symmf.common.files import write_text

    frame = theory_frame()
    shown = frame[["item", "verdict", "cases", "failures", "worst"]]
    shown = shown.assign(worst=shown["worst"].map("{:.3g}".format))
    show_frame(shown, right=["cases", "failures", "worst"])
    path = write_text(out / "theory.csv", frame.to_csv(index=False))
    say(f"\nWritten to {path}")


def _study_pairs(
    names: tuple[str, ...], results: Path, runs: int | None, decimals: int | None
) -> Iterator[tuple[str, Pairs]]:
    """Yield the names of studies of one's own, and the pairs they give as published."""
    from symmf.reporting.results import load_results
    from symmf.reporting.selection.studies import own_studies, published_pairs

    studies = own_studies(load_results(results, names))
    if not studies:
        raise InputError(
            f"{', '.join(names)}: part of the paper's study; `symmf audit` checks the "
            "paper's pairs without a name."
        )
    for study in studies:
        found = published_pairs(study, runs=runs, decimals=decimals)
        if not found:
            raise InputError(
                f"{study.name} has no method with both AC and NMI published for one K; "
                "list them under 'published' in its file."
            )
        yield study.name, found


def _audit_published(pairs: Pairs, out: Path, *, fresh: bool, **asked: Any) -> None:
    from symmf.audit.published import cell_summary, make_audit, stored_audit
    from symmf.audit.words import EXPLANATIONS, counts_sentence, dataset_title

    stored = None if fresh else stored_audit(pairs, out, **asked)
    frame = stored
    if frame is None:
        with _progress(f"Checking {count(len(pairs), 'pair')}") as tell:
            frame = make_audit(pairs, out, **asked, progress=tell)
    summary = cell_summary(frame)
    summary["dataset"] = summary["dataset"].map(dataset_title)
    summary.columns = ["data set", "K", *summary.columns[2:]]
    show_frame(summary)
    say()
    _show_pairs(frame[frame["verdict"] != "possible"])
    say()
    say(_wrapped(counts_sentence(frame)))
    say()
    say(_wrapped(EXPLANATIONS))
    written = "Written to" if stored is None else "Unchanged, in"
    say(f"\n{written} {out}: audit.csv, audit.md, witnesses.json")


@contextmanager
def _progress(title: str) -> Iterator[Callable[[float], object] | None]:
    """Show a bar on a terminal; elsewhere nothing."""
    with progress_bar(title, total=1.0) as change:
        yield change and (lambda share: change(completed=share))


def _audit_list(pairs: list[Pair], out: Path | None, **asked: Any) -> None:
    from symmf.audit.judge import audit_pairs, verdicts_frame
    from symmf.audit.published import save_audit
    from symmf.audit.words import DEFINITIONS, EXPLANATIONS, sentence

    with _progress("Checking") as tell:
        verdicts = audit_pairs(pairs, **asked, progress=tell)
    frame = verdicts_frame(verdicts)
    _show_pairs(frame, by_average=len(pairs) == 1)
    say()
    if len(pairs) == 1:
        # The weakest claim of each kind stands for the others.
        weakest = frame.sort_values("margin", kind="stable").drop_duplicates("verdict")
        for line in weakest.to_dict("records"):
            say(_wrapped(sentence(line)))
        say()
    say(_wrapped("Assumed: " + " ".join(DEFINITIONS)))
    if (frame["verdict"] == "impossible").any():
        say()
        say(_wrapped(EXPLANATIONS))
    if out is not None:
        save_audit(frame, verdicts, out)
        say(f"\nWritten to {out}: audit.csv, witnesses.json")


def _show_pairs(frame: pd.DataFrame, *, by_average: bool = False) -> None:
    """Show a line per pair and verdict, or one per normalisation."""
    from symmf.audit.words import basis_text, pair_label

    keys = ["dataset", "row", "name", "n_classes", "n_clusters", "runs", "ac", "nmi"]
    keys = [key for key in [*keys, "verdict"] if key in frame]
    if by_average and not (frame["margin_ac"] > 0).any():
        keys.append("average")
    rows = []
    for _, group in frame.groupby(keys, sort=False, dropna=False):
        first, last = group.iloc[0].to_dict(), group.iloc[-1].to_dict()
        scores = [f"{first[key]:.{first['decimals']}f}" for key in ("ac", "nmi")]
        averages = group["average"].unique()
        everything = len(averages) == frame["average"].nunique() > 1
        row = [pair_label(first), *scores, "all" if everything else ", ".join(averages)]
        rows.append([*row, *_bound(group), first["verdict"], basis_text(last)])
    header = ["pair", "AC", "NMI", "normalisation", "bound", "margin", "verdict"]
    header.append("basis")
    if len(rows) > 1 and all(row[3] == "all" for row in rows):
        say("Bounds are the weakest over all normalisations of NMI.")
        header, *rows = ([*row[:3], *row[4:]] for row in [header, *rows])
    if rows:
        show_table(header, rows, wide=["normalisation", "basis"])


def _bound(group: pd.DataFrame) -> tuple[str, str]:
    """Return the weakest bound of a group and its margin."""
    if (group["margin_ac"] > 0).any():
        first = group.iloc[0]
        return f"AC >= {first['ac_floor']:.4f}", f"{first['margin_ac']:+.4f}"
    if group["margin"].isna().all():
        return "-", "-"
    return f"NMI <= {group['nmi_bound'].max():.4f}", f"{group['margin'].min():+.4f}"


def _wrapped(text: str) -> str:
    return click.wrap_text(text, width=78)


def _read_pairs(path: Path, defaults: Mapping[str, Any]) -> list[Pair]:
    """Read pairs; options given on the command line stand in for missing columns."""
    import pandas as pd

    from symmf.common.files import read_file

    parsed: dict[str, Any] = {"dtype": str, "na_filter": False, "index_col": False}
    try:
        text = read_file(path).decode("utf-8-sig")
        with warnings.catch_warnings():
            # A line with more cells than the first one names.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(io.StringIO(text), skip_blank_lines=False, **parsed)
    except (ValueError, pd.errors.ParserWarning) as error:
        raise InputError(
            f"{path} is not a CSV file in UTF-8 ({error}). Class sizes with commas "
            'between them need quotation marks: "72,72".'
        ) from error
    frame.columns = [str(name).strip().lower() for name in frame.columns]
    problems = {
        "lacks": [name for name in ("classes", "ac", "nmi") if name not in frame],
        "has unknown columns": [name for name in frame if name not in COLUMNS],
    }
    for problem, names in problems.items():
        if names:
            raise InputError(
                f"{path} {problem} {shown(names)}; its first line must name columns "
                f"out of {', '.join(COLUMNS)}."
            )
    pairs = []
    for number, line in enumerate(frame.to_dict("records"), start=2):
        given = {str(name): cell for name, cell in line.items() if cell.strip()}
        try:
            pairs += [_pair({**defaults, **given}, f"line {number}")] if given else []
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
    if not pairs:
        raise InputError(f"{path} holds no pairs below its first line.")
    return pairs


def _pair(values: Mapping[str, str | None], name: str) -> Pair:
    from symmf.audit import Pair
    from symmf.audit.setting import Setting

    pool = _class_sizes(values.get("classes") or "")
    choose = _number(values.get("choose") or len(pool), "choose", int)
    setting = Setting(
        pool=pool,
        n_classes=choose,
        n_clusters=_number(values.get("clusters") or choose, "clusters", int),
        runs=_runs(values.get("runs") or "10"),
    )
    ac, nmi = (str(values.get(key) or "").strip() for key in ("ac", "nmi"))
    typed = max(len(text.partition(".")[2]) for text in (ac, nmi))
    return Pair(
        setting=setting,
        ac=_number(ac, "ac", float),
        nmi=_number(nmi, "nmi", float),
        decimals=_number(values.get("decimals") or max(typed, 1), "decimals", int),
        name=str(values.get("name") or name),
    )


def _class_sizes(text: str) -> tuple[int, ...]:
    from symmf.audit.setting import MOST_CLASSES

    sizes: list[int] = []
    for part in text.replace(";", " ").replace(",", " ").split():
        size, star, times = part.partition("*")
        number = _number(times, "classes", int) if star else 1
        # One too many is enough to be refused.
        number = min(number, MOST_CLASSES + 1 - len(sizes))
        sizes += [_number(size, "classes", int)] * number
    return tuple(sizes)


def _number(value: str | int, name: str, kind: type[int | float]) -> Any:
    try:
        return kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{shown(value)} under {name} is not {what}.") from None


def _runs(text: str) -> int | None:
    return None if text.strip().lower() == "any" else _number(text, "runs", int)
