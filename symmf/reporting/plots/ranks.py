"""The critical-difference diagram: average ranks over cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from symmf.common.figures import INK
from symmf.common.texts import plot_text
from symmf.paper.values import ROWS
from symmf.reporting.plots.base import TEXTS, Drawing, canvas
from symmf.reporting.plots.style import StyleBook, style_book
from symmf.reporting.results import Missing, Results, run_command, stacked
from symmf.reporting.selection.cells import Row, RowKey, collect
from symmf.reporting.selection.readings import Reading
from symmf.reporting.selection.studies import own_studies
from symmf.reporting.statistics.tests import Ranking, rank_rows
from symmf.reporting.statistics.words import ranking_words

METRICS = {"ac": "AC", "nmi": "NMI"}
STEP = 0.42  # height of one label


def critical_difference(results: Results) -> Iterator[Drawing | Missing]:
    """Draw the ranks of the paper's rows, or of each study of one's own."""
    if results.about_paper:
        command = run_command("coil20")
        ranked = {"": {metric: collect(results, metric) for metric in METRICS}}
    else:
        command = results.experiments[0].command
        ranked = {s.name: {m: s.rows(m) for m in METRICS} for s in own_studies(results)}
    drawn = [_drawing(results, rows, study) for study, rows in ranked.items()]
    yield from (drawing for drawing in drawn if drawing is not None)
    if not any(drawn):
        reason = "fewer than three methods were run in two common cells"
        yield Missing(name="critical-difference", reason=reason, command=command)


def _drawing(
    results: Results, rows: Mapping[str, Sequence[Row]], study: str
) -> Drawing | None:
    ranked = {m: rank_rows(rows[m], m, by_dataset=bool(study)) for m in METRICS}
    found = {metric: ranking for metric, ranking in ranked.items() if ranking}
    if not found:
        return None
    tallest = max(len(ranking.ranks) for ranking in found.values())
    height = 0.95 + 0.21 * ((tallest + 1) // 2)
    drawing = Drawing(
        name="critical-difference",
        experiment=study,
        title="Average ranks" if study else "Average ranks over cells",
        figure=canvas(6.8, height * len(found)),
    )
    axes = drawing.figure.subplots(len(found), 1, squeeze=False)[:, 0]
    texts = TEXTS["critical-difference"]
    book, records, captions = style_book(results), [], []
    for ax, (metric, ranking) in zip(axes, found.items(), strict=True):
        # Each row takes the look of its first reading.
        first = {
            row.key: next(iter(row.cells.values())).reading
            for row in rows[metric]
            if row.cells
        }
        _diagram(drawing, ax, ranking, first, book)
        captions.append(f"{METRICS[metric]}: {ranking_words(ranking)[0]}")
        left_out = _left_out(rows[metric], ranking)
        if left_out:
            captions.append(texts["left_out"].format(names=", ".join(left_out)))
        lines = pd.DataFrame({"method": ranking.titles, "average_rank": ranking.ranks})
        lines.insert(0, "metric", metric)
        records.append(
            lines.assign(
                n_cells=len(ranking.cell_keys),
                critical_difference=ranking.critical_difference,
                friedman_statistic=ranking.statistic,
                friedman_p=ranking.p_value,
            )
        )
    captions += [texts["rule"], ranking_words(next(iter(found.values())))[1]]
    drawing.caption, drawing.data = " ".join(captions), stacked(records)
    return drawing


def _left_out(rows: Iterable[Row], ranking: Ranking) -> list[str]:
    """Return the rows of the paper that the ranking lacks."""
    ranked = {key.paper_row for key in ranking.keys if key.paper_row}
    found = {row.key.paper_row for row in rows if row.primary}
    return [title for name, title in ROWS.items() if name in found - ranked]


def _diagram(
    drawing: Drawing,
    ax: Axes,
    ranking: Ranking,
    readings: dict[RowKey, Reading],
    book: StyleBook,
) -> None:
    """Draw the ranks of one metric."""
    n = len(ranking.ranks)
    ax.set_axis_off()
    title = f"{METRICS[ranking.metric]}: average rank over {ranking.blocks}"
    ax.set_title(title, pad=2)
    margin = 0.32 * (n - 1)  # room for labels on both sides
    ax.set_xlim(1 - margin, n + margin)
    half = (n + 1) // 2
    ax.plot([1, n], [0, 0], color=INK, lw=0.9)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [0, 0.1], color=INK, lw=0.9)
        ax.text(tick, 0.16, str(tick), ha="center", va="bottom", fontsize=7.5)
    _critical_bar(ax, ranking, n)
    top = -0.3 - 0.16 * _bars(ax, ranking)  # of the labels
    for index, (title, rank, key) in enumerate(
        zip(ranking.titles, ranking.ranks, ranking.keys, strict=True)
    ):
        reading = readings[key]
        look = book.look(reading.experiment, reading.method)
        left = index < half
        y = top - STEP * (index if left else n - 1 - index)
        edge = 1 - 0.06 * (n - 1) if left else n + 0.06 * (n - 1)
        ax.plot([rank, rank, edge], [0, y, y], color=look.color, lw=0.9)
        said = [f"{title}: average rank {rank:.2f}"]
        drawing.mark(ax, [rank], [0], said, clip_on=False, **look.points)
        ax.text(
            edge + (-1 if left else 1) * 0.015 * (n - 1),
            y,
            plot_text(f"{title}  {rank:.2f}" if left else f"{rank:.2f}  {title}"),
            ha="right" if left else "left",
            va="center",
            fontsize=8,
            fontweight="bold" if reading.proposed else "normal",
        )
    ax.set_ylim(min(-0.75, top) - STEP * half, 1.4)


def _critical_bar(ax: Axes, ranking: Ranking, n: int) -> None:
    width = min(ranking.critical_difference, n - 1.0)
    ax.plot([1, 1 + width], [0.8, 0.8], color=INK, lw=1.4)
    for x in (1, 1 + width):
        ax.plot([x, x], [0.72, 0.88], color=INK, lw=1.4)
    text = f"CD = {ranking.critical_difference:.2f}"
    if width < ranking.critical_difference:
        text += ", wider than the axis"
    ax.text(1 + width / 2, 0.93, text, ha="center", va="bottom", fontsize=7.5)


def _bars(ax: Axes, ranking: Ranking) -> int:
    """Draw the groups as bars below the axis; return how many levels they take."""
    groups = ranking.groups
    ends: list[float] = []
    for first, last in groups:
        low, high = ranking.ranks[first], ranking.ranks[last]
        level = int(np.argmax([low > end + 0.15 for end in ends] + [True]))
        if level == len(ends):
            ends.append(high)
        else:
            ends[level] = high
        y = -0.13 - 0.16 * level
        ax.plot([low - 0.05, high + 0.05], [y, y], color=INK, lw=2.6)
    return len(ends)
