"""
Cluster images of digits without labels
=======================================

Images of digits, eight by eight pixels: ``SymMF`` builds a similarity, factors it and
clusters the rows of H. The true digits are used only at the end, to score the clusters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from symmf import SymMF
from symmf.metrics import accuracy, nmi

X, y = load_digits(return_X_y=True)
model = SymMF(n_clusters=10, random_state=0).fit(X)
print(model.similarity_, model.solver_)
print(f"AC {accuracy(y, model.labels_):.3f}, NMI {nmi(y, model.labels_):.3f}")

# %%
# Each row shows a cluster: the eight members nearest to its mean.

fig, axes = plt.subplots(10, 8, figsize=(5, 6))
for cluster, row in enumerate(axes):
    members = X[model.labels_ == cluster]
    order = ((members - members.mean(axis=0)) ** 2).sum(axis=1).argsort()
    for ax, image in zip(row, members[order[:8]], strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set_axis_off()
fig.suptitle("Images nearest to the mean of each cluster")
plt.show()
