"""How honest probabilities are with few samples: ``python -m bench.probabilities``.

Seven made problems of twelve inputs, and eight data sets, with 60 and 120 samples to learn from.
The model of five spectra stands beside that of one, on the same samples. What counts is the
accuracy and the log-loss of new samples, 2000 made ones or all others of a data set, and how far
the log-loss of ``loo_probabilities_`` is from the latter. Standard errors of a problem are those
over repeats, of all problems those over problems.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from bench.few_samples import Samples, measure, run_command, shown
from bench.quality import data_sets
from gegenbauer import GegenbauerClassifierCV

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Scores = Callable[[np.ndarray], np.ndarray]

N_INPUTS, N_NEW = 12, 2000

# Logarithms of odds, or scores of several classes, by inputs in [-1, 1]
MADE: dict[str, Scores] = {
    "one input": lambda x: 4 * x[:, 0],
    "three inputs": lambda x: 4 * x[:, 0] + 3 * x[:, 1] - 2 * x[:, 2],
    "all inputs": lambda x: 2 * x.sum(axis=1),
    "exclusive or": lambda x: 8 * x[:, 0] * x[:, 1],
    "ring": lambda x: 8 * (x[:, 0] ** 2 + x[:, 1] ** 2 - 0.6),
    "three classes": lambda x: 4 * np.column_stack([x[:, 0], x[:, 1] * x[:, 2], 0 * x[:, 0]]),
    "noise": lambda x: 0 * x[:, 0],
}

DATA_SETS = (
    "iris", "wine", "australian", "diabetes", "liver", "ionosphere", "glass", "vehicle",
)  # fmt: skip


class Measured(NamedTuple):
    """What came of one fit."""

    accuracy: float  # of new samples
    loss: float  # their log-loss
    left_out: float  # log-loss of samples left out
    seconds: float  # of the fit, processor time


def make(scores: Scores, n: int, seed: int) -> Samples:
    """Draw n samples of a made problem, and new ones."""
    rng = np.random.default_rng([seed, n])
    X = rng.uniform(-1, 1, size=(n + N_NEW, N_INPUTS))
    F = scores(X)
    if F.ndim == 1:
        F = np.column_stack([0 * F, F])
    # the largest of scores with Gumbel's noise has the probabilities of their softmax
    y = (F + rng.gumbel(size=F.shape)).argmax(axis=1)
    return Samples(X[:n], y[:n], X[n:], y[n:])


def problems() -> Iterator[tuple[str, Callable[[int, int], Samples]]]:
    """Yield names, and what draws samples by their number and a seed."""
    for name, scores in MADE.items():
        yield name, lambda n, seed, scores=scores: make(scores, n, seed)  # type: ignore[misc]
    for name, X, y in data_sets():
        if name not in DATA_SETS:
            continue

        def split(n: int, seed: int, X: np.ndarray = X, y: np.ndarray = y) -> Samples:
            parts = train_test_split(X, y, train_size=n, stratify=y, random_state=seed)
            return Samples(parts[0], parts[2], parts[1], parts[3])

        yield name, split


def judge(samples: Samples, n_spectra: int) -> Measured:
    """Fit, and judge by the new samples."""
    X, y, X_new, y_new = samples
    start = time.process_time()
    model = GegenbauerClassifierCV(n_spectra=n_spectra, out_of_range="clip").fit(X, y)
    seconds = time.process_time() - start
    P = model.predict_proba(X_new)
    return Measured(
        float((model.classes_[P.argmax(axis=1)] == y_new).mean()),
        float(log_loss(y_new, P, labels=model.classes_)),
        float(log_loss(y, model.loo_probabilities_, labels=model.classes_)),
        seconds,
    )


def report(name: str, one: np.ndarray, five: np.ndarray) -> None:
    """Print a line: (repeats or problems, measures) of the models of one spectrum and of five."""
    gain, less = shown(five[:, 0] - one[:, 0], "+.2f", 100), shown(five[:, 1] - one[:, 1], "+.4f")
    gaps = [shown(each[:, 2] - each[:, 1], "+.4f") for each in (one, five)]
    parts = [
        f"accuracy {100 * one[:, 0].mean():.1f}, five {gain} points",
        f"log-loss {one[:, 1].mean():.4f}, five {less}",
        f"left out minus new {gaps[0]}, five {gaps[1]}",
        f"{one[:, 3].mean():.2f} -> {five[:, 3].mean():.2f} s",
    ]
    print(f"{name}: {'; '.join(parts)}", flush=True)


def run(sizes: list[int], n_repeats: int, only: list[str]) -> dict[str, dict[str, object]]:
    """Return measures by size, problem and model."""
    found: dict[str, dict[str, object]] = {}
    for n in sizes:
        means = {}
        for name, draw in problems():
            if only and name not in only:
                continue
            both = measure(judge, (1, 5), draw, n, n_repeats)
            report(f"{n} samples, {name}", *both.swapaxes(0, 1))
            means[name] = both.mean(axis=0)
            found.setdefault(str(n), {})[name] = both.tolist()
        for kind in ("made", "data sets"):
            some = [mean for name, mean in means.items() if (name in MADE) == (kind == "made")]
            if some:
                report(f"{n} samples, all {len(some)} {kind}", *np.array(some).swapaxes(0, 1))
    return found


if __name__ == "__main__":
    run_command("probabilities", __doc__, [60, 120], run)
