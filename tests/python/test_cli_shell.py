"""The command line among other programs: pipes, JSON, files of options, completion, exit codes."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import train_test_split

from gegenbauer import (
    GegenbauerClassifierCV,
    GegenbauerRegressor,
    GegenbauerRegressorCV,
    TableBatches,
    load,
)
from gegenbauer.batches.formats import ENDINGS
from gegenbauer.cli import main
from gegenbauer.cli.app import app
from gegenbauer.cli.tables import write_table

ROOT = Path(__file__).parents[2]
N_ROWS = 240
BASH = Path("/bin/bash")
COMMANDS = ("fit", "tune", "predict", "export", "info", "report", "demo")


def table(n_rows: int = N_ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    a, b = rng.random(n_rows), rng.random(n_rows)
    frame = pd.DataFrame({"name": [f"{k:03d}" for k in range(n_rows)], "a": a, "b": b})
    frame.loc[7, "name"] = "NA"
    frame["n"] = rng.integers(0, 3, n_rows)
    return frame.assign(y=a + b**2 + 0.1 * rng.standard_normal(n_rows))


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def report(self) -> dict:
        assert (self.code, self.err) == (0, ""), self
        assert self.out.count("\n") == 1
        return json.loads(self.out)["report"]


@pytest.fixture
def run(capsys):
    def _run(*arguments) -> Result:
        code = main([str(argument) for argument in arguments])
        return Result(code, *capsys.readouterr())

    return _run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("t.csv", index=False)
    return tmp_path


@pytest.fixture
def model(folder, run):
    """A model of a and b."""
    assert run("fit", "t.csv", "--target=y", "--id=name", "--ignore=n", "--n-terms=15",
               "--out=m.st").code == 0  # fmt: skip
    return Path("m.st")


def pipe(text: str) -> Result:
    """Run a line of a shell in which GEGENBAUER is the program."""
    program = f"{shlex.quote(sys.executable)} -m gegenbauer"
    line = text.replace("GEGENBAUER", program)
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


class TestPipes:
    def test_predict(self, model, run):
        """The bytes are those of the file."""
        expected = run("predict", model, "t.csv", "--id=name")
        assert expected.out.count("\n") == N_ROWS + 1
        found = pipe("cat t.csv | GEGENBAUER predict m.st - --id name > out.csv")
        assert (found.code, found.err) == (0, "")
        assert Path("out.csv").read_text() == expected.out
        assert pipe("GEGENBAUER predict m.st - --id name --out - < t.csv").out == expected.out

    @pytest.mark.parametrize(
        ("name", "write"),
        [
            ("t.csv.gz", lambda t, p: t.to_csv(p, index=False)),
            ("t.jsonl", lambda t, p: Path(p).write_text(_json_lines(t))),
            ("t.jsonl.gz", lambda t, p: _zip(_json_lines(t), p)),
            ("t.parquet", lambda t, p: t.to_parquet(p)),
            ("t.feather", lambda t, p: t.to_feather(p)),
            ("t.arrows", lambda t, p: write_table(t, Path(p))),
        ],
    )  # fmt: skip
    def test_formats_are_recognised(self, model, run, name, write, monkeypatch):
        """Without any name of a file."""
        write(table(), name)
        expected = run("predict", model, "t.csv", "--id=name").out
        assert run("predict", model, name, "--id=name").out == expected
        stream = io.TextIOWrapper(io.BytesIO(Path(name).read_bytes()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert run("predict", model, "-", "--id=name").out == expected

    @pytest.mark.parametrize(
        "command",
        [
            "fit",
            "fit --stream",
            pytest.param("fit --stream --alpha auto", marks=pytest.mark.slow),
            "tune",
            pytest.param("tune --stream", marks=pytest.mark.slow),
        ],
    )
    def test_learning(self, folder, run, command):
        """Also where the table is read several times."""
        name, *options = command.split()
        options += ["--target=y", "--ignore=name", "--n-terms=10"]
        assert run(name, "t.csv", *options, "--out=file.st").code == 0
        found = pipe(f"cat t.csv | GEGENBAUER {name} - {shlex.join(options)} --out piped.st")
        assert found.code == 0, found.err
        one, other = load("file.st"), load("piped.st")
        assert_array_equal(one.term_coef_, other.term_coef_)
        assert "standard-input.csv" in found.out or "--stream" not in command

    def test_nothing_is_left_behind(self, model, run, monkeypatch, tmp_path):
        place = tmp_path / "passing"
        place.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        for text, code in (("a,b\n1,2\n", 0), ("a,b\n1\n", 3)):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            assert run("predict", model, "-").code == code
            assert list(place.iterdir()) == []

    def test_errors(self, model, run, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        assert run("predict", model, "-") == (
            3, "", ("error: standard input is empty; pipe a table into it, as in cat table.csv | "
            "...\n"),
        )  # fmt: skip
        assert run("fit", "-", "t.csv", "--stream", "--target=y") == (
            2, "", "error: - is standard input and stands alone; give it without other tables\n"
        )  # fmt: skip
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
        found = run("predict", model, "-")
        assert found.code == 3
        assert found.err.startswith(
            "error: data row 1 of standard-input.csv (header not counted): column 'b' holds text"
        )
        for text in (b'[{"a": 1, "b": 2}]', b' [\n  {"a": 1, "b": 2}\n]\n'):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
            assert run("predict", model, "-") == (
                3, "", ("error: data row 1 of standard-input.jsonl: the line holds a list; each "
                'line must hold one object, such as {"x": 1.5, "y": 2}\n'),
            )  # fmt: skip
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\x1f\x8bno gzip")))
        found = run("predict", model, "-")
        assert found.code == 3
        assert "standard-input.csv.gz: cannot be read" in found.err

    @pytest.mark.parametrize("what", ["--out", "--plot", "--checkpoint"])
    def test_what_no_pipe_takes(self, folder, run, what):
        command = "tune" if what == "--plot" else "fit"
        stream = ["--stream"] if what == "--checkpoint" else []
        code, out, err = run(command, "t.csv", "--target=y", *stream, what, "-")
        thing = {"--out": "model"}.get(what, what[2:])
        assert (code, out) == (2, "")
        assert err == f"error: {what} - is standard output, where no {thing} goes; name a file\n"

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_other_pipes(self, model, run):
        """As ``<(cat t.csv)`` of a shell is one: what is in it stays there."""
        os.mkfifo("pipe.csv")
        end = os.open("pipe.csv", os.O_RDWR)
        os.write(end, b"a,b\n1,2\n")
        for command in (("predict", model, "pipe.csv"), ("fit", "pipe.csv", "--target=b")):
            assert run(*command) == (
                2, "", ("error: pipe.csv is a pipe; give the table itself, or - and pipe into "
                "it\n"),
            )  # fmt: skip
        assert run("info", "pipe.csv").err == ("error: pipe.csv is a pipe; give the model itself\n")
        assert os.read(end, 100) == b"a,b\n1,2\n"
        os.close(end)

    def test_export(self, model, run):
        text = run("export", model, "--to=c").out
        assert text == run("export", model, "--to=c", "--out=-").out
        assert "int predict" in text


def _zip(text: str, path: str) -> None:
    Path(path).write_bytes(gzip.compress(text.encode()))


def _json_lines(frame: pd.DataFrame) -> str:
    return "".join(json.dumps(row) + "\n" for row in frame.to_dict("records"))


class TestPredictions:
    @pytest.mark.parametrize(
        "name", ["p.csv", "p.tsv", "p.csv.gz", "p.jsonl", "p.ndjson.gz", "p.feather", "p.parquet"]
    )
    def test_formats(self, model, run, name):
        """Of every format the values are those of the library, to the last bit."""
        expected = load(model).predict(table()[["a", "b"]])
        assert run("predict", model, "t.csv", "--id=name", "--out", name).code == 0
        if name.endswith(".csv") or "csv" in name or "tsv" in name:
            found = pd.read_csv(
                name, sep="\t" if "tsv" in name else ",", dtype={"name": str},
                keep_default_na=False,
            )  # fmt: skip
        elif "json" in name:
            open_ = gzip.open if name.endswith(".gz") else open
            with open_(name, "rt") as lines:
                found = pd.DataFrame([json.loads(line) for line in lines])
        else:
            read = pd.read_feather if "feather" in name else pd.read_parquet
            found = read(name)
        assert list(found.columns) == ["name", "prediction"]
        assert found["name"].tolist() == table()["name"].tolist()
        assert_array_equal(found["prediction"].to_numpy(), expected)

    def test_several_ids(self, model, run):
        found = run("predict", model, "t.csv", "--id=n", "--id=name").out
        lines = found.splitlines()
        assert lines[0] == "n,name,prediction"
        assert [line.split(",")[:2] for line in lines[1:]] == [
            [str(n), name] for n, name in zip(table()["n"], table()["name"], strict=True)
        ]

    def test_ids_of_types(self, model, run):
        """Whole numbers stay whole where some are missing."""
        frame = table().assign(name=pd.array([None, *range(1, N_ROWS)], dtype="Int64"))
        frame.to_parquet("t.parquet")
        lines = run("predict", model, "t.parquet", "--id=name").out.splitlines()
        assert lines[1].startswith(",")
        assert lines[5].startswith("4,")

    def test_model_without_names(self, folder, run):
        from gegenbauer import save

        X = table()[["a", "b"]].to_numpy()
        save(GegenbauerRegressor(n_terms=5).fit(X, table()["y"]), "n.st")
        table()[["name", "a", "b"]].to_csv("new.csv", index=False)
        found = pd.read_csv(io.StringIO(run("predict", "n.st", "new.csv", "--id=name").out))
        assert_array_equal(found["prediction"], load("n.st").predict(X))

    def test_other_endings(self, model, run):
        assert run("predict", model, "t.csv", "--out=p.csv.xz").err == (
            "error: --out p.csv.xz ends in '.xz'; give a file that ends in .csv, .tsv, .jsonl, "
            ".ndjson (with .gz or without), .feather, .arrow, .arrows or .parquet\n"
        )

    @pytest.mark.parametrize(
        ("options", "code", "message"),
        [
            ("--id namee", 3, "t.csv: there is no column 'namee' for --id; did you mean 'name'?"),
            ("--id a", 2, "'a' is an input of the model, and --id is for columns that are none"),
            ("--id prediction", 3, "--id 'prediction' is called like a column of predictions"),
        ],
    )
    def test_errors(self, model, run, options, code, message):
        table().assign(prediction=1).to_csv("t.csv", index=False)
        if "namee" in options:
            table().to_csv("t.csv", index=False)
        found = run("predict", model, "t.csv", *options.split())
        assert (found.code, found.out) == (code, "")
        assert found.err.startswith(f"error: {message}")


@pytest.mark.parametrize(
    "target",
    ["numbers", "words", *(pytest.param(t, marks=pytest.mark.slow) for t in ("whole", "truth"))],
)
def test_formats_give_the_same_models(folder, run, target):
    """Of all endings, in memory and in streams: predictions are equal to the last bit."""
    frame = table()[["name", "a", "b", "n", "y"]]
    y = frame["y"]
    frame["y"] = {
        "numbers": y, "words": np.where(y > 0.8, "high", "low"),
        "whole": np.digitize(y, [0.5, 1.0]), "truth": y > 0.8,
    }[target]  # fmt: skip
    frame["k"] = np.where(frame["n"] == 1, "u", "v, w")
    found: dict[str, set[str]] = {}
    for ending in ENDINGS:
        write_table(frame, Path(f"x{ending}"))
        for kind in (["fit"], ["fit", "--stream"], ["tune"], ["tune", "--stream"]):
            if ending not in (".csv", ".jsonl.gz", ".feather") and kind[0] == "tune":
                continue  # which takes long, and reads by the same means
            options = ["--target=y", "--id=name", "--n-terms=9", "--out=m.st"]
            done = run(*kind, f"x{ending}", *options)
            assert done.code == 0, done.err
            out = run("predict", "m.st", f"x{ending}", "--id=name")
            assert out.code == 0, out.err
            found.setdefault(" ".join(kind), set()).add(out.out)
    assert [len(outputs) for outputs in found.values()] == [1] * 4


class TestIds:
    @pytest.mark.parametrize("command", ["fit", "fit --stream", "tune", "tune --stream"])
    def test_no_input(self, folder, run, command):
        command = [*command.split(), "t.csv", "--target=y", "--n-terms=5", "--json"]
        found = run(*command, "--id=name", "--id=n").report
        assert found["inputs"] == ["a", "b"]
        for options, message in (
            ("--id y", "t.csv: 'y' is both --target and in --id; give it once"),
            ("--id n --weight n", "t.csv: 'n' is both --weight and in --id; give it once"),
            ("--id nn", "t.csv: there is no column 'nn' for --id; did you mean 'n'?"),
            (
                "--id a --id b --id n --ignore name",
                (
                    "t.csv: no column is left as an input beside the target 'y'; leave fewer out "
                    "by --ignore or --id"
                ),
            ),
        ):
            failed = run(*command, *options.split())
            error = json.loads(failed.err)["error"]
            assert (failed.code, error["kind"]) == (3, "data")
            assert error["message"].startswith(message)

    def test_whole_numbers_stay(self, model, run):
        """Beyond 64 bits as well, and with digits that double precision would drop."""
        names = [2**53 + 1, 2**63 + 1, 2**64 - 1, None, "1.10", "12345678901234567.25"]
        texts = ["null" if name is None else str(name) for name in names]
        Path("n.jsonl").write_text(
            "".join(f'{{"n": {name}, "a": 0.5, "b": 0.5}}\n' for name in texts)
        )
        Path("n.csv").write_text("n,a,b\n" + "".join(f"{name or ''},0.5,0.5\n" for name in names))
        for table_name in ("n.csv", "n.jsonl"):
            found = run("predict", model, table_name, "--id=n").out.splitlines()[1:]
            assert [line.split(",")[0] for line in found] == [str(name or "") for name in names]

    def test_whole_numbers_of_later_pieces(self, model, run, monkeypatch):
        """Where the first ones are smaller."""
        names = [*range(100), 2**64 - 1]
        Path("n.jsonl").write_text(
            "".join(f'{{"n": {name}, "a": 0.5, "b": 0.5}}\n' for name in names)
        )
        monkeypatch.setattr("gegenbauer.batches.json_lines._BLOCK", 500)
        found = run("predict", model, "n.jsonl", "--id=n").out.splitlines()[1:]
        assert [int(line.split(",")[0]) for line in found] == names


class TestWeights:
    """By hand: with the library, and by rows that are repeated or left out."""

    @staticmethod
    def weighted(classes: bool = False) -> pd.DataFrame:
        frame = table().drop(columns="name")
        frame["n"] = np.random.default_rng(9).integers(0, 4, N_ROWS) / 2
        if classes:
            frame["y"] = np.where(frame["y"] > frame["y"].median(), "yes", "no")
        frame.to_csv("w.csv", index=False)
        return frame

    @pytest.mark.parametrize("stream", [False, True])
    def test_fit(self, folder, run, stream):
        frame = self.weighted()
        options = ["--n-terms=12", "--weight=n", "--out=m.st", *["--stream"] * stream]
        assert run("fit", "w.csv", "--target=y", *options).code == 0
        X, y, w = frame[["a", "b"]], frame["y"], frame["n"]
        expected = GegenbauerRegressor(n_terms=12).fit(X, y, w)
        assert_allclose(load("m.st").predict(X), expected.predict(X), rtol=1e-9)
        unlike = GegenbauerRegressor(n_terms=12).fit(X, y)
        assert np.abs(load("m.st").predict(X) - unlike.predict(X)).max() > 1e-3

    @pytest.mark.parametrize("classes", [False, True])
    def test_score(self, folder, run, classes):
        """Of the rows held out, by their weights."""
        from gegenbauer import GegenbauerClassifier

        frame = self.weighted(classes)
        found = run("fit", "w.csv", "--target=y", "--n-terms=12", "--weight=n", "--json").report
        n_out = 60
        X, X_out, y, y_out, w, w_out = train_test_split(
            frame[["a", "b"]], frame["y"].to_numpy(), frame["n"].to_numpy(), test_size=n_out,
            random_state=0, stratify=frame["y"] if classes else None,
        )  # fmt: skip
        kind = GegenbauerClassifier if classes else GegenbauerRegressor
        trial = kind(n_terms=12, out_of_range="clip").fit(X, y, w)
        predicted = trial.predict(X_out)
        expected = (
            {"accuracy": accuracy_score(y_out, predicted, sample_weight=w_out)} if classes
            else {
                "r2": r2_score(y_out, predicted, sample_weight=w_out),
                "rmse": root_mean_squared_error(y_out, predicted, sample_weight=w_out),
            }
        )  # fmt: skip
        for name, value in expected.items():
            assert_allclose(found["validation"][name], value, rtol=1e-9)
        assert found["validation"]["rows"] == np.count_nonzero(w_out)

    @pytest.mark.parametrize("classes", [False, True])
    def test_score_of_a_stream(self, folder, run, classes):
        """Rows of weight two are two rows, and those of weight zero none, in every score."""
        frame = self.weighted(classes)
        frame["n"] = frame["n"] * 2
        frame.to_csv("w.csv", index=False)
        options = ["--target=y", "--n-terms=12", "--stream", "--json", "--weight=n"]
        found = run("fit", "w.csv", *options).report["validation"]
        # the same rows are held out, for they are drawn by their places
        out = np.random.default_rng([0, 0]).random(N_ROWS) < 0.25
        from gegenbauer import GegenbauerClassifier

        kind = GegenbauerClassifier if classes else GegenbauerRegressor
        X, y, w = frame[["a", "b"]], frame["y"].to_numpy(), frame["n"].to_numpy()
        trial = kind(n_terms=12, out_of_range="clip").fit_stream(
            [(X[~out], y[~out], w[~out])]
        )  # fmt: skip
        predicted = trial.predict(X[out])
        if classes:
            assert_allclose(
                found["accuracy"], accuracy_score(y[out], predicted, sample_weight=w[out])
            )
        else:
            assert_allclose(found["r2"], r2_score(y[out], predicted, sample_weight=w[out]), 1e-3)
        assert found["rows"] == np.count_nonzero(w[out])

    @pytest.mark.parametrize("classes", [False, True])
    def test_tune(self, folder, run, classes):
        frame = self.weighted(classes)
        options = ["--target=y", "--n-terms=12", "--weight=n", "--json", "--out=m.st"]
        found = run("tune", "w.csv", *options).report
        scores = {score["score"]: score["model"] for score in found["scores"]}
        fitted, y, w = load("m.st"), frame["y"].to_numpy(), frame["n"].to_numpy()
        if classes:
            predicted = fitted.classes_[fitted.loo_probabilities_.argmax(axis=1)]
            assert_allclose(scores["accuracy"], accuracy_score(y, predicted, sample_weight=w))
        else:
            left_out = fitted.loo_predictions_
            assert_allclose(scores["R2"], r2_score(y, left_out, sample_weight=w))
            error = mean_absolute_error(y, left_out, sample_weight=w)
            assert_allclose(scores["mean absolute error"], error)
            mean = np.average(y, weights=w)
            assert_allclose(
                found["scores"][2]["baseline"],
                mean_absolute_error(y, np.full(N_ROWS, mean), sample_weight=w),
            )

    @pytest.mark.parametrize("classes", [False, True])
    def test_tune_of_a_stream(self, folder, run, classes):
        """Scores are by weight, of what the library predicts of samples left out."""
        frame = self.weighted(classes)
        options = ["--target=y", "--stream", "--weight=n", "--n-terms=12"]
        found = run("tune", "w.csv", *options, "--json").report
        assert found["inputs"] == ["a", "b"]
        assert "Scores of 5 folds, each left out, by weight" in run("tune", "w.csv", *options).out
        scores = {score["score"]: (score["model"], score["baseline"]) for score in found["scores"]}
        kind = GegenbauerClassifierCV if classes else GegenbauerRegressorCV
        source = TableBatches("w.csv", "y", sample_weight="n", mixed=True)
        fitted = kind(n_terms=12, cv=5).fit_stream(source)
        frame = frame[frame["n"] > 0]
        y, w = frame["y"].to_numpy(), frame["n"].to_numpy()
        assert_array_equal(fitted.loo_targets_, y)
        assert_array_equal(fitted.loo_weights_, w)
        if classes:
            predicted = fitted.classes_[fitted.loo_probabilities_.argmax(axis=1)]
            shares = [w[y == label].sum() / w.sum() for label in fitted.classes_]
            expected = accuracy_score(y, predicted, sample_weight=w), max(shares)
            assert_allclose(scores["accuracy"], expected)
        else:
            r2 = r2_score(y, fitted.loo_predictions_, sample_weight=w)
            assert_allclose(scores["R2"], (r2, 0.0), atol=1e-12)

    @pytest.mark.parametrize("command", ["fit", "fit --stream", "tune", "tune --stream"])
    @pytest.mark.parametrize(
        ("cell", "message"),
        [
            (
                "-0.5",
                ("data row 3 of w.csv (header not counted): column 'n' holds -0.5, and --weight "
                "must not be below 0; repair the row, or give 0 for rows that do not count"),
            ),
            ("x", ("data row 3 of w.csv (header not counted): column 'n' holds text, such as 'x', "
                  "and --weight needs numbers")),
            ("", ("data row 3 of w.csv (header not counted): column 'n' holds no value (blank, NA, "
                 "None or the like); repair or remove the row")),
            ("inf", "data row 3 of w.csv (header not counted): column 'n' holds infinity"),
        ],
    )  # fmt: skip
    def test_refused(self, folder, run, command, cell, message):
        lines = self.weighted().to_csv(index=False).splitlines()
        parts = lines[3].split(",")
        parts[2] = cell
        Path("w.csv").write_text("\n".join([*lines[:3], ",".join(parts), *lines[4:], ""]))
        code, out, err = run(*command.split(), "w.csv", "--target=y", "--weight=n")
        assert (code, out) == (3, "")
        assert err.startswith(f"error: {message}"), err

    def test_no_weight_at_all(self, folder, run):
        frame = self.weighted().assign(n=0)
        frame.to_csv("w.csv", index=False)
        for stream in ([], ["--stream"]):
            code, out, err = run("fit", "w.csv", "--target=y", "--weight=n", *stream)
            assert (code, out) in ((2, ""), (3, ""))
            assert err.count("\n") == 1


class TestMissing:
    @pytest.mark.parametrize("stream", [[], ["--stream"]])
    def test_values(self, folder, run, stream):
        """As where the cells are empty."""
        frame = table().drop(columns="name")
        gaps = frame.assign(a=frame["a"].where(np.arange(N_ROWS) % 6 > 0))
        gaps.to_csv("empty.csv", index=False)
        marks = gaps.assign(a=gaps["a"].map(str).replace("nan", "?"))
        marks.loc[0, "a"] = "-1"
        marks.to_csv("marks.csv", index=False)
        options = ["--target=y", "--n-terms=8", *stream]
        assert run("fit", "empty.csv", *options, "--out=1.st").code == 0
        assert run("fit", "marks.csv", *options, "--na=?", "--na=-1", "--out=2.st").code == 0
        assert_array_equal(load("1.st").term_coef_, load("2.st").term_coef_)
        refused = run("fit", "marks.csv", *options)
        assert refused.code == 3
        assert "column 'a' holds numbers but for '?'" in refused.err
        new = run("predict", "2.st", "marks.csv", "--na=?", "--na=-1").out
        assert new == run("predict", "1.st", "empty.csv").out


def test_decimal_commas(folder, run):
    """A model and its predictions are those of the same numbers with points."""
    table().to_csv("d.csv", index=False, sep=";", decimal=",")
    options = ["--target=y", "--ignore=name", "--n-terms=9"]
    assert run("fit", "t.csv", *options, "--out=1.st").code == 0
    for stream in ([], ["--stream"]):
        assert run("fit", "d.csv", *options, "--decimal=,", *stream, "--out=2.st").code == 0
        one, other = load("1.st"), load("2.st")
        assert_allclose(one.term_coef_, other.term_coef_, rtol=1e-7 if stream else 0)
    expected = run("predict", "1.st", "t.csv").out
    assert run("predict", "1.st", "d.csv", "--decimal", ",").out == expected
    refused = run("predict", "1.st", "t.csv", "--decimal", ",", "--separator", ",")
    assert refused.err == (
        "error: --separator and --decimal are both ',', and one must be another\n"
    )
    refused = run("predict", "1.st", "t.csv", "--decimal", ",", "--separator", ";")
    assert refused.code == 3
    table().to_csv("p.csv", index=False, sep=";")
    refused = run("predict", "1.st", "p.csv", "--decimal", ",")
    assert refused.code == 3
    assert "which has a point beside --decimal ,; write numbers with a comma" in refused.err


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_free_constant(folder, run, stream):
    """The constant has no penalty: predictions are shifted as the target is."""
    far = table()[["a", "b", "y"]].assign(y=lambda t: t["y"] + 1000)
    far.to_csv("far.csv", index=False)
    assert run("fit", "far.csv", "--target=y", "--n-terms=9", "--free-constant", "--out=m.st",
               "--alpha=1", *stream).code == 0  # fmt: skip
    found = load("m.st")
    assert found.penalize_constant is False
    residual = far["y"] - found.predict(far[["a", "b"]])
    assert abs(residual.mean()) < 1e-8  # as of least squares with a constant


# ---- JSON ----------------------------------------------------------------------------------


ENVELOPE = ["command", "version", "exit_code", "error", "warnings", "report"]


def documented() -> dict[str, set[str]]:
    """The names of values that the page lists, by commands."""
    page = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for part, mark in zip(page.split("Only where there is something to report"), ("", "?"),
                          strict=True):  # fmt: skip
        rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| [^|]* \|$", part, re.MULTILINE)
        for name, commands in rows:
            for command in re.findall(r"`([^`]+)`", commands):
                found.setdefault(command + mark, set()).add(name)
    return found


JSON_COMMANDS = {
    "fit": "fit t.csv --target y --id name --out j.st",
    "fit --stream": "fit t.csv --target y --id name --stream --n-terms 10",
    "tune": "tune t.csv --target y --id name --plot p.svg",
    "tune --stream": "tune t.csv --target y --id name --stream",
    "predict": "predict m.st t.csv --out p.csv",
    "export": "export m.st --to c --out m.c",
    "info": "info m.st",
    "demo": "demo",
}


class TestJson:
    @pytest.mark.parametrize("kind", JSON_COMMANDS)
    def test_shape(self, model, run, kind, monkeypatch):
        """One line, of the values that the page lists."""
        if "--plot" in JSON_COMMANDS[kind]:
            pytest.importorskip("matplotlib")
        monkeypatch.setattr("gegenbauer.cli.commands.demo._MAX_SECONDS", 0)
        code, out, err = run(*JSON_COMMANDS[kind].split(), "--json")
        assert (code, err, out.count("\n")) == (0, "", 1)
        found = json.loads(out)
        assert list(found) == ENVELOPE
        assert (found["command"], found["exit_code"], found["error"]) == (kind.split()[0], 0, None)
        assert found["warnings"] == []
        known = documented()
        always, sometimes = known[kind], known.get(f"{kind}?", set())
        assert always <= {*found["report"]} <= always | sometimes

    def test_values(self, folder, run):
        found = run("fit", "t.csv", "--target=y", "--id=name", "--n-terms=12", "--out=m.st",
                    "--json").report  # fmt: skip
        fitted = load("m.st")
        assert (found["task"], found["rows"], found["rows_held_out"]) == ("regression", 240, 60)
        assert found["inputs"] == ["a", "b", "n"]
        assert (found["terms"], found["model"], found["classes"]) == (12, "m.st", None)
        assert found["parameters"]["alpha"] == 2.0**-12
        assert found["solver"]["engine"] == fitted.engine_
        seconds = found["seconds"]
        assert list(seconds) == ["read", "validation_fit", "validation_predict", "fit"]
        assert all(0 < value < 100 for value in seconds.values())
        X = table()[["a", "b", "n"]]
        X, X_out, y, y_out = train_test_split(
            X, table()["y"].to_numpy(), test_size=60, random_state=0
        )
        trial = GegenbauerRegressor(n_terms=12, out_of_range="clip").fit(X, y)
        assert_allclose(found["validation"]["r2"], r2_score(y_out, trial.predict(X_out)))

    def test_values_of_tune(self, folder, run):
        found = run("tune", "t.csv", "--target=y", "--id=name", "--out=m.st", "--json").report
        fitted = load("m.st")
        assert found["alpha"] == fitted.alpha_
        assert found["terms"] is None  # all there are
        scores = {one["score"]: one for one in found["scores"]}
        y = table()["y"]
        assert_allclose(scores["R2"]["model"], r2_score(y, fitted.loo_predictions_))
        assert scores["R2"]["baseline"] == 0
        assert list(found["shares"]) == ["a", "b", "n"]
        assert_allclose(found["calibration"]["noise"], fitted.noise_variance_[0] ** 0.5)
        assert 0.5 < found["calibration"]["share_in_intervals"] <= 1

    def test_values_of_info(self, model, run):
        found = run("info", model, "--json").report
        fitted = load(model)
        assert found["bytes"] == model.stat().st_size
        assert [one["input"] for one in found["inputs"]] == ["a", "b"]
        assert [one["to"] for one in found["inputs"]] == fitted.scaling_.upper.tolist()
        weights = [term["weight"] for term in found["largest_terms"]]
        assert weights == sorted(fitted.term_coef_.tolist(), key=abs, reverse=True)[:10]

    def test_classes(self, folder, run):
        table().assign(y=np.arange(N_ROWS) % 3).to_csv("c.csv", index=False)
        found = run("fit", "c.csv", "--target=y", "--ignore=name", "--json").report
        assert found["classes"] == [{"class": label, "rows": 80} for label in (0, 1, 2)]
        assert 0 <= found["validation"]["accuracy"] <= 1

    def test_warnings(self, model, run):
        """They are in the report, and nothing is on stderr."""
        Path("far.csv").write_text("a,b\n0.5,0.5\n9,0.5\n")
        code, out, err = run("predict", model, "far.csv", "--out=p.jsonl", "--json")
        assert (code, err) == (0, "")
        (warning,) = json.loads(out)["warnings"]
        assert warning.startswith("1 of 2 rows lies beyond the values seen in fit, in 'a'")

    @pytest.mark.parametrize("command", ["predict m.st t.csv", "export m.st --to c"])
    def test_results_on_stdout(self, model, run, command):
        """Then the report is on stderr."""
        code, out, err = run(*command.split(), "--json")
        assert code == 0
        assert out == run(*command.split()).out
        report = json.loads(err)["report"]
        assert report["predictions" if "predict" in command else "export"] is None

    @pytest.mark.parametrize(
        ("command", "code", "kind", "message"),
        [
            ("fit t.csv", 2, "usage", "gegenbauer fit needs --target COLUMN (column to learn)."),
            ("nothing", 2, "usage", "gegenbauer has no command 'nothing'; it has fit, tune,"),
            ("fit t.csv --target z", 3, "data", "t.csv: there is no column 'z' for --target"),
            ("info t.csv", 3, "data", "t.csv: not a model file"),
            ("fit t.csv --target y --n-terms 200000000", 4, "system", "200000000 terms"),
            ("fit t.csv --target y --n-terms many", 2, "usage", "Invalid value for '--n-terms'"),
        ],
    )
    def test_errors(self, folder, run, command, code, kind, message):
        """One line on stderr, and nothing on stdout."""
        found = run(*command.split(), "--json")
        assert (found.code, found.out, found.err.count("\n")) == (code, "", 1)
        error = json.loads(found.err)
        assert list(error) == ENVELOPE
        assert (error["exit_code"], error["error"]["kind"]) == (code, kind)
        assert error["error"]["message"].startswith(message) or kind == "system"

    def test_fault(self, folder, run, monkeypatch):
        def broken(*_, **__):
            raise RuntimeError("broken")

        monkeypatch.setattr("gegenbauer.cli.commands.fit.run", broken)
        code, out, err = run("fit", "t.csv", "--target=y", "--json")
        assert (code, out) == (1, "")
        assert json.loads(err)["error"] == {
            "kind": "fault",
            "message": "a fault in gegenbauer: RuntimeError: broken. Run it again with --debug and "
            "report all of it",
        }

    def test_interrupt(self, folder, run, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("gegenbauer.cli.commands.fit.run", interrupted)
        code, out, err = run("fit", "t.csv", "--target=y", "--json")
        assert (code, out) == (130, "")
        assert json.loads(err)["error"] == {"kind": "interrupted", "message": "interrupted"}

    def test_a_report_and_an_error(self, folder, run, monkeypatch):
        """What was found before a file could not be written is not lost."""
        from gegenbauer.persistence import atomic

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("gegenbauer.persistence._save.write_atomically", full)
        assert atomic.write_atomically
        code, out, err = run("fit", "t.csv", "--target=y", "--out=m.st", "--json")
        assert (code, out) == (4, "")
        found = json.loads(err)
        assert found["error"]["kind"] == "system"
        assert (found["report"]["rows"], found["report"]["model"]) == (240, None)

    def test_no_number_that_json_lacks(self, folder, run):
        """Two rows leave the noise unknown, which is null."""
        Path("two.csv").write_text("a,y\n1,2.5\n2,3.5\n")
        code, out, _ = run("tune", "two.csv", "--target=y", "--json")
        assert code == 0
        found = json.loads(out, parse_constant=pytest.fail)
        assert found["report"]["calibration"] == {"noise": None, "share_in_intervals": None}


# ---- files of options ------------------------------------------------------------------------


class TestConfig:
    def options(self, text: str) -> str:
        Path("o.toml").write_text(text)
        return "--config=o.toml"

    def test_options(self, folder, run):
        """They are those of the command line, whatever their types."""
        config = self.options(
            'target = "y"\nignore = ["name", "n"]\ndegree = [2, 3]\nindex-set = "tensor"\n'
            'alpha = "2^-3"\nlam = 0.5\nfree-constant = true\nvalidation-fraction = 0\n'
            'out = "1.st"\n'
        )
        assert run("fit", "t.csv", config).code == 0
        assert run(
            *shlex.split("fit t.csv --target y --ignore name --ignore n --degree 2,3 --index-set "
                         "tensor --alpha 2^-3 --lam 0.5 --free-constant --validation-fraction 0 "
                         "--out 2.st")
        ).code == 0  # fmt: skip
        one, other = load("1.st"), load("2.st")
        assert one.get_params() == other.get_params()
        assert_array_equal(one.term_coef_, other.term_coef_)

    def test_the_command_line_comes_first(self, folder, run):
        config = self.options('target = "a"\nn-terms = 5\nignore = "name"\n')
        found = run("fit", "t.csv", config, "--target=y", "--json").report
        assert (found["inputs"], found["terms"]) == (["a", "b", "n"], 5)
        found = run("fit", "t.csv", "--n-terms=7", config, "--ignore=b", "--json").report
        assert (found["inputs"], found["terms"]) == (["b", "n", "y"], 7) or found["inputs"] == [
            "name", "n", "y",
        ]  # fmt: skip

    def test_tables_of_commands(self, folder, run):
        config = self.options(
            'separator = ","\n[fit]\ntarget = "y"\nid = "name"\nout = "m.st"\n'
            'separator = ","\n[predict]\nid = ["name", "n"]\nout = "p.csv"\njson = true\n'
        )
        assert run("fit", "t.csv", config).code == 0
        found = json.loads(run("predict", "m.st", "t.csv", config, "--id=name").out)
        assert found["report"]["columns"] == ["name", "prediction"]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("n_terms = 5", "o.toml: n_terms is no option of gegenbauer fit; did you mean 'n-term"),
            ("alphaa = 5", "o.toml: alphaa is no option of gegenbauer fit; did you mean 'alpha'?"),
            ("zzz = 5", "o.toml: zzz is no option of gegenbauer fit; it has alpha, checkpoint,"),
            ("[fit]\nzzz = 5", "o.toml: zzz in [fit] is no option of gegenbauer fit; it has"),
            ("plot = 'p'", "o.toml: plot is an option of gegenbauer tune, not of fit; put it bel"),
            ("fit = 5", "o.toml: fit is a command, as in [fit]"),
            ("stream = 1", "o.toml: stream must be true or false, got 1"),
            ("alpha = true", "o.toml: alpha must be a text, a number, got True"),
            ("ignore = []", "o.toml: ignore must be a text, a number or a list of these, got []"),
            ("config = 'o.toml'", "o.toml: config is no option of gegenbauer fit"),
            ("a b", "o.toml is no TOML: Expected '='"),
            ("\xe9", "o.toml is not UTF-8 text"),
        ],
    )  # fmt: skip
    def test_errors(self, folder, run, text, message):
        Path("o.toml").write_bytes(text.encode("latin-1"))
        code, out, err = run("fit", "t.csv", "--target=y", "--config=o.toml")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"error: --config {message}"), err

    def test_values_are_checked_as_on_the_command_line(self, folder, run):
        found = run("fit", "t.csv", "--target=y", self.options("n-terms = -1"))
        assert found.err.startswith("error: Invalid value for '--n-terms': '-1' is neither")
        assert "does not exist" in run("fit", "t.csv", "--target=y", "--config=no.toml").err

    def test_every_command_takes_it(self, run, folder):
        config = self.options("zzz = 1")
        for command in COMMANDS:
            arguments = {"info": ["m"], "predict": ["m", "t"], "export": ["m"], "demo": []}
            found = run(command, *arguments.get(command, ["t.csv"]), config)
            assert f"zzz is no option of gegenbauer {command}" in found.err


# ---- completion ------------------------------------------------------------------------------


class TestCompletion:
    def complete(self, run, monkeypatch, words: str) -> list[str]:
        monkeypatch.setenv("_GEGENBAUER_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", f"gegenbauer {words}")
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" "))))
        code, out, err = run()
        assert (code, err) == (0, "")
        return out.split()

    def test_words(self, run, monkeypatch):
        assert self.complete(run, monkeypatch, "") == [*COMMANDS]
        assert self.complete(run, monkeypatch, "tu") == ["tune"]
        assert self.complete(run, monkeypatch, "fit --n-") == ["--n-terms", "--n-jobs"]
        assert self.complete(run, monkeypatch, "predict m t --out-") == ["--out-of-range"]
        assert self.complete(run, monkeypatch, "fit t --task r") == ["regression"]
        assert self.complete(run, monkeypatch, "export m --to ") == ["onnx", "c", "numpy", "sql"]

    @pytest.mark.parametrize(
        ("shell", "part"),
        [
            ("bash", "_GEGENBAUER_COMPLETE=complete_bash $1"),
            ("zsh", "#compdef gegenbauer"),
            ("fish", "complete --command gegenbauer"),
            ("pwsh", "Register-ArgumentCompleter"),
        ],
    )
    def test_scripts(self, run, shell, part):
        """Of the shell that is named, whatever runs this."""
        code, out, err = run("--show-completion", shell)
        assert (code, err) == (0, "")
        assert part in out
        assert "_GEGENBAUER_COMPLETE" not in os.environ

    def test_shells_without_a_script(self, run):
        assert run("--show-completion", "csh") == (
            2, "", ("error: --show-completion has no script for 'csh'; give one of bash, zsh, "
            "fish, powershell, pwsh\n"),
        )  # fmt: skip
        code, out, err = run("--install-completion", "zsh")
        assert (code, out) == (2, "")
        assert err.startswith("error: --install-completion is for the shell in which it runs")

    @pytest.mark.skipif(not BASH.exists(), reason="needs bash")
    def test_bash(self, run, tmp_path):
        """The script of a shell, in that shell."""
        script = run("--show-completion", "bash").out
        program = tmp_path / "gegenbauer"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gegenbauer "$@"\n')
        program.chmod(0o755)
        lines = (
            f"{script}\nCOMP_WORDS=(gegenbauer fit --targ) COMP_CWORD=2\n"
            f"_gegenbauer_completion {program}\n"
            'echo "${COMPREPLY[@]}"\n'
        )
        done = subprocess.run([BASH, "-c", lines], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["--target"]


# ---- exit codes ------------------------------------------------------------------------------


class TestExitCodes:
    """All that the page lists."""

    def test_page(self):
        page = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
        listed = re.findall(r"^\| (\d+) \| ", page, re.MULTILINE)
        assert listed == ["0", "1", "2", "3", "4", "130", "141"]

    @pytest.mark.parametrize(
        ("command", "code"),
        [
            ("info m.st", 0), ("--version", 0), ("fit --help", 0),
            ("fit", 2), ("fit no.csv --target y", 2), ("fit t.csv --target y --alpha x", 2),
            ("fit t.csv --target y --out no/m.st", 2), ("export m.st --to onnx", 2),
            ("fit t.csv --target z", 3), ("fit bad.csv --target y", 3), ("info t.csv", 3),
            ("predict m.st bad.csv", 3), ("predict m.st far.csv --out-of-range error", 3),
            ("fit two.csv --target y", 3), ("fit t.csv --target y --n-terms 200000000", 4),
        ],
    )  # fmt: skip
    def test_codes(self, model, run, command, code):
        Path("bad.csv").write_text("a,b,y\n1,2\n")
        Path("far.csv").write_text("a,b\n9,9\n")
        Path("two.csv").write_text("a,y\n1,2.5\n2,3\n")
        assert run(*command.split()).code == code

    def test_of_processes(self, model):
        assert pipe("GEGENBAUER fit t.csv").code == 2
        assert pipe("GEGENBAUER fit t.csv --target z").code == 3
        table(50_000).to_csv("long.csv", index=False)
        found = pipe("{ GEGENBAUER predict m.st long.csv; echo $? >&2; } | head -1")
        assert found.err.split()[-1] == "141"

    @pytest.mark.parametrize("command", ["--help", "fit --help", "info m.st", "export m.st --to c"])
    def test_nobody_reads(self, model, command):
        """Whoever writes: rich, Python, or what flushes at the end."""
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [sys.executable, "-m", "gegenbauer", *command.split()], stdout=writer,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, "")

    def test_interrupt(self, folder):
        """While standard input is read; its copy is removed."""
        place = folder / "passing"
        place.mkdir()
        process = subprocess.Popen(
            [sys.executable, "-m", "gegenbauer", "fit", "-", "--target=y"], stdin=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(place)},
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write("a,y\n" * 3000)  # more than is read at first
        process.stdin.flush()
        while process.poll() is None and not list(place.glob("*/standard-input.csv")):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, "interrupted\n")
        assert list(place.iterdir()) == []


# ---- what errors name ------------------------------------------------------------------------


class TestNames:
    """Errors name the options of the command at hand, and what is to be done."""

    @pytest.mark.parametrize(
        ("command", "message"),
        [
            ("tune t.csv --target y --gamma 1", "gegenbauer tune has no option --gamma. Try"),
            ("predict m t --gamma 1", "gegenbauer predict has no option --gamma. Try"),
            ("predict m t --terms 1", "gegenbauer predict has no option --terms"),
            ("info m --jobs 2", "gegenbauer info has no option --jobs"),
            ("fit t.csv --gamma 1", "there is no --gamma any more: it is called --alpha. Try"),
            ("predict m t --jobs 2", "there is no --jobs any more: it is called --n-jobs. Try"),
            ("fit t.csv --targt y", "gegenbauer fit has no option --targt; did you mean '--targ"),
            ("fit t.csv --hepl", "gegenbauer fit has no option --hepl; did you mean '--help'?"),
            ("fitt t.csv", "gegenbauer has no command 'fitt'; did you mean 'fit'? Try"),
            ("fit t.csv --target", "--target needs a value. Try 'gegenbauer fit --help'"),
            ("fit t.csv --stream=1", "--stream takes no value. Try 'gegenbauer fit --help'"),
            ("tune t.csv --target y --stream --max-seconds 3", ("--max-seconds is for a table in "
             "memory: leave it out, for --stream takes as long as one pass does\n")),
            ("tune t.csv --target y --stream --n-spectra 5", "--n-spectra is for a table in m"),
            ("tune . --target y", ". is a folder; give --stream to learn the tables in it\n"),
            ("fit . --target y", ". is a folder; give --stream to learn the tables in it\n"),
            ("predict m.st .", ". is a folder; give the table itself\n"),
            ("fit t.csv --target y --checkpoint c.st", "--checkpoint needs --stream\n"),
        ],
    )  # fmt: skip
    def test_usage(self, model, run, command, message):
        code, out, err = run(*command.split())
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {message}"), err

    @pytest.mark.parametrize("n_rows", [1, 2, 3, 4])
    @pytest.mark.parametrize("stream", [[], ["--stream"]])
    def test_few_rows(self, folder, run, n_rows, stream):
        """Advice is such that it helps: three rows cannot be parted at all."""
        Path("few.csv").write_text("a,y\n" + "".join(f"{k},{k}.5\n" for k in range(n_rows)))
        options = ["few.csv", "--target=y", "--n-terms=2", "--task=regression"]
        found = run("fit", *options, "--validation-fraction=0.9", *stream)
        assert found.code == 3
        assert ("nearer to one half" in found.err) == (n_rows == 4)
        assert run("fit", *options, "--validation-fraction=0", *stream).code == 0

    @pytest.mark.parametrize("n_rows", [1, 4, 5])
    def test_folds(self, folder, run, n_rows):
        Path("few.csv").write_text("a,y\n" + "".join(f"{k},{k * k}.5\n" for k in range(n_rows)))
        code, _, err = run("tune", "few.csv", "--target=y", "--stream", "--task=regression")
        rows = "1 row" if n_rows == 1 else f"{n_rows} rows"
        assert "cv=" not in err
        if n_rows < 5:
            assert (code, err) == (
                3, (f"error: {rows} will not do for the 5 folds of --stream; add rows, or leave "
                "out --stream for 4 or fewer\n"),
            )  # fmt: skip

    def test_export_names_options_of_the_maker(self, folder, run):
        assert run("tune", "t.csv", "--target=y", "--id=name", "--out=k.st").code == 0
        found = run("export", "k.st", "--to=c", "--out-of-range=extrapolate")
        assert found.err.endswith(": give --n-terms of gegenbauer tune\n")
        assert "--n-terms of gegenbauer tune" in run("export", "k.st", "--to=sql").err

    def test_what_was_requested_needs_no_warning(self, model, run):
        Path("far.csv").write_text("a,b\n0.5,0.5\n9,0.5\n")
        assert run("predict", model, "far.csv", "--out-of-range=clip").err == ""
        assert run("predict", model, "far.csv").err.startswith("warning: 1 of 2 rows lies beyond")

    @pytest.mark.parametrize("ending", [".parquet", ".feather", ".jsonl"])
    def test_options_of_csv_files(self, folder, run, ending):
        write_table(table()[["a", "b", "y"]], Path(f"t{ending}"))
        for stream in ([], ["--stream"]):
            for option in ("--separator=;", "--decimal=,"):
                code, out, err = run("fit", f"t{ending}", "--target=y", option, *stream)
                name = option.partition("=")[0]
                assert (code, out) == (2, "")
                assert err.startswith(f"error: {name} is for CSV files, and t{ending} holds ")

    def test_a_checkpoint_of_another_target(self, folder, run):
        options = ["t.csv", "--stream", "--n-terms=5", "--checkpoint=c.st", "--ignore=name"]
        assert run("fit", *options, "--target=y").code == 0
        for more, what in (
            (["--target=a"], "another --target and other inputs (see --ignore)"),
            (["--target=y", "--weight=n"], "other inputs (see --ignore) and another --weight"),
            (["--target=y", "--id=n"], "other inputs (see --ignore)"),
        ):
            code, out, err = run("fit", *options, *more)
            assert (code, out) == (2, "")
            assert err == (
                f"error: --checkpoint c.st is of {what}; give the same, another --checkpoint, or "
                "remove the file to begin anew\n"
            )


def test_all_commands_have_the_options_of_all():
    """Every command reports in JSON and takes a file of options."""
    import typer

    commands = typer.main.get_command(app).commands
    assert {*commands} == {*COMMANDS}
    for command in commands.values():
        names = {name for option in command.params for name in option.opts}
        assert {"--json", "--config"} <= names
