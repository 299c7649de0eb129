"""The files that ``symmf cluster`` writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symmf.common.files import write_bytes, write_text
from symmf.common.notation import FloatArray, LabelArray
from symmf.common.texts import csv_cell

if TYPE_CHECKING:
    from symmf.app.request import Request
    from symmf.clustering.symmf.model_file import Model
    from symmf.io.matrix import UserMatrix


def write_outputs(
    request: Request,
    data: UserMatrix,
    labels: LabelArray,
    *,
    factor: Callable[[], Any] | None = None,
    page: Callable[[], str] | None = None,
    model: Callable[[], Model] | None = None,
    **about: Any,
) -> list[Path]:
    """Write the files that were asked for, each whole or not at all.

    Parameters
    ----------
    request : Request
    data : UserMatrix
        What was clustered, with the names of its samples.
    labels : array of int
    factor, page, model : callables, optional
        Make the factor, the page and the model if they are to be written.
    **about
        More columns for :func:`clusters_csv`.
    """
    from symmf.clustering.symmf.model_file import save_model

    if request.out is not None:
        _write_array(request.out, labels, lambda: clusters_csv(data, labels, **about))
    if request.factor is not None and factor is not None:
        H = factor()
        _write_array(request.factor, H, lambda: factor_csv(H))
    if request.report is not None and page is not None:
        write_text(request.report, page())
    if request.save is not None and model is not None:
        save_model(request.save, model())
    paths = (request.out, request.factor, request.report, request.save)
    return [path for path in paths if path is not None]


def _write_array(path: Path, array: Any, text: Callable[[], str]) -> None:
    """Write an array in NumPy's format, or as text, as the ending of the name says."""
    if path.suffix.lower() != ".npy":
        write_text(path, text())
        return
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    write_bytes(path, out.getvalue())


def clusters_csv(
    data: UserMatrix,
    labels: LabelArray,
    *,
    outliers: Sequence[bool] | None = None,
    membership: FloatArray | None = None,
) -> str:
    """Return CSV with a line per sample: its name, or all cells of its row, first.

    Numbers of a table with a decimal comma have one here too, and ``;`` separates the
    cells, as is usual where such tables are used.

    Parameters
    ----------
    data : UserMatrix
        What was clustered; samples without a name are numbered from 1.
    labels : array of int
    outliers, membership : sequences, optional
        Which samples are outliers (1), and how surely they belong to their cluster:
        columns before the cluster, which is always the last.

    Examples
    --------
    >>> from symmf.io.matrix import UserMatrix
    >>> data = UserMatrix(X=None, y=None, ids=["a", "=b"], id_name="who")
    >>> print(clusters_csv(data, np.array([1, 0])), end="")
    who,cluster
    a,1
    '=b,0
    """
    out = io.StringIO()
    comma, kept = data.comma and data.kept is not None, data.kept
    writer = csv.writer(out, delimiter=";" if comma else ",", lineterminator="\n")
    if kept is None:
        names = data.ids or [str(i + 1) for i in range(len(labels))]
        kept = [[data.id_name], *([name] for name in names)]
    columns: dict[str, list[Any]] = {}
    if outliers is not None:
        columns["outlier"] = [int(flag) for flag in outliers]
    if membership is not None:
        shown = [f"{p:.3f}" for p in membership]
        columns["membership"] = [p.replace(".", ",") for p in shown] if comma else shown
    columns["cluster"] = labels.tolist()
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


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
