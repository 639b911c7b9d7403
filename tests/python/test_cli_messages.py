"""Errors of the command line: one text for one fault, and nothing that speaks of Python."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gegenbauer.cli import main
from gegenbauer.cli.app import fit, predict, tune
from gegenbauer.cli.parameters import _declared

ROWS = np.random.default_rng(1).random((40, 2)).round(4)

LINES = [b"a,b,y\n"] + [f"{a},{b},{round(a + b * b, 4)}\n".encode() for a, b in ROWS]


def table(changes: dict[int, bytes] | None = None, header: bytes = b"a,b,y\n") -> bytes:
    """Return a CSV file of 40 rows, of which some lines are others."""
    return b"".join({**dict(enumerate(LINES)), 0: header, **(changes or {})}.values())


def columns(b: list[bytes], y: list[bytes]) -> bytes:
    """Return a CSV file of 40 rows in which these values follow one another."""
    rows = [b"%d,%s,%s\n" % (i, b[i % len(b)], y[i % len(y)]) for i in range(40)]
    return b"".join([b"a,b,y\n", *rows])


WHOLE = [b"%d" % (i * i) for i in range(40)]

TABLE = table()

MIXED = "holds numbers but for {}; leave the cell empty where there is no value, make all of them"

# Files, and what the error of each has to contain; where there is none, a warning, or nothing
FILES = {
    "good": (TABLE, None),
    "empty": (b"", "the file is empty; it needs a header"),
    "blank lines": (b"\n\n\n", "the file is empty"),
    "only a header": (b"a,b,y\n", "no rows; a table needs one row a sample"),
    "open quote": (
        table({5: b'"0.3,0.4,1\n'}),
        "data row 5 of t.csv (header not counted): a quote",
    ),
    "open quote in the header": (b'a,"b,y\n1,2,3\n', "a quote is opened and never closed"),
    "text behind quotes": (table({5: b'"0.3"x,0.4,1\n'}), "data row 5 of"),
    "text": (table({5: b"0.3,abc,1\n"}), MIXED.format("'abc'")),
    "texts": (table({5: b"x,abc,1\n"}), "column 'a' " + MIXED.format("'x'")),
    "text in the first row": (table({1: b"0.3,abc,1\n"}), "data row 1 of t.csv"),
    "text alone": (columns([b"u", b"v"], WHOLE), None),
    "long text": (table({5: b"0.3," + b"z" * 200 + b",1\n"}), MIXED.format(f"'{'z' * 40}'")),
    "gap": (table({5: b"0.3,,1\n"}), None),
    "gaps": (
        table({5: b"0.3,,1\n", 9: b"0.3,NA,1\n"}),
        None,
    ),
    "gaps in two columns": (table({5: b",,1\n"}), None),
    "empty column": (columns([b""], WHOLE), None),
    "empty target": (columns([b"1", b"2"], [b""]), "column 'y' holds no value"),
    "gap in the target": (table({5: b"0.3,0.4,\n"}), "repair or remove the row\n"),
    "NaN": (table({5: b"0.3,nan,1\n"}), None),
    "NaN behind infinity": (table({5: b"0,inf,1\n", 9: b"0,,1\n"}), "data row 5 of t.csv"),
    "short row": (table({5: b"0.3,0.4\n"}), "data row 5 of t.csv"),
    "long row": (table({5: b"0.3,0.4,1,2\n"}), "expected 3 columns, got 4"),
    "equal names": (table(header=b"a,a,y\n"), "there are several columns 'a'"),
    "targets": (table(header=b"a,y,y\n"), "there are several columns 'y'"),
    "no name": (table(header=b",b,y\n"), "--ignore 'Unnamed: 0'"),
    "no such target": (table(header=b"a,b,Y\n"), "no column 'y' for --target; did you mean 'Y'?"),
    "no header": (TABLE.partition(b"\n")[2], "no column 'y' for --target"),
    "comment": (b"# hi\n" + TABLE, "no column 'y' for --target; it has '# hi'"),
    "comment with a comma": (b"# hi, there\n" + TABLE, "it has '# hi', 'there'"),
    "comment within": (table({5: b"# hi\n"}), "expected 3 columns, got 1"),
    "mark of UTF-8": (b"\xef\xbb\xbf" + TABLE, None),
    "UTF-16": (TABLE.decode().encode("utf-16"), "this is not UTF-8 text"),
    "Latin-1": (table({5: b"0.3,\xe9,1\n"}), "data row 5 of t.csv"),
    "null byte": (table({5: b"0.3,\0,1\n"}), "--ignore b"),
    "null bytes at the end": (TABLE + b"\0\0\0", "data row 41 of t.csv"),
    "huge integer": (table({5: b"0.3," + b"9" * 400 + b",1\n"}), "column 'b' holds infinity"),
    "large integer": (table({5: b"0.3," + b"9" * 40 + b",1\n"}), "samples of column 1 ('b') fill"),
    "huge target": (table({5: b"0.3,1," + b"9" * 400 + b"\n"}), "column 'y' holds infinity"),
    "dates": (columns([b"2026-01-01", b"2026-01-02"], WHOLE), None),
    "decimal comma": (table({5: b'"0,3",0.4,1\n'}), MIXED.format("'0,3'")),
    "semicolons": (TABLE.replace(b",", b";"), "give --separator ';'"),
    "tabs": (TABLE.replace(b",", b"\t"), "give --separator tab"),
    "constant": (columns([b"3"], WHOLE), None),
    "constant target": (columns([b"1", b"2", b"3"], [b"3"]), "holds a single class, '3'"),
    "code": (table({5: b"-999,0.5,1\n", 11: b"-999,0.2,1\n"}), "a code such as -999"),
    "outlier": (table({5: b"1e6,0.5,1\n"}), "97.5 per cent of the samples of column 0 ('a') fill"),
    "infinity": (table({5: b"0.3,-inf,1\n"}), "column 'b' holds infinity"),
    "truth among numbers": (table({5: b"0.3,true,1\n"}), MIXED.format("'true'")),
    "truth": (columns([b"true", b"false"], WHOLE), None),
    "mistake in the target": (table({5: b"0.3,0.4,oops\n"}), "column 'y' holds numbers but for"),
    "one input": (b"y\n" + b"".join(b"%d\n" % i for i in range(40)), "no column is left as an inp"),
    "one row": (b"a,b,y\n1,2,3\n", "1 row will not do to hold out"),
    "a quote in a name": (table({5: b"0,x,1\n"}, b"a,it's,y\n"), "--ignore 'it'\"'\"'s'"),
    "a blank in a name": (table({5: b"0,x,1\n"}, b"a,b b,y\n"), "--ignore 'b b'"),
    "escape in a name": (table({5: b"0,,1\n"}, b"a,b\x1b[31m,y\n"), None),
    "no table": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "this is not UTF-8 text"),
    "total": (TABLE + b"Total,,\n", MIXED.format("'Total'")),
}


MIXED = "holds numbers but for {}; leave the cell empty where there is no value, make all of them"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *arguments) -> tuple[int, str]:
    code = main([*map(str, arguments)])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("name", FILES)
def test_one_text_for_one_fault(name, folder, capsys):
    """In memory and by --stream, for CSV files."""
    data, expected = FILES[name]
    Path("t.csv").write_bytes(data)
    options = ("fit", "t.csv", "--target=y", "--n-terms=5")
    memory, stream = run(capsys, *options), run(capsys, *options, "--stream")
    assert memory == stream
    assert expected in memory[1] if expected else memory == (0, "")


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ({"a": [1.0, np.nan, 2.0, np.nan, 3.0]}, None),
        ({"a": ["1", "2", "3", "4", "5"]}, None),
        ({"a": [None, None, "x", "4", "5"]}, "data row 3 of t.parquet: column 'a' holds numbers"),
        ({"a": [None] * 5}, None),  # a number that is missing in all rows
        (
            {"a": pd.to_datetime(["2026-01-02"] * 5)},
            "dates or times, such as '2026-01-02 00:00:00'",
        ),
        ({"a": [1.0, np.inf, 2.0, 3.0, 4.0]}, "data row 2 of t.parquet: column 'a' holds infinity"),
        ({"b": [1.0] * 5}, "t.parquet: there is no column 'a' for --ignore; it has 'b', 'c', 'y'"),
    ],
)
def test_one_text_for_one_fault_of_parquet(frame, expected, folder, capsys):
    pd.DataFrame({**frame, "c": np.arange(5.0), "y": np.arange(5.0)}).to_parquet("t.parquet")
    options = ["fit", "t.parquet", "--target=y", "--n-terms=3"]
    if "a" not in frame:
        options.append("--ignore=a")
    memory, stream = run(capsys, *options), run(capsys, *options, "--stream")
    assert memory == stream
    assert expected in memory[1] if expected else memory == (0, "")


def test_one_text_for_wrong_files(folder, capsys):
    for name in ("t.txt", "t.csv.gz", "t.csv.xz", "t.jsonl", "t.feather"):
        Path(name).write_bytes(TABLE)
    for name, code in {"t.txt": 2, "t.csv.xz": 2, "no.csv": 2, "x.parquet": 2,
                       "t.csv.gz": 3, "t.jsonl": 3, "t.feather": 3}.items():  # fmt: skip
        arguments = ["fit", name, "--target=y"]
        memory, stream = run(capsys, *arguments), run(capsys, *arguments, "--stream")
        assert memory == stream
        assert memory[0] == code, memory


class TestOutliers:
    """A stream warns by rows that are evenly spread, and by the ends of all."""

    def warning(self, X, capsys, *options) -> str:
        table = pd.DataFrame(X, columns=["a", "b"]).assign(y=np.arange(len(X)) % 7 / 7)
        table.to_parquet("t.parquet")
        code, text = run(capsys, "fit", "t.parquet", "--target=y", "--n-terms=3",
                         "--task=regression", *options)  # fmt: skip
        assert code == 0
        return text

    @pytest.mark.parametrize("far", [10.0, 1e6, -999.0])
    def test_of_many_rows(self, folder, capsys, far, monkeypatch):
        """One cell of 5000, which is none of the rows that are kept."""
        monkeypatch.setattr("gegenbauer.batches.tables.BATCH_SIZE", 700)
        X = np.random.default_rng(0).random((5000, 2))
        assert self.warning(X, capsys, "--stream") == ""
        X[1234, 1] = far
        memory, stream = self.warning(X, capsys), self.warning(X, capsys, "--stream")
        for text in (memory, stream):
            assert text.count("warning: ") == 1
            assert "per cent of the samples of column 1 ('b') fill" in text

    def test_of_a_run_that_goes_on(self, folder, capsys):
        """It has not read all rows, and warns of none."""
        X = np.random.default_rng(0).random((50, 2))
        X[7, 0] = 1e6
        options = ("--stream", "--checkpoint=c.st")
        assert "('a') fill" in self.warning(X, capsys, *options)
        assert self.warning(X, capsys, *options) == ""


# What no option takes, and what is extreme
VALUES = ["0", "-1", "nan", "inf", "1e-320", "1e308", str(2**62), str(2**63), "", "zz", "1e-17"]

OTHERS = {
    "n_terms": ["all", "1000000000000"],
    "degree": ["2,2", "999999999", "60"],
    "spectrum": ["1e308,1", "1,1e308", "1e-320,1", "1,0"],
    "index_set": ["largest_weight", "tensor"],
    "out_of_range": ["extrapolate", "error"],
    "alpha": ["auto", "2^-1000"],
    "task": ["classification", "regression"],
    "ignore": ["y", "a"],
}

OF_PYTHON = re.compile(
    r"in Python|`|\b[A-Za-z]\w*_\b|\w\(\)|choose_alpha|refit|partial_fit|fit_stream|sample_weight"
    r"|Gegenbauer|Transformer|Statistics|\bX\b|normalization|\bnan in\b|None|True|False"
    r"|\b(?:n_terms|max_interaction|n_jobs|out_of_range|index_set|penalize_constant|engine)\b"
)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    Path(folder, "t.csv").write_bytes(TABLE)
    Path(folder, "far.csv").write_bytes(b"a,b\n1e300,1e300\n1,2\n")
    for command, name in (("fit", "fit.st"), ("tune", "tune.st")):
        options = ["--target=y", "--n-terms=20"][: 1 + (command == "fit")]
        assert main([command, f"{folder}/t.csv", *options, f"--out={folder}/{name}"]) == 0
    return folder


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        pytest.param(fit, "fit t.csv --target=y", marks=pytest.mark.slow),
        (fit, "fit t.csv --target=y --stream --n-terms=20"),
        pytest.param(tune, "tune t.csv --target=y", marks=pytest.mark.slow),
        (predict, "predict fit.st far.csv"),
        (predict, "predict tune.st far.csv"),
    ],
)
def test_nothing_speaks_of_python(command, arguments, models, monkeypatch, capsys):
    """With any value of any option; each error names it, or an option that helps."""
    monkeypatch.chdir(models)
    given = shlex.split(arguments)
    options = {option.name: parameter for parameter, option in _declared(command).items()
               if "(" not in parameter}  # fmt: skip
    tried = 0
    for name, parameter in options.items():
        if name in ("--out", "--plot", "--checkpoint", "--n-jobs"):
            continue
        flag = parameter in ("stream", "penalize_constant", "probabilities")
        for value in [None] if flag else [*VALUES, *OTHERS.get(parameter, [])]:
            rest = [one for one in given if not one.startswith(f"{name}=")]
            code, text = run(capsys, *rest, name if flag else f"{name}={value}")
            # without what was given, in quotes or not, and facts (lam = 0)
            shown = re.sub(r"'[^']*'|\b\w+ = \S+", "", text)
            assert not OF_PYTHON.search(shown), (name, value, text)
            assert code in (0, 2, 3, 4), (name, value, text)
            if code:
                assert "--" in text, (name, value, text)
                tried += 1
    assert tried > 20


def test_ways_out_of_predictions_beyond_range(models, monkeypatch, capsys):
    """Rows are counted from 1, and options are those of the command that made the model."""
    monkeypatch.chdir(models)
    options = ("fit", "t.csv", "--target=y", "--n-terms=20", "--out-of-range=extrapolate")
    assert run(capsys, *options, "--out=far.st")[0] == 0
    assert run(capsys, "predict", "far.st", "far.csv")[1].endswith(
        "error: some predictions are beyond the range of float64, first in data row 1: samples lie "
        "too far outside of the range seen in fit, set --out-of-range clip, or the coefficients "
        "are too large, fit with a larger --alpha of gegenbauer fit\n"
    )
    assert run(capsys, "predict", "tune.st", "far.csv", "--out-of-range=extrapolate")[1].endswith(
        "error: --out-of-range extrapolate needs a finite set of terms, since the sum of all has "
        "no value outside of the range of the inputs: give --n-terms of gegenbauer tune\n"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--alpha 0", "raise --alpha (now 0), or choose it by --alpha auto\n"),
        ("--lam 1e308", "(from degree 1 on): lower --lam (to 10000 or less)\n"),
        ("--lam 1e40", "(from degree 8 on): lower --lam (to 10000 or less) or --n-terms\n"),
        (
            "--lam 1e40 --n-terms 15",
            ": lower --lam (to 1e+36 or less) or --n-terms, or use --spectrum ortho",
        ),
        (
            "--lam 1e40 --degree 4",
            ": lower --lam (to 1e+36 or less) or --degree, or use --spectrum ortho",
        ),
        ("--spectrum 1e300,1", "leave the range of float64: lower the q of --spectrum\n"),
        (
            "--spectrum 1e200,1",
            "leave the range of float64: lower --n-terms or the q of --spectrum\n",
        ),
        ("--degree 999999999", "error: --degree must be between 0 and 100000, got 999999999\n"),
        (f"--max-interaction {2**63}", f"error: --max-interaction must be at most {2**62}, got"),
        (f"--n-terms {10**12} --max-interaction 1", ": lower --n-terms or raise --max-interac"),
    ],
)
def test_settings_are_no_fault_of_rows(options, expected, models, monkeypatch, capsys):
    monkeypatch.chdir(models)
    code, text = run(capsys, "fit", "t.csv", "--target=y", "--stream", *options.split())
    assert code == 2
    assert expected in text
    assert "data row" not in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            "fit t.csv --target=y --seed=-1",
            "'--seed': '-1' is no whole number from 0 to 4294967295",
        ),
        ("fit t.csv --target=y --n-jobs=0", "'--n-jobs': '0' is no whole number from 1 to 1024"),
        ("fit t.csv --target=y --max-interaction=x", "'x' is no whole number from 1 up"),
        (
            "fit t.csv --target=y --validation-fraction=x",
            "'--validation-fraction': 'x' is not from 0 to below 1",
        ),
        (
            "tune t.csv --target=y --n-terms=0",
            "'--n-terms': '0' is no whole number from 1 up; without --n-terms all terms are taken",
        ),
        (
            "tune t.csv --target=y --n-terms=all",
            "'all' is no whole number from 1 up; without --n-terms all terms are taken",
        ),
        ("predict fit.st t.csv --interval=x", "'--interval': 'x' is not between 0 and 1"),
        ("info fit.st --limit=0", "'--limit': '0' is no whole number from 1 up"),
        ("demo --seed=1.5", "'--seed': '1.5' is no whole number from 0 to 4294967295"),
    ],
)
def test_numbers_that_no_option_takes(arguments, expected, models, monkeypatch, capsys):
    """The error names the option, what it takes and what was given."""
    monkeypatch.chdir(models)
    given = shlex.split(arguments)
    assert run(capsys, *given) == (
        2, f"error: Invalid value for {expected}. Try 'gegenbauer {given[0]} --help'\n",
    ) if expected.startswith("'--") else run(capsys, *given)[1].endswith(
        f": {expected}. Try 'gegenbauer {given[0]} --help'\n"
    )  # fmt: skip


NO_SUMS = " for less, or leave out --stream: 40 rows need no sums\n"


class TestLongFits:
    """They are announced before they begin, or refused where they do not fit into memory."""

    def begin(self, capsys, monkeypatch, *options) -> str:
        """Return what a fit reports before it begins."""

        def begun(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("gegenbauer.cli.commands.fit._validate", begun)
        monkeypatch.setattr("gegenbauer.cli.commands.stream._learn", begun)
        Path("t.csv").write_bytes(TABLE)
        code, text = run(capsys, "fit", "t.csv", "--target=y", *options)
        assert code in (4, 130)
        return text.removesuffix("interrupted\n")

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ("--n-terms=1000", ""),
            ("--n-terms=1000 --stream", ""),
            (
                "--n-terms=90000000",
                "warning: 90000000 terms take about a minute; lower --n-terms for less\n",
            ),
            (
                "--n-terms=13000 --stream",
                "warning: 13000 terms take about 2 minutes; lower --n-terms" + NO_SUMS,
            ),
            (
                "--degree=160 --stream --validation-fraction=0",
                "warning: 13041 terms take about a minute; lower --degree" + NO_SUMS,
            ),
        ],
    )
    def test_announced(self, options, expected, folder, capsys, monkeypatch):
        for module in ("gegenbauer.basis.tensor_basis", "gegenbauer.ridge.statistics.choice"):
            monkeypatch.setattr(f"{module}.require_memory", lambda *_: None)  # on any machine
        assert self.begin(capsys, monkeypatch, *options.split()) == expected

    @pytest.mark.parametrize("options", ["--n-terms=90000000", "--n-terms=13000 --stream"])
    def test_refused(self, options, folder, capsys, monkeypatch):
        monkeypatch.setattr("gegenbauer._memory.available_memory", lambda: 1e9)
        text = self.begin(capsys, monkeypatch, *options.split())
        assert re.fullmatch(
            r"error: .*needs [\d.]+ GB of memory, but only 1 GB can be had: lower --n-terms or "
            r"--degree\n", text
        )  # fmt: skip


def test_values_beyond_range_name_the_options(models, monkeypatch, capsys):
    """Of the core, whose texts mark parameters as those of the package do."""
    monkeypatch.chdir(models)
    given = ("fit", "t.csv", "--target=y")
    assert run(capsys, *given, "--lam=1e300")[1].startswith(
        "error: --lam, now 1e+300, and --degree, now "
    )
    assert run(capsys, *given, "--lam=1e20", "--n-terms=60")[1].startswith(
        "error: --lam, now 1e+20, and this index set give terms above "
    )


def test_a_refusal_stands_alone(models, monkeypatch, capsys):
    """What was done with rows out of range is no matter where nothing was predicted."""
    monkeypatch.chdir(models)
    code, text = run(capsys, "predict", "fit.st", "far.csv", "--out-of-range=extrapolate")
    assert (code, text.count("\n")) == (3, 1)
    assert text.startswith("error: some predictions are beyond the range of float64")


def test_a_checkpoint_has_the_name_that_was_given(models, monkeypatch, capsys):
    monkeypatch.chdir(models)
    options = ("fit", "t.csv", "--target=y", "--stream", "--n-terms=5")
    assert run(capsys, *options, "--checkpoint=c.st")[0] == 0
    assert run(capsys, *options, "--lam=0.3", "--checkpoint=c.st")[1].startswith(
        "error: c.st is the checkpoint of a model with --lam 0.05, and this one has --lam 0.3: give"
    )
    assert run(capsys, *options, "--checkpoint=fit.st")[1].startswith(
        "error: --checkpoint fit.st is a model, but no checkpoint of a stream"
    )
    Path("c.st").write_bytes(Path("c.st").read_bytes()[:-8])
    assert run(capsys, *options, "--checkpoint=c.st")[1].startswith("error: --checkpoint c.st: ")


def test_a_report_advises_nothing_that_it_lacks(models, monkeypatch, capsys):
    """It has no --task, which a command that learns has."""
    monkeypatch.chdir(models)
    table = pd.read_csv("t.csv")
    table["word"] = "a"
    table.to_csv("words.csv", index=False)
    code, text = run(capsys, "report", "fit.st", "words.csv", "--out=p.html", "--target=word")
    assert code == 3
    assert text == (
        "error: column 'word' holds text, such as 'a', and regression needs numbers; choose "
        "another --target\n"
    )
    code, text = run(capsys, "fit", "words.csv", "--target=word", "--task=regression")
    assert text.endswith("needs numbers; use --task classification, or choose another --target\n")


def test_one_row_is_no_table_to_choose_by(models, monkeypatch, capsys):
    monkeypatch.chdir(models)
    Path("one.csv").write_text("a,y\n1,2.5\n")
    assert run(capsys, "tune", "one.csv", "--target=y") == (
        3, "error: 1 row will not do to choose a model, which leaves rows out; add rows\n"
    )  # fmt: skip
