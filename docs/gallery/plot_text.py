"""
Describe clusters of text by their terms
========================================

Short documents about three subjects, made of randomly drawn words. ``SymMF`` takes the
counts of words as a sparse matrix; each cluster is described by the terms that are more
frequent in it than elsewhere.
"""

import matplotlib.pyplot as plt
import numpy as np

from symmf import SymMF
from symmf.features.text import count_terms, top_terms

subjects = {
    "kitchen": "bread oven flour butter salt recipe dough bake sugar yeast",
    "garden": "soil seed water plant leaf root flower bloom shade compost",
    "music": "chord melody piano rhythm song tune string concert tempo note",
}
common = [
    "day",
    "time",
    "people",
    "year",
    "thing",
    "way",
    "work",
    "part",
    "place",
    "week",
]
rng = np.random.default_rng(0)
documents, y = [], []
for subject, words in enumerate(subjects.values()):
    for _ in range(40):
        own = rng.choice(words.split(), size=8)
        documents.append(" ".join([*own, *rng.choice(common, size=6)]))
        y.append(subject)

corpus = count_terms(documents)
counts = corpus.counts
model = SymMF(n_clusters=3, random_state=0).fit(counts)
for cluster, terms in enumerate(
    top_terms(counts, model.labels_, corpus.terms, count=6)
):
    print(cluster, ", ".join(terms))

# %%
# The rows of H, ordered by cluster.

order = np.argsort(model.labels_, kind="stable")
fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
bound = np.abs(model.H_).max()
ax.imshow(model.H_[order].T, aspect="auto", cmap="RdBu_r", vmin=-bound, vmax=bound)
ax.set(xlabel="document, by cluster", ylabel="column of H")
plt.show()
