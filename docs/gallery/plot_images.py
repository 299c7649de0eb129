"""
Gradients separate images that pixels do not
============================================

Small images of stripes in three directions, with random widths and phases. Images of
one direction have few pixels in common, but similar histograms of oriented gradients.
"""

import matplotlib.pyplot as plt
import numpy as np

from symmf import SymMF, accuracy
from symmf.features.images import HOG

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 30)
rows, columns = np.mgrid[:16, :16]


def stripes(direction: int) -> np.ndarray:
    angle = direction * np.pi / 3 + rng.normal(0, 0.1)
    along = rows * np.sin(angle) + columns * np.cos(angle)
    wave = np.sin(rng.uniform(0.6, 1.4) * along + rng.uniform(0, 6))
    return 0.5 + 0.2 * wave + rng.normal(0, 0.08, wave.shape)


X = np.clip([stripes(direction).ravel() for direction in y], 0, 1)

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
fig.suptitle("Each row: images of one cluster, by their gradients")
plt.show()
