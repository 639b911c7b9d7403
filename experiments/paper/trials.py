"""Trials: shuffle, split, scale, train, count. The units of the comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.table import seconds_text
from experiments.paper import data
from experiments.paper.methods import Tunable, tune
from experiments.paper.published import GRID, TRIALS
from experiments.paper.store import Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.paper.data import Split
    from experiments.paper.methods import Method
    from experiments.paper.store import Store

QUICK_ROWS, QUICK_TERMS = 60, 30


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    trials: int = TRIALS
    n_threads: int = 1
    tune: str = (
        "once"  #: C and delta by cross-validation: "never", "once" a data set or "each" trial
    )
    seconds: float = 60.0  #: what one fit of a scalability figure may take, ours excepted
    quick: bool = False  #: tiny sizes and thin grids: all parts run, numbers mean nothing

    @property
    def most_rows(self) -> int | None:
        """Rows that a split may have on either side."""
        return QUICK_ROWS if self.quick else None

    def terms(self, n: int) -> int:
        """Return a number of terms or nodes."""
        return min(n, QUICK_TERMS) if self.quick else n

    def grid(self, exponents: Sequence[int]) -> tuple[int, ...]:
        """Return a grid of exponents."""
        return tuple(exponents[:: max(len(exponents) // 4, 1)] if self.quick else exponents)


@dataclass(frozen=True)
class Reading:
    """What the paper leaves open about the rows; the defaults are those of the main tables."""

    by_class: bool = False  #: rows of every class split by its share
    whole_range: bool = False  #: inputs scaled by all rows, not by those of training
    without: int | None = None  #: number of an input that is left out
    noise: tuple[str, float] | None = None  #: reading and amplitude, training rows alone

    def rows(self, name: str, scaling: str, trial: int, plan: Plan) -> Split:
        """Split and scale."""
        of = data.table(name)
        if self.without is not None:
            of = replace(of, X=np.delete(of.X, self.without, axis=1))
        split = data.split(of, trial, most_rows=plan.most_rows, by_class=self.by_class)
        # scaled by clean rows: the data are normalised before noise is added
        reference = of.X if self.whole_range else split.train.X
        if self.noise is not None:
            split = data.noisy(split, *self.noise, trial)
        return data.scaled(split, scaling, reference)

    @property
    def key(self) -> dict[str, Any]:
        """Describe what is not as in the main tables."""
        return {k: v for k, v in vars(self).items() if v is not None and v is not False}


MAIN = Reading()


def trial_key(
    name: str, method: Method, trial: int, plan: Plan, reading: Reading = MAIN
) -> dict[str, Any]:
    """Return what the result of a trial is kept by."""
    return {
        "data": name, "trial": trial, "method": method.key, "reading": reading.key,
        "most_rows": plan.most_rows,
    }  # fmt: skip


def trial_unit(name: str, method: Method, trial: int, plan: Plan, reading: Reading = MAIN) -> Unit:
    """Make a trial a unit: how many test rows are right, of how many; seconds of training."""

    def make() -> dict[str, Any]:
        rows = reading.rows(name, method.scaling, trial, plan)
        start = perf_counter()
        trained = method.train(rows.train, trial, plan.n_threads)
        seconds = perf_counter() - start
        right = trained.codes(rows.test.X) == rows.test.y
        return {
            "right": int(right.sum()), "of": right.size, "seconds": seconds,
            "chosen": trained.chosen,
        }  # fmt: skip

    return Unit(trial_key(name, method, trial, plan, reading), make)


def tuned(name: str, method: Tunable, trial: int, plan: Plan, store: Store) -> Tunable:
    """Return the method with the C and delta that 4-fold cross-validation chooses.

    On the training rows of the first trial, as they stand in the paper's tables for all trials, or
    of each.
    """
    first = trial if plan.tune == "each" else 0
    exponents = plan.grid(GRID)

    def make() -> dict[str, Any]:
        rows = MAIN.rows(name, method.scaling, first, plan)
        return vars(tune(method, rows.train, first, plan.n_threads, exponents))

    key = {**trial_key(name, method, first, plan), "tuned over": exponents}
    found = store.do(Unit(key, make))
    return replace(method, cost=found["cost"], delta=found["delta"])


def count(n_trials: int) -> str:
    """Return how many, in words."""
    return f"{n_trials} trial" + "s" * (n_trials != 1)


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


@dataclass(frozen=True)
class Summary:
    """Trials of one method on one data set; accuracies in per cent."""

    accuracies: np.ndarray
    seconds: np.ndarray  #: of training
    chosen: dict[str, np.ndarray]

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return float(self.accuracies.mean())

    @property
    def deviation(self) -> float:
        """Standard deviation over trials, of a sample."""
        return _deviation(self.accuracies)

    @property
    def time(self) -> str:
        """Mean and standard deviation of the training time."""
        mean, deviation = float(self.seconds.mean()), _deviation(self.seconds)
        return f"{seconds_text(mean).strip()} ± {seconds_text(deviation).strip()}"

    @property
    def with_error(self) -> str:
        """The mean and its standard error."""
        return f"{self.mean:.2f} ± {self.deviation / np.sqrt(self.accuracies.size):.2f}"

    @classmethod
    def of(cls, results: Sequence[dict[str, Any]]) -> Summary:
        """Sum up the results of `trial_unit`."""
        chosen = {
            name: np.array([r["chosen"][name] for r in results]) for name in results[0]["chosen"]
        }
        return cls(
            np.array([100.0 * r["right"] / r["of"] for r in results]),
            np.array([r["seconds"] for r in results]),
            chosen,
        )


def summarise(
    store: Store, name: str, method: Method, plan: Plan, reading: Reading = MAIN
) -> Summary:
    """Collect the trials of a method that is not tuned anew in each."""
    return Summary.of(
        [store[trial_key(name, method, trial, plan, reading)] for trial in range(plan.trials)]
    )
