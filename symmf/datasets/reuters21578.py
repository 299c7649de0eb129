"""Reuters-21578: newswire documents of one topic each, as counts of terms.

======== ======= ==========
classes  samples dimensions
41       8213    18933
======== ======= ==========

The file has 65 classes and 8293 documents. Classes of fewer than 10 documents are
dropped, the only threshold that gives the paper's counts; all columns stay, 14 of which
are then empty. ``class_ids`` keeps the numbers of the classes in the file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from symmf.datasets.base import Dataset, DatasetSpec, RemoteFile, Source
from symmf.datasets.matfile import read_mat

MIN_CLASS_SIZE = 10


def read(path: Path) -> Dataset:
    """Load the classes of at least 10 documents."""
    fea, gnd = read_mat(path)
    gnd = gnd.ravel()
    _, classes, sizes = np.unique(gnd, return_inverse=True, return_counts=True)
    keep = np.flatnonzero(sizes[classes] >= MIN_CLASS_SIZE)
    X = sparse.csr_array(fea)[keep]
    return Dataset.from_arrays(
        X, gnd[keep], name="reuters21578", title="Reuters-21578", kind="text"
    )


SPEC = DatasetSpec(
    name="reuters21578",
    title="Reuters-21578",
    description="newswire documents of 41 topics, counts of 18933 terms",
    licence="for research; cite as Reuters-21578, Distribution 1.0",
    citation="D. D. Lewis: Reuters-21578, Distribution 1.0; counts by D. Cai, X. He, "
    "J. Han, http://www.cad.zju.edu.cn/home/dengcai/Data/TextData.html",
    read=read,
    n_classes=41,
    n_samples=8213,
    n_features=18933,
    file=RemoteFile(
        path="reuters21578/Reuters21578.mat",
        size=896756,
        sha256="2e442026efc64cfbcd3a531b4bc99b21eed6c5463276dbfa69d096f91dd5c245",
        sources=(
            Source(
                url="https://raw.githubusercontent.com/hiroyuki-kasai/NMFLibrary/"
                "ed44132dfe1b5495df685006b42259f0bd16bea3/applications/"
                "document_clustering/Reuters21578.mat",
            ),
        ),
    ),
    digest="789dec252ab89dcd25c5a9c82bbf24a2faf5f8c1c3a0ad0ae354a1f1f0b6dc4d",
    accepts="Reuters21578.mat",
)
