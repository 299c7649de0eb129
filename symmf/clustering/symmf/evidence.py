"""Whether to believe a clustering: one verdict, from the weakest evidence.

Three things are asked. Are there clusters at all, against chance
(:mod:`symmf.clustering.symmf.structure`)? Do the same ones come back when a fifth of
the rows is left out? Do several rules name the same number? The first two make the
verdict; how often such agreement of rules was right is read from ``select_hits.json``,
which ``scripts/benchmark evidence`` writes. Silhouettes are shown by name and judge
nothing: in the embedding they are high on data without clusters, and in the data low on
clusters that are not balls.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from symmf.clustering.symmf.membership import Parts
from symmf.clustering.symmf.number import Numbers, parts_of
from symmf.clustering.symmf.structure import Structure, Verdict
from symmf.common.notation import FloatArray, LabelArray
from symmf.errors import SymmfError
from symmf.metrics import ari, silhouette

#: rules that count when their agreement is stated
RULES = ("eigengap", "eigengap_15", "silhouette", "hdbscan")
# Of a given graph.
_GRAPH_RULES = ("bethe_hessian", "eigengap")
HITS = Path(__file__).with_name("select_hits.json")
# Stability from which clusters are clear, or weak.
_STABLE, _SHAKY = 0.85, 0.6
_N_PARTS = 5
_ORDER: tuple[Verdict, ...] = ("none", "weak", "clear")
_HEADS: dict[Verdict, str] = {
    "clear": "Clear clusters",
    "weak": "Weak evidence for these clusters",
    "none": "No evidence for these clusters",
}
_GAPS: dict[Verdict | None, str] = {
    "clear": "the gaps between groups are larger than expected by chance",
    "weak": "the gaps between groups are hardly larger than expected by chance",
    None: "whether such groups arise by chance cannot be tested for these data",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for a clustering.

    Attributes
    ----------
    n_clusters : int
    chosen : bool
        Whether the number was chosen from the data.
    structure : Structure or None
        Whether there are clusters at all; None where that cannot be tested.
    stability : float or None
        Mean adjusted Rand index with clusterings of 80 % of the rows.
    silhouette : float or None
        In the data, in the units in which rows are compared.
    silhouette_of_h : float or None
        In the embedding, the rows of H.
    best, runner_up : int or None
        The numbers of clusters that score best.
    by_rule : dict
        The number that each rule would choose.
    scores : dict
        The score of each number of clusters.
    """

    n_clusters: int
    chosen: bool = False
    structure: Structure | None = None
    stability: float | None = None
    silhouette: float | None = None
    silhouette_of_h: float | None = None
    best: int | None = None
    runner_up: int | None = None
    by_rule: dict[str, int] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict | None:
        """The weakest of structure and stability; None if neither is known."""
        known = [] if self.structure is None else [self.structure.verdict]
        if self.stability is not None:
            known.append(_steady(self.stability))
        return min(known, key=_ORDER.index, default=None)

    @property
    def sentence(self) -> str:
        """The verdict and its reason."""
        verdict, structure = self.verdict, self.structure
        if verdict is None:
            return "Whether these are clusters was not tested."
        if structure is not None and structure.verdict == "none":
            found = "No clusters were found" if self.n_clusters == 1 else _HEADS["none"]
            same = "data without clusters look the same"
            return f"{found}: {same}. Groups that nearly touch may be missed."
        gaps = _GAPS[None if structure is None else structure.verdict]
        if structure is not None and structure.verdict == "weak" and structure.along:
            gaps += ": the rows lie along a line or curve, and these may be parts of it"
        if self.stability is None:
            return f"{_HEADS[verdict]}: {gaps}."
        changes = {"none": "they change", "weak": "some rows change cluster"}
        left_out = "when a fifth of the rows is left out"
        steady = f"{left_out} (stability {self.stability:.2f} of 1)"
        if (known := _steady(self.stability)) in changes:
            return f"{_HEADS[verdict]}: {changes[known]} {steady}."
        if structure is None:
            return f"Stable clusters: they come back {steady}; {gaps}."
        if verdict == "weak":
            return f"{_HEADS[verdict]}: they come back {steady}, but {gaps}."
        return f"{_HEADS[verdict]}: {gaps}, and the same clusters come back {steady}."

    @property
    def number(self) -> str:
        """What is known of the number of clusters; empty if nothing is."""
        if self.best is None:
            return ""
        second = "" if self.runner_up is None else f"; second best: {self.runner_up}"
        none = self.structure is not None and self.structure.verdict == "none"
        if none or (self.chosen and self.n_clusters == 1):
            if self.best == 1:
                return ""
            return f"If there must be clusters, K = {self.best} scores best{second}."
        if self.chosen and self.verdict == "none":
            return (
                f"K = {self.best} scores best{second}, but do not rely on it: give the "
                "number you need, or take the clusters as a summary of the rows."
            )
        how = "was chosen" if self.chosen else "is also what symmf would choose"
        how = how if self.n_clusters == self.best else "scores best"
        return f"K = {self.best} {how}{second}. {confidence(self.by_rule, self.best)}"

    def __str__(self) -> str:
        return " ".join(filter(None, (self.sentence, self.number)))


@cache
def hit_rates() -> dict[str, Any]:
    """Return how often the rules were right on data with known classes."""
    return dict(json.loads(HITS.read_text("utf-8")))


def confidence(by_rule: dict[str, int], k: int) -> str:
    """Say how many rules name k clusters, and how often k was right where they did.

    Examples
    --------
    >>> confidence({"silhouette": 3, "eigengap": 4}, 3).split(":")[0]
    '1 of 2 rules agrees'
    """
    known = _GRAPH_RULES if "bethe_hessian" in by_rule else RULES
    rules = [rule for rule in known if rule in by_rule]
    agree = sum(by_rule[rule] == k for rule in rules)
    verb = "agrees" if agree == 1 else "agree"
    said = f"{agree} of {len(rules)} rules {verb}"
    if len(rules) < len(RULES):
        return (
            f"{said}: how often such agreement is right was not measured for data of "
            "this kind."
        )
    case = str(agree) if agree >= 3 else "fewer"
    rates = hit_rates()["all"]["by_agreement"][case]
    unknown = "" if agree >= 3 else "; the number of clusters is uncertain"
    return (
        f"{said}{unknown}: on benchmark data with such agreement the number was right "
        f"on {rates['right']} of {rates['sets']} sets."
    )


def gather_evidence(
    labels: LabelArray,
    *,
    chosen: bool = False,
    numbers: Numbers | None = None,
    parts: Parts = (),
    rows: FloatArray | None = None,
    embedding: FloatArray | None = None,
) -> Evidence:
    """Return the evidence for a clustering.

    Parameters
    ----------
    labels : (n,) array
    chosen : bool
        Whether their number was chosen.
    numbers : Numbers, optional
    parts : sequence of (rows, labels)
        Clusterings of parts; see :func:`cluster_parts`.
    rows, embedding : (n, p) arrays, optional
        The rows as they are compared, and what was clustered.
    """

    def mean_silhouette(Z: FloatArray | None) -> float | None:
        value = float("nan") if Z is None else silhouette(Z, labels)
        return None if np.isnan(value) else value

    scores = [ari(labels[part], own) for part, own in parts]
    found = numbers if numbers is not None and numbers.labels else None
    every = zip(found.candidates, found.score.tolist(), strict=True) if found else ()
    return Evidence(
        n_clusters=len(np.unique(labels)),
        chosen=chosen,
        structure=None if numbers is None else numbers.structure,
        stability=float(np.mean(scores)) if scores else None,
        silhouette=mean_silhouette(rows),
        silhouette_of_h=mean_silhouette(embedding),
        best=None if found is None else found.best,
        runner_up=None if found is None else found.runner_up,
        by_rule={} if found is None else found.by_rule(),
        scores=dict(every),
    )


def cluster_parts(
    rows: Any, n_clusters: int, cluster: Callable[[Any, int], LabelArray]
) -> Parts:
    """Cluster 80 % of some rows alone, five times; nothing where that is not possible.

    Parameters
    ----------
    rows : array of int
        Which rows may be taken; at most 2,000 of a larger set, see
        :func:`symmf.clustering.symmf.number.sample_of`.
    n_clusters : int
    cluster : callable
        ``cluster(part, seed)`` returns labels of these rows.
    """
    parts = parts_of(rows, _N_PARTS, np.random.default_rng(0))
    if n_clusters < 2 or len(parts[0]) < max(10, 2 * n_clusters):
        return []
    try:
        return [(part, cluster(part, seed)) for seed, part in enumerate(parts)]
    except (SymmfError, ValueError):
        return []


def _steady(stability: float) -> Verdict:
    return _ORDER[int(stability >= _SHAKY) + int(stability >= _STABLE)]
