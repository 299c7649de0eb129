"""
Find groups in a graph of your own
==================================

A graph is a sparse symmetric matrix of weights; pass it with
``similarity="precomputed"``. This one has three groups, with many edges within groups
and few between them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from symmf import SymMF

rng = np.random.default_rng(0)
group = np.repeat([0, 1, 2], 40)
likely = np.where(group[:, None] == group[None, :], 0.25, 0.02)
upper = np.triu(rng.random((120, 120)) < likely, 1)
W = sparse.csr_array((upper | upper.T).astype(float))

model = SymMF(n_clusters=3, similarity="precomputed", random_state=0).fit(W)
order = np.argsort(model.labels_, kind="stable")

fig, axes = plt.subplots(1, 2, figsize=(8, 4))
mixed = rng.permutation(120)
axes[0].spy(W.toarray()[np.ix_(mixed, mixed)], markersize=1.5)
axes[0].set_title("nodes in random order")
axes[1].spy(W.toarray()[np.ix_(order, order)], markersize=1.5)
axes[1].set_title("nodes ordered by cluster")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
