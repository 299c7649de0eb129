"""
Smaller sets for H are easier to read and fit less well
=======================================================

The same matrix is factored with H in four sets. Without a constraint H is the closed
form, with entries of both signs; the smaller the set, the larger the error, and the
easier H is to interpret.
"""

import matplotlib.pyplot as plt
import numpy as np

from symmf import factorize
from symmf.datasets import load_dataset
from symmf.similarity import build_similarity

data = load_dataset("synthetic", kind="planted", n=120, k=4, seed=1)
order = np.argsort(data.y, kind="stable")
M = build_similarity(data.X[order], "cosine")

sets = ["none", "nonnegative", ("sparse_rows", {"s": 1}), "simplex_rows"]
fig, axes = plt.subplots(1, len(sets), figsize=(9, 4), sharey=True)
for ax, chosen in zip(axes, sets, strict=True):
    fit = factorize(M, 4, constraint=chosen, max_iter=2000, random_state=0)
    bound = np.abs(fit.H).max()
    ax.imshow(
        fit.H,
        aspect="auto",
        cmap="RdBu_r",
        vmin=-bound,
        vmax=bound,
        interpolation="nearest",
    )
    name = chosen if isinstance(chosen, str) else chosen[0]
    ax.set(title=f"{name}\nerror {fit.error[-1]:.3f}", xticks=range(4), xlabel="column")
axes[0].set_ylabel("row of H, by class")
fig.tight_layout()
plt.show()
