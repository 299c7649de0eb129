"""The clusters as a file: one line per sample, its name first."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from symmf.common.notation import FloatArray, LabelArray
from symmf.common.texts import csv_cell


def clusters_csv(
    labels: LabelArray,
    *,
    ids: Sequence[str] | None = None,
    id_name: str = "row",
    kept: Sequence[Sequence[str]] | None = None,
    comma: bool = False,
    outliers: Sequence[bool] | None = None,
    membership: FloatArray | None = None,
) -> str:
    """Return CSV with a line per sample.

    Parameters
    ----------
    labels : array of int
    ids : sequence of str, optional
        Names of the samples; their numbers from 1 by default.
    id_name : str
        What the names are.
    kept : sequence of rows, optional
        All cells of the table, names first: they are written before the cluster.
    comma : bool
        Numbers of the table have a decimal comma, so that ``;`` separates its cells, as
        where such tables are used.
    outliers, membership : sequences, optional
        Which samples lie apart (1), and how surely they belong: columns before the
        cluster, which is always the last.

    Examples
    --------
    >>> print(clusters_csv(np.array([1, 0]), ids=["a", "=b"], id_name="who"), end="")
    who,cluster
    a,1
    '=b,0
    """
    out = io.StringIO()
    sign = ";" if comma and kept is not None else ","
    writer = csv.writer(out, delimiter=sign, lineterminator="\n")
    if kept is None:
        names = [str(i + 1) for i in range(len(labels))] if ids is None else ids
        kept = [[id_name], *([name] for name in names)]
    about = {
        "outlier": None if outliers is None else [int(flag) for flag in outliers],
        "membership": None if membership is None else [f"{p:.3f}" for p in membership],
        "cluster": labels.tolist(),
    }
    columns = {name: values for name, values in about.items() if values is not None}
    if sign == ";" and "membership" in columns:
        columns["membership"] = [p.replace(".", ",") for p in columns["membership"]]
    head = [csv_cell(name) for name in kept[0]]
    writer.writerow([*head, *(_free(name, kept[0]) for name in columns)])
    for cells, own in zip(kept[1:], zip(*columns.values(), strict=True), strict=True):
        writer.writerow([*(csv_cell(cell) for cell in cells), *own])
    return out.getvalue()


def factor_csv(H: FloatArray) -> str:
    """Return the factor as CSV, every number to the last bit."""
    out = io.StringIO()
    names = ",".join(f"h{j}" for j in range(H.shape[1]))
    np.savetxt(out, H, fmt="%.17g", delimiter=",", header=names, comments="")
    return out.getvalue()


def npy_bytes(array: FloatArray | LabelArray) -> bytes:
    """Return an array in NumPy's format."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
