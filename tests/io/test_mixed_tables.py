"""Tables as people have them: words, dates, holes, other separators, indexes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from symmf.errors import DataError
from symmf.io.columns import amounts, dates
from symmf.io.matrix import read_matrix
from symmf.io.sniff import find_separator

ATTACK = Path(os.environ.get("SYMMF_DATA", "/nowhere")).parent / "attack"
TAKEN = {"missing": "median", "categories": "one-hot"}


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def people(n=30):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 70, n).astype(float),
            "city": rng.choice(["Bonn", "Rome"], n),
            "joined": pd.date_range("2020-01-01", periods=n)[rng.integers(0, n, n)],
            "paid": rng.random(n) < 0.5,
        }
    )


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_words_dates_and_holes_mean_the_same_in_every_format(tmp_path, ending):
    frame = people()
    frame.loc[3, "age"] = np.nan
    path = tmp_path / f"t.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_excel(path, index=False)
    data = read_matrix(path, **TAKEN)
    assert data.X.columns.tolist() == ["age", "city", "joined", "paid"]
    assert np.isnan(data.X["age"][3])
    assert data.X["city"].tolist() == frame["city"].tolist()
    days = (frame["joined"] - pd.Timestamp("1970-01-01")).dt.days
    np.testing.assert_array_equal(data.X["joined"], days)
    assert set(data.X["paid"]) == {"True", "False"}
    assert any("'joined' was read as dates" in note for note in data.notes)


def test_rows_with_holes_may_be_left_out(tmp_path):
    path = write(tmp_path, "id,a,b\nx,1,2\ny,,3\nz,4,5\nw,5,1\n")
    data = read_matrix(path, missing="drop", keep=True)
    assert data.X.tolist() == [[1, 2], [4, 5], [5, 1]]
    assert data.ids == ["x", "z", "w"]
    assert [row[0] for row in data.kept] == ["id", "x", "z", "w"]
    assert "1 of 4 rows" in data.notes[-1]


def test_only_the_columns_that_were_asked_for_are_looked_at(tmp_path):
    path = write(tmp_path, "a,b,c,d\n1,2,3,x\n2,3,,y\n3,9,1,x\n4,4,4,?\n")
    assert read_matrix(path, columns=["a", "b"]).X.shape == (4, 2)
    with pytest.raises(DataError, match=r"line 3, column 'c'.*--missing median"):
        read_matrix(path, columns=["a", "c"])


def test_columns_that_are_no_features_are_told_in_one_sentence(tmp_path):
    frame = people(40)
    frame["code"] = [f"A{i}" for i in range(40)]
    frame["mail"] = [f"m{i}@x.org" for i in range(40)]
    frame["note"] = [f"number {i} wrote us this" for i in range(40)]
    frame["firm"] = "one"
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    data = read_matrix(path, **TAKEN)
    assert data.ids == frame["code"].tolist()
    (told,) = data.warnings
    assert all(name in told for name in ("'mail'", "'note'", "'firm'"))
    assert "--columns age,city,joined,paid" in told
    again = read_matrix(path, columns=["age", "city", "joined", "paid"], **TAKEN)
    assert again.warnings == []
    pd.testing.assert_frame_equal(again.X, data.X)
    with pytest.raises(DataError, match=r"'city'.*'paid', 'note', 'firm'"):
        read_matrix(path, drop=["mail"])


X = [[1.5, 2], [3, 4.5], [0.25, 7]]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("x;y\n1,5;2\n3;4,5\n0,25;7\n", {}),
        ("sep=;\nx;y\n1,5;2\n3;4,5\n0,25;7\n", {}),
        ('x,y\n"1,5","2"\n"3","4,5"\n"0,25","7"\n', {}),
        ("x|y\n1.5|2\n3|4.5\n0.25|7\n", {}),
        ("x:y\n1.5:2\n3:4.5\n0.25:7\n", {"separator": ":"}),
        ("x\ty\n1.5\t2\n3\t4.5\n.25\t7\n", {"separator": "tab"}),
        # Lines that end with a separator, with or without that of the names.
        ("x,y\n1.5,2,\n3,4.5,\n0.25,7,\n", {}),
        ("x,y,\n1.5,2,\n3,4.5,\n0.25,7,\n", {}),
        # Names of rows without a name above them, as R writes them.
        ('"x" "y"\n"r 1"  1.5  2\n"r 2" 3 4.5 \n"r 3" .25 7\n', {}),
        ("Sales of 2024,,\n,,\nx,y,\n1.5,2,\n3,4.5,\n0.25,7,\n", {}),
        ("#made\n# by us\nx, y\n1.5, 2\n3,4.5\n# end\n.25,7\n", {}),
    ],
)
def test_tables_are_laid_out_in_many_ways(tmp_path, text, options):
    data = read_matrix(write(tmp_path, text), **options)
    assert data.names == ["x", "y"]
    assert data.X.tolist() == X


def test_an_empty_column_does_not_hide_names_above_words(tmp_path):
    path = write(tmp_path, "kind,hue,\nround,red,\nlong,blue,\nround,blue,\n")
    assert read_matrix(path, **TAKEN).names == ["kind", "hue"]


def test_without_names_a_short_first_line_is_a_mistake(tmp_path):
    path = write(tmp_path, "1,2\n3,4,5\n6,7,8\n")
    for header in (False, None):
        with pytest.raises(DataError, match="line 2: 3 values, but line 1 has 2"):
            read_matrix(path, header=header)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ('id,"a; b",c\n1,2,3\n', ","),
        ('"a\nb",c\n1,2\n', ","),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("a b\n1 2\n", None),
    ],
)
def test_the_separator_cuts_several_lines_alike(text, separator):
    assert find_separator(text) == separator


@pytest.mark.parametrize(
    ("rows", "first", "note"),
    [
        (["28.770;-5,65", "1.234;7,5", "12.000;1,0"], [28770, -5.65], "was taken"),
        (["1.234.567;1", "2.345.678;2"], [1234567, 1], "was taken"),
        (["28.770;5", "1.234;7", "12.000;1"], [28.77, 5], "'28.770' was read with"),
        (["28,770;5", "1,234;7", "12,000;1"], [28.77, 5], "was taken"),
        (["28,770;5.5", "1,234;7", "12,000;1"], [28770, 5.5], "signs of currency"),
        (["$28,770;5", "$1,234;7", "$12,000;1"], [28770, 5], "signs of currency"),
    ],
)
def test_signs_that_may_group_thousands(tmp_path, rows, first, note):
    data = read_matrix(write(tmp_path, "\n".join(["a;b", *rows, ""])))
    assert data.X[0].tolist() == first
    assert note in " ".join(data.notes)


def test_a_digit_in_a_name_tells_no_decimal_sign(tmp_path):
    text = "x;x.1;kind\n1,5;2;v1.2\n3;4,5;v1.3\n0,25;7;v1.2\n"
    assert read_matrix(write(tmp_path, text), drop=["kind"]).X.tolist() == X


def test_a_blank_after_a_comma_does_not_hide_quotes_and_names_may_come_twice(tmp_path):
    text = 'x, x,x\n1, "x, y",2\n#N/A, "z",4\n3, "z",#DIV/0!\n'
    data = read_matrix(write(tmp_path, text), **TAKEN)
    assert data.names == ["x", "x (2)", "x (3)"]
    assert data.X["x (2)"].tolist() == ["x, y", "z", "z"]
    np.testing.assert_array_equal(data.X[["x", "x (3)"]].isna().sum(), [1, 1])


def test_numbers_that_may_be_no_measurements_are_doubted(tmp_path):
    rows = "".join(
        f"{i // 2},202012{i * 5 % 12 + 10},{i * 7 % 12}.5\n" for i in range(12)
    )
    data = read_matrix(write(tmp_path, f"shop_id,day,x\n{rows}"))
    assert data.X.shape == (12, 3)
    assert "--drop shop_id" in data.warnings[0]
    assert "2020-12-31" in data.warnings[1]


@pytest.mark.parametrize("digits", ["{:05d}", "11529215046068469{:02d}"])
def test_names_of_rows_are_kept_as_they_are_written(tmp_path, digits):
    ids = [digits.format(3 * i) for i in range(30)]
    rows = "".join(f"{name},{i % 7}.5,{i % 5}\n" for i, name in enumerate(ids))
    data = read_matrix(write(tmp_path, f"id,a,b\n{rows}"))
    assert data.names == ["a", "b"]
    assert data.ids == ids


@pytest.mark.parametrize(
    ("cells", "comma", "values"),
    [
        (["$1,234.50", "-$3", "$7"], False, [1234.5, -3, 7]),
        (["1.234,50 €", "7 €", "-3,5 €"], True, [1234.5, 7, -3.5]),
        (["10%", "5 %", "5.5 %"], False, [10, 5, 5.5]),
        (["1'234.5", "12 345", "5,18,214"], False, [1234.5, 12345, 518214]),
        (["(86)", "2", "₹3"], False, [-86, 2, 3]),
        (["\u22125.5", "2", "7"], False, [-5.5, 2, 7]),
        (["3 kg", "2.5 kg", "2.5kg"], False, [3, 2.5, 2.5]),
    ],
)
def test_amounts_are_numbers(tmp_path, cells, comma, values):
    rows = "".join(f'"{cell}";{i % 2}\n' for i, cell in enumerate(cells * 3))
    data = read_matrix(write(tmp_path, "p;q\n" + rows))
    assert data.X[:3, 0].tolist() == values
    assert data.comma is comma


@pytest.mark.parametrize(
    "cells", [["1,23"], ["3 kg", "50 g"], ["A12", "A13"], ["31", "3O"]]
)
def test_what_is_no_amount(cells):
    assert amounts(cells) is None


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2020-01-02 03:00:00", "2020-01-02T12:00:00"], 18263.125),
        (["2.1.2020", "31.12.2020"], 18263),
        (["1/2/2020", "12/31/2020"], 18263),
        (["2/1/2020", "31/12/2020"], 18263),
        (["Jan 2 2020", "Feb 1 2020"], 18263),
        (["2020-01", "2020-02"], 18262),
        (["02.01.20", "31.12.20"], 18263),
        (["06:00", "13:59"], 0.25),
        (["02.01.2020 06:00", "31.12.2020 13:59"], 18263.25),
        (["1/2/2020 06:00 AM", "12/31/2020 01:59 PM"], 18263.25),
        (["2 Jan 2020 06:00", "31 Dec 2020 13:59"], 18263.25),
    ],
)
def test_usual_ways_to_write_a_date(cells, first):
    assert dates([*cells, "n/a"])[0] == first
    assert dates([*cells, "soon"]) is None


@pytest.mark.skipif(not ATTACK.is_dir(), reason="needs the files of an attack")
def test_files_that_were_misread():
    graph = read_matrix(ATTACK / "edges_ab.csv", format="edges")
    assert len(graph.ids) == 10
    assert "person" not in graph.ids
    quoted = read_matrix(ATTACK / "semi_quoted.csv")
    assert quoted.names == ["height; cm", "weight"]


def test_the_index_of_pandas_names_the_rows(tmp_path):
    frame = people().drop(columns=["city", "joined", "paid"]).assign(x=1.5, y=range(30))
    frame["y"] = frame["y"] % 7
    part = frame[frame["age"] > 30]
    part.to_parquet(tmp_path / "p.parquet")
    data = read_matrix(tmp_path / "p.parquet", keep=True)
    assert data.names == ["age", "x", "y"]
    assert data.ids == [str(i) for i in part.index]
    assert data.kept[0] == ["index", "age", "x", "y"]
    named = part.set_axis([f"c{i}" for i in part.index]).rename_axis("customer")
    named.to_parquet(tmp_path / "n.parquet")
    data = read_matrix(tmp_path / "n.parquet", id="customer")
    assert data.id_name == "customer"
    assert data.ids == named.index.tolist()
    assert read_matrix(tmp_path / "n.parquet", id="x").names == ["age", "y"]
    edges = pd.DataFrame({"from": list("abc"), "to": list("bca")}, index=[5, 7, 9])
    edges.to_parquet(tmp_path / "e.parquet")
    assert read_matrix(tmp_path / "e.parquet", format="edges").ids == ["a", "b", "c"]
    with pytest.raises(DataError, match="--format edges"):
        read_matrix(tmp_path / "e.parquet", **TAKEN)


def test_a_counter_is_one_in_every_format(tmp_path):
    frame = pd.DataFrame({"n": range(8), "x": [1.5, 2, 9, 4, 3, 2, 7, 1]})
    frame["y"] = [3, 1, 4, 1, 5, 9, 2, 6]
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    for ending in ("csv", "parquet", "xlsx"):
        data = read_matrix(tmp_path / f"t.{ending}")
        assert data.names == ["x", "y"]
        assert data.ids == [str(i) for i in range(8)]


def test_names_of_edges_get_a_hint(tmp_path):
    rows = [f"u{i % 9},u{(i * 5 + 1) % 9},{i % 3 + 1}" for i in range(30)]
    few = write(tmp_path, "from,to\na,b\nb,c\nc,a\n", "few.csv")
    path = write(tmp_path, "from,to,weight\n" + "\n".join(rows) + "\n")
    for name in (few, path):
        with pytest.raises(DataError, match="--format edges"):
            read_matrix(name, **TAKEN)
    assert read_matrix(path, format="table", **TAKEN).X.shape == (30, 3)
    numbers = "".join(f"w{i},{i % 7},{i * 3 % 11}\n" for i in range(30))
    assert read_matrix(write(tmp_path, f"who,a,b\n{numbers}")).names == ["a", "b"]


def test_a_first_edge_that_comes_again_is_an_edge(tmp_path):
    path = write(tmp_path, "a,b\nb,c\nc,a\nd,a\n", "g.edges")
    assert read_matrix(path).X.nnz == 8
    headed = write(tmp_path, "who,whom\na,b\nb,c\nc,a\n", "h.edges")
    data = read_matrix(headed)
    assert data.ids == ["a", "b", "c"]
    assert "--no-header" in data.notes[0]
    assert len(read_matrix(headed, header=False).ids) == 5


def test_lines_of_as_many_words_are_documents(tmp_path):
    path = write(tmp_path, "tea and trade\ntax and tea\nwar and peace\n", "t.txt")
    assert read_matrix(path).kind == "documents"
    cells = write(tmp_path, "red\tround\nred\tlong\nblue\tround\n", "c.txt")
    assert read_matrix(cells, categories="one-hot").kind == "rows"


def test_a_word_among_few_numbers_is_a_level_and_among_many_a_mistake(tmp_path):
    def rows(cells):
        lines = [f"{cell},{i % 7}" for i, cell in enumerate(cells)]
        return "\n".join(["c,x", *lines, ""])

    few = write(tmp_path, rows(["4", "6", "8", "rotary", "4"] * 6))
    assert set(read_matrix(few, **TAKEN).X["c"]) == {"4", "6", "8", "rotary"}
    many = [str(i) for i in range(29)] + ["3O"]
    path = write(tmp_path, rows(many))
    with pytest.raises(DataError, match=r"line 31, column 'c': '3O' is not a number"):
        read_matrix(path, **TAKEN)


@pytest.mark.parametrize("years", ["1990,2000,2010", "1952,1957,1972"])
@pytest.mark.parametrize("first", ["country", ""])
def test_years_beside_a_word_are_names_of_columns(tmp_path, years, first):
    rows = "".join(f"C{i},{i % 7},{i % 5}.5,{i % 3}\n" for i in range(12))
    data = read_matrix(write(tmp_path, f"{first},{years}\n{rows}"))
    assert data.names == years.split(",")
    assert data.X.shape == (12, 3)
    assert "--no-header" in data.notes[0]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_title_above_the_table_is_left_out(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    table = pd.DataFrame({"shop": ["a", "b", "c"], "x": [1.5, 2, 9], "y": [3.0, 1, 4]})
    if ending == "csv":
        text = table.to_csv(index=False)
        path.write_text(f"Sales of 2024\n\n{text}")
    else:
        with pd.ExcelWriter(path) as book:
            table.to_excel(book, startrow=3, startcol=1, index=False)
            book.sheets["Sheet1"]["B1"] = "Sales of 2024"
    data = read_matrix(path)
    assert data.names == ["x", "y"]
    assert data.X.tolist() == [[1.5, 3], [2, 1], [9, 4]]
    assert "'Sales of 2024'" in data.notes[0]
    assert "title" in data.notes[0]


def test_two_questions_with_the_same_answers_are_no_edges(tmp_path):
    answers = np.random.default_rng(0).choice(["yes", "no", "perhaps"], (40, 2))
    rows = "".join(f"{a},{b}\n" for a, b in answers)
    assert read_matrix(write(tmp_path, f"q1,q2\n{rows}"), **TAKEN).names == ["q1", "q2"]


FILMS = "".join(f"{i},it was a film {i}\n" for i in range(30))


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("a:b\n1:2\n3:5\n4:9\n5:1\n6:7\n", "--separator"),
        (f"id,review\n{FILMS}", "--format text"),
        ("PK\3\4\0\0", "--encoding utf-16"),
    ],
)
def test_what_cannot_be_clustered_says_what_to_type(tmp_path, content, hint):
    with pytest.raises(DataError, match=hint):
        read_matrix(write(tmp_path, content), **TAKEN)


def test_a_name_with_a_comma_is_called_by_its_number(tmp_path):
    rows = "".join(f'{i % 7},"a,{i % 3}",x,{i}{i}@x.org\n' for i in range(30))
    path = write(tmp_path, f'x,"Would you, please?",same,mail\n{rows}')
    (told,) = read_matrix(path, **TAKEN).warnings
    assert told.endswith("--columns x,2")
    assert read_matrix(path, columns=["x", "2"], **TAKEN).names[1].startswith("Would")
    with pytest.raises(DataError, match=r"--drop 2 --drop same"):
        read_matrix(path, drop=["mail"])
    rows = "".join(f"{i % 7},{i % 5},7,x\n" for i in range(30))
    data = read_matrix(write(tmp_path, f"a,b,seven,same\n{rows}"), **TAKEN)
    assert data.warnings[0].endswith("--columns a,b")
    assert "--drop seven" in data.warnings[1]
