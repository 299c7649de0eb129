"""Who tells about lambda: grids of it, and entries run with and without it."""

from __future__ import annotations

from dataclasses import dataclass

from symmf.paper.roles import Role
from symmf.paper.values import PAPER_PANELS
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import Cell, CellKey, cells
from symmf.reporting.selection.readings import Reading, reference_weight


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightGrid:
    """One experiment at one K with a grid of lambda."""

    experiment: Experiment
    n_clusters: int

    @property
    def key(self) -> CellKey:
        """Data set and K."""
        return CellKey(self.experiment.dataset, self.n_clusters)

    def curves(self, metric: str) -> dict[str, list[Cell]]:
        """Return the cells of every entry with a grid, by increasing lambda."""
        out: dict[str, list[Cell]] = {}
        for cell in cells(self.experiment, metric):
            here = cell.n_clusters == self.n_clusters
            if here and cell.reading.weight is not None and cell.n_good:
                out.setdefault(cell.reading.method, []).append(cell)
        for group in out.values():
            group.sort(key=lambda cell: float(cell.reading.weight or 0))
        return out


def grid_panels(results: Results, at_least: int = 3) -> list[WeightGrid]:
    """Return the (experiment, K) with good trials at ``at_least`` values of lambda.

    The paper's three come first; if any of them is there, it alone is shown.
    """
    found = []
    for experiment in results.subjects:
        trials = experiment.trials
        good = trials[(trials["status"] == "ok") & trials["lambda"].notna()]
        for k, group in good.groupby("n_clusters"):
            if group.groupby("method")["lambda"].nunique().max() >= at_least:
                found.append(WeightGrid(experiment=experiment, n_clusters=int(str(k))))
    order = {CellKey(*key): index for index, key in enumerate(PAPER_PANELS)}
    chosen = [panel for panel in found if panel.key in order] or found
    return sorted(
        chosen, key=lambda p: (order.get(p.key, len(order)), p.experiment.name)
    )


# Words of a similarity that is a graph of neighbours.
GRAPHS = ("graph", "knn", "neighbour", "self_tuning")


def on_graph(experiment: Experiment) -> bool:
    """Tell whether entries factor a graph of neighbours, not inner products."""
    told = [str(words) for words in experiment.trials["matrix"].unique()]
    return any(word in text for word in GRAPHS for text in told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """One entry with and without the regulariser over several K."""

    experiment: Experiment
    reading: Reading
    with_cells: tuple[Cell, ...]
    without_cells: tuple[Cell, ...]
    weight: float


def pairings(results: Results, metric: str = "ac", at_least: int = 2) -> list[Pairing]:
    """Return entries run at lambda = 0 and at a positive lambda over several K.

    The paper shows COIL-20; of the studies there, those with the most K.
    """
    out = [
        pair
        for experiment in results.subjects
        if experiment.role is not Role.EQUAL_TERMS
        for pair in _pairings_of(experiment, metric, at_least)
    ]
    chosen = [p for p in out if p.experiment.dataset == "coil20"] or out
    most = max((len(p.with_cells) for p in chosen), default=0)
    return [p for p in chosen if len(p.with_cells) == most]


def graph_pairings(
    results: Results, metric: str = "ac", at_least: int = 2
) -> list[Pairing]:
    """Return the same for every entry and data set on the graph all methods share."""
    return [
        pair
        for experiment in results.of(Role.EQUAL_TERMS)
        for pair in _pairings_of(experiment, metric, at_least)
    ]


def _pairings_of(experiment: Experiment, metric: str, at_least: int) -> list[Pairing]:
    table: dict[tuple[str, float, int], Cell] = {
        (cell.reading.method, cell.reading.weight, cell.n_clusters): cell
        for cell in cells(experiment, metric)
        if cell.reading.weight is not None and cell.n_good
    }
    out = []
    for method in experiment.entries:
        weights = {weight for name, weight, _ in table if name == method}
        positive = [weight for weight in weights if weight > 0]
        if 0.0 not in weights or not positive:
            continue
        weight = reference_weight(positive)
        both = [
            k
            for k in experiment.cluster_counts
            if (method, 0.0, k) in table and (method, weight, k) in table
        ]
        if len(both) >= at_least:
            out.append(
                Pairing(
                    experiment=experiment,
                    reading=table[method, weight, both[0]].reading,
                    with_cells=tuple(table[method, weight, k] for k in both),
                    without_cells=tuple(table[method, 0.0, k] for k in both),
                    weight=weight,
                )
            )
    return out
