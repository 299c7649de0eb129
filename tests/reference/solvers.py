"""Solvers written with explicit n x n matrices and one right-hand side at a time."""

from itertools import combinations

import numpy as np
from scipy.optimize import nnls


def objective(M, H, P=None):
    P = H if P is None else P
    return np.linalg.norm(M - H @ P.T, "fro") ** 2


def penalised(M, H, P, mu):
    return objective(M, H, P) + mu * np.linalg.norm(H - P, "fro") ** 2


def gradient(M, H):
    return 4 * (H @ H.T - M) @ H


def curvature(M, H):
    sigma = np.linalg.norm(H @ H.T - M, 2)
    return 4 * sigma + 8 * np.linalg.norm(H.T @ H, 2)


def projected_gradient(M, H, project, steps, scale=1.0):
    for _ in range(steps):
        H = project(H - scale / curvature(M, H) * gradient(M, H))
    return H


def columnwise_sweep(M, H, P, mu, clip=False, printed=False):
    H, P = H.copy(), P.copy()
    for j in range(H.shape[1]):
        others = np.arange(H.shape[1]) != j
        residual = M - H[:, others] @ P[:, others].T
        h = (residual @ P[:, j] + mu * P[:, j]) / (P[:, j] @ P[:, j] + mu)
        H[:, j] = np.maximum(h, 0) if clip else h
        back = residual if printed else residual.T
        p = (back @ H[:, j] + mu * H[:, j]) / (H[:, j] @ H[:, j] + mu)
        P[:, j] = np.maximum(p, 0) if clip else p
    return H, P


def tied_least_squares(M, P, mu):
    """argmin over H >= 0 of ||M - H P^T||^2 + mu ||H - P||^2, rows stacked."""
    k = P.shape[1]
    tall = np.vstack([P, np.sqrt(mu) * np.eye(k)])
    rows = [
        nnls(tall, np.concatenate([M[i], np.sqrt(mu) * P[i]]))[0] for i in range(len(M))
    ]
    return np.array(rows)


def sym_anls_step(M, H, P, mu):
    del H
    H = tied_least_squares(M, P, mu)
    return H, tied_least_squares(M, H, mu)


def sym_hals_step(M, H, P, mu):
    H, P = H.copy(), P.copy()
    for first, second in ((H, P), (P, H)):
        for j in range(H.shape[1]):
            others = np.arange(H.shape[1]) != j
            residual = M - first[:, others] @ second[:, others].T
            v = residual @ second[:, j] + mu * second[:, j]
            first[:, j] = np.maximum(v / (second[:, j] @ second[:, j] + mu), 0)
    return H, P


def admm_step(M, X, Y, multiplier, rho):
    """The Y-step row by row from its definition, then X and the multiplier."""
    k = X.shape[1]
    beta = 6 / rho * objective(M, X, Y)
    tall = np.vstack([X, np.sqrt(rho) * np.eye(k), np.sqrt(beta) * np.eye(k)])
    near, old = X - multiplier / rho, Y
    Y = np.array(
        [
            nnls(
                tall,
                np.concatenate(
                    [M[:, i], np.sqrt(rho) * near[i], np.sqrt(beta) * old[i]]
                ),
            )[0]
            for i in range(len(M))
        ]
    )
    X = (M @ Y + rho * Y + multiplier) @ np.linalg.inv(Y.T @ Y + rho * np.eye(k))
    return X, Y, multiplier + rho * (Y - X)


def hessian_block(M, H, j):
    h = H[:, j]
    return 4 * (H @ H.T - M + np.outer(h, h) + (h @ h) * np.eye(len(h)))


def nnls_by_subsets(Q, b):
    """The best stationary point over all supports; for a handful of unknowns."""
    best, value = np.zeros(len(b)), 0.0
    for size in range(1, len(b) + 1):
        for support in map(list, combinations(range(len(b)), size)):
            z = np.zeros(len(b))
            z[support] = np.linalg.solve(Q[np.ix_(support, support)], b[support])
            if z.min() >= 0 and 0.5 * z @ Q @ z - z @ b < value:
                best, value = z, 0.5 * z @ Q @ z - z @ b
    return best
