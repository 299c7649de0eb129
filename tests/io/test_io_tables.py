"""Tables of users: what is read as what, and what is refused in which words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symmf.errors import DataError, InputError, SymmfError
from symmf.io.choose import far_apart
from symmf.io.columns import to_numbers
from symmf.io.matrix import read_matrix
from symmf.io.table import read_table


def write(tmp_path, text, name="t.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def numbers(n=12, m=3, seed=0):
    return np.round(np.random.default_rng(seed).normal(size=(n, m)) * 10, 3)


def csv_of(X, names=None, sep=",", ids=None, id_name="id"):
    lines = []
    if names is not None:
        head = [id_name] if ids is not None else []
        lines.append(sep.join([*head, *names]))
    for i, row in enumerate(X):
        cells = [str(ids[i])] if ids is not None else []
        lines.append(sep.join([*cells, *(repr(float(v)) for v in row)]))
    return "\n".join(lines) + "\n"


NAMES = ["age", "income", "visits"]


def test_a_plain_table_with_and_without_names(tmp_path):
    X = np.arange(24.0).reshape(8, 3) * 7 % 11
    for names in (NAMES, None):
        data = read_matrix(write(tmp_path, csv_of(X, names)))
        np.testing.assert_array_equal(data.X, X)
        assert data.names == names or data.names[0] == "column 1"
        assert data.ids is None


def test_text_ids_become_names_of_the_rows_and_are_not_clustered(tmp_path):
    X = numbers()
    ids = [f"C{i:04d}" for i in range(len(X))]
    path = write(tmp_path, csv_of(X, NAMES, ids=ids, id_name="customer"))
    data = read_matrix(path)
    np.testing.assert_array_equal(data.X, X)
    assert data.ids == ids
    assert "--id customer" in data.notes[0]
    asked = read_matrix(path, id="customer")
    assert asked.ids == ids
    assert asked.notes == asked.warnings == []


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        (range(1, 13), "whatever"),
        (range(12), ""),
        (np.random.default_rng(0).permutation(900)[:12] + 1000, "customer_id"),
        (np.random.default_rng(0).permutation(900)[:12] + 1000, "customerId"),
    ],
)
def test_numeric_ids_are_set_aside_with_a_warning(tmp_path, ids, name):
    X = numbers()
    path = write(tmp_path, csv_of(X, NAMES, ids=list(ids), id_name=name))
    data = read_matrix(path)
    np.testing.assert_array_equal(data.X, X)
    assert data.ids == [str(i) for i in ids]
    assert "--columns" in data.warnings[0]


def test_columns_may_be_chosen_dropped_and_are_used_for_one_purpose(tmp_path):
    X = numbers()
    path = write(tmp_path, csv_of(X, NAMES, ids=list(range(12))))
    assert read_matrix(path, columns=["id", "age"]).X.shape == (12, 2)
    assert read_matrix(path, drop=["visits", "2"]).names == ["income"]
    with pytest.raises(InputError, match=r"'age' is named by --id and by --drop"):
        read_matrix(path, id="age", drop=["age"])
    with pytest.raises(InputError, match=r"no column 'agee' \(--drop\).*mean 'age'"):
        read_matrix(path, drop=["agee"])
    with pytest.raises(InputError, match="no column '9'"):
        read_matrix(path, columns=["9"])
    with pytest.raises(DataError, match="no column left"):
        read_matrix(path, drop=["id", *NAMES])


def test_a_header_of_numbers_is_recognised_and_years_are_asked_about(tmp_path):
    X = numbers()
    path = write(tmp_path, csv_of(X, ["0", "1", "2"]))
    data = read_matrix(path)
    np.testing.assert_array_equal(data.X, X)
    assert "--no-header" in data.notes[0]
    indexed = write(
        tmp_path, csv_of(X, ["0", "1", "2"], ids=list(range(12)), id_name="")
    )
    assert read_matrix(indexed).X.shape == (12, 3)
    years = write(tmp_path, csv_of(X, ["2019", "2020", "2021"]))
    with pytest.raises(DataError, match=r"line 1: 2019.*--header or --no-header"):
        read_matrix(years)
    assert read_matrix(years, header=True).names == ["2019", "2020", "2021"]
    assert read_matrix(years, header=False).X.shape == (13, 3)


@pytest.mark.parametrize("sep", [";", "\t"])
def test_a_decimal_comma_is_seen_or_said(tmp_path, sep):
    X = numbers()
    path = write(tmp_path, csv_of(X, NAMES, sep=sep).replace(".", ","))
    data = read_matrix(path)
    np.testing.assert_array_equal(data.X, X)
    assert "--decimal ." in data.notes[0]
    np.testing.assert_array_equal(read_matrix(path, decimal=",").X, X)
    with pytest.raises(DataError):
        read_matrix(path, decimal=".")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marks_of_the_encoding_are_read(tmp_path, encoding):
    path = write(tmp_path, "größe,alter\n1.5,2\n3,4\n", encoding=encoding)
    assert read_matrix(path).names == ["größe", "alter"]


def test_other_encodings_are_named(tmp_path):
    path = write(tmp_path, "a,b\n1,2\nü,4\n", encoding="latin-1")
    with pytest.raises(DataError, match=r"line 3: not text in UTF-8.*--encoding"):
        read_matrix(path)
    assert read_matrix(path, encoding="latin-1", drop=["a"]).X.shape == (2, 1)
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        read_matrix(path, encoding="klingon")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a,b\n1,2\n3\n", r"line 3: 1 value, but line 1 has 2"),
        ("a,b\n1,2\n3,\n5,6\n", r"line 3, column 'b': the value is missing.*--drop b"),
        ("a,b\n1,2\n3,x\n5,6\n", r"line 3, column 'b': 'x' is not a number.*--id b"),
        ("0\n1\n2\n3\n4\n5\n", "counts the rows"),
        ("a,b\n1,inf\n3,4\n", r"line 2, column 'b': the value is inf"),
        ("a,b\nred,1\nblue,2\nred,3\n", r"column 'a': 'red'.*--drop a.*--labels a"),
        ("a,b\n", "no data"),
        ("# only\n\n", "is empty"),
        ('a,b\n"1,2\n', "value"),
    ],
)
def test_refusals_name_line_column_and_option(tmp_path, text, match):
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=match) as caught:
        read_matrix(path)
    assert str(path) in str(caught.value)


def test_labels_are_classes_with_names(tmp_path):
    path = write(tmp_path, "x,y,kind\n1,2,b\n2,1,a\n3,5,b\n")
    data = read_matrix(path, labels="kind")
    assert data.y.tolist() == [1, 0, 1]
    assert data.classes == ["a", "b"]
    for odd in ("²", "--5"):
        with pytest.raises(InputError, match="no column"):
            read_matrix(path, labels=odd)


def test_labels_may_lie_in_another_file(tmp_path):
    path = write(tmp_path, "x,y\n1,2\n2,1\n3,5\n")
    other = write(tmp_path, "class\nb\na\nb\n", "labels.csv")
    assert read_matrix(path, labels=str(other)).y.tolist() == [1, 0, 1]
    short = write(tmp_path, "b\n", "short.csv")
    with pytest.raises(DataError, match="1 for 3 samples"):
        read_matrix(path, labels=str(short))


def test_all_cells_are_kept_as_they_are_written(tmp_path):
    path = write(tmp_path, "id,x,city\nA,1.50,Rom\nB,2,Bonn\n")
    data = read_matrix(path, id="id", drop=["city"], keep=True)
    assert data.kept == [["id", "x", "city"], ["A", "1.50", "Rom"], ["B", "2", "Bonn"]]


def test_spreads_far_apart_are_found():
    X = np.column_stack([np.arange(9.0) * 1e5, np.arange(9.0) / 10])
    assert far_apart(X, ["income", "share"])[:2] == ("income", "share")
    assert far_apart(X[:, :1], ["income"]) is None
    assert far_apart(numbers(), NAMES) is None


def test_standard_input(monkeypatch):
    class Pipe:
        def __init__(self, data):
            self.buffer = __import__("io").BytesIO(data)

        def isatty(self):
            return False

    from pathlib import Path

    monkeypatch.setattr("sys.stdin", Pipe(b"a,b\n1,2\n3,4.5\n"))
    assert read_matrix(Path("-")).X.tolist() == [[1, 2], [3, 4.5]]
    monkeypatch.setattr("sys.stdin", Pipe(b"\n"))
    with pytest.raises(DataError, match="Standard input is empty"):
        read_matrix(Path("-"))


@given(st.text(max_size=80))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_table_or_a_sentence(text):
    try:
        table = read_table(text, "t.csv")
    except SymmfError:
        return
    assert table.n >= 1
    assert len(table.columns) == len(table.names)


@given(
    st.lists(
        st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3),
        min_size=2,
        max_size=8,
    ),
    st.sampled_from([",", ";", "\t", " "]),
)
@settings(max_examples=60, deadline=None)
def test_numbers_come_back_to_the_bit(rows, sep):
    text = sep.join("xyz") + "\n" + csv_of(np.array(rows), sep=sep)
    table = read_table(text, "t.csv", decimal=".")
    columns = [to_numbers(column) for column in table.columns]
    np.testing.assert_array_equal(np.column_stack(columns), np.array(rows))


@pytest.mark.parametrize("sign", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_only_line_ends_end_a_line(tmp_path, sign):
    lines = [f"red{sign}apple pie", "blue sky sea", "red apple tart", "blue sea fish"]
    documents = write(tmp_path, "\n".join(lines * 2), "t.txt")
    assert read_matrix(documents, format="text").n == 8
    labels = write(tmp_path, "\n".join([f"a{sign}b", *"abcdefghijk"]), "l.txt")
    table = write(tmp_path, csv_of(numbers()))
    assert f"a{sign}b" in read_matrix(table, labels=str(labels)).classes
