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

    def curves(self, metric: str) -> dict[str, dict[float, Cell]]:
        """Return the cells of every entry with a grid, by increasing lambda."""
        out: dict[str, dict[float, Cell]] = {}
        for cell in cells(self.experiment, metric):
            weight = cell.reading.weight
            if (
                cell.n_clusters == self.n_clusters
                and weight is not None
                and cell.n_good
            ):
                out.setdefault(cell.reading.method, {})[weight] = cell
        return out


def grid_panels(results: Results, at_least: int = 3) -> list[WeightGrid]:
    """Return the (experiment, K) with good trials at ``at_least`` values of lambda.

    The paper's three come first; if any of them is there, it alone is shown.
    """
    found = []
    for experiment in results.subjects:
        good = experiment.trials[experiment.trials["status"] == "ok"]
        weights = good.groupby(["n_clusters", "method"])["lambda"].nunique()
        most = weights.groupby("n_clusters").max()
        counts = [int(str(k)) for k in most[most >= at_least].index]
        found += [WeightGrid(experiment=experiment, n_clusters=k) for k in counts]
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
    weight: float
    with_cells: tuple[Cell, ...]
    without_cells: tuple[Cell, ...]

    @property
    def enough(self) -> bool:
        """Whether all its cells have enough good trials to judge by."""
        return all(cell.enough for cell in (*self.with_cells, *self.without_cells))


def pairings(results: Results, at_least: int = 2) -> list[Pairing]:
    """Return entries run at lambda = 0 and at a positive lambda over several K.

    The paper shows COIL-20; of the studies there, those with the most K.
    """
    out = [
        pair
        for experiment in results.subjects
        if experiment.role is not Role.EQUAL_TERMS
        for pair in _pairings_of(experiment, at_least)
    ]
    chosen = [p for p in out if p.experiment.dataset == "coil20"] or out
    most = max((len(p.with_cells) for p in chosen), default=0)
    return [p for p in chosen if len(p.with_cells) == most]


def graph_pairings(results: Results, at_least: int = 2) -> list[Pairing]:
    """Return the same for every entry and data set on the graph all methods share."""
    return [
        pair
        for experiment in results.of(Role.EQUAL_TERMS)
        for pair in _pairings_of(experiment, at_least)
    ]


def _pairings_of(experiment: Experiment, at_least: int) -> list[Pairing]:
    table: dict[str, dict[float, dict[int, Cell]]] = {}
    for cell in cells(experiment, "ac"):
        if (weight := cell.reading.weight) is not None and cell.n_good:
            by_weight = table.setdefault(cell.reading.method, {})
            by_weight.setdefault(weight, {})[cell.n_clusters] = cell
    out = []
    for by_weight in table.values():
        without = by_weight.pop(0.0, {})
        weight = reference_weight(by_weight) if by_weight else 0.0
        found = by_weight.get(weight, {})
        both = [k for k in found if k in without]
        if len(both) >= at_least:
            out.append(
                Pairing(
                    experiment=experiment,
                    reading=found[both[0]].reading,
                    weight=weight,
                    with_cells=tuple(found[k] for k in both),
                    without_cells=tuple(without[k] for k in both),
                )
            )
    return out
