"""
From similarities to clusters in four matrices
==============================================

The four matrices of the framework for three groups of points: the similarity A, its
Laplacian L, the matrix M = A - lambda L that is factored, and the factor H, whose rows
are clustered.
"""

import matplotlib.pyplot as plt
import numpy as np

from symmf import build_similarity, factorize

rng = np.random.default_rng(0)
centres = np.array([[0, 0], [4, 0], [2, 3.5]])
y = np.repeat([0, 1, 2], [30, 25, 20])
X = centres[y] + rng.standard_normal((75, 2)) * 0.8

A = build_similarity(X, "gaussian", scale=1.0) @ np.eye(75)
L = np.diag(A.sum(axis=1)) - A
M = A - 0.1 * L
fit = factorize(M, 3, constraint="nonnegative", random_state=0)

fig, axes = plt.subplots(
    1, 4, figsize=(10, 3), width_ratios=[3, 3, 3, 1], layout="constrained"
)
for ax, matrix, name in zip(axes, (A, L, M, fit.H), "ALMH", strict=True):
    bound = fit.H.max() if name == "H" else A.max()
    ax.imshow(
        matrix,
        cmap="RdBu_r",
        vmin=-bound,
        vmax=bound,
        aspect="auto",
        interpolation="nearest",
    )
    ax.set(title=name, xticks=[], yticks=[])
plt.show()
