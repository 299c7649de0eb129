"""
Which solver needs the fewest iterations
========================================

Six solvers factor the same matrix with a nonnegative H, from the same start. Solvers
with second-order or exact steps need fewer iterations, but each iteration costs more.
"""

import matplotlib.pyplot as plt
import numpy as np

from symmf import factorize
from symmf.datasets import load_dataset
from symmf.similarity import build_similarity

data = load_dataset("synthetic", kind="planted", n=200, k=5, seed=0)
M = build_similarity(data.X, "cosine")
H0 = np.abs(np.random.default_rng(0).standard_normal((200, 5))) * 0.2

solvers = ["projected_gradient", "newton", "sym_hals", "sym_anls", "columnwise", "admm"]
fits = {
    name: factorize(
        M, 5, solver=name, constraint="nonnegative", H0=H0, max_iter=60, tol=0
    )
    for name in solvers
}
best = min(fit.error.min() for fit in fits.values())

fig, ax = plt.subplots(figsize=(6, 4))
for name, fit in fits.items():
    ax.semilogy(fit.error - best + 1e-9, label=name)
ax.set(xlabel="iteration", ylabel="relative error above the best found")
ax.legend()
fig.tight_layout()
plt.show()
