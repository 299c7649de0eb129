"""Other formats: arrays, sheets, graphs, documents, images; and damaged files."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import io, sparse

from symmf.errors import DataError, InputError
from symmf.io.images import read_images
from symmf.io.matrix import read_matrix

ATTACK = Path(os.environ.get("SYMMF_DATA", "/nowhere")).parent / "attack"


def numbers(n=8, m=3):
    return np.round(np.random.default_rng(0).normal(size=(n, m)), 3)


def write_h5(path, X):
    with h5py.File(path, "w") as file:
        file["X"] = X


WRITERS = {
    "npy": np.save,
    "npz": lambda path, X: np.savez(path, X=X),
    "mat": lambda path, X: io.savemat(path, {"X": X, "gnd": np.arange(8) % 2}),
    "h5": write_h5,
    "mtx": io.mmwrite,
    "sparse.npz": sparse.save_npz,
    "sparse.mtx": io.mmwrite,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_arrays_and_sparse_matrices(tmp_path, ending):
    stays_sparse = ending.startswith("sparse")
    X = sparse.csr_array(np.eye(6)) if stays_sparse else numbers()
    WRITERS[ending](tmp_path / f"a.{ending}", X)
    found = read_matrix(tmp_path / f"a.{ending}").X
    assert sparse.issparse(found) == stays_sparse
    np.testing.assert_allclose(abs(found - X).max(), 0, atol=1e-15)


@pytest.mark.parametrize(
    "content",
    [
        "coordinate real general\n3 60000000 1\n1 1 1\n",
        "coordinate real general\n1000000000 5 1\n1 1 1\n",
        "array real general\n0 0\n",
        "coordinate real general\n3 3 2\n1 1 1\n9 9 1\n",
        "array real symmetric\n3 2\n1\n2\n3\n4\n5\n6\n",
    ],
)
def test_matrix_market_files_that_contradict_themselves_are_refused(tmp_path, content):
    (tmp_path / "x.mtx").write_text(f"%%MatrixMarket matrix {content}")
    with pytest.raises(DataError, match=r"x\.mtx"):
        read_matrix(tmp_path / "x.mtx")


def test_labels_and_variables_of_a_file(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=numbers(), b=numbers(8, 4), y=np.array(list("ababbaab")))
    with pytest.raises(DataError, match="--variable"):
        read_matrix(path)
    data = read_matrix(path, variable="b", labels="y")
    assert data.X.shape == (8, 4)
    assert data.classes == ["a", "b"]
    with pytest.raises(InputError, match=r"no variable of .* called 'c'"):
        read_matrix(path, variable="c")
    with pytest.raises(InputError, match=r"no variable of .* 'z'"):
        read_matrix(path, variable="a", labels="z")
    np.save(tmp_path / "x.npy", numbers())
    with pytest.raises(InputError, match=r"labels.*'y'\. None is known"):
        read_matrix(tmp_path / "x.npy", labels="y")


def test_data_that_lie_in_other_files_are_refused(tmp_path):
    (tmp_path / "secret").write_bytes(bytes(8 * 12))
    with h5py.File(tmp_path / "e.h5", "w") as file:
        file.create_dataset(
            "X", (4, 3), "f8", external=[(str(tmp_path / "secret"), 0, 96)]
        )
    with pytest.raises(DataError, match="lies in another file"):
        read_matrix(tmp_path / "e.h5")
    with h5py.File(tmp_path / "l.h5", "w") as file:
        file["X"] = h5py.ExternalLink("e.h5", "X")
    with pytest.raises(DataError, match="no matrix of numbers"):
        read_matrix(tmp_path / "l.h5")


def test_pipes_devices_and_odd_names_are_refused(tmp_path):
    os.mkfifo(tmp_path / "f.csv")
    with pytest.raises(DataError, match="named pipe"):
        read_matrix(tmp_path / "f.csv")
    (tmp_path / "d.csv").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="device"):
        read_matrix(tmp_path / "d.csv")
    with pytest.raises(DataError, match="does not exist"):
        read_matrix(tmp_path / "none.csv")
    for name, said in (("a.xyz", "--format"), ("a.csv.gz", "is compressed. Unpack")):
        (tmp_path / name).write_text("1")
        with pytest.raises(DataError, match=said):
            read_matrix(tmp_path / name)
    np.save(tmp_path / "o.npy", np.array([None, "x"]), allow_pickle=True)
    (tmp_path / "t.npy").write_text("a,b\n1,2\n")
    for name in ("o.npy", "t.npy"):
        with pytest.raises(DataError) as caught:
            read_matrix(tmp_path / name)
        assert "pickle.load" not in str(caught.value)


@pytest.mark.skipif(not ATTACK.is_dir(), reason="needs the damaged files")
@pytest.mark.parametrize(
    "name",
    [p.name for p in sorted(ATTACK.glob("*")) if p.suffix in (".mtx", ".mat", ".npz")],
)
def test_damaged_files_are_sentences(name):
    with pytest.raises(DataError) as caught:
        read_matrix(ATTACK / name)
    assert name in str(caught.value)


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ids = [f"a{i}" for i in range(8)]
    table = pa.table({"who": ids, "x": numbers()[:, 0], "n": list(range(0, 16, 2))})
    parquet.write_table(table, tmp_path / "t.parquet")
    data = read_matrix(tmp_path / "t.parquet", keep=True)
    assert data.ids == ids
    assert data.names == ["x", "n"]
    assert data.kept[0] == ["who", "x", "n"]
    gap = pa.table({"x": [1.0, None, 2.0], "z": [1, 2, 4]})
    parquet.write_table(gap, tmp_path / "g.parquet")
    with pytest.raises(DataError, match=r"row 2, column 'x'.*--drop x"):
        read_matrix(tmp_path / "g.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match=r"b\.parquet"):
        read_matrix(tmp_path / "b.parquet")


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["who", "x", "y"])
    for i, row in enumerate(numbers(8, 2).tolist()):
        book.active.append([f"a{i}", *row])
    book.create_sheet("second").append([1, 2])
    book.save(tmp_path / "t.xlsx")
    data = read_matrix(tmp_path / "t.xlsx")
    np.testing.assert_allclose(data.X, numbers(8, 2))
    assert data.ids[0] == "a0"
    assert read_matrix(tmp_path / "t.xlsx", variable="second").X.tolist() == [[1, 2]]
    with pytest.raises(InputError, match=r"no sheet of .* 'secnd'.*second"):
        read_matrix(tmp_path / "t.xlsx", variable="secnd")


EDGES = "from,to,weight\na,b,2\nb,c,1\nc,a,1\nd,e,1\ne,f,3\nf,d,1\na,d,0.1\nb,a,1\n"


def test_edges_make_a_symmetric_graph(tmp_path):
    path = tmp_path / "g.edges"
    path.write_text(EDGES)
    data = read_matrix(path)
    assert data.kind == "graph"
    assert data.ids == ["a", "b", "c", "d", "e", "f"]
    W = data.X.toarray()
    np.testing.assert_array_equal(W, W.T)
    assert W[0, 1] == 3
    assert W[0, 3] == 0.1
    (tmp_path / "q.edges").write_text('"Ann L" "Bob R"\n"Bob R" Cy\nCy "Ann L"\n')
    assert read_matrix(tmp_path / "q.edges").ids == ["Ann L", "Bob R", "Cy"]


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ("a b -1\nb c 1\nc d 1\n", r"line 1, .*: the weight is -1"),
        ("a b 2020-01-01\nb c 2020-01-02\n", r"'2020-01-01' is not a weight"),
        ("a,b,$1\nb,c,x\nc,a,$3\n", "line 2, .*'x' is not a weight"),
        ("1 2 1e308\n2 1 1e308\n2 3 1\n", "more than a number can hold"),
        ("1 1 1\n2 2 1\n3 3 1\n", "joins two different nodes"),
        ("1 2 0\n2 3 0\n", "joins two different nodes"),
    ],
)
def test_weights_that_make_no_graph_are_refused(tmp_path, edges, said):
    (tmp_path / "e.edges").write_text(edges)
    with pytest.raises(DataError, match=said):
        read_matrix(tmp_path / "e.edges")


def test_a_list_of_edges_is_not_taken_for_points(tmp_path):
    rng = np.random.default_rng(0)
    pairs = sorted({tuple(sorted(p)) for p in rng.integers(0, 30, (90, 2)).tolist()})
    path = tmp_path / "e.csv"
    path.write_text("\n".join(f"{a},{b}" for a, b in pairs) + "\n")
    words = r"list of edges.*--format edges.*--format table"
    with pytest.raises(DataError, match=words):
        read_matrix(path)
    assert read_matrix(path, format="edges").kind == "graph"
    assert read_matrix(path, format="table").X.shape == (len(pairs), 2)


def test_lines_of_text_are_documents(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Good tea, and cheap.\n\nThe tax went up again this year.\nTea!\n")
    data = read_matrix(path)
    assert data.kind == "documents"
    assert data.n == 3
    assert data.ids == ["1", "3", "4"]
    assert "--format table" in data.notes[0]
    (tmp_path / "t.txt").write_text("1 2\n3 4\n")
    assert read_matrix(tmp_path / "t.txt").kind == "rows"
    (tmp_path / "c.csv").write_text("a b c\nd e\n")
    assert read_matrix(tmp_path / "c.csv", format="text").n == 2


def test_a_folder_of_images(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    (tmp_path / "sub").mkdir()
    Image.new("RGB", (40, 20), (255, 0, 0)).save(tmp_path / "b.png")
    Image.new("L", (16, 16), 128).save(tmp_path / "sub" / "a.jpg")
    Image.new("RGBA", (16, 16), (0, 0, 0, 0)).save(tmp_path / "c.png")
    data = read_matrix(tmp_path, image_side=12)
    assert data.kind == "images"
    assert data.ids == ["b.png", "c.png", "sub/a.jpg"]
    assert data.X.shape == (3, 12 * 12 * 3)
    np.testing.assert_allclose(data.X[0].reshape(-1, 3)[0], [1, 0, 0])
    np.testing.assert_allclose(data.X[1], 1)
    (tmp_path / "d.png").write_bytes(b"no image")
    with pytest.raises(DataError, match=r"d\.png cannot be read as an image"):
        read_images(tmp_path)
    with pytest.raises(InputError, match="--columns is for tables"):
        read_matrix(tmp_path, columns=["a"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no image"):
        read_images(tmp_path / "empty")


DAMAGES = {
    "beyond": lambda X: X.indices.__setitem__(1, 25),
    "far beyond": lambda X: X.indices.__setitem__(1, 2_000_000_000),
    "negative": lambda X: X.indices.__setitem__(1, -3),
    "pointers out of order": lambda X: X.indptr.__setitem__(1, X.indptr[-1]),
    "pointers beyond": lambda X: X.indptr.__setitem__(-1, 10_000),
}


@pytest.mark.parametrize(
    ("damage", "layout"),
    [*zip(DAMAGES, ["csr", "csc", "bsr", "csr", "csc"], strict=True)],
)
def test_index_arrays_that_point_outside_are_refused(tmp_path, damage, layout):
    X = sparse.random_array((20, 20), density=0.3, rng=np.random.default_rng(0))
    X = X.asformat(layout)
    DAMAGES[damage](X)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    np.savez(tmp_path / "x.npz", format=layout.encode(), shape=X.shape, **parts)
    with pytest.raises(DataError, match=r"x\.npz"):
        read_matrix(tmp_path / "x.npz")


def test_index_arrays_of_matlab_that_point_outside_are_refused(tmp_path):
    X = sparse.random_array((20, 6), density=0.5, rng=np.random.default_rng(0)).tocsc()
    with h5py.File(tmp_path / "x.mat", "w", userblock_size=512) as file:
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = np.uint64(20)
        group["data"], group["jc"] = X.data, X.indptr
        group["ir"] = np.full_like(X.indices, 99)
    with (tmp_path / "x.mat").open("r+b") as opened:
        opened.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    with pytest.raises(DataError, match=r"x\.mat"):
        read_matrix(tmp_path / "x.mat")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.zeros((6, 2)), "one label per sample"),
        (np.full(12, np.nan), "label of sample 1 is missing"),
        (np.arange(12) + 1j, "numbers or texts"),
    ],
)
def test_labels_are_one_for_each_sample(tmp_path, labels, said):
    np.savez(tmp_path / "a.npz", X=numbers(12), y=labels)
    np.save(tmp_path / "l.npy", labels)
    for given in ("y", str(tmp_path / "l.npy")):
        with pytest.raises(DataError, match=said):
            read_matrix(tmp_path / "a.npz", labels=given)


def test_parquet_with_long_numbers_and_names_that_come_twice(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    a, b = numbers(12, 2).T
    columns = [pa.array(c) for c in ([2**62 + 7 * i for i in range(12)], a, b)]
    table = pa.Table.from_arrays(columns, names=["key", "a", "a"])
    parquet.write_table(table, tmp_path / "a.parquet")
    found = read_matrix(tmp_path / "a.parquet", drop=["key"])
    np.testing.assert_array_equal(found.X, np.column_stack([a, b]))


def test_a_cell_far_off_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("symmf.io.sheets._MEMORY", 300_000_000)
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.cell(1, 1, 5)
    book.active.cell(1_048_576, 16_384, 5)
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(DataError, match="far off"):
        read_matrix(tmp_path / "far.xlsx")


def test_no_other_program_reads_an_image(tmp_path):
    image = pytest.importorskip("PIL.Image")
    image.new("L", (8, 8)).save(tmp_path / "a.png")
    (tmp_path / "x.png").write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n"
    )
    with pytest.raises(DataError, match="cannot identify image file"):
        read_images(tmp_path)


def test_grey_images_of_sixteen_bits_are_not_cut_to_white(tmp_path):
    image = pytest.importorskip("PIL.Image")
    ramp = np.linspace(0, 65535, 64).reshape(8, 8)
    image.fromarray(ramp.astype(np.uint16)).save(tmp_path / "deep.png")
    image.fromarray((ramp / 65535).astype(np.float32)).save(tmp_path / "float.tif")
    for row in read_images(tmp_path, side=12)[0]:
        assert row.min() < 0.05
        assert row.max() > 0.95
        assert 0.4 < row.mean() < 0.6


@pytest.mark.parametrize(
    ("package", "name"),
    [("pyarrow", "t.parquet"), ("openpyxl", "t.xlsx"), ("PIL", "a.png")],
)
def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch, package, name):
    (tmp_path / f"{package}.py").write_text(f"raise ImportError('no {package}')")
    monkeypatch.syspath_prepend(str(tmp_path))
    data = tmp_path / "data"
    data.mkdir()
    (data / name).write_bytes(b"?")
    (data / "b.png").write_bytes(b"?")
    with pytest.raises(DataError, match=r"missing .*pip install 'symmf\[io\]'"):
        read_matrix(data if package == "PIL" else data / name)
