"""Write verdicts on values and claims as Markdown and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from symmf.common.files import csv_text, write_text
from symmf.common.texts import markdown_table, markdown_text
from symmf.metrics import METRICS
from symmf.paper.values import DATASET_TITLES, METRIC_TITLES, ROWS
from symmf.reporting.results import Results
from symmf.reporting.selection.studies import Study
from symmf.reporting.statistics.words import (
    paper_evidence,
    study_evidence,
    write_statistics,
)
from symmf.reporting.verdicts import ceilings, inputs
from symmf.reporting.verdicts.ceilings import Reach
from symmf.reporting.verdicts.claims import NOTE, Decided, ledger
from symmf.reporting.verdicts.sensitivity import write_sensitivity
from symmf.reporting.verdicts.values import (
    RULE,
    ValueVerdict,
    compare,
    compare_study,
    counts,
    primary,
)

HEADS = (
    *(
        "K",
        "method",
        "reading",
        "experiment",
        "published",
        "this study",
        "95 % interval",
    ),
    *("difference", "trials", "verdict"),
)
ABSENT = "–"


def write_paper(results: Results, folder: Path) -> list[Path]:
    """Write values, claims and statistics of the paper's study; return the paths."""
    return [
        *write_comparison(compare(results), results, folder),
        *write_ledger(ledger(results), folder),
        *write_statistics(paper_evidence(results), folder),
        *write_sensitivity(results, folder),
    ]


def write_study(study: Study, folder: Path) -> tuple[list[str], list[Path]]:
    """Write what a study of one's own shows; return it in sentences, and the paths."""
    evidence, folder = study_evidence(study), folder / study.name
    written = write_statistics(evidence, folder) if evidence else []
    words = [f"{each.title}: {text}" for each in evidence[:2] for text in each.words]
    beside = compare_study(study)
    if len(beside):
        text = _study_markdown(study, beside)
        written.append(write_text(folder / "compare.csv", csv_text(beside)))
        written.append(write_text(folder / "compare.md", text))
        counts = beside["verdict"].value_counts().to_dict()
        said = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        words.append(f"Published values: {said}.")
    return words, written


def _study_markdown(study: Study, beside: pd.DataFrame) -> str:
    rows = [
        [
            markdown_text(line["dataset"]),
            str(line["n_clusters"]),
            METRICS[str(line["metric"])].title,
            markdown_text(line["published_for"]),
            f"{line['published']:g}",
            markdown_text(line["label"]),
            f"{line['mean']:.3f}" if line["n_good"] else ABSENT,
            f"{line['difference']:+.3f}" if line["n_good"] else ABSENT,
            str(line["verdict"]),
        ]
        for line in beside.to_dict("records")
    ]
    heads = [
        *("data", "K", "metric", "published for", "value", "entry", "mean"),
        *("difference", "verdict"),
    ]
    lines = [f"# {markdown_text(study.title)}: beside published values", "", RULE, ""]
    lines += [markdown_table(heads, rows, "lrllrlrrl"), ""]
    for e in study.experiments:
        if given := e.config.published:
            how = f" ({given.how})" if given.how else ""
            lines.append(f"- {markdown_text(f'{e.name}: {given.source}{how}')}")
    return "\n".join(lines) + "\n"


def write_comparison(
    comparison: pd.DataFrame, results: Results, folder: Path
) -> list[Path]:
    """Write ``compare.csv`` and ``compare.md``; return the paths."""
    return [
        write_text(folder / "compare.csv", csv_text(comparison)),
        write_text(folder / "compare.md", _markdown(comparison, results)),
    ]


def _markdown(comparison: pd.DataFrame, results: Results) -> str:
    total = counts(comparison)
    lines = [
        "# This study beside the published values",
        "",
        RULE,
        "",
        f"Of {sum(total.values())} published values: "
        + ", ".join(f"{n} {verdict}" for verdict, n in total.items())
        + ".",
        "",
        "The trials behind a line are those of its experiment, its reading and its K; "
        "`compare.csv` has their keys, and `symmf info KEY` shows each.",
        "",
        *_inputs(results),
        *_above_ceilings(primary(comparison)),
    ]
    for metric, title in METRIC_TITLES.items():
        for dataset, name in DATASET_TITLES.items():
            here = comparison[
                (comparison["metric"] == metric) & (comparison["dataset"] == dataset)
            ]
            ordered = here.sort_values("n_clusters", kind="stable").to_dict("records")
            table = markdown_table(HEADS, map(_cells, ordered), "rlllrrlrrl")
            lines += [f"## {title}, {name}", "", table, ""]
    return "\n".join(lines)


def _cells(line: dict[Any, Any]) -> list[str]:
    head = [str(line["n_clusters"]), ROWS[str(line["row"])]]
    published = f"{line['published']:.3f}"
    if line["verdict"] == ValueVerdict.NOT_RUN:
        reason = f"{line['reason']}; " if line["reason"] else ""
        what = f"not run ({reason}`{line['command']}`)"
        return [*head, ABSENT, ABSENT, published, *(ABSENT for _ in range(4)), what]
    reading = str(line["label"])
    if line["lambda"] != "":
        reading += f", λ = {float(str(line['lambda'])):g}"
    spread = "" if math.isnan(line["std"]) else f" ± {line['std']:.3f}"
    bounds = ABSENT
    if not math.isnan(line["low"]):
        bounds = f"{line['low']:.3f} to {line['high']:.3f}"
    return [
        *head,
        markdown_text(reading),
        markdown_text(line["experiment"]),
        published,
        f"{line['mean']:.3f}{spread}",
        bounds,
        f"{line['difference']:+.3f}",
        f"{int(line['n_good'])}/{int(line['n_total'])}",
        str(line["verdict"]),
    ]


def _above_ceilings(lines: pd.DataFrame) -> Iterable[str]:
    """List the published values above every classifier with labels, if any was run."""
    known = lines[lines["beside_ceiling"] != ""]
    if not len(known):
        return
    above = known[known["beside_ceiling"] != Reach.WITHIN]
    clear = int((above["beside_ceiling"] == Reach.CLEARLY_ABOVE).sum())
    yield "## Beside classifiers with labels"
    yield ""
    yield ceilings.RULE
    yield ""
    yield (
        f"Of {len(known)} published values in cells with classifiers, {len(above)} "
        f"{_are(len(above))} above the mean of every classifier, {clear} of them "
        "clearly."
    )
    yield ""
    if len(above):
        rows = [
            [
                METRIC_TITLES[str(line["metric"])],
                DATASET_TITLES[str(line["dataset"])],
                str(line["n_clusters"]),
                ROWS[str(line["row"])],
                f"{line['published']:.3f}",
                f"{line['ceiling']:.3f} ({markdown_text(line['ceiling_label'])}, best "
                f"of {line['ceiling_classifiers']})",
                f"{line['ceiling_high']:.3f}",
                str(line["beside_ceiling"]),
            ]
            for line in sorted(above.to_dict("records"), key=_place)
        ]
        heads = [
            *("metric", "data", "K", "method", "published", "best classifier's mean"),
            *("highest end of an interval", "published value is"),
        ]
        yield markdown_table(heads, rows, "llrlrlrl")
        yield ""


def _place(line: dict[Any, Any]) -> tuple[int, int, int]:
    """Return where a value stands in the paper: metric, data set, K."""
    return (
        list(METRIC_TITLES).index(str(line["metric"])),
        list(DATASET_TITLES).index(str(line["dataset"])),
        int(line["n_clusters"]),
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _inputs(results: Results) -> Iterable[str]:
    """Say what the input decides: a table of paired changes and what follows."""
    found = inputs.changes(results)
    if not found:
        return
    kinds = list(inputs.KINDS)
    rows = [
        [
            change.title,
            METRIC_TITLES[change.metric],
            *(str(change.effects.get(kind, ABSENT)) for kind in kinds),
        ]
        for change in found
    ]
    yield "## What the input decides"
    yield ""
    yield inputs.RULE
    yield ""
    yield markdown_table(["change", "metric", *kinds], rows, "lllll")
    yield ""
    yield from (f"- {text}" for text in inputs.input_words(results))
    yield ""


def write_ledger(decided: Sequence[Decided], folder: Path) -> list[Path]:
    """Write ``claims.csv`` and ``claims.md``; return the paths."""
    lines = ["# Claims of the paper", "", NOTE, ""]
    for each in decided:
        claim, decision = each.claim, each.decision
        lines += [
            f"## {claim.claim}",
            "",
            f"- Where: {claim.source}",
            f"- Rule: {claim.test}",
            f"- **Verdict in the paper's own setting: {decision.verdict}.** "
            f"**On equal terms: {decision.equal_terms or 'not compared'}.**",
            f"- Evidence: {markdown_text(decision.evidence)}",
        ]
        if decision.details:
            lines.append("- Numbers:")
            lines += [f"  - {markdown_text(text)}" for text in decision.details]
        if decision.command:
            lines.append(f"- To decide or complete it: `{decision.command}`")
        lines.append("")
    table = pd.DataFrame([each.as_record() for each in decided])
    return [
        write_text(folder / "claims.csv", csv_text(table)),
        write_text(folder / "claims.md", "\n".join(lines)),
    ]
