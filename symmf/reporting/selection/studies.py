"""Studies of one's own: experiments that are compared with each other, not the paper.

One experiment is a study; several become one where they are named together, with
their data sets side by side.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from symmf.audit import Pair, Setting
from symmf.errors import InputError
from symmf.metrics import METRICS
from symmf.reporting.results import Experiment, Results
from symmf.reporting.selection.cells import Row, cells, combine

#: Shown by every study. What else is scored follows by its name.
FIRST_METRICS = ("ac", "nmi")
#: Another normalisation of a metric that is shown.
VARIANTS = ("nmi_max",)


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Experiments whose entries are compared with each other."""

    experiments: tuple[Experiment, ...]

    @property
    def name(self) -> str:
        """What its files are called: what the names of its experiments share."""
        return _shared([e.name for e in self.experiments]).strip("_-.") or "study"

    @property
    def title(self) -> str:
        """What stands above it: what the titles of its experiments share."""
        titles = [e.title for e in self.experiments]
        shared = _shared(titles).rstrip(" ,;:-–(")
        return shared if len(shared) > 3 else "; ".join(titles)

    @property
    def proposed(self) -> str:
        """The entry that its files propose; empty if none does, or not all agree."""
        named = {e.config.proposed for e in self.experiments}
        return named.pop() or "" if len(named) == 1 else ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that its trials have, those of the paper first."""
        order = dict.fromkeys((*FIRST_METRICS, *METRICS))
        frames = [e.trials for e in self.experiments]
        known = [m for m in order if any(f[m].notna().any() for f in frames)]
        return tuple(m for m in known if m not in VARIANTS)

    def rows(self, metric: str) -> tuple[Row, ...]:
        """Return its entries, each a row over the data sets, in the order of the files.

        Where two experiments have the same cell of an entry, the second is a row of
        its own.
        """
        found = [cell for e in self.experiments for cell in cells(e, metric)]
        return tuple(combine(found))


def published_pairs(
    study: Study, *, runs: int | None, decimals: int | None = None
) -> dict[tuple[str, int, str], Pair]:
    """Return the published pairs of AC and NMI of a study, for the audit.

    A run has any K whole classes of the data set, or its K largest where the study
    takes those, and at most K clusters. A file keeps no zeros at the end of a number,
    so without ``decimals`` a value counts as printed with those of the shorter one.
    """
    pairs = {}
    for e in study.experiments:
        scores: dict[tuple[str, int], dict[str, float]] = {}
        for value in e.config.published.values if e.config.published else ():
            name = "nmi" if value.metric.startswith("nmi") else value.metric
            scores.setdefault((value.method, value.n_clusters), {})[name] = value.value
        both = {key: s for key, s in scores.items() if {"ac", "nmi"} <= {*s}}
        pool = sorted(e.facts.get("class_sizes", ()), reverse=True)
        if both and not pool:
            raise InputError(
                f"The class sizes of {e.name} are not known yet. Run it: {e.command}"
            )
        for (method, k), found in both.items():
            digits = (f"{found[m]:.12g}".partition(".")[2] for m in ("ac", "nmi"))
            setting = Setting(
                pool=tuple(pool[:k] if e.config.classes == "largest" else pool),
                n_classes=k,
                n_clusters=k,
                runs=runs,
            )
            pairs[e.name, k, method] = Pair(
                setting=setting,
                ac=found["ac"],
                nmi=found["nmi"],
                decimals=decimals or max(min(map(len, digits)), 1),
                name=f"{e.title}, K = {k}, {method}",
            )
    return pairs


def _shared(texts: Sequence[str]) -> str:
    """Return what texts have in common at their beginning."""
    columns = zip(*texts, strict=False)
    return "".join(c[0] for c in itertools.takewhile(lambda c: len({*c}) == 1, columns))


def own_studies(results: Results) -> tuple[Study, ...]:
    """Return the studies among the results: those that were named together are one."""
    own = tuple(e for e in results.experiments if not e.of_paper)
    if results.chosen and own:
        return (Study(experiments=own),)
    return tuple(Study(experiments=(e,)) for e in own)
