"""The examples of README.md run and print what it says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run(code, folder, *, quiet=True):
    """Return what is printed; what is learned by copying has no warnings."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not (quiet and done.stderr)
    return done.stdout


def test_example_prints_what_is_shown(tmp_path):
    code, output = re.search(r"```python\n(.*?)```\s+```\n(.*?)```", README, re.DOTALL).groups()
    assert run(code, tmp_path) == output


def test_array_example_runs(tmp_path):
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[5]
    code += "\nprint(basis.n_terms, solution.engine, X.shape[0] * basis.n_terms * 8 // 10**6)"
    assert run(code, tmp_path) == "210 primal 168\n"


def test_example_without_settings_finds_the_inputs_that_matter(tmp_path):
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[1]
    code += "\nprint((lower < upper).all(), (sobol_indices(model).total[3:] < 1e-3).all())"
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
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[2]
    *table, right = run(code, tmp_path).splitlines()
    assert len(table) == 2
    assert float(right.split()[-1]) > 0.9


def test_example_of_the_papers_basis(tmp_path):
    pytest.importorskip("matplotlib")
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[3]
    code = f"import matplotlib\nmatplotlib.use('Agg')\n{code}"
    code += "\nprint((model.predict(X) == y).mean() > 0.95)"
    chosen, good = run(code, tmp_path).splitlines()
    assert re.fullmatch(r"lam 0.0?5, \d+ terms, gamma \S+: \(2, 30, \d\d\)", chosen)
    assert good == "True"
    pictures = {"sensitivity.png", "reliability.png"}
    assert {path.name for path in tmp_path.iterdir()} == pictures


def test_example_of_streams(tmp_path):
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[4]
    code += "\nprint(whole.n_samples_seen_, np.abs(model.term_coef_).max() > 0)"
    kept, right, whole = run(code, tmp_path).splitlines()
    assert kept.startswith("200000 rows, ")
    assert float(right.split()[0]) > 0.9
    assert whole == "200000 True"
    assert [path.name for path in tmp_path.iterdir()] == ["run.safetensors"]


def test_commands_run(tmp_path):
    """As they stand, on tables of these names."""
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    (tmp_path / "folder").mkdir()
    for name in ("table.csv", "new.csv", "folder/1.csv", "folder/2.csv"):
        X = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["size", "age"])
        X.assign(price=X["size"] - X["age"] ** 2).to_csv(tmp_path / name, index=False)
    (commands,) = re.findall(r"```sh\n(gegenbauer tune .*?)```", README, re.DOTALL)
    for line in commands.splitlines():
        arguments = shlex.split(line, comments=True)
        code = f"import sys; from gegenbauer.cli import main; sys.exit(main({arguments[1:]!r}))"
        assert run(code, tmp_path, quiet=False)
    made = {path.name for path in tmp_path.iterdir()}
    checkpoints = {"run.safetensors", "run.safetensors.held-out"}
    models = {"model.safetensors", "model.svg", "prices.csv"}
    assert made == {"folder", "table.csv", "new.csv"} | models | checkpoints


def test_docs_hold_text_and_plots_that_it_shows():
    """Once each: no twins in another format, no records that nothing reads."""
    docs = ROOT / "docs"
    shown = {
        text.parent / target
        for text in docs.rglob("*.md")
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text.read_text(encoding="utf-8"))
    }
    assert len(shown) > 10
    files = {path for path in docs.rglob("[!.]*") if path.is_file()}
    assert {path for path in files if path.suffix != ".md"} == shown


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target
