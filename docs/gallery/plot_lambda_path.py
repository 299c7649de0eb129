"""
λ hardly changes the clusters
=============================

M = A - lambda L is factored for eleven values of lambda, each run starting from the
result of the one before. The scores hardly change with lambda, as for the converged
factorizations of the study.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from symmf import factorize_path
from symmf.clustering.labels import kmeans_rows
from symmf.metrics import nmi
from symmf.similarity import build_similarity

X, y = load_digits(n_class=5, return_X_y=True)
weights = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
fits = factorize_path(build_similarity(X, "centred_cosine"), 5, weights, random_state=0)
scores = [nmi(y, kmeans_rows(fit.H, 5, n_init=10, random_state=0)) for fit in fits]

fig, ax = plt.subplots(figsize=(5, 3.2))
ax.plot(range(len(weights)), scores, "o-")
ax.set(xticks=range(len(weights)), xticklabels=weights, xlabel="lambda", ylabel="NMI")
ax.set_ylim(0, 1)
fig.tight_layout()
plt.show()
