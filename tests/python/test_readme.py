"""The examples of README.md and of the pages that continue it run and print what is shown."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gegenbauer.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Pages whose code is all run here, and what they hold of it
PAGES = {
    "README.md": {"sh": 3, "python": 1, "": 1},  # the commands of its installation: .ci/run
    "docs/guide.md": {"python": 6, "": 1, "sh": 0},
    "docs/streams.md": {"python": 2, "": 0, "sh": 0},
    "docs/interoperability.md": {"python": 6, "": 0, "sh": 0},
    "docs/simulators.md": {"python": 6, "": 0, "sh": 0},
    "docs/explain.md": {"python": 7, "": 0, "sh": 0},
    "docs/deployment.md": {"python": 2, "": 0, "sh": 0},
    "docs/mathematics.md": {"python": 8, "": 0, "sh": 0},
    "docs/distributed.md": {"python": 1, "": 1, "sh": 0},
    "docs/ray.md": {"python": 1, "": 1, "sh": 0},
    "docs/spark.md": {"python": 1, "": 1, "sh": 0},
    "docs/command-line.md": {"python": 0, "": 0, "sh": 3},
    "docs/export.md": {"python": 2, "": 0, "sh": 0},
    "docs/replication.md": {"python": 0, "": 0, "sh": 0},
}
# Pages that people read; reports are written by programs
TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CODE_OF_CONDUCT.md",
    ROOT / "SECURITY.md",
    ROOT / "bench" / "README.md",
    ROOT / "cpp" / "README.md",
    ROOT / "experiments" / "paper" / "README.md",
    *sorted(DOCS.glob("*.md")),
    DOCS / "reference" / "index.md",
]


def blocks(page, language):
    """Return the code of a language on a page, "" for what is printed."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [code for name, code in found if name == language]


def prose(text):
    """Return the lines that are neither code nor tables."""
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return [line for line in text.splitlines() if not line.lstrip().startswith("|")]


def run(code, folder):
    """Return what is printed; what is learned by copying has no warnings."""
    printed, complaints = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complaints),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        exec(code, {"__name__": "__main__"})
    assert not complaints.getvalue()
    return printed.getvalue()


def run_afresh(code, folder):
    """Do the same in a process of its own, as a reader does."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_all_code_is_run(page):
    """By the tests below: a block that is added needs one."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"^```(\w+)", text, re.MULTILINE)) <= {"python", "sh"}
    assert {language: len(blocks(page, language)) for language in PAGES[page]} == PAGES[page]


def test_quick_start_prints_what_is_shown(tmp_path):
    (code,), (output,) = blocks("README.md", "python"), blocks("README.md", "")
    assert len(code.splitlines()) == 15
    assert run_afresh(code, tmp_path) == output


def test_readme_is_short():
    assert len(README.splitlines()) <= 120


def test_example_prints_what_is_shown(tmp_path):
    code, (output,) = blocks("docs/guide.md", "python")[3], blocks("docs/guide.md", "")
    assert run(code, tmp_path) == output


def test_export_runs(tmp_path):
    code, of_pipelines = blocks("docs/export.md", "python")
    code += "\nprint(source.count('#include'), module.count('def predict'), query[:10])"
    assert run(code, tmp_path) == "1 1 SELECT id,\n"
    pytest.importorskip("skl2onnx")
    made = run_afresh(f"{code}\n{of_pipelines}\nprint(made.graph.output[0].name)", tmp_path)
    assert made.splitlines()[-1] == "prediction"


def test_array_example_runs(tmp_path):
    code = blocks("docs/guide.md", "python")[5]
    code += "\nprint(basis.n_terms, solution.engine, X.shape[0] * basis.n_terms * 8 // 10**6)"
    assert run(code, tmp_path) == "210 primal 168\n"


def test_example_without_settings_finds_the_inputs_that_matter(tmp_path):
    code = blocks("docs/guide.md", "python")[0]
    code += "\nprint((lower < upper).all(), (sobol_indices(model).total[:, 3:] < 1e-3).all())"
    code += "\nprint((std > 0).all(), (lower < mean).all(), (model.relevances_[3:] < 1e-3).all())"
    error, shares, relevances, text, which, ranges, *checks = run(code, tmp_path).splitlines()
    assert float(error.split()[-1]) < 0.01
    assert "share of the variance" in shares
    assert "relevances" in relevances
    assert text.endswith(" + 56 more terms")
    assert which.startswith("Cn(x): orthonormal Gegenbauer polynomial")
    assert ranges.startswith("from x0 in [")
    assert checks == ["True True", "True True True"]


def test_example_of_classes(tmp_path):
    code = blocks("docs/guide.md", "python")[1]
    *table, accuracy = run(code, tmp_path).splitlines()
    assert len(table) == 2
    assert float(accuracy.split()[-1]) > 0.9


def test_example_of_a_table(tmp_path):
    code = blocks("docs/guide.md", "python")[2]
    code += "\nprint(model.score(table, y) > 0.9)"
    names = "['1', 'level1(colour)', 'missing(x)']"
    assert run(code, tmp_path) == f"[['blue', 'green', 'red'], None]\n{names}\nTrue\n"


def test_example_of_the_papers_basis(tmp_path):
    pytest.importorskip("matplotlib")
    code = blocks("docs/guide.md", "python")[4]
    code = f"import matplotlib\nmatplotlib.use('Agg')\n{code}"
    code += "\nprint((model.predict(X) == y).mean() > 0.95)"
    chosen, good = run_afresh(code, tmp_path).splitlines()
    assert re.fullmatch(r"lam 0.0?5, \d+ terms, alpha \S+: \(2, 30, \d\d\)", chosen)
    assert good == "True"
    plots = {"sensitivity.png", "reliability.png"}
    assert {path.name for path in tmp_path.iterdir()} == plots


def test_example_of_streams(tmp_path):
    code = "\n".join(blocks("docs/streams.md", "python"))
    code += "\nprint(whole.n_samples_seen_, np.abs(model.term_coef_).max() > 0)"
    kept, accuracy, sums, chosen, shape, whole = run(code, tmp_path).splitlines()
    assert re.fullmatch(r"5 folds of .* terms\): \S+ MB; up to \d+ MB to choose by them", sums)
    assert float(chosen.split()[1]) > 0.9
    assert shape == "(1, 2)"
    assert kept.startswith("200000 samples, ")
    assert float(accuracy.split()[1]) > 0.9
    assert whole == "200000 True"
    assert [path.name for path in tmp_path.iterdir()] == ["run.safetensors"]


@pytest.mark.parametrize(
    ("block", "needed", "printed"),
    [
        (0, "polars", "['1', 'C1(width)', 'C1(depth)']\n"),
        (1, "sklearn", "[3 7]\n"),
        (2, "shap", "True\n"),
        (3, "skops", "True\n"),
        (4, "mlflow", "True\n"),
        (5, "logging", "gegenbauer: spectrum\ngegenbauer: alpha on all samples\n"),
    ],
)
def test_examples_of_other_libraries(tmp_path, block, needed, printed):
    """Each with what it needs; SHAP and MLflow are not installed for the tests."""
    code = blocks("docs/interoperability.md", "python")[block]
    assert f"import {needed}" in code or f"from {needed}" in code
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"needs {needed}")
    if needed in ("shap", "mlflow"):  # whose own warnings are not ours
        code = f"import warnings\nwarnings.simplefilter('ignore')\n{code}"
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed
    if needed not in ("shap", "mlflow"):
        assert not done.stderr


def test_example_of_a_simulator(tmp_path):
    code = "\n".join(blocks("docs/simulators.md", "python"))
    code += "\ncenter = np.array([[7.5, 25.0, 0.3]])"
    code += "\nprint(np.abs(model.predict(center) - simulate(center)).max() < 0.01)"
    code += "\ncorner = simulate(np.array([[14.0, 40.0, 0.5]]))[0]"
    code += "\nprint(abs(-best.fun - corner) < 0.05, (lower < upper).all())"
    code += "\nfrom scipy.integrate import quad"
    code += "\nmean = lambda f, one: quad(lambda p: f(one.ppf(p)), 0, 1)[0]"
    code += "\nsine = [mean(lambda a: np.sin(a / 10) ** k, inputs[0]) for k in (1, 2)]"
    code += "\nspeed = [mean(lambda v: v ** (2 * k) / 50**k, inputs[1]) for k in (1, 2)]"
    code += "\nfall = [mean(lambda a: (0.02 * a**2) ** k, inputs[0]) for k in (1, 2)]"
    code += "\nboth = mean(lambda a: 0.02 * a**2 * np.sin(a / 10), inputs[0])"
    code += "\nexact = sine[0] * speed[0] - fall[0]"
    code += "\nsquare = sine[1] * speed[1] - 2 * speed[0] * both + fall[1]"
    code += "\nprint(abs(found.mean[0] - exact), abs(found.variance[0] - square + exact**2))"
    code += "\nprint(abs(lift.mean() - found.mean[0]), abs(lift.std() ** 2 - found.variance[0]))"
    printed = run(code, tmp_path).splitlines()
    error, shares, where, text = printed[:4]
    assert float(error.split()[1]) < 1e-3
    assert shares.endswith("0.  ]")  # the paint
    assert where.endswith("[14. 40.]")
    assert text.count("C1") == 3
    assert printed[-4:-2] == ["True", "True True"]
    of_model, of_samples = (np.array(line.split(), dtype=float) for line in printed[-2:])
    assert (of_model < 1e-3).all()  # by quadrature of the program itself
    assert (of_samples < 1e-3).all()
    steps = [line for line in printed if " runs: error " in line]
    errors = [float(re.search(r"error (\S+),", line)[1]) for line in steps]
    assert len(steps) == 6
    assert errors[-1] < 0.2 * errors[0]


def test_explanations(tmp_path):
    pytest.importorskip("matplotlib")
    code = "\n".join(blocks("docs/explain.md", "python"))
    code += "\nfrom pathlib import Path"
    code += "\nwritten = Path('report.html').read_text(encoding='utf-8')"
    code += "\nprint(page.count('<svg'), written == page)"
    code += "\nimport matplotlib.pyplot as plt\nplt.close('all')"
    printed = run(f"import matplotlib\nmatplotlib.use('Agg')\n{code}", tmp_path).splitlines()
    assert printed[0] == "ShapleyValues of 3 samples and 3 inputs"
    assert "sum to the predictions: True" in printed
    assert "parts: [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]" in printed
    assert "left for three inputs: True" in printed
    (rents,) = (line for line in printed if line.startswith("rent by area:"))
    # 8 area (1 - 40 / 200) + 150 / 2
    found = np.array(rents.partition("[")[2].strip("]").split(), dtype=float)
    assert np.abs(found - 6.4 * np.array([50, 100, 150]) - 75).max() < 30
    assert "values: (1, 20, 2) ['flat', 'house']" in printed
    (pair,) = (line for line in printed if line.startswith("area with age:"))
    assert 0.01 < float(pair.split()[-1]) < 0.1
    n_plots, same = printed[-1].split()
    assert (int(n_plots) >= 11, same) == (True, "True")
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"effects.png", "interactions.png", "prediction.png", "report.html"}


def test_example_of_deployment(tmp_path):
    code = "\n".join(blocks("docs/deployment.md", "python"))
    kind, terms = run(code, tmp_path).splitlines()
    assert kind == "GegenbauerRegressorCV of 3 inputs"
    assert terms.startswith("60 terms, R2 0.8")
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_equations_hold(tmp_path):
    """Each block of the page on the mathematics checks an equation of its own."""
    first, *checks = blocks("docs/mathematics.md", "python")
    for number in range(len(checks)):
        code = "\n".join([first, *checks[: number + 1]])
        printed = run(code, tmp_path).split()
        assert len(printed) > number
        assert set(printed) == {"True"}


@pytest.mark.slow
def test_example_of_dask_prints_what_is_shown(tmp_path):
    """In processes, as the page has it."""
    pytest.importorskip("distributed")
    (code,), (output,) = blocks("docs/distributed.md", "python"), blocks("docs/distributed.md", "")
    (tmp_path / "program.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == output


def test_example_of_ray_prints_what_is_shown(tmp_path, monkeypatch):
    """Its tasks run here, in their order."""

    def remote(**options):
        return lambda function: SimpleNamespace(remote=function)

    ray = ModuleType("ray")
    ray.remote, ray.get = remote, lambda result: result
    ray.init = ray.shutdown = lambda **options: None
    monkeypatch.setitem(sys.modules, "ray", ray)
    (code,), (output,) = blocks("docs/ray.md", "python"), blocks("docs/ray.md", "")
    assert run(code, tmp_path) == output


def test_example_of_spark_learns_partitions():
    """What executors and the driver do with frames of pandas; Spark itself is not here."""
    (code,) = blocks("docs/spark.md", "python")
    functions, program = code.split("os.environ", 1)
    names = {}
    exec(functions.replace("from pyspark.sql import SparkSession\n", ""), names)
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.uniform(size=(5_000, 2)), columns=["a", "b"]) for _ in range(4)]
    tables = [table.assign(target=np.sin(3 * table.a) * table.b) for table in tables]
    parts = [frame for table in tables for frame in names["learn"]([table[:2500], table[2500:]])]
    assert list(names["learn"]([tables[0][:0]])) == []  # a partition without rows
    (merge,) = re.findall(r"model = (sum\(.*\))\.choose_alpha\(\)", program)
    frames = pd.concat(parts)
    frame = SimpleNamespace(toLocalIterator=frames.itertuples)
    model = eval(merge, names | {"parts": frame}).choose_alpha()
    assert model.n_samples_seen_ == 20_000
    new = pd.DataFrame({"a": [0.5], "b": [1.0]})
    assert abs(model.predict(new)[0] - np.sin(1.5)) < 1e-3


def test_commands_run(tmp_path, monkeypatch, capsys):
    """As they stand, on tables of these names."""
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("table.csv", "new.csv", "folder/1.csv", "folder/2.csv"):
        X = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["size", "age"])
        X.assign(price=X["size"] - X["age"] ** 2).to_csv(tmp_path / name, index=False)
    commands, *_ = blocks("docs/command-line.md", "sh")
    for line in commands.splitlines():
        if not (arguments := shlex.split(line, comments=True)):
            continue
        assert arguments[0] == "gegenbauer"
        assert main(arguments[1:]) == 0, line
        assert capsys.readouterr().out, line
    made = {path.name for path in tmp_path.iterdir()}
    checkpoints = {"run.safetensors", "run.safetensors.held-out"}
    models = {"model.safetensors", "model.svg", "model.c", "prices.csv", "report.html"}
    assert made == {"folder", "table.csv", "new.csv"} | models | checkpoints


@pytest.mark.slow
def test_lines_of_shells_run(tmp_path):
    """Those with pipes and files of options, in a shell that finds the program."""
    rng = np.random.default_rng(0)
    for name in ("table.csv", "new.csv"):
        X = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["size", "age"])
        X.insert(0, "house", [f"{place:02d}" for place in range(60)])
        X.assign(price=X["size"] - X["age"] ** 2).to_csv(tmp_path / name, index=False)
    program = tmp_path / "bin" / "gegenbauer"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gegenbauer "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    _, *scripts = blocks("docs/command-line.md", "sh")
    outputs = [
        subprocess.run(
            ["sh", "-e", "-c", script], cwd=tmp_path, env=os.environ | {"PATH": path},
            capture_output=True, text=True, check=True,
        ).stdout
        for script in scripts
    ]  # fmt: skip
    found = pd.read_csv(tmp_path / "prices.csv", dtype={"house": str})
    assert list(found.columns) == ["house", "prediction"]
    assert found["house"].tolist() == [f"{place:02d}" for place in range(60)]
    assert "inputs      2: 'size', 'age'" in outputs[0]
    assert "terms       300: " in outputs[1]
    assert "alpha 2^-10" in outputs[1]


def test_docs_hold_text_and_plots_that_it_shows():
    """Once each: no twins in another format, no records that nothing reads.

    Beside what makes the site of it, and the lists of public names.
    """
    shown = {
        text.parent / target
        for text in DOCS.rglob("*.md")
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text.read_text(encoding="utf-8"))
    }
    assert len(shown) > 10
    site = {*DOCS.glob("*.py"), *(DOCS / "_site").rglob("*"), *(DOCS / "reference").glob("*.rst")}
    files = {path for path in DOCS.rglob("[!.]*") if path.is_file()} - site
    assert {path for path in files if path.suffix != ".md"} == shown


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    """To files that exist and headings that they have."""
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_lines_are_wrapped(path):
    lines = prose(path.read_text(encoding="utf-8"))
    assert [line for line in lines if len(line) > 100] == []


def test_way_of_a_call_names_what_exists():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\|[^|]*\| `([\w/.]+)` \| `([\w:]+)` \|$", text, re.MULTILINE)
    assert len(steps) == 27
    for name, function in steps:
        python = name.endswith(".py")
        source = ROOT / ("python/gegenbauer" if python else "cpp") / name
        defined = rf"^ *def {function}\(" if python else rf"^[\w<>: ]+ {function}\("
        assert re.search(defined, source.read_text(encoding="utf-8"), re.MULTILINE), function
