"""The check of words: what it finds, what it lets pass, and that it is part of the linters."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / ".ci" / "check_words.py"

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git lists the files"),
    pytest.mark.skipif(not CHECK.exists(), reason="source distributions lack .ci"),
]


@pytest.fixture
def check(tmp_path):
    """Run the check on a repository of some files."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    def run(**files):
        for name, text in files.items():
            (tmp_path / name.replace("_DOT_", ".")).write_text(text, encoding="utf-8")
        return subprocess.run(
            [sys.executable, CHECK, tmp_path], capture_output=True, text=True, check=False
        )

    return run


def test_names_file_line_and_remedy(check):
    done = check(
        a_DOT_py="x = 1\n# a clever guess\n", b_DOT_md="# Fine\n", c_DOT_md="the flavour\n"
    )
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "a.py:2: guess -> baseline, estimate, start value",
        "c.md:1: flavour -> ISA variant",
    ]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("def test_tells_all():", "tells"),
        ("self._told = 0", "told"),
        ("errors say where", "say"),
        ("class HalfFitted:", "Half Fitted"),
        ("def print_travel():", "travel"),
        ("# the same\n# bits", "same # bits"),
        ("# of rows\n# left out", "rows # left out"),
        ("class _Shell(Base):", "class _Shell"),
        ("x = _HELD", "_HELD"),
        ("## Where things are", "Where things are"),
        ("at a low price", "price"),
    ],
)
def test_finds(check, text, word):
    done = check(a_DOT_py=f"{text}\n")
    assert done.returncode == 1
    assert done.stdout.startswith(f"a.py:1: {word} -> ")


@pytest.mark.parametrize(
    "text",
    [
        "a command shell, seen from a row of the table",
        "the words get a question mark",
        "1. Set up. How fast it is, where things are, how to cite",
        "--target price --out prices.csv",
        'table["price"] and `price`',
        "rows of the matrix",
        "a holding, an outsider, a foretold task",
    ],
)
def test_lets_pass(check, text):
    done = check(a_DOT_py=f"{text}\n")
    assert (done.returncode, done.stdout) == (0, "no old words\n")


@pytest.mark.parametrize("name", ["LICENSE", "plot_DOT_svg", "table_DOT_csv"])
def test_what_others_wrote_and_data_are_exempt(check, name):
    assert check(**{name: "it says so\n"}).returncode == 0


def test_ignored_files_are_not_read(check):
    assert check(_DOT_gitignore="build.txt\n", build_DOT_txt="it says so\n").returncode == 0


def test_is_one_of_the_linters():
    script = (CHECK.parent / "run").read_text("utf-8")
    linters = script.partition('section "Formatters and linters"')[2].partition("section ")[0]
    assert ".ci/lint" in linters
    assert "check_words.py" in (CHECK.parent / "lint").read_text("utf-8")
