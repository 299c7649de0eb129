"""What a data set is, where its file comes from and where that file lies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from symmf.common.notation import AnyMatrix, LabelArray
from symmf.common.shipped import checkout
from symmf.datasets.arrays import as_matrix, check_values, digest_arrays
from symmf.errors import DataError, InputError

Kind: TypeAlias = Literal["image", "text", "vector", "matrix"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dataset:
    """Samples with their true classes; make one with :meth:`from_arrays`.

    Parameters
    ----------
    name : str
        Key in the registry.
    X : ndarray or csr_array of float64, shape (n_samples, n_features)
        One sample per row; of kind "matrix", the similarity of the samples.
    y : ndarray of int64, shape (n_samples,)
        Class of each sample, 0 to ``n_classes - 1``; -1 for noise, which belongs to no
        class: it is clustered like the rest, but not scored (see ``is_scored``).
    title : str
        Name for tables and figures.
    kind : {"image", "text", "vector", "matrix"}
        What a row is.
    image_shape : tuple of int or None
        ``X[i].reshape(image_shape)`` is image i (row-major), if rows are images.
    class_ids : tuple of int or str
        ``class_ids[j]`` is what class j is called in the data's own file.
    digest : str
        SHA-256 over the shapes, types and bytes of ``X`` and ``y``.
    """

    name: str
    X: AnyMatrix
    y: LabelArray
    title: str
    kind: Kind
    image_shape: tuple[int, ...] | None = None
    class_ids: tuple[int | str, ...]
    digest: str

    @classmethod
    def from_arrays(
        cls,
        X: AnyMatrix,
        y: Any,
        *,
        name: str,
        title: str,
        kind: Kind,
        image_shape: tuple[int, ...] | None = None,
        noise: int | None = None,
    ) -> Dataset:
        """Check ``X`` and ``y``, and number the classes from 0.

        Samples labelled ``noise`` belong to no class.

        Raises
        ------
        DataError
            If there are no samples, the lengths differ or ``X`` is not finite.

        Examples
        --------
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]]
        >>> data = Dataset.from_arrays(X, [7, 3, 3], name="a", title="A", kind="vector")
        >>> data.y, data.class_ids, data.n_classes
        (array([1, 0, 0]), (3, 7), 2)
        """
        X = as_matrix(X)
        ids = np.asarray(y).ravel()
        if X.ndim != 2 or 0 in X.shape or X.shape[0] != ids.size:
            raise DataError(
                f"The data set {name!r} has a matrix of shape {X.shape} and "
                f"{ids.size} labels; it needs one label for each row and at least one "
                "row and one column."
            )
        check_values(X, name)
        if ids.dtype.kind not in "biuf":
            raise DataError(
                f"The labels of the data set {name!r} must be whole numbers."
            )
        wrong = ~np.isfinite(ids) | (ids != np.floor(ids))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"The data set {name!r} has the label {ids[row]!s} in row {row} "
                "(counted from 0); labels must be whole numbers."
            )
        is_noise = np.zeros(ids.size, dtype=bool) if noise is None else ids == noise
        classes, inverse = np.unique(ids[~is_noise], return_inverse=True)
        if classes.size == 0:
            raise DataError(f"The data set {name!r} has no class: all is noise.")
        labels = np.full(ids.size, -1, dtype=np.int64)
        labels[~is_noise] = inverse
        return cls(
            name=name,
            X=X,
            y=labels,
            title=title,
            kind=kind,
            image_shape=image_shape,
            class_ids=tuple(int(c) for c in classes),
            digest=digest_arrays(X, labels),
        )

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of true classes."""
        return len(self.class_ids)

    @property
    def is_scored(self) -> npt.NDArray[np.bool_]:
        """Which samples have a class that labels can be compared with."""
        return self.y >= 0

    def subset(self, classes: Sequence[int]) -> Dataset:
        """Keep all samples of ``classes``, in the order of the rows.

        ``classes`` are values of ``y``; class ``classes[j]`` becomes class j. Of a
        similarity matrix the columns of the other samples go too. Noise stays if all
        classes do.

        Raises
        ------
        InputError
            If ``classes`` is empty, repeats a class or names one that is not there.
        """
        wanted = [int(c) for c in classes]
        if not wanted or len(set(wanted)) != len(wanted):
            raise InputError(
                f"A subset of {self.name!r} needs at least one class, each given once; "
                f"got {wanted}."
            )
        if min(wanted) < 0 or max(wanted) >= self.n_classes:
            raise InputError(
                f"The data set {self.name!r} has classes 0 to {self.n_classes - 1}; "
                f"a subset of {wanted} is not possible."
            )
        # The last place is that of noise, -1.
        position = np.full(self.n_classes + 1, -2, dtype=np.int64)
        position[wanted] = np.arange(len(wanted))
        if len(wanted) == self.n_classes:
            position[-1] = -1
        chosen = self.take(np.flatnonzero(position[self.y] >= -1))
        labels = position[chosen.y]
        return replace(
            chosen,
            y=labels,
            class_ids=tuple(self.class_ids[c] for c in wanted),
            digest=digest_arrays(chosen.X, labels),
        )

    def take(self, rows: LabelArray) -> Dataset:
        """Keep some rows; of a similarity matrix, their columns too.

        Examples
        --------
        >>> X = [[0.0], [1.0], [2.0]]
        >>> data = Dataset.from_arrays(X, [0, 1, 1], name="a", title="A", kind="vector")
        >>> data.take([0, 2]).y
        array([0, 1])
        """
        X = self.X[rows]
        if self.kind == "matrix":
            X = X[:, rows]
        return replace(self, X=X, y=self.y[rows], digest=digest_arrays(X, self.y[rows]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One address of a data set.

    Parameters
    ----------
    url : str
        What to download.
    archive : str, optional
        ``"sha256:..."`` or ``"md5:..."`` of an archive that has to be converted into
        the data set's own file; without it the address gives that file.
    """

    url: str
    archive: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """The file that holds a data set: place under the data folder, size, SHA-256."""

    path: str
    size: int
    sha256: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSpec:
    """All that is known of a data set before it is loaded.

    Parameters
    ----------
    name, title, description, licence, citation : str
        For people.
    read : callable
        ``read(path)`` gives the :class:`Dataset` in a file; without ``file`` it is
        ``read(**options)``.
    n_classes, n_samples, n_features : int or None
        What loading gives (the paper's Table I for its four data sets); None if it
        depends on options.
    file : RemoteFile or None
        None for data that need no file.
    files : tuple of RemoteFile
        Of a collection of data sets: all files. ``read(folder, **options)`` then gets
        the data folder, and ``needs(**options)`` are the files of one of them.
    needs : callable or None
        See ``files``.
    members : sequence of mapping
        The options that give each data set of a collection.
    member_sizes : sequence of int
        Numbers of samples of ``members``, where they are known.
    wider : mapping
        Name to ``read(path, **options)``, which gives more samples than the data set
        has, in single precision, and at which of them its own are: what features may be
        learned from.
    digest : str or None
        Digest of the loaded data, if the same values in another container are to be
        accepted; None if only the exact file is.
    convert : callable or None
        ``convert(given, path)`` writes the data set's own file from an official archive
        or an unpacked folder of it.
    accepts : str
        What ``symmf data import`` takes, in words.
    options : mapping
        Option name to what it means, for data made on demand.
    """

    name: str
    title: str
    description: str
    licence: str
    citation: str
    read: Callable[..., Dataset]
    n_classes: int | None = None
    n_samples: int | None = None
    n_features: int | None = None
    file: RemoteFile | None = None
    files: tuple[RemoteFile, ...] = ()
    needs: Callable[..., tuple[RemoteFile, ...]] | None = None
    members: Sequence[Mapping[str, Any]] = ()
    member_sizes: Sequence[int] = ()
    wider: Mapping[str, Callable[..., tuple[AnyMatrix, LabelArray]]] = field(
        default_factory=dict
    )
    digest: str | None = None
    convert: Callable[[Path, str], None] | None = None
    accepts: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_files(self) -> tuple[RemoteFile, ...]:
        """The file, the files of a collection, or none."""
        return (self.file,) if self.file else self.files


def data_folder(given: str | Path | None = None) -> Path:
    """Return the folder of data files: the given one, if there is one.

    Else the environment variable ``SYMMF_DATA`` if set; ``datasets/`` in a checkout of
    the project; otherwise the user's cache folder.
    """
    if given is not None:
        return Path(given)
    chosen = os.environ.get("SYMMF_DATA")
    if chosen:
        try:
            return Path(chosen).expanduser().absolute()
        except RuntimeError:
            raise InputError(
                f"SYMMF_DATA is {chosen!r}, but there is no such user. Set it to a "
                "folder, or unset it."
            ) from None
    root = checkout()
    if root is not None and (root / "datasets").is_dir():
        return root / "datasets"
    import pooch

    return Path(pooch.os_cache("symmf")) / "datasets"
