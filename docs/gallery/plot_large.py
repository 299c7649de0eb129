"""
Large tables need no n x n matrix
=================================

Dense rows in 16 dimensions, in ten groups: how the time of a fit grows. A fit of up to
20,000 rows learns from all of them; of a larger table it learns from 5000 landmarks,
and every row is assigned by those nearest to it. The sizes here are small; set
``SYMMF_GALLERY_ROWS=1000000`` for larger ones.
"""

import os
import time

import matplotlib.pyplot as plt
import numpy as np

from symmf import SymMF, accuracy

largest = int(os.environ.get("SYMMF_GALLERY_ROWS", "16000"))
sizes = [n for n in (1000, 4000, 16000, 64000, 256000, 1000000) if n <= largest]
rng = np.random.default_rng(0)
centres = rng.standard_normal((10, 16)) * 3
seconds, scores = [], []
for n in sizes:
    y = rng.integers(10, size=n)
    X = (centres[y] + rng.standard_normal((n, 16))).astype(np.float32)
    began = time.perf_counter()
    labels = SymMF(n_clusters=10, random_state=0).fit_predict(X)
    seconds.append(time.perf_counter() - began)
    scores.append(accuracy(y, labels))
print("accuracy:", [round(score, 3) for score in scores])

fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.loglog(sizes, seconds, "o-")
ax.set(xlabel="rows", ylabel="seconds, whole fit")
plt.show()
