"""What comparisons of one spectrum with five have in common: their samples, loop and command."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Samples", "measure", "run_command", "shown"]


class Samples(NamedTuple):
    """Samples to learn from, and new ones."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray


def shown(values: np.ndarray, form: str, unit: float = 1.0) -> str:
    """Return the mean, in a form such as ".3f", and its standard error."""
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    return f"{unit * values.mean():{form}} +- {unit * error:.2g}"


def measure(
    judge: Callable[[Samples, Any], Any],
    ways: Sequence[Any],
    draw: Callable[[int, int], Samples],
    n: int,
    n_repeats: int,
) -> np.ndarray:
    """Judge each way on the same n samples, (n_repeats, n_ways, n_measures)."""
    repeats = (draw(n, seed) for seed in range(n_repeats))
    return np.array([[judge(samples, way) for way in ways] for samples in repeats])


def run_command(
    name: str, doc: str | None, sizes: list[int],
    run: Callable[[list[int], int, list[str]], dict[str, Any]],
) -> None:  # fmt: skip
    """Read the command line of ``python -m bench.name``, run, and keep what came if requested."""
    it = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=doc)
    usual = ", ".join(map(str, sizes))
    it.add_argument("--samples", type=int, action="append", metavar="N", help=f"by default {usual}")
    it.add_argument("--repeats", type=int, default=16, metavar="N")
    it.add_argument("--only", action="append", default=[], metavar="NAME", help="this problem")
    it.add_argument("--json", type=Path, metavar="FILE", help="keep the result as JSON")
    options = it.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no model is better than a constant
        found = run(options.samples or sizes, options.repeats, options.only)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
