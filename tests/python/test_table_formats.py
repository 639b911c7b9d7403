"""Formats of tables: the same rows in any of them are the same batches, bit for bit."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from gegenbauer import TableBatches
from gegenbauer.batches import json_lines
from gegenbauer.batches.formats import ENDINGS, Dialect, ending_of
from gegenbauer.cli.tables import Parts, read_table, write_table
from gegenbauer.errors import StreamError

N_ROWS = 500


def rows(n_rows: int = N_ROWS) -> pd.DataFrame:
    """Numbers that are hard to write, whole ones, text, truth and gaps, with some weights."""
    rng = np.random.default_rng(11)
    numbers = rng.standard_normal(n_rows) * 10.0 ** rng.integers(-12, 12, n_rows)
    return pd.DataFrame(
        {
            "id": [f"{k:04d}" for k in range(n_rows)],
            "a": numbers,
            "b": rng.integers(-50, 50, n_rows),
            "k": np.array(["u", 'été, "v"', "7x"])[rng.integers(0, 3, n_rows)],
            "t": rng.random(n_rows) < 0.5,
            "g": np.where(rng.random(n_rows) < 0.2, np.nan, rng.random(n_rows)),
            "w": rng.integers(0, 4, n_rows),
            "y": rng.standard_normal(n_rows),
        }
    )


def write(table: pd.DataFrame, path: Path) -> Path:
    """Write a table by other means than those of the package."""
    ending = ending_of(path)
    data: bytes
    if ending.startswith((".csv", ".tsv")):
        data = table.to_csv(index=False, sep="\t" if "tsv" in ending else ",").encode()
    elif ending.startswith((".jsonl", ".ndjson")):
        values = [
            {name: None if value != value else value for name, value in row.items()}
            for row in table.to_dict("records")
        ]
        data = "".join(json.dumps(row) + "\n" for row in values).encode()
    elif ending == ".parquet":
        return table.to_parquet(path, index=False) or path
    else:
        sink = pa.BufferOutputStream()
        arrow = pa.Table.from_pandas(table, preserve_index=False)
        open_ = pa.ipc.new_stream if ending == ".arrows" else pa.ipc.new_file
        with open_(sink, arrow.schema) as file:
            for batch in arrow.to_batches(max_chunksize=170):
                file.write_batch(batch)
        data = sink.getvalue().to_pybytes()
    path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
    return path


def batches(path, **options) -> list:
    source = TableBatches(
        path, "y", id_columns=["id"], sample_weight="w", mixed=True, batch_size=64, **options
    )
    assert source.inputs == ("a", "b", "k", "t", "g")
    return list(source.start())


def assert_same(found: list, expected: list) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(one.X, other.X, check_exact=True)
        assert_array_equal(one.y, other.y)
        assert_array_equal(one.sample_weight, other.sample_weight)


@pytest.fixture
def expected(tmp_path):
    """The batches of the CSV file, which are those of the table itself."""
    table = rows()
    found = batches(write(table, tmp_path / "expected" / "t.csv"))
    whole = pd.concat([batch.X for batch in found], ignore_index=True)
    assert_array_equal(whole[["a", "b", "g"]].to_numpy(), table[["a", "b", "g"]].to_numpy(float))
    assert whole["k"].tolist() == table["k"].tolist()
    assert whole["t"].tolist() == table["t"].tolist()
    assert_array_equal(np.concatenate([batch.y for batch in found]), table["y"])
    return found


@pytest.fixture(autouse=True)
def _folder(tmp_path):
    (tmp_path / "expected").mkdir()


@pytest.mark.parametrize("ending", ENDINGS)
class TestAnyFormat:
    def test_batches(self, tmp_path, ending, expected, monkeypatch):
        """Also where a file comes in many pieces."""
        path = write(rows(), tmp_path / f"t{ending}")
        assert_same(batches(path), expected)
        monkeypatch.setattr(json_lines, "_BLOCK", 3000)
        monkeypatch.setattr("gegenbauer.batches.csv_text._BLOCK", 3000)
        assert_same(batches(path), expected)

    def test_from_the_middle(self, tmp_path, ending, expected):
        source = TableBatches(
            write(rows(), tmp_path / f"t{ending}"), "y", id_columns=["id"], sample_weight="w",
            mixed=True, batch_size=64,
        )  # fmt: skip
        assert_same(list(source.start(3)), expected[3:])
        assert source.n_rows == N_ROWS

    def test_folder(self, tmp_path, ending, expected):
        """Of files of one format, whose batches are those of each."""
        folder = tmp_path / "parts"
        folder.mkdir()
        table = rows()
        write(table[:192], folder / f"1{ending}")
        write(table[192:], folder / f"2{ending}")
        assert_same(batches(folder), expected)

    def test_fingerprint(self, tmp_path, ending):
        path = write(rows(), tmp_path / f"t{ending}")
        sources = [TableBatches(path, "y", inputs=["a", "b"], batch_size=64) for _ in range(2)]
        list(sources[0].start())
        assert sources[0].fingerprint(8) == sources[1].fingerprint(8)
        other = TableBatches(path, "y", inputs=["a", "b"], batch_size=64, missing_values=["?"])
        assert other.fingerprint(8) != sources[0].fingerprint(8)
        write(rows().assign(y=0.5), path)
        assert TableBatches(path, "y", inputs=["a", "b"], batch_size=64).fingerprint(8) != sources[
            0
        ].fingerprint(8)

    def test_in_memory(self, tmp_path, ending):
        """Columns that identify rows are as they stand in the table."""
        table = rows()
        found = read_table(write(table, tmp_path / f"t{ending}"), parts=Parts("y", ids=["id"]))
        assert found.columns["id"].to_pylist() == table["id"].tolist()
        assert_array_equal(found.columns["a"].to_numpy(), table["a"])
        assert_array_equal(found.columns["g"].to_numpy(), table["g"])
        assert found.columns["k"].to_pylist() == table["k"].tolist()
        assert found.inputs == ("a", "b", "k", "t", "g", "w")

    def test_written(self, tmp_path, ending):
        """What the package writes is what it reads."""
        table = rows()[["id", "a", "k", "t"]]
        path = tmp_path / f"t{ending}"
        write_table(table, path)
        found = read_table(path, parts=Parts(ids=["id"]))
        assert {name: column.to_pylist() for name, column in found.columns.items()} == {
            name: table[name].tolist() for name in table
        }
        first = path.read_bytes()
        write_table(table, path)
        assert path.read_bytes() == first

    @pytest.mark.parametrize("share", [0.5, 0.95])
    def test_truncated(self, tmp_path, ending, share):
        """The error names the file."""
        path = write(rows(), tmp_path / f"t{ending}")
        data = path.read_bytes()
        cut = int(len(data) * share)
        if ending in (".csv", ".tsv"):  # within a field nobody can know that there was more
            cut = data.rfind(b"\t" if ending == ".tsv" else b",", 0, cut)
        path.write_bytes(data[:cut])
        with pytest.raises(StreamError, match=rf"t{ending}"):
            batches(path)

    def test_missing_values(self, tmp_path, ending):
        table = rows().assign(
            a=lambda t: np.where(np.arange(N_ROWS) % 5 == 0, -999.0, t["a"]),
            b=lambda t: np.where(np.arange(N_ROWS) % 7 == 0, -999, t["b"]),
            k=lambda t: np.where(np.arange(N_ROWS) % 3 == 0, "?", t["k"]),
        )
        path = write(table, tmp_path / f"t{ending}")
        values = ["-999", "-999.0", "?"]
        found = pd.concat([batch.X for batch in batches(path, missing_values=values)])
        assert_array_equal(np.isnan(found["a"]), np.arange(N_ROWS) % 5 == 0)
        assert_array_equal(np.isnan(found["b"]), np.arange(N_ROWS) % 7 == 0)
        assert_array_equal(found["k"].isna(), np.arange(N_ROWS) % 3 == 0)
        whole = read_table(path, Dialect(missing=values), Parts(ids=["k"]))
        assert whole.columns["a"].null_count == 100
        assert whole.columns["k"].to_pylist() == table["k"].tolist()  # which identifies rows

    def test_columns_of_a_part(self, tmp_path, ending):
        path = write(rows(), tmp_path / f"t{ending}")
        for options, message in (
            ({"id_columns": ["idd"]}, "there is no column 'idd' for `id_columns`; did you mean"),
            ({"id_columns": ["y"]}, "'y' is both `target` and in `id_columns`; give it once"),
            (
                {"id_columns": ["w"], "sample_weight": "w"},
                "'w' is both `sample_weight` and in `id_columns`; give it once",
            ),
            ({"sample_weight": "k"}, "column 'k' holds text, such as .*, and `sample_weight` need"),
            ({"sample_weight": "ww"}, "there is no column 'ww' for `sample_weight`"),
        ):
            with pytest.raises(StreamError, match=message):
                TableBatches(path, "y", mixed=True, **options)

    def test_weights_below_zero(self, tmp_path, ending):
        weights = np.ones(N_ROWS)
        weights[100] = -0.5
        path = write(rows().assign(w=weights), tmp_path / f"t{ending}")
        with pytest.raises(
            StreamError, match=r"row 100 of .* column 'w' holds -0.5, and `sample_weight` must not"
        ):
            batches(path)


@pytest.mark.parametrize(
    ("holds", "advice"),
    [
        (".parquet", "the file holds Parquet, not text; let its name end in .parquet"),
        (".feather", "the file holds Arrow, not text; let its name end in .arrow"),
        (".arrows", "the file holds Arrow, not text; let its name end in .arrows"),
        (".csv.gz", "the file is compressed by gzip; let its name end in .gz, or unpack it"),
        ("zip", "the file is a workbook or an archive, not text; save the table as CSV in UTF-8"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_no_text(tmp_path, ending, holds, advice):
    """What another program made, under a name of text, is called what it is."""
    path = tmp_path / f"t{ending}"
    if holds == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("sheet.xml", "<a/>")
    else:
        write(rows(9), tmp_path / f"t{holds}").rename(path)
    with pytest.raises(StreamError) as caught:
        batches(path)
    assert str(caught.value) == f"t{ending}: {advice}"
    zipped = tmp_path / f"t{ending}.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    if holds != ".csv.gz":
        with pytest.raises(StreamError, match=r"not text; (unpack it and let|save)"):
            batches(zipped)


def test_arrow_by_its_bytes(tmp_path, expected):
    """A stream and a file differ by how they begin, whatever the name is."""
    for ending, other in ((".arrows", ".feather"), (".feather", ".arrows")):
        path = write(rows(), tmp_path / f"t{ending}").rename(tmp_path / f"other{other}")
        assert_same(batches(path), expected)


def test_dialects_are_of_csv_files(tmp_path):
    for ending in (".jsonl", ".feather", ".parquet"):
        path = write(rows(), tmp_path / f"t{ending}")
        for options in ({"separator": ";"}, {"decimal": ","}):
            (name,) = options
            message = rf"`{name}` is for CSV files, and t\{ending} holds .*: leave it out"
            with pytest.raises(ValueError, match=message):
                TableBatches(path, "y", **options)
    for options, message in (
        ({"separator": ",", "decimal": ","}, "`separator` and `decimal` are both ','"),
        ({"decimal": ";"}, "`decimal` must be '.' or ',', got ';'"),
    ):
        with pytest.raises(ValueError, match=message):
            TableBatches(tmp_path / "t.csv", "y", **options)
    with pytest.raises(TypeError, match=r"`missing_values` must be texts .*, got -9: give '-9'"):
        TableBatches(tmp_path / "t.csv", "y", missing_values=[-9])
    with pytest.raises(TypeError, match=r"`missing_values` must be a sequence .*: \['\?'\]"):
        TableBatches(tmp_path / "t.csv", "y", missing_values="?")


class TestDecimalCommas:
    def table(self, tmp_path, text: str) -> Path:
        path = tmp_path / "t.csv"
        path.write_text(text)
        return path

    def test_numbers(self, tmp_path):
        """As pandas writes and reads them, of any size."""
        table = rows().drop(columns="k")
        path = tmp_path / "t.csv"
        table.to_csv(path, index=False, sep=";", decimal=",")
        found = read_table(path, Dialect(decimal=","), Parts("y", ids=["id"]))
        for name in "abgw":
            assert_array_equal(found.columns[name].to_numpy(), table[name])
        source = TableBatches(path, "y", decimal=",", id_columns=["id"], mixed=True)
        (batch,) = source.start()
        assert_array_equal(batch.y, table["y"])
        assert_array_equal(batch.X["a"], table["a"])

    def test_what_is_a_number(self, tmp_path):
        path = self.table(tmp_path, "a;y\n1,5;1\n+,5;1\n-2,;1\n1,5e-3;1\n7;1\n;1\n")
        found = read_table(path, Dialect(decimal=",")).columns["a"]
        assert found.to_pylist() == [1.5, 0.5, -2.0, 0.0015, 7.0, None]

    def test_text_and_names_stay(self, tmp_path):
        path = self.table(tmp_path, "id;k;y\n1,5;1,2,3;1\n1.5;a,b;2\n0,1;01.02.2026;3\n")
        found = read_table(path, Dialect(decimal=","), Parts(ids=["id"])).columns
        assert found["id"].to_pylist() == ["1,5", "1.5", "0,1"]
        assert found["k"].to_pylist() == ["1,2,3", "a,b", "01.02.2026"]

    @pytest.mark.parametrize("value", ["1.5", "1.500", "1.234,5", "-.5"])
    def test_points_are_refused(self, tmp_path, value):
        """They may stand before a fraction or between thousands."""
        path = self.table(tmp_path, f"a;y\n1,5;1\n{value};2\n")
        with pytest.raises(
            StreamError, match=rf"row 1 of t.csv.*column 'a' holds '{value}', which has a point"
        ):
            list(TableBatches(path, "y", decimal=",", as_labels=False).start())

    def test_another_separator(self, tmp_path):
        path = self.table(tmp_path, "a|y\n1,5|1,25\n2,5|3\n")
        (batch,) = TableBatches(path, "y", decimal=",", separator="|", as_labels=False).start()
        assert (batch.X["a"].tolist(), batch.y.tolist()) == ([1.5, 2.5], [1.25, 3.0])
        with pytest.raises(StreamError, match=r"single name, 'a\|y'; give `separator='\|'`"):
            TableBatches(path, "y", decimal=",")


class TestJsonLines:
    def file(self, tmp_path, text: str, name: str = "t.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "the file is empty; each line must hold one object"),
            ("\n\n", "the file is empty"),
            ("[1, 2]\n", "row 0 of t.jsonl.*the line holds a list; each line must hold one obj"),
            ('[{"a": 1, "y": 2}]\n', "the line holds a list"),
            ('{"a": 1, "y": 2}\n5\n', "row 1 of t.jsonl.*the line holds a number"),
            ('{"a": 1, "y": 2}\n{"a": 1, "y"\n', "row 1 of t.jsonl.*this is no JSON"),
            ("null\n", "row 0 of t.jsonl.*the line holds null"),
            ('{"a": 1, "y": 2}\n null\n', "row 1 of t.jsonl.*the line holds null"),
            ('{"a": 1, "y": 2} null\n', "row 0 of t.jsonl.*this is no JSON"),
            ('{"a": 1, "y": 2}null{"a": 1, "y": 2}\n', "row 0 of t.jsonl.*this is no JSON"),
            ("x\n", "row 0 of t.jsonl.*this is no JSON"),
            ('{"a": 1, "a": 2, "y": 1}\n', "row 0 of t.jsonl.*the key 'a' stands twice"),
            ('{"a": 1,\n"y": 2}\n{"a": 1,\n"y": 2}\n', "the line holds text; each line must hold"),
            ('{"a":\n{"b": 2}, "y": 1}\n', "objects are not one a line"),
            ('{"a": 1, "y": 2}\n{"a": 1, "y": [', "row 1 of t.jsonl.*this is no JSON"),
            (
                '{"a": 1, "y": 2}\n{"a": "x", "y": 2}',
                "row 1 of t.jsonl.*column 'a' holds 'x', but",
            ),
            ('{"a": 1, "y": 2} {"a": 3, "y": 4}\n', "objects are not one a line"),
            (
                '{"a": [1, 2], "y": 2}\n',
                r"row 0 of t.jsonl.*column 'a' holds lists or objects, such as '\[1, 2\]', and",
            ),
            ('{"a": {"b": 1}, "y": 2}\n', "column 'a' holds lists or objects, such as "),
            ('{"a": 1, "y": [2]}\n', "column 'y', the target, holds lists or objects"),
            (
                '{"a": 1, "y": 2}\n{"a": "x", "y": 2}\n',
                "row 1 of t.jsonl.*column 'a' holds text, but a number in rows before",
            ),
            ('{"a": null, "y": 2}\n', "column 'a' has no values"),
        ],
    )
    def test_refused(self, tmp_path, text, message):
        with pytest.raises(StreamError, match=message):
            list(TableBatches(self.file(tmp_path, text), "y").start())

    def test_no_utf8(self, tmp_path):
        path = tmp_path / "t.jsonl"
        path.write_bytes(b'{"a": 1, "y": "u"}\n\n{"a": 2, "y": "caf\xe9"}\n')
        with pytest.raises(StreamError, match=r"row 1 of t.jsonl.*not UTF-8.*byte 0xe9"):
            list(TableBatches(path, "y").start())

    @pytest.mark.parametrize("late", [False, True])
    def test_keys_that_are_absent(self, tmp_path, late, monkeypatch):
        """They are values that are missing; a new key must not be lost."""
        lines = ['{"a": 1.5, "b": 2, "y": 1}', '{"b": 3, "y": 2}', '{"y": 3, "a": null}']
        (batch,) = TableBatches(
            self.file(tmp_path, "\n\n".join(lines)), "y", mixed=True, as_labels=False
        ).start()
        assert_array_equal(batch.X, [[1.5, 2.0], [np.nan, 3.0], [np.nan, np.nan]])
        assert batch.y.tolist() == [1.0, 2.0, 3.0]
        if late:
            monkeypatch.setattr(json_lines, "_BLOCK", 20)
        text = "\n".join([*lines, '{"y": 4, "c": 5}', ""])
        path = self.file(tmp_path, text)
        if not late:
            assert TableBatches(path, "y", mixed=True).inputs == ("a", "b", "c")
            return
        with pytest.raises(StreamError, match=r"row 3 of t.jsonl.*a row has the key 'c', which n"):
            list(TableBatches(path, "y", mixed=True).start())

    def test_types_of_later_pieces(self, tmp_path, monkeypatch):
        monkeypatch.setattr(json_lines, "_BLOCK", 20)
        lines = ['{"a": 1, "y": 1}', '{"a": 2.5, "y": 2}', '{"a": 3, "y": 2.5}']
        path = self.file(tmp_path, "\n".join(lines))
        source = TableBatches(path, "y", as_labels=False)
        (batch,) = source.start()
        assert (batch.X["a"].tolist(), batch.y.tolist()) == ([1.0, 2.5, 3.0], [1.0, 2.0, 2.5])
        with pytest.raises(
            StreamError, match=r"row 2 of t.jsonl.*column 'y' holds 2.5, but whole numbers in rows"
        ):
            list(TableBatches(path, "y").start())
        assert read_table(path).columns["a"].to_pylist() == [1.0, 2.5, 3.0]
        path = self.file(tmp_path, "\n".join([*lines, '{"a": "x", "y": 2}']))
        for read in (lambda: list(TableBatches(path, "y", as_labels=False).start()),
                     lambda: read_table(path)):  # fmt: skip
            with pytest.raises(Exception, match="column 'a' holds 'x', but numbers in rows before"):
                read()

    def test_texts_stay_texts(self, tmp_path):
        """Digits and dates in quotes are no numbers and no times."""
        text = '{"k": "007", "d": "2026-01-02", "y": 1}\n{"k": "7", "d": "2026-01-03", "y": 2}\n'
        (batch,) = TableBatches(self.file(tmp_path, text), "y", mixed=True).start()
        assert batch.X.to_numpy().tolist() == [["007", "2026-01-02"], ["7", "2026-01-03"]]
        assert list(batch.X.columns) == ["k", "d"]

    def test_null_in_a_text(self, tmp_path):
        text = '{"k": "{} null", "y": 1}\n\n {"k": "}n", "y": 2}\n'
        (batch,) = TableBatches(self.file(tmp_path, text), "y", mixed=True).start()
        assert batch.X["k"].tolist() == ["{} null", "}n"]

    def test_byte_order_mark(self, tmp_path):
        path = self.file(tmp_path, '\ufeff{"a": 1, "y": 2}\r\n{"a": 2, "y": 3}\r\n')
        (batch,) = TableBatches(path, "y").start()
        assert batch.X["a"].tolist() == [1.0, 2.0]


class TestArrow:
    def test_index_of_pandas(self, tmp_path):
        """It is no column, as in Parquet files."""
        table = pd.DataFrame({"a": [1.0, 2.0], "y": [3.0, 4.0]}, index=[5, 9])
        arrow = pa.Table.from_pandas(table)
        with pa.ipc.new_file(str(tmp_path / "t.arrow"), arrow.schema) as file:
            file.write_table(arrow)
        assert TableBatches(tmp_path / "t.arrow", "y").inputs == ("a",)

    @pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
    def test_feather(self, tmp_path, compression):
        table = rows().drop(columns="id")
        table.to_feather(tmp_path / "t.feather", compression=compression, chunksize=99)
        source = TableBatches(tmp_path / "t.feather", "y", mixed=True, batch_size=150)
        assert source.n_rows == N_ROWS
        found = pd.concat([batch.X for batch in source.start()], ignore_index=True)
        assert_array_equal(found["a"], table["a"])

    @pytest.mark.parametrize("missing", [[], ["u"]])
    def test_categories_of_pandas(self, tmp_path, missing):
        """A dictionary of Arrow is the text that it stands for."""
        table = rows()[["a", "k", "y"]].assign(k=lambda t: t["k"].astype("category"))
        table.to_feather(tmp_path / "t.feather")
        source = TableBatches(tmp_path / "t.feather", "y", mixed=True, missing_values=missing)
        (batch,) = source.start()
        expected = [None if value in missing else value for value in table["k"]]
        assert batch.X["k"].tolist() == expected
        by_label = TableBatches(tmp_path / "t.feather", "k", inputs=["a"])
        (batch,) = by_label.start()
        assert batch.y.tolist() == table["k"].tolist()

    def test_no_arrow(self, tmp_path):
        (tmp_path / "t.feather").write_bytes(b"FEA1 and more that is none of it")
        with pytest.raises(StreamError, match=r"t.feather: cannot be read"):
            TableBatches(tmp_path / "t.feather", "y")

    @pytest.mark.parametrize("ending", [".arrow", ".arrows"])
    def test_damaged(self, tmp_path, ending):
        """Whatever byte is changed: an error, or other values, and never the end of Python."""
        path = write(rows(60)[["a", "k", "y"]], tmp_path / f"t{ending}")
        data = bytearray(path.read_bytes())
        rng = np.random.default_rng(2)
        n_refused = 0
        for place in rng.integers(0, len(data), 200).tolist():
            changed = bytearray(data)
            changed[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(changed)
            try:
                list(TableBatches(path, "y", mixed=True, as_labels=False).start())
            except (StreamError, UnicodeDecodeError):
                n_refused += 1
        assert n_refused > 5


@pytest.mark.parametrize("ending", [".csv.gz", ".jsonl.gz"])
def test_broken_gzip(tmp_path, ending):
    """What is no gzip, what ends early, and what has another checksum."""
    path = tmp_path / f"t{ending}"
    path.write_bytes(b"a,y\n1,2\n")
    with pytest.raises(StreamError, match=r"cannot be read: Not a gzipped file"):
        TableBatches(path, "y")
    write(rows(), path)
    data = bytearray(path.read_bytes())
    data[-6] ^= 1  # of the checksum
    path.write_bytes(data)
    with pytest.raises(StreamError, match=r"t\.\w+\.gz: cannot be read: CRC check failed"):
        batches(path)


def test_one_format(tmp_path):
    """CSV with and without gzip is one; text and JSON are not."""
    for name in ("1.csv", "2.csv.gz", "3.tsv"):
        write(rows(64), tmp_path / "expected" / name)
    source = TableBatches(tmp_path / "expected", "y", mixed=True)
    assert (source.format, len(source.files)) == ("csv", 3)
    write(rows(64), tmp_path / "expected" / "4.ndjson")
    with pytest.raises(ValueError, match=r"must be all of one format, got 3\.tsv and 4\.ndjson"):
        TableBatches(tmp_path / "expected", "y")


SLOW_ENDINGS = (".csv", ".jsonl", ".jsonl.gz")  # that others of the same reader stand for


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peaks of memory are kept")
@pytest.mark.parametrize(
    "ending",
    [".csv.gz", ".feather", *(pytest.param(e, marks=pytest.mark.slow) for e in SLOW_ENDINGS)],
)
def test_memory_of_a_stream(tmp_path, ending):
    """Four times as many rows need no more memory: a process that reads them has the same peak."""
    code = (
        "import re, sys; from gegenbauer import TableBatches; "
        "n = sum(len(b.y) for b in TableBatches(sys.argv[1], 'y', batch_size=5000).start()); "
        "print(n, re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])"
    )
    peaks = []
    X = np.random.default_rng(0).random((10_000, 8))
    table = pd.DataFrame(X, columns=list("abcdefgy"))
    for repeats in (10, 40):
        n_rows = repeats * len(table)
        path = tmp_path / f"t{n_rows}{ending}"
        if ending == ".feather":
            pd.concat([table] * repeats, ignore_index=True).to_feather(path, chunksize=10_000)
        else:
            header = b"a,b,c,d,e,f,g,y\n" if "csv" in ending else b""
            lines = (
                table.to_csv(index=False, header=False) if header
                else table.to_json(orient="records", lines=True, double_precision=15)
            ).encode()  # fmt: skip
            text = header + repeats * lines
            path.write_bytes(gzip.compress(text, 1) if ending.endswith(".gz") else text)
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        )
        n, peak = map(int, done.stdout.split())
        assert n == n_rows
        peaks.append(peak * 1024)
    print(peaks)
    assert peaks[1] - peaks[0] < 300_000 * 8 * 8  # the numbers alone that were added
