"""A CSV file means the same in memory and as a stream: what Python's csv module and float read."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from decimal import Decimal
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gegenbauer.batches import TableBatches, csv_text
from gegenbauer.batches.column_types import (
    read_all_as_doubles,
    read_as,
    typed,
    typed_all,
)
from gegenbauer.batches.columns import require_column
from gegenbauer.batches.csv import CsvFile
from gegenbauer.batches.csv_text import CsvError, CsvText
from gegenbauer.batches.formats import Dialect
from gegenbauer.cli.app import fit
from gegenbauer.cli.choices import Task
from gegenbauer.cli.columns import read_inputs, read_target, require_inputs, select_inputs
from gegenbauer.cli.messages import UserError, refusals
from gegenbauer.cli.output import Steps
from gegenbauer.cli.parameters import naming_options_of
from gegenbauer.cli.streaming import look_at_target
from gegenbauer.cli.tables import Parts, read_table
from gegenbauer.errors import StreamError

# Values of the target, which are repeated; the input counts the rows.
VALUES = {
    "words": ["a", "b", "a", "c"],
    "quoted words": ['"a"', '"b"'],
    "blanks before quotes": [' "a"', '  "b"'],
    "blanks before words": [" a", "  b", "a"],
    "blanks within quotes": ['" a"', '"a"', '"b "'],
    "blanks behind words": ["a ", "a", "b"],
    "tabs before words": ["\ta", "a"],
    "separators in quotes": ['"a, b"', '"c"'],
    "separators behind blanks and quotes": [' "a, b"', ' "c, "'],
    "doubled quotes": ['"see ""a"""', '"b"'],
    "nothing but doubled quotes": ['""""', '""""""'],
    "quotes within words": ['5" pipe', '6" pipe', '6"" pipe'],
    "quotes at the end of words": ['5"', '6"'],
    "quotes within and about words": ['5" pipe', '"6"" pipe"', ' "a"', "b"],
    "quotes behind blanks within words": ['a "b" c', "d"],
    "line feeds in quotes": ['"a\nb"', '"c"'],
    "CRLF in quotes": ['"a\r\nb"', '"c\r\n"'],
    "CR in quotes": ['"a\rb"', '"\r"'],
    "blank lines in quotes": ['"a\n\nb"', '"\n\n"'],
    "blanks behind line feeds in quotes": ['"a\n b"', '"a,  b"'],
    "records in quotes": ['"1,a\n2,b"', '"c"'],
    "Unicode": ["café", "naïve", "日本", "🙂"],
    "Unicode in quotes": ['"café, noir"', ' "日本"'],
    "blanks of Unicode": ["\u00a0a", "a", "\u3000a"],
    "combining marks": ["e\u0301", "é"],
    "apostrophes": ["'a'", "'b c'"],
    "backslashes": [r"a\n", r"b\\", r'"c\"'],
    "comments": ["#a", "b"],
    "formulas": ["=1+1", "@b"],
    "percent": ["5%", "6%"],
    "money": ["$5", "$6"],
    "thousands in quotes": ['"1,000"', '"2,000"'],
    "decimal commas in quotes": ['"1,5"', '"2,5"'],
    "dates": ["2026-01-01", "2026-01-02"],
    "times": ["12:30:00", "12:31:00"],
    "times of days": ["2026-01-01 12:30:00", "2026-01-01T12:30:00Z"],
    "lengths of time": ["1 days", "2 days"],
    "words and numbers": ["1", "a", "2.5"],
    "words that begin as numbers": ["1a", "2b"],
    "true and false": ["True", "False"],
    "true and false in capitals": ["TRUE", "FALSE"],
    "true and false in small letters": ["true", "false"],
    "true and false in any letters": ["tRUE", "False", "faLSE"],
    "true and false with blanks": [" True", "False "],
    "true and false in quotes": ['"True"', ' "False"'],
    "true and numbers": ["True", "0", "1"],
    "true and words": ["True", "no"],
    "yes and no": ["yes", "no"],
    "T and F": ["T", "F"],
    "zero and one": ["0", "1"],
    "plus and minus one": ["+1", "-1"],
    "plus and minus one, padded": [" +1", "-1 "],
    "whole numbers": ["3", "1", "-2"],
    "whole numbers in quotes": ['"3"', '"1"'],
    "whole numbers in quotes with blanks": ['" 3"', '"1 "'],
    "whole numbers with blanks": ["  3", "1 "],
    "whole numbers with tabs": ["\t3", "1\t"],
    "leading zeros": ["007", "08", "7"],
    "leading zeros alone": ["007", "08"],
    "minus zero": ["-0", "0", "1"],
    "at the end of int64": [str(2**63 - 1), str(-(2**63))],
    "beyond int64": [str(2**63), str(2**63 + 1)],
    "at the end of uint64": [str(2**64 - 1), "0"],
    "beyond int64 with signs": [str(2**63), "-1"],
    "beyond uint64": [str(2**64), "0"],
    "more than 64 bits": [str(2**70), str(2**70 + 1)],
    "beyond 2^53": [str(2**53), str(2**53 + 1)],
    "decimal numbers": ["0.5", "1.25", "-2"],
    "decimal numbers in quotes": ['"0.5"', ' "1.25"'],
    "decimal numbers with plus": ["+0.5", "-.5"],
    "whole numbers with a point": ["1.0", "0.0"],
    "points at ends": ["1.", ".5"],
    "exponents": ["1e3", "2E-3", "-1.5e+2"],
    "whole exponents": ["1e0", "2e0"],
    "all digits": ["0.1234567890123456789", "12345678901234567890.5"],
    "hard to round": ["9007199254740993", "2.2250738585072011e-308", "1e23", "8.41e21"],
    "tiny": ["5e-324", "1e-400", "0.25"],
    "single and double": ["0.1", "16777217"],
    "hexadecimal": ["0x10", "0x11"],
    "hexadecimal floats": ["0x1p3", "0x1p4"],
    "octal": ["0o7", "0o10"],
    "underscores": ["1_000", "2_000"],
    "digits of Unicode": ["１", "２"],
    "Fortran's exponents": ["1d3", "2d3"],
    "two signs": ["+-1", "--1"],
    "a sign alone": ["-", "+"],
    "an exponent alone": ["1e", "e1"],
    "complex": ["1j", "2j"],
    "fractions": ["1/2", "1/3"],
    "NaN in parentheses": ["nan(1)", "a"],
    "question marks": ["?", "1", "2"],
}  # fmt: skip

# Whole files that can be read.
TEXTS = {
    "no end of the last line": "x,y\n1,a\n2,b\n3,a\n4,b",
    "ends with CRLF": "x,y\r\n1,a\r\n2,b\r\n3,a\r\n4,b\r\n",
    "ends with CR": "x,y\r1,a\r2,b\r3,a\r4,b\r",
    "ends that differ": "x,y\n1,a\r\n2,b\r3,a\n4,b\r\n",
    "blank lines": "\n\nx,y\n\n1,a\n\n\n2,b\n3,a\n4,b\n\n\n",
    "lines of blanks": "  \nx,y\n   \n1,a\n2,b\n \n3,a\n4,b\n  ",
    "blank lines with CRLF": "x,y\r\n\r\n1,a\r\n\r\n2,b\r\n3,a\r\n4,b\r\n\r\n",
    "byte order mark": "\ufeffx,y\n1,a\n2,b\n3,a\n4,b\n",
    "byte order mark before a quote": '\ufeff"x","y"\n1,a\n2,b\n3,a\n4,b\n',
    "byte order mark before a blank line": "\ufeff\nx,y\n1,a\n2,b\n3,a\n4,b\n",
    "quoted header": '"x", "y"\n1,a\n2,b\n3,a\n4,b\n',
    "header of several lines": '"a\nb",y\n1,a\n2,b\n3,a\n4,b\n',
    "header with a separator": '"a,b",y\n1,a\n2,b\n3,a\n4,b\n',
    "header with blanks": " x , y\n1,a\n2,b\n3,a\n4,b\n",
    "header with quotes within": 'x",y\n1,a\n2,b\n3,a\n4,b\n',
    "header of Unicode": "größe,y\n1,a\n2,b\n3,a\n4,b\n",
    "header that is a number": "1,y\n1,a\n2,b\n3,a\n4,b\n",
    "a column without a name": ",y\n1,a\n2,b\n3,a\n4,b\n",
    "columns without names": ",z,,y\n1,2,3,a\n2,3,4,b\n3,4,5,a\n4,5,6,b\n",
    "blanks before inputs": "x,y\n 1,a\n  2,b\n 3,a\n4,b\n",
    "blanks behind inputs": "x,y\n1 ,a\n2  ,b\n3\t,a\n4,b\n",
    "quoted inputs": 'x,y\n"1",a\n "2",b\n"3",a\n"4",b\n',
    "inputs of true and false": "x,y\nTrue,a\nfalse,b\ntRUE,a\nFALSE,b\n",
    "inputs of whole numbers and others": "x,y\n1,a\n2.5,b\n-3,a\n+4,b\n",
    "inputs beyond 64 bits": f"x,y\n{2**70},a\n{-(2**80)},b\n3,a\n4,b\n",
    "many inputs": ",".join(f"x{k}" for k in range(300)) + ",y\n" + "".join(
        ",".join(str(k * row / 7) for k in range(300)) + f",{'ab'[row % 2]}\n" for row in range(4)),
}  # fmt: skip

# Other separators.
SEPARATED = {
    "semicolons": (";", 'x;y\n1;a\n2; "b;c"\n3;a\n4;"b;c"\n'),
    "semicolons and commas": (";", "x;y\n1;a,b\n2;c\n3;a,b\n4;c\n"),
    "tabs": ("\t", "x\ty\n1\ta b\n2\tc\n3\ta b\n4\tc\n"),
    "tabs and quotes": ("\t", 'x\ty\n1\t "a\tb"\n2\tc\n3\t"a\tb"\n4\tc\n'),
    "bars": ("|", 'x|"y"\n1|a\n2|"b|c"\n3|a\n4|"b|c"\n'),
    "blanks": (" ", 'x y\n1 a\n2   "b c"\n  3 a\n4 "b c"\n'),
    "letters": ("t", "xty\n1ta\n2tb\n3ta\n4tb\n"),
    "characters of expressions": ("^", "x^y\n1^a\n2^b\n3^a\n4^b\n"),
}

# What is refused, and by which words; in rows that begin with 1, or in a column.
REFUSED = {
    "empty": ("", "empty"),
    "blank": ("\n \n\r\n", "empty"),
    "byte order mark alone": ("\ufeff", "empty"),
    "header alone": ("x,y\n", "rows"),
    "header alone without an end": ("x,y", "rows"),
    "header and blank lines": ("x,y\n\n  \n", "rows"),
    "one column": ("y\na\nb\n", "input"),
    "one name twice": ("x,x,y\n1,2,a\n2,3,b\n", "several columns 'x'"),
    "a number for a column without a name": (",Unnamed: 0,y\n1,2,a\n2,3,b\n", "several columns"),
    "quote never closed": ('x,y\n1,a\n2,"b\n3,a\n4,b\n', "data row 2 of .*never closed"),
    "quote never closed in an input": ('x,y\n1,a\n"2,b\n3,a\n', "data row 2 of .*never closed"),
    "quote never closed in the header": ('x,"y\n1,a\n2,b\n', "t.csv: .*never closed"),
    "quote alone at the end": ('x,y\n1,a\n2,b\n3,"', "data row 3 of .*never closed"),
    "quote not closed before others": (
        'x,y\n1,"a"\n2,"b\n3,"a"\n4,"b"\n', "data row 2 of .*text follows a field in quotes"),
    "text behind a quote": ('x,y\n1,"a"b\n2,b\n', "data row 1 .*text follows a field"),
    "blank behind a quote": ('x,y\n1,"a" \n2,b\n', "data row 1 .*text follows a field"),
    "quotes not doubled": ('x,y\n1,"see "a""\n2,b\n', "data row 1 .*text follows a field"),
    "a field less": ("x,y,z\n1,a,2\n2,b\n3,a,4\n", "data row 2 of .*expected 3 columns, got 2"),
    "a field more": ("x,y\n1,a\n2,b\n3,a,4\n", "data row 3 of .*expected 2 columns, got 3"),
    "separators at the end": ("x,y\n1,a,\n2,b,\n", "data row 1 of .*expected 2 columns, got 3"),
    "separators at the end of the header, too": ("x,y,\n1,a,\n2,b,\n", "'Unnamed: 2' holds no"),
    "rows counted without blank lines": ("x,y\n\n1,a\n\n  \n2\n", "data row 2 of .*expected 2"),
    "rows counted with lines in quotes": ('x,y\n1,"a\nb"\n2\n', "data row 2 of .*expected 2"),
    "semicolons": ("x;y\n1;a\n2;b\n", "separator"),
    "tabs": ("x\ty\n1\ta\n2\tb\n", "separator"),
    "Latin": ("x,y\n1,a\n2,caf\u00e9\n".encode("latin-1"), "data row 2 of .*UTF-8.*0xe9"),
    "Latin in the header": ("caf\u00e9,y\n1,a\n".encode("latin-1"), "t.csv: .*UTF-8.*0xe9"),
    "UTF-16": ("x,y\n1,a\n".encode("utf-16"), "UTF-8"),
    "no value": ("x,y\n1,a\n,b\n3,a\n", "'x' holds no value"),
    "no value in quotes": ('x,y\n1,a\n"",b\n3,a\n', "'x' holds no value"),
    "no value in the target": ("x,y\n1,a\n2,\n3,a\n", "'y' holds no value"),
    "no value at all": ("x,z,y\n1,,a\n2,,b\n", "'z' holds no value"),
    "NA": ("x,y\n1,a\nNA,b\n", "'x' holds no value"),
    "NA behind a blank": ("x,y\n1,a\n NA,b\n", "'x' holds no value"),
    "NaN": ("x,y\n1,a\nNaN,b\n", "'x' holds no value"),
    "NAN": ("x,y\n1,a\nNAN,b\n", "'x' holds no value"),
    "null in the target": ("x,y\n1,null\n2,b\n", "'y' holds no value"),
    "infinity": ("x,y\n1,a\ninf,b\n", "'x' holds infinity"),
    "minus infinity": ("x,y\n1,a\n-Infinity,b\n", "'x' holds infinity"),
    "beyond float64": ("x,y\n1,a\n1e999,b\n", "'x' holds infinity"),
    "infinity in the target": ("x,y\n1,0.5\n2,inf\n3,1\n", "'y' holds infinity|'y'"),
    "words as inputs": ("x,y\n1,a\nDream,b\n", "'x' .*'Dream'"),
    "dates as inputs": ("x,y\n2026-01-01,a\n2026-01-02,b\n", "'x' .*'2026-01-01'"),
    "true and numbers as inputs": ("x,y\nTrue,a\n2,b\n", "'x' .*'True'"),
    "hexadecimal inputs": ("x,y\n1,a\n0x10,b\n", "'x' .*'0x10'"),
    "underscores in inputs": ("x,y\n1,a\n1_0,b\n", "'x' .*'1_0'"),
    "decimal commas": ('x,y\n1,a\n"1,5",b\n', "'x' .*'1,5'"),
    "blanks in quotes as inputs": ('x,y\n1,a\n"  ",b\n', "'x' .*'  '"),
}  # fmt: skip


def of_values(values) -> str:
    values = values * (8 // len(values) + 2)
    return "x,y\n" + "".join(f"{row},{value}\n" for row, value in enumerate(values))


READ = (
    {f"values: {name}": (",", of_values(values)) for name, values in VALUES.items()}
    | {f"file: {name}": (",", text) for name, text in TEXTS.items()}
    | {f"separator: {name}": case for name, case in SEPARATED.items()}
)


@pytest.fixture
def write(tmp_path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "t.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def in_memory(path: Path, separator: str, task: Task):
    table = read_table(path, Dialect(separator), Parts("y"))
    with refusals(print):
        require_inputs(table, table.inputs)
        target = read_target(table, "y", task)
        X = read_inputs(table, table.inputs)
    return X.columns.tolist(), X.to_numpy().tolist(), target.values, target.task, target.seen


def streamed(path: Path, separator: str, task: Task):
    with refusals(print):
        source = TableBatches(path, "y", separator=separator)
        target = look_at_target(source, task, Steps(1))
        batches = list(source.start())
    X = np.concatenate([batch.X for batch in batches])
    y = np.concatenate([batch.y for batch in batches])
    return list(source.inputs), X.tolist(), y, target.task, target.seen


def result(read, *arguments):
    try:
        with naming_options_of(fit):
            return read(*arguments)
    except UserError as error:
        return str(error)


def independent(path: Path, separator: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and all other rows as texts."""
    stream = io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")
    rows = csv.reader(stream, delimiter=separator, skipinitialspace=True, strict=True)
    header, *others = [row for row in rows if row not in ([], [""])]
    return header, others


def as_seen(text: str, kind: str):
    if kind == "text":
        return text
    if kind == "truth":
        return {"true": True, "false": False}[text.strip().lower()]
    return int(text) if kind == "whole" else float(text)


def test_so_many_files():
    assert len(READ) + len(REFUSED) >= 120


@pytest.mark.parametrize("name", READ)
def test_read_alike(write, name):
    separator, text = READ[name]
    path = write(text)
    header, rows = independent(path, separator)
    place = header.index("y")
    results = {task: (result(in_memory, path, separator, task),
                      result(streamed, path, separator, task)) for task in Task}  # fmt: skip
    assert not all(isinstance(memory, str) for memory, _ in results.values()), results
    for task, (memory, stream) in results.items():
        if isinstance(memory, str) or isinstance(stream, str):
            assert isinstance(memory, str), (task, memory)
            assert isinstance(stream, str), (task, stream)
            assert "'y'" in memory
            assert "'y'" in stream
            continue
        assert memory[:2] == stream[:2]
        assert memory[2].dtype == stream[2].dtype
        assert memory[2].tolist() == stream[2].tolist()
        assert memory[3:] == stream[3:]
        names, X, y, chosen, seen = memory
        inputs = [[*row[:place], *row[place + 1 :]] for row in rows]
        assert len(names) == len(header) - 1
        truth = {"true": 1.0, "false": 0.0}
        assert [[truth[v.lower()] if v.lower() in truth else float(v) for v in row]
                for row in inputs] == X  # fmt: skip
        expected = [as_seen(row[place], seen.kind) for row in rows]
        if chosen == Task.regression:
            expected = [float(value) for value in expected]
        assert y.tolist() == expected


KINDS = {
    "plus and minus one": "whole", "plus and minus one, padded": "whole", "leading zeros": "text",
    "leading zeros alone": "whole",
    "beyond int64": "whole", "at the end of uint64": "whole", "beyond uint64": "decimal",
    "beyond int64 with signs": "decimal", "whole numbers with a point": "decimal",
    "true and false in any letters": "truth", "true and false with blanks": "truth",
    "true and numbers": "text", "words and numbers": "text", "hexadecimal": "text",
    "underscores": "text", "dates": "text", "whole numbers in quotes with blanks": "whole",
    "more than 64 bits": "decimal", "exponents": "decimal", "whole exponents": "decimal",
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_kinds(write, name):
    table = read_table(write(of_values(VALUES[name])), parts=Parts("y"))
    task = Task.regression if KINDS[name] == "decimal" else Task.classification
    seen = read_target(table, "y", task).seen
    assert seen.kind == KINDS[name]


def test_labels_that_float64_cannot_distinguish_are_no_classes(write):
    path = write(of_values(VALUES["more than 64 bits"]))
    for read in (in_memory, streamed):
        assert "which are no classes" in result(read, path, ",", Task.classification)
        assert read(path, ",", Task.auto)[3] == Task.regression
    with pytest.raises(
        StreamError, match=r"row 0 of t\.csv \(counted from 0\): column 'y', .* which is no class"
    ):
        list(TableBatches(path, "y", as_labels=True).start())


@pytest.mark.parametrize("name", REFUSED)
def test_refused_alike(write, name):
    text, words = REFUSED[name]
    path = write(text)
    for task in Task:
        errors = [result(read, path, ",", task) for read in (in_memory, streamed)]
        for error in errors:
            assert isinstance(error, str), error
            assert "t.csv" in error or "column" in error
            if task == Task.auto:  # another task may be refused because of the target before
                assert re.search(words, error), error
        assert blamed(errors[0]) == blamed(errors[1])
        if blamed(errors[0])[0] in ("", "'y'"):  # of inputs in memory more is known
            assert errors[0] == errors[1]


def blamed(error: str) -> tuple[str, str]:
    """Return the column and the row that an error names, as far as it does."""
    column = re.search(r"column ('.*?')", error)
    row = re.search(r"data row \d+ of t\.csv \(header not counted\)", error)
    return column[1] if column else "", row[0] if row else ""


@pytest.mark.parametrize("n_bytes", [1, 7, 64])
def test_where_pieces_end_does_not_matter(write, monkeypatch, n_bytes):
    """Each border between two pieces lies everywhere once, within quotes and CRLF as well."""

    def rows(path, separator):
        try:
            file = CsvText(path, separator)
            names = [str(place) for place in range(len(file.header))]
            tables = list(file.tables(names, names))
        except CsvError as fault:
            return fault.row, str(fault)
        return [file.header, *(row for table in tables for row in table.to_pylist())]

    texts = [*READ.values(), *((",", text) for text, _ in REFUSED.values())]
    for separator, text in texts:
        path = write(text)
        whole = rows(path, separator)
        for offset in range(3):
            with monkeypatch.context() as patch:
                patch.setattr(csv_text, "_BLOCK", n_bytes + offset)
                assert rows(path, separator) == whole, text


PIECES = [
    ",", ",", "\n", "\r\n", "\r", '"', '""', " ", "a", "b ", '"a"', '" b"', '"x\r\ny"', '"p\nq"',
    '"k,l"', '"q""q"', '5" x', '"""z"""', "é", '"é"', '"\r"', " 1", ',"', '",',
]  # fmt: skip


@hypothesis.given(
    parts=st.lists(st.sampled_from(PIECES), max_size=30), block=st.sampled_from([1, 2, 3, 5, 8, 99])
)
@hypothesis.settings(max_examples=300)
def test_any_text_is_what_the_csv_module_reads(tmp_path_factory, parts, block):
    """The same records, or both refuse it."""
    text = "".join(parts)
    # The csv module does not report whether it read a line of blanks, or of a pair of quotes.
    hypothesis.assume(not re.search(r'(^|[\r\n]) *""([\r\n]|$)', text))
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(text.encode())
    try:
        header, rows = independent(path, ",")
        if any(len(row) != len(header) for row in rows):
            raise ValueError
    except (csv.Error, ValueError):
        expected = None
    else:
        expected = [header, *rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, "_BLOCK", block)
        patch.setattr(csv_text, "_MISSING", ["missing"])
        try:
            file = CsvText(path, ",")
            names = [str(place) for place in range(len(file.header))]
            tables = list(file.tables(names, names))
        except CsvError:
            found = None
        else:
            rows = [list(row.values()) for table in tables for row in table.to_pylist()]
            found = [file.header, *rows]
    assert found == expected


def test_a_record_has_an_end(write, monkeypatch):
    """A quote that is not closed does not take all of a large file into memory."""
    monkeypatch.setattr(csv_text, "_BLOCK", 1 << 10)
    monkeypatch.setattr(csv_text, "_MAX_RECORD", 1 << 20)
    path = write('x,y\n1,a\n2,"b\n' + "3,a\n" * 1_000_000)
    with pytest.raises(
        StreamError, match=r"row 1 of t\.csv \(counted from 0\): no end of the row within 1 MB"
    ):
        list(TableBatches(path, "y").start())


class CountedName(str):
    """A name that counts how often it is compared with another."""

    __slots__ = ()
    n_compared = 0

    def __eq__(self, other: object) -> bool:
        type(self).n_compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def wide(n: int) -> str:
    header = ",".join(f"x{place}" for place in range(n))
    return f"{header},y\n" + "".join(("1," * n) + f"{row}.5\n" for row in range(3))


def strings_of(path: Path, separator: str):
    """Return what `CsvText` reads, or why it refuses the file."""
    try:
        text = CsvText(path, separator)
        names = [f"c{place}" for place in range(len(text.header))]
        tables = [table.to_pydict() for table in text.tables(names, names[::-1])]
    except CsvError as error:
        return error.row, str(error)
    return {name: [text for table in tables for text in table[name]] for name in names}


@pytest.mark.parametrize("name", [*READ, *REFUSED])
def test_wide_tables_are_read_as_others(write, monkeypatch, name):
    """Their fields are found in another way, so every file goes through it as if it were wide."""
    separator, text = READ[name] if name in READ else (",", REFUSED[name][0])
    path = write(text)
    expected = strings_of(path, separator)
    monkeypatch.setattr(csv_text, "is_wide", lambda data, n_columns: n_columns > 1)
    assert strings_of(path, separator) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_wide_tables_of_all_kinds_of_columns(write, separator, end):
    """Blank lines, missing values, blanks before fields, and text beyond ASCII are among them."""
    rng = np.random.default_rng(0)
    n_columns, n_rows = 300, 9
    fields = ["1", "-2.5", "", "NA", " 3", "true", "caf\u00e9", "+4", "007", "1e400", "nan"]
    rows = rng.choice(fields, size=(n_rows, n_columns)).tolist()
    for row in rows:
        row[0] = "0"  # no line is blank
    lines = [separator.join(f"x{place}" for place in range(n_columns))]
    lines += [line for row in rows for line in (separator.join(row), "")]
    path = write(end.join(lines))
    header, texts = independent(path, separator)
    assert len(texts) == n_rows
    file = CsvText(path, separator)
    wanted = header[7:250:3]
    table = pa.Table.from_batches(file.tables(header, wanted))
    assert table.schema.names == wanted
    missing = {"", "NA", "nan"}
    for name, column in zip(wanted, table.columns, strict=True):
        place = header.index(name)
        assert column.to_pylist() == [
            None if row[place] in missing else row[place] for row in texts
        ]
    short = write(end.join([*lines[:4], separator.join(["1"] * (n_columns - 1)), *lines[4:]]))
    with pytest.raises(CsvError, match="expected 300 columns, got 299") as caught:
        list(CsvText(short, separator).tables(header, wanted))
    assert caught.value.row == 2


def test_numbers_of_wide_tables(write):
    """In memory and as a stream, whatever stands in the columns beside them."""
    rng = np.random.default_rng(1)
    X = rng.integers(-9, 9, size=(12, 400)) / rng.choice([1, 4], size=400)
    y = np.arange(12.0) + 0.5
    X[:, 3] = X[:, 3] > 0
    names = [f"x{place}" for place in range(400)]
    rows = [
        [*(repr(float(v)) if j % 2 else f"{v:g}" for j, v in enumerate(row)), repr(target)]
        for row, target in zip(X, y.tolist(), strict=True)
    ]
    for row in rows:
        row[3] = "TRUE" if row[3] == "1.0" else "false"
    path = write("\n".join(",".join(row) for row in [[*names, "y"], *rows]))
    header, values, target, _, _ = in_memory(path, ",", Task.auto)
    assert header == names
    assert np.array_equal(values, X)
    assert np.array_equal(target, y)
    (batch,) = TableBatches(path, "y").start()
    assert batch.X.columns.tolist() == names
    assert np.array_equal(batch.X, X)
    assert np.array_equal(batch.y, y)

    rows[5][77], rows[7][20] = "", "inf"
    path = write("\n".join(",".join(row) for row in [[*names, "y"], *rows]))
    with pytest.raises(StreamError, match=r"row 7 of t\.csv .*: column 'x20' holds infinity"):
        list(TableBatches(path, "y").start())
    with pytest.raises(UserError, match=r"data row 8 of t\.csv .*: column 'x20' holds infinity"):
        in_memory(path, ",", Task.auto)


def test_forty_thousand_columns(write):
    table = read_table(write(wide(40_000)))
    assert (table.n_rows, len(table.columns)) == (3, 40_001)
    assert table.columns["y"].to_pylist() == [0.5, 1.5, 2.5]


def test_names_are_compared_a_few_times(write):
    """However many there are, and whatever is done with them."""
    n = 3000
    path = write(wide(n))
    names = [CountedName(f"x{place}") for place in range(n)]
    CountedName.n_compared = 0
    (batch,) = TableBatches(path, "y", inputs=names, ignore=names).start()
    assert batch.X.shape == (3, n)
    assert 0 < CountedName.n_compared < 20 * n
    CountedName.n_compared = 0
    file = CsvFile("t.csv", path, ",")
    file._set_columns(names)
    for name in names:
        require_column(name, file.columns, file.rows(), parameter="inputs")
    with pytest.raises(StreamError, match="several columns 'x7'; give every column a name of its"):
        file._set_columns([*names, CountedName("x7")])
    table = read_table(path, parts=Parts("y", names[: n // 2]))
    CountedName.n_compared = 0
    assert read_inputs(table, table.inputs).shape == (3, n - n // 2)
    assert select_inputs(table, names, n).shape == (3, n)
    with pytest.raises(UserError, match="the table lacks 1 column that the model needs: 'x3000'"):
        select_inputs(table, [*names, CountedName("x3000")], n + 1)
    assert CountedName.n_compared < 40 * n


# ---- Parquet files ---------------------------------------------------------------------

# Targets by their type of Arrow, and the kind that they are; None for what is refused.
ARROW = {
    "int8": (pa.array([1, 2, 1, 2] * 5, pa.int8()), "whole"),
    "uint64": (pa.array([2**64 - 1, 0] * 10, pa.uint64()), "whole"),
    "bool": (pa.array([True, False] * 10), "truth"),
    "float": (pa.array([0.5, 0.25] * 10, pa.float32()), "decimal"),
    "whole double": (pa.array([1.0, 2.0] * 10), "decimal"),
    "decimal": (pa.array([Decimal("0.5"), Decimal("1.25")] * 10), "decimal"),
    "string": (pa.array(["a", "1"] * 10), "text"),
    "numbers as strings": (pa.array(["01", "1"] * 10), "text"),
    "large_string": (pa.array(["a", "b"] * 10, pa.large_string()), "text"),
    "dictionary of strings": (pa.array(["a", "b"] * 10).dictionary_encode(), "text"),
    "dictionary of numbers": (pa.array([5, 7] * 10).dictionary_encode(), "whole"),
    "one mistake": (pa.array([*map(str, range(19)), "x"]), None),
    "missing": (pa.array([1, None, 2, 1] * 5), None),
    "missing text": (pa.array(["a", None, "b", "a"] * 5), None),
    "nothing": (pa.nulls(20), None),
    "infinity": (pa.array([0.5, np.inf] * 10), None),
    "dates": (pa.array([dt.date(2026, 1, 1)] * 20), None),
    "lists": (pa.array([[1], [2]] * 10), None),
}


@pytest.mark.parametrize("task", Task)
@pytest.mark.parametrize("name", ARROW)
def test_parquet_is_read_alike(tmp_path, name, task):
    values, kind = ARROW[name]
    inputs = pa.array([*range(10), *range(10)], pa.int16())
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": inputs, "y": values}), path, row_group_size=7)
    memory, stream = (result(read, path, None, task) for read in (in_memory, streamed))
    if isinstance(memory, str) or isinstance(stream, str):
        assert isinstance(memory, str), stream
        assert isinstance(stream, str), memory
        assert "column 'y'" in memory
        assert "column 'y'" in stream
        assert re.findall(r"data row \d+ of t.parquet", memory) == re.findall(
            r"data row \d+ of t.parquet", stream
        )
        assert kind is None or task != Task.auto
        return
    assert memory[:2] == stream[:2] == (["x"], [[float(x)] for x in inputs.to_pylist()])
    assert memory[2].dtype == stream[2].dtype
    assert memory[2].tolist() == stream[2].tolist()
    assert memory[3:] == stream[3:]
    assert memory[4].kind == kind
    expected = [float(v) if task == Task.regression else v for v in values.to_pylist()]
    assert memory[2].tolist() == expected


@pytest.mark.parametrize(
    ("values", "where", "shown"),
    [
        (pa.array(["01", "1"]), "data row 1 of t.parquet", "text, such as '01'"),
        (pa.array([None, "x"]), "data row 2 of t.parquet", "text, such as 'x'"),
        (pa.array([None, "2", "x"])[:2], "data row 2 of t.parquet", "text, such as '2'"),
        (
            pa.array([None, dt.date(2026, 1, 2)]),
            "data row 2 of t.parquet",
            "dates or times, such as '2026-01-02'",
        ),
        (pa.array([None, None], pa.date32()), "t.parquet", "dates or times"),
        (
            pa.array([[1], [2]]),
            "data row 1 of t.parquet",
            "lists or objects, such as '[1]'",
        ),
    ],
)
def test_inputs_of_parquet_that_are_no_numbers(tmp_path, values, where, shown):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": values, "y": [0.5, 1.5]}), path)
    memory, stream = (result(read, path, None, Task.auto) for read in (in_memory, streamed))
    assert memory == stream
    assert memory == (
        f"{where}: column 'x' holds {shown}, and an input must hold numbers; make it numbers, or "
        "leave the column out by --ignore x"
    )


# ---- texts that are one number ---------------------------------------------------------

# Values, and the classes that they are.
ONE_NUMBER = {
    "leading zeros": (["007", "07", "7"], ["007", "07", "7"]),
    "plus signs": (["+1", "1", "2"], ["+1", "1", "2"]),
    "zeros": (["0", "-0", "1"], ["-0", "0", "1"]),
    "decimals": (["1", "1.0", "2"], ["1", "1.0", "2"]),
    "exponents": (["1e3", "1000.0"], ["1000.0", "1e3"]),
    "quotes": (['"01"', '"1"'], ["01", "1"]),
}
# What stays numbers.
PLAIN_NUMBERS = {
    "all with zeros": (["007", "08"], [7, 8]),
    "all with signs": (["+1", "-1"], [-1, 1]),
    "blanks": (["1 ", " 1", "2"], [1, 2]),
    "plain": (["10", "1", "-3"], [-3, 1, 10]),
}


@pytest.mark.parametrize("read", [in_memory, streamed])
@pytest.mark.parametrize("name", [*ONE_NUMBER, *PLAIN_NUMBERS])
def test_texts_that_differ_are_different_classes(write, name, read):
    values, classes = (ONE_NUMBER | PLAIN_NUMBERS)[name]
    path = write(of_values(values))
    _, X, y, task, seen = read(path, ",", Task.classification)
    assert task == Task.classification
    assert sorted(seen.counts) == classes
    assert sorted(set(y.tolist())) == classes
    assert sum(seen.counts.values()) == len(X)
    # for regression they are numbers
    numbers = read(path, ",", Task.regression)[2]
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [float(row.split(",")[1].strip('" ')) for row in
                                path.read_text().splitlines()[1:]]  # fmt: skip


def test_why_numbers_stay_text_is_reported(write):
    path = write(of_values(["007", "7"]))
    expected = "and '007' and '7', which are one number, stay two classes"
    assert expected in read_target(read_table(path, parts=Parts("y")), "y", Task.auto).reason
    with refusals(print):
        source = TableBatches(path, "y")
        assert expected in look_at_target(source, Task.auto, Steps(1)).reason


@pytest.mark.parametrize("as_labels", [None, True, False])
def test_batches_distinguish_texts(write, as_labels):
    path = write(of_values(["007", "7"]))
    source = TableBatches(path, "y", as_labels=as_labels, batch_size=3)
    found = {value for batch in source.start() for value in batch.y.tolist()}
    assert found == ({7.0} if as_labels is False else {"007", "7"})


def test_batches_refuse_what_would_become_one_class_later(write, monkeypatch):
    """Behind the first megabytes, by which the type is chosen; also when they were skipped."""
    monkeypatch.setattr(csv_text, "_BLOCK", 64)
    monkeypatch.setattr(csv_text, "_HEADERS_A_BLOCK", 1)
    rows = "".join(f"{k},{k % 3}\n" for k in range(200))
    path = write(f"x,y\n{rows}200,01\n")
    expected = "column 'y', the target, holds '1' and '01', which are one number"
    for n_skipped in (0, 1):
        with pytest.raises(StreamError, match=expected):
            list(TableBatches(path, "y", batch_size=50).start(n_skipped))
    regression = TableBatches(path, "y", batch_size=50, as_labels=False)
    assert sum(len(batch.y) for batch in regression.start()) == 201


@pytest.mark.parametrize("texts", [["7", "007"], ["1", "+1"], ["1", "1.0"]])
def test_inputs_are_numbers_however_they_are_written(write, texts):
    path = write("x,y\n" + "".join(f"{texts[k % 2]},{'ab'[k % 2]}\n" for k in range(8)))
    for read in (in_memory, streamed):
        assert {row[0] for row in read(path, ",", Task.auto)[1]} == {float(texts[0])}


# ---- other endings ---------------------------------------------------------------------


@pytest.mark.parametrize("separator", [None, "\t", ";"])
def test_tsv_files_have_tabs(tmp_path, separator):
    """Unless another separator is given; in memory, as a stream and in a folder."""
    path = tmp_path / "t.tsv"
    path.write_text("a,b\ty\n1\tu\n2\tv,w\n".replace("\t", separator or "\t"))
    for read in (in_memory, streamed):
        names, X, y, *_ = read(path, separator, Task.classification)
        assert (names, X, y.tolist()) == (["a,b"], [[1.0], [2.0]], ["u", "v,w"])
    folder = TableBatches(tmp_path, "y", separator=separator)
    assert [batch.y.tolist() for batch in folder.start()] == [["u", "v,w"]]
    assert (folder.files, folder.format) == (("t.tsv",), "csv")


@pytest.mark.parametrize(("name", "how"), [("t.parquet.gz", "gunzip"), ("t.tsv.zst", "unzstd")])
def test_packed_files_are_refused_with_the_remedy(tmp_path, name, how):
    path = tmp_path / name
    path.write_bytes(b"x")
    expected = rf"it is compressed: unpack it \({how} {name}\), or write it as Parquet"
    for paths in (path, tmp_path):
        with pytest.raises(ValueError, match=expected):
            TableBatches(paths, "y")
    with pytest.raises(UserError, match=expected):
        read_table(path)


@pytest.mark.parametrize("n_rows", [1, 3, 255, 256, 300])
def test_columns_read_together_are_those_read_alone(tmp_path, n_rows):
    """Wide tables: whole and other numbers, text, truth and gaps, beside each other."""
    rng = np.random.default_rng(n_rows)
    kinds = [
        lambda: rng.normal(size=n_rows).round(3).astype(str),
        lambda: rng.integers(-5, 5, size=n_rows).astype(str),
        lambda: rng.choice(["+1.5", " 2", "3e2", "nan"], size=n_rows),
        lambda: rng.choice(["a", "7"], size=n_rows),
        lambda: rng.choice(["True", "false"], size=n_rows),
        lambda: rng.choice(["1", ""], size=n_rows),
        lambda: np.full(n_rows, "0x10"),
    ]
    columns = {f"c{k}": kinds[rng.integers(len(kinds))]() for k in range(60)}
    columns |= {f"d{k}": kinds[0]() for k in range(60)}  # of which most are together
    arrays = {name: pa.array(list(texts)) for name, texts in columns.items()}

    def same(a, b):
        if a.type != b.type or a.null_count != b.null_count:
            return False
        if pa.types.is_floating(a.type):
            return np.array_equal(a.to_numpy(False), b.to_numpy(False), equal_nan=True)
        return a.equals(b)

    for name, numbers in zip(arrays, read_all_as_doubles(list(arrays.values())), strict=True):
        try:
            expected = read_as(arrays[name], pa.float64())
        except pa.ArrowInvalid:
            assert numbers is None
            continue
        assert numbers is None or same(numbers, expected)
        assert same(typed(arrays[name], numbers), typed(arrays[name]))
    for texts, values in zip(arrays.values(), typed_all(list(arrays.values())), strict=True):
        expected = typed(texts)
        if texts.null_count:  # NumPy has no whole numbers of which some are missing
            assert np.array_equal(values.to_numpy(False), expected.to_numpy(False), equal_nan=True)
        else:
            assert same(values, expected)
    together = read_all_as_doubles([arrays[f"d{k}"] for k in range(60)])
    assert all((numbers is None) == (n_rows >= 256) for numbers in together)
