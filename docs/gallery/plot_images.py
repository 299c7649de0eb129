"""
Images by their gradients
=========================

Small pictures of stripes in three directions, each at a random phase and brightness.
Their pixels have little in common; histograms of oriented gradients do.
"""

import matplotlib.pyplot as plt
import numpy as np

from symmf import SymMF, accuracy
from symmf.features.images import HOG

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 40)
angles = np.array([0, np.pi / 3, 2 * np.pi / 3])[y] + rng.normal(0, 0.08, y.size)
rows, columns = np.mgrid[:16, :16]
X = np.stack(
    [
        (1 + np.sin(0.8 * (rows * np.sin(a) + columns * np.cos(a)) + phase)) * light
        for a, phase, light in zip(
            angles,
            rng.uniform(0, 6, y.size),
            rng.uniform(0.3, 0.5, y.size),
            strict=True,
        )
    ]
).reshape(y.size, -1)
X = np.clip(X + rng.normal(0, 0.05, X.shape), 0, 1)

pixels = SymMF(n_clusters=3, random_state=0).fit_predict(X)
gradients = SymMF(n_clusters=3, random_state=0).fit_predict(HOG().fit_transform(X))
print(f"pixels {accuracy(y, pixels):.2f}, gradients {accuracy(y, gradients):.2f}")

fig, axes = plt.subplots(3, 8, figsize=(7, 3), layout="constrained")
for cluster, line in enumerate(axes):
    members = np.flatnonzero(gradients == cluster)[:8]
    for ax, member in zip(line, members, strict=False):
        ax.imshow(X[member].reshape(16, 16), cmap="gray", vmin=0, vmax=1)
    for ax in line:
        ax.set_axis_off()
fig.suptitle("A row per cluster of gradients")
plt.show()
