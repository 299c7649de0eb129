"""Folders as dask arrays: the same rows in the same order, read when they are used."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from symmf.distributed import lazy
from symmf.distributed.lazy import open_lazily
from symmf.distributed.rows import DistributedRows
from symmf.errors import DataError, InputError

dask = pytest.importorskip("dask", reason="the extra 'dask' is absent")


# Of dask itself, with the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace:DeprecationWarning")


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((60, 3)), columns=["a", "b", "c"])
    frame["count"] = rng.integers(9, size=60)
    frame["who"] = [f"w{i}" for i in range(60)]
    return frame


@pytest.fixture
def parquet(tmp_path, table):
    folder = tmp_path / "rows"
    folder.mkdir()
    # In the order of their numbers, not of their letters.
    for number, first in ((2, 0), (9, 20), (10, 40)):
        part = table[first : first + 20].set_index(np.arange(20) % 3)
        part.to_parquet(folder / f"part-{number}.parquet", row_group_size=6)
    (folder / "_SUCCESS").touch()
    return folder


def test_parquet(parquet, table) -> None:
    rows = open_lazily(parquet, drop=["c"], id="who")
    assert rows.names == ["a", "b", "count"]
    assert (rows.ids, rows.id_name) == (table["who"].tolist(), "who")
    assert rows.X.shape[1] == 3
    np.testing.assert_array_equal(rows.X.compute(), table[rows.names].to_numpy(float))
    some = open_lazily(parquet / "part-9.parquet", columns=["c", "a"])
    np.testing.assert_array_equal(some.X.compute(), table[["c", "a"]].to_numpy()[20:40])


def test_row_groups_are_joined_to_blocks(parquet, table, monkeypatch) -> None:
    # dask may join files of which few columns are read.
    assert open_lazily(parquet, drop=["who"]).X.numblocks[0] <= 3
    monkeypatch.setattr(lazy, "_BLOCK_BYTES", 600)
    rows = open_lazily(parquet, drop=["who"])
    assert 3 < rows.X.numblocks[0] <= 12
    np.testing.assert_array_equal(rows.X.compute()[:, 0], table["a"])


def test_an_index_that_pandas_stored_is_no_feature(tmp_path, table) -> None:
    named = table.drop(columns="who").set_index("count")
    named[named["a"] > 0.5].to_parquet(tmp_path / "t.parquet")
    rows = open_lazily(tmp_path / "t.parquet")
    assert rows.names == ["a", "b", "c"]
    assert open_lazily(tmp_path, columns=["count"]).names == ["count"]


def test_names_of_folders_and_files_mean_themselves(tmp_path, table) -> None:
    part = table[["a", "count"]]
    for name in ("t*", "t1", "count=7", "[x]"):
        (tmp_path / "all" / name).mkdir(parents=True)
        part.to_parquet(tmp_path / "all" / name / "rows.parquet")
        one = open_lazily(tmp_path / "all" / name, columns=["count", "count"])
        assert one.names == ["count"]
        np.testing.assert_array_equal(one.X.compute(), part[["count"]])
    assert open_lazily(tmp_path / "all").X.compute().shape == (240, 2)


def test_nothing_is_read_before_it_is_used(tmp_path, table) -> None:
    table[["a", "b"]].to_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "b.npy", table[["a", "b"]].to_numpy())
    rows = [open_lazily(tmp_path / name) for name in ("a.parquet", "b.npy")]
    table[["b", "a"]].set_axis(["a", "b"], axis=1).to_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "b.npy", table[["b", "a"]].to_numpy())
    for found in rows:
        np.testing.assert_array_equal(found.X.compute(), table[["b", "a"]])


def test_a_stack_of_arrays(tmp_path, monkeypatch) -> None:
    X = np.random.default_rng(0).random((25, 4)).astype(np.float32)
    np.save(tmp_path / "10.npy", X[15:])
    np.save(tmp_path / "9.npy", X[:15])
    monkeypatch.setattr(lazy, "_BLOCK_BYTES", 24 * 4)
    rows = open_lazily(tmp_path)
    assert rows.X.dtype == np.float32
    assert rows.X.chunks[0] == (6, 6, 3, 6, 4)
    np.testing.assert_array_equal(rows.X.compute(), X)


def test_zarr(tmp_path) -> None:
    zarr = pytest.importorskip("zarr", reason="the package zarr is absent")
    X = np.random.default_rng(0).random((25, 4))
    group = zarr.open_group(str(tmp_path / "store"), mode="w")
    group.create_array("data", data=X, chunks=(10, 4))
    group.create_array("y", data=np.arange(25))
    np.testing.assert_array_equal(open_lazily(tmp_path / "store").X.compute(), X)
    one = open_lazily(tmp_path / "store" / "data")
    assert one.X.chunks[0] == (10, 10, 5)
    with pytest.raises(InputError, match=r"'dat'\. Did you mean 'data'"):
        open_lazily(tmp_path / "store", variable="dat")
    with pytest.raises(DataError, match="one sample per row"):
        open_lazily(tmp_path / "store", variable="y")


def test_zarr_that_is_absent_is_a_sentence(tmp_path, monkeypatch) -> None:
    (tmp_path / "zarr.json").write_text("{}")
    for package, how in (("zarr", "zarr"), ("dask", r"'symmf\[dask\]'")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(InputError, match=f"pip install {how}"):
            open_lazily(tmp_path)


def test_refusals(tmp_path, parquet, table) -> None:
    with pytest.raises(DataError, match="does not exist"):
        open_lazily(tmp_path / "nowhere")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="has neither"):
        open_lazily(empty)
    with pytest.raises(DataError, match=r"first 'who'.*--drop who"):
        open_lazily(parquet)
    with pytest.raises(InputError, match=r"no column .*'cuont'.* mean 'count'"):
        open_lazily(parquet, drop=["cuont"])
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    twice = pa.table([[1.0], [2.0]], names=["a", "a"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    with pytest.raises(DataError, match="duplicate field names"):
        open_lazily(tmp_path / "twice.parquet")
    table[["a", "b"]].to_parquet(parquet / "part-11.parquet")
    with pytest.raises(DataError, match="has other columns than"):
        open_lazily(parquet, columns=["a"])
    (parquet / "part-11.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(DataError, match=r"part-11\.parquet|rows"):
        open_lazily(parquet, columns=["a"])
    np.save(empty / "a.npy", np.ones((3, 2)))
    with pytest.raises(InputError, match="are for Parquet"):
        open_lazily(empty, drop=["a"])
    np.save(empty / "b.npy", np.ones((3, 3)))
    with pytest.raises(DataError, match="another number"):
        open_lazily(empty)
    np.save(empty / "b.npy", np.ones(3))
    with pytest.raises(DataError, match="one sample per row"):
        open_lazily(empty)
    (empty / "b.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(DataError, match=r"b\.npy cannot be read"):
        open_lazily(empty)


@pytest.mark.parametrize("damage", [None, b"PAR1 no table PAR1"])
def test_a_file_that_goes_away_is_a_sentence(parquet, damage) -> None:
    rows = open_lazily(parquet, columns=["a"])
    path = parquet / "part-9.parquet"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    with pytest.raises(DataError, match="must see it under this path"):
        DistributedRows.of(rows.X)
