"""Which published scores are possible at all: bounds on AC and NMI, with proofs.

Public are :class:`Pair` (two published means), :class:`Setting` (what is assumed about
their runs) and :func:`audit_pairs`, which returns a :class:`PairVerdict` for each.
"""

from symmf.audit.contingency import AVERAGES
from symmf.audit.judge import Basis, Pair, PairVerdict, Possibility, audit_pairs
from symmf.audit.setting import Setting

__all__ = [
    "AVERAGES",
    "Basis",
    "Pair",
    "PairVerdict",
    "Possibility",
    "Setting",
    "audit_pairs",
]
