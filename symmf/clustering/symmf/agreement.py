"""How many rules name a number of clusters, and how often such agreement was right.

Every rule is wrong often; how often was measured: ``scripts/benchmark evidence`` writes
``select_hits.json`` beside this file.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

#: rules that count when their agreement is stated
RULES = ("eigengap", "eigengap_15", "silhouette", "hdbscan")
# Of a given graph.
_GRAPH_RULES = ("bethe_hessian", "eigengap")
HITS = Path(__file__).with_name("select_hits.json")


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
