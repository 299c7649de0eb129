"""
Two published means can contradict each other
=============================================

Accuracy and NMI of the same clusterings limit each other. For two classes of 72 samples
the points are the pairs that single runs can reach (every second count is drawn). A
published pair outside their convex hull cannot be a pair of means over the same runs,
whatever the method.
"""

import matplotlib.pyplot as plt
import numpy as np

from symmf.metrics import accuracy, nmi

y = np.repeat([0, 1], 72)
points = []
for a in range(0, 73, 2):
    for b in range(0, 73, 2):
        labels = np.r_[np.arange(72) < a, np.arange(72) < b].astype(int)
        points.append((accuracy(y, labels), nmi(y, labels)))
ac, score = np.array(points).T

fig, ax = plt.subplots(figsize=(5, 4))
ax.plot(ac, score, ".", markersize=3, label="single runs")
ax.plot(0.975, 0.958, "rx", label="a published pair of means")
ax.set(xlabel="AC", ylabel="NMI")
ax.legend(loc="upper left")
fig.tight_layout()
plt.show()
