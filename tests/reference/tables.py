"""All small contingency tables, and their scores straight from the definitions."""

from itertools import permutations, product

import numpy as np


def rows_of_sum(total, parts):
    """All lists of ``parts`` counts >= 0 with the given sum."""
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(total + 1)
        for rest in rows_of_sum(total - first, parts - 1)
    ]


def all_tables(sizes, m):
    """Every table with these row sums and m columns, stacked."""
    choices = [rows_of_sum(size, m) for size in sizes]
    return np.array(list(product(*choices)))


def accuracies(tables):
    """AC of stacked tables: try every injective matching."""
    _, K, m = tables.shape
    if m >= K:
        matched = [tables[:, range(K), s].sum(1) for s in permutations(range(m), K)]
    else:
        matched = [tables[:, s, range(m)].sum(1) for s in permutations(range(K), m)]
    return np.max(matched, axis=0) / tables[0].sum()


def nmis(tables):
    """The five NMI values of stacked tables, a line per normalisation."""
    n = tables[0].sum()
    h, H, joint = (
        entropies(x.reshape(len(tables), -1) / n)
        for x in (tables.sum(2), tables.sum(1), tables)
    )
    mutual = np.maximum(h + H - joint, 0.0)
    defined = (h > 1e-12) & (H > 1e-12)
    h, H = np.where(defined, h, 1.0), np.where(defined, H, 1.0)
    mutual = np.where(defined, mutual, 0.0)
    return np.array(
        [
            mutual / np.maximum(h, H),
            2 * mutual / (h + H),
            mutual / np.sqrt(h * H),
            (mutual / h + mutual / H) / 2,
            mutual / np.minimum(h, H),
        ]
    )


def entropies(shares):
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return -(shares * logs).sum(axis=1)
