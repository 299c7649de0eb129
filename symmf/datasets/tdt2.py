"""TDT2: news stories of the 30 largest topics of 1998, as counts of terms.

======== ======= ==========
classes  samples dimensions
30       9394    36771
======== ======= ==========

The whole file is used; 678 of its columns are empty.
"""

from __future__ import annotations

from pathlib import Path

from symmf.datasets.base import Dataset, DatasetSpec, RemoteFile, Source
from symmf.datasets.matfile import read_mat


def read(path: Path) -> Dataset:
    """Load the whole file."""
    fea, gnd = read_mat(path)
    return Dataset.from_arrays(fea, gnd, name="tdt2", title="TDT2", kind="text")


SPEC = DatasetSpec(
    name="tdt2",
    title="TDT2",
    description="news stories of 30 topics, counts of 36771 terms",
    licence="text licensed by the LDC; these counts are published for research",
    citation="Linguistic Data Consortium: TDT2 corpus (LDC2001T57); counts by D. Cai, "
    "X. He, J. Han, http://www.cad.zju.edu.cn/home/dengcai/Data/TextData.html",
    read=read,
    n_classes=30,
    n_samples=9394,
    n_features=36771,
    file=RemoteFile(
        path="tdt2/TDT2.mat",
        size=2657541,
        sha256="a28844f8bf18076838ede0d7554c8c2476d6b6d1c7eb57558e7288e10d16fde9",
        sources=(
            Source(
                url="https://raw.githubusercontent.com/hiroyuki-kasai/NMFLibrary/"
                "ed44132dfe1b5495df685006b42259f0bd16bea3/applications/"
                "document_clustering/TDT2.mat",
            ),
        ),
    ),
    digest="05f0b35d58dc5482f4749c2fc651c84219a7c38ce36c94075f64a158a7ba8787",
    accepts="TDT2.mat, also that of its origin",
)
