"""How honest intervals are with few samples: ``python -m bench.intervals``.

Eight problems with 50, 100 and 300 samples: seven test functions on the unit cube, with normal
noise of a fifth of their standard deviation, and the diabetes data of scikit-learn. The model of
five spectra, which is the default for so few samples, stands beside that of one, on the same
samples. What counts is 1000 new samples (of diabetes, the others): the share inside of intervals of
90 per cent, the share within 1.645 standard deviations, the width of intervals, and the root mean
squared error. Standard errors are those over repeats.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes

from bench.few_samples import Samples, measure, run_command, shown
from bench.quality import borehole, friedman, ishigami, otl_circuit
from gegenbauer import GegenbauerRegressorCV

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[np.ndarray], np.ndarray]

NOISE = 0.2  # by the standard deviation of the function
N_NEW = 1000
COVERAGE, DEVIATIONS = 0.9, 1.6449


def circuit(u: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return resistance, frequency, inductance and capacity, of Friedman's second and third."""
    low, width = np.array([0, 40 * np.pi, 0, 1]), np.array([100, 520 * np.pi, 1, 10])
    return tuple((low + u * width).T)


def impedance(u: np.ndarray) -> np.ndarray:
    """Friedman's second function, 4 inputs."""
    r, w, inductance, c = circuit(u)
    return np.asarray(np.sqrt(r**2 + (w * inductance - 1 / (w * c)) ** 2))


def phase(u: np.ndarray) -> np.ndarray:
    """Friedman's third function, 4 inputs."""
    r, w, inductance, c = circuit(u)
    return np.asarray(np.arctan2(w * inductance - 1 / (w * c), r))


def welch(u: np.ndarray) -> np.ndarray:
    """The function of Welch and others (1992), 20 inputs of which some do next to nothing."""
    x = u - 0.5
    small = {1: 0.05, 2: 0.08, 4: 1.0, 5: -0.03, 6: 0.03, 8: -0.09, 9: -0.01, 10: -0.07, 13: -0.04,
             14: 0.06, 16: -0.01, 17: -0.03, 18: -5.0}  # fmt: skip
    return np.asarray(
        5 * x[:, 11] / (1 + x[:, 0]) + 5 * (x[:, 3] - x[:, 19]) ** 2 + 40 * x[:, 18] ** 3
        + 0.25 * x[:, 12] ** 2 + sum(factor * x[:, t] for t, factor in small.items())
    )  # fmt: skip


# None for the data of scikit-learn
PROBLEMS: dict[str, tuple[Function, int] | None] = {
    "Friedman-1": (friedman, 10),
    "Friedman-2": (impedance, 4),
    "Friedman-3": (phase, 4),
    "borehole": (borehole, 8),
    "OTL circuit": (otl_circuit, 6),
    "Ishigami": (ishigami, 3),
    "Welch": (welch, 20),
    "diabetes": None,
}


class Measured(NamedTuple):
    """What came of one fit."""

    inside: float  # share of new targets in their intervals
    within: float  # share within the normal ones of the standard deviation
    width: float  # median
    error: float  # root mean squared
    seconds: float  # of the fit, processor time


def draw(problem: tuple[Function, int] | None, n: int, seed: int) -> Samples:
    """Return n samples of a problem, and others."""
    rng = np.random.default_rng([seed, n])
    if problem is None:
        X, y = load_diabetes(return_X_y=True)
        order = rng.permutation(len(y))
        return Samples(X[order[:n]], y[order[:n]], X[order[n:]], y[order[n:]])
    function, m = problem
    size = NOISE * function(np.random.default_rng(0).uniform(size=(20_000, m))).std()
    X, X_new = rng.uniform(size=(n, m)), rng.uniform(size=(N_NEW, m))
    y, y_new = (function(Z) + size * rng.normal(size=len(Z)) for Z in (X, X_new))
    return Samples(X, y, X_new, y_new)


def judge(samples: Samples, intervals: str) -> Measured:
    """Fit, and judge by the new samples."""
    X, y, X_new, y_new = samples
    start = time.process_time()
    model = GegenbauerRegressorCV(out_of_range="clip", intervals=intervals).fit(X, y)
    seconds = time.process_time() - start
    lower, upper = model.predict_interval(X_new, COVERAGE)
    mean, std = model.predict(X_new, return_std=True)
    return Measured(
        float(((lower <= y_new) & (y_new <= upper)).mean()),
        float((np.abs(y_new - mean) <= DEVIATIONS * std).mean()),
        float(np.median(upper - lower)),
        float(np.sqrt(np.mean((mean - y_new) ** 2))),
        seconds,
    )


def report(name: str, one: np.ndarray, five: np.ndarray) -> None:
    """Print a line: (repeats, measures) of the models of one spectrum and of five."""
    parts = [
        f"inside {shown(one[:, 0], '.1f', 100)} -> {shown(five[:, 0], '.1f', 100)} %",
        f"within deviations {shown(one[:, 1], '.1f', 100)} -> {shown(five[:, 1], '.1f', 100)} %",
        f"width x {shown(five[:, 2] / one[:, 2], '.3f')}",
        f"RMSE x {shown(five[:, 3] / one[:, 3], '.3f')}",
        f"{one[:, 4].mean():.2f} -> {five[:, 4].mean():.2f} s",
    ]
    print(f"{name}: {', '.join(parts)}", flush=True)


def run(sizes: list[int], n_repeats: int, only: list[str]) -> dict[str, dict[str, Any]]:
    """Return measures by size, problem and model."""
    found: dict[str, dict[str, Any]] = {}
    for n in sizes:
        together = []
        for name, problem in PROBLEMS.items():
            if only and name not in only:
                continue
            ways = ("one_spectrum", "five_spectra")
            both = measure(judge, ways, partial(draw, problem), n, n_repeats)
            report(f"{n} samples, {name}", *both.swapaxes(0, 1))
            together.append(both)
            found.setdefault(str(n), {})[name] = both.tolist()
        # repeats are of all problems at once
        means = np.exp(np.log(np.maximum(together, 1e-12)).mean(axis=0))
        means[..., :2] = np.mean(together, axis=0)[..., :2]
        report(f"{n} samples, all {len(together)}", *means.swapaxes(0, 1))
    return found


if __name__ == "__main__":
    run_command("intervals", __doc__, [50, 100, 300], run)
