"""Coordinate moves for indicator rows, where a gradient step cannot move."""

from __future__ import annotations

import numpy as np

from symmf.common.notation import FloatArray
from symmf.linalg import trace_objective
from symmf.solvers.base import Iterate, Iterates, Problem, Stop


def coordinate_moves(problem: Problem, H0: FloatArray) -> Iterates:
    r"""Sweep over the rows, moving each to the cluster that minimises f.

    With the others fixed, row i is best in the cluster c that minimises

    .. math:: n_c^{(-i)} - 2 \sum_{l \in c,\, l \ne i} M_{il} ,

    n_c without i: Hartigan's method (1975), which k-means has too. Every move lowers f,
    so the sweeps end after finitely many.
    """
    M, n = problem.M, problem.n
    labels = np.argmax(H0, axis=1)
    H = problem.constraint.project(H0)
    yield Iterate(H0, objective=trace_objective(M.fro2, H0, M.matmat(H0)))
    diagonal = M.diagonal()
    while True:
        MH = M.matmat(H)
        counts = H.sum(axis=0)
        moved = False
        for i in range(n):
            current = labels[i]
            # Without row i itself.
            links, sizes = MH[i].copy(), counts.copy()
            links[current] -= diagonal[i]
            sizes[current] -= 1
            cost = sizes - 2 * links
            best = int(np.argmin(cost))
            # Only a strict gain moves a row, so that ties do not cycle.
            if cost[best] < cost[current] - 1e-12 * (1 + abs(cost[current])):
                column = M.columns([i])[:, 0]
                MH[:, current] -= column
                MH[:, best] += column
                counts[current] -= 1
                counts[best] += 1
                H[i, current], H[i, best] = 0, 1
                labels[i] = best
                moved = True
        yield Iterate(H, objective=trace_objective(M.fro2, H, M.matmat(H)))
        if not moved and problem.tol > 0:
            return Stop.tolerance
