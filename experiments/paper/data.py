"""Data sets, splits, noise and the other data of the experiments, from fixed seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bench.quality import data_sets
from experiments.paper.published import SPECIFICATIONS
from gegenbauer import InputScaling
from gegenbauer.reference import class_targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.intp]

#: The continuous ones; the paper has six, and does not name which.
AUSTRALIAN_COLUMNS = (1, 2, 6, 9, 12, 13)

#: By the unit interval, symmetrically, or by mean and standard deviation.
SCALINGS = ("unit", "symmetric", "standard")

#: Readings of an amplitude a: uniform on [0, a], uniform on [-a, a], normal with deviation a.
NOISES = ("one-sided", "symmetric", "normal")


@dataclass(frozen=True)
class Table:
    """A whole data set; classes are numbers from 0."""

    name: str
    X: Doubles
    y: Codes

    @property
    def n_classes(self) -> int:
        """How many there are."""
        return int(self.y.max()) + 1


@dataclass(frozen=True)
class Rows:
    """Inputs and classes of some rows, and how many classes there are in all."""

    X: Doubles
    y: Codes
    n_classes: int

    @property
    def Y(self) -> Doubles:  # noqa: N802  # the name of the paper, but for the letter
        """Targets: one output for two classes, K for K, +1 and -1."""
        return class_targets(self.y, np.arange(self.n_classes))

    def take(self, rows: npt.ArrayLike) -> Rows:
        """Return some of the rows."""
        return replace(self, X=self.X[rows], y=self.y[rows])


@dataclass(frozen=True)
class Split:
    """Rows to learn from and others to be judged by."""

    train: Rows
    test: Rows


@cache
def _complete() -> dict[str, Table]:
    return {name: Table(name, X, y) for name, X, y in data_sets()}


def complete(name: str) -> Table:
    """Return a data set with all its inputs."""
    return _complete()[name]


def table(name: str) -> Table:
    """Return a data set with the inputs that the experiments use: of Australian, six."""
    whole = complete(name)
    columns: Sequence[int] | slice = AUSTRALIAN_COLUMNS if name == "australian" else slice(None)
    return replace(whole, X=np.ascontiguousarray(whole.X[:, columns]))


def split(of: Table, trial: int, *, most_rows: int | None = None, by_class: bool = False) -> Split:
    """Shuffle by the number of the trial and cut where the paper does.

    Parameters
    ----------
    of : Table
        A data set of the paper.
    trial : int
        Seed.
    most_rows : int, optional
        Keep at most so many training rows, and as many test rows.
    by_class : bool
        Take the training rows from every class by its share, as nearly as whole numbers allow.
    """
    n_train = SPECIFICATIONS[of.name].n_train
    order = np.random.default_rng(trial).permutation(len(of.y))
    if by_class:
        order = _by_class(of.y, order, n_train)
    train, test = order[:n_train][:most_rows], order[n_train:][:most_rows]
    everything = Rows(of.X, of.y, of.n_classes)
    return Split(everything.take(train), everything.take(test))


def _by_class(y: Codes, order: Codes, n_train: int) -> Codes:
    """Put the training rows of every class first, each class having its share of them."""
    counts = np.bincount(y)
    share = counts * (n_train / counts.sum())
    quota = np.floor(share).astype(int)
    most_left = np.argsort(quota - share, kind="stable")
    quota[most_left[: n_train - quota.sum()]] += 1
    # number of each row within its class, in the shuffled order
    place = np.empty(len(y), int)
    for c in range(len(counts)):
        rows = np.flatnonzero(y[order] == c)
        place[rows] = np.arange(rows.size)
    chosen = place < quota[y[order]]
    return np.concatenate([order[chosen], order[~chosen]])


def scaled(split_: Split, scaling: str, reference: Doubles | None = None) -> Split:
    """Scale the inputs by the range, or by mean and deviation, of the training rows.

    Parameters
    ----------
    split_ : Split
        Rows as measured.
    scaling : str
        One of `SCALINGS`.
    reference : ndarray, optional
        Rows that set range, mean and deviation instead of those of training. Test rows are clipped
        to the range, training rows are not, since noise is to stay what it is.
    """
    rows = split_.train.X if reference is None else reference
    if scaling == "standard":
        mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        deviation = np.where(deviation > 0, deviation, 1.0)
        X, Z = ((side.X - mean) / deviation for side in (split_.train, split_.test))
    else:
        domain = {"unit": (0.0, 1.0), "symmetric": (-1.0, 1.0)}[scaling]
        X = InputScaling.fit(rows, domain=domain, clip=False).transform(split_.train.X)
        Z = InputScaling.fit(rows, domain=domain).transform(split_.test.X)
    return Split(replace(split_.train, X=X), replace(split_.test, X=Z))


def noisy(split_: Split, kind: str, amplitude: float, seed: int) -> Split:
    """Add noise to the inputs of the training rows, in parts of the range of each input.

    Parameters
    ----------
    split_ : Split
        Rows as measured.
    kind : str
        One of `NOISES`.
    amplitude : float
        Part of the range.
    seed : int
        Of the noise.
    """
    X = split_.train.X
    rng = np.random.default_rng([seed, 1])  # not the numbers that shuffled the rows
    draw = {
        "one-sided": lambda: rng.uniform(0.0, 1.0, X.shape),
        "symmetric": lambda: rng.uniform(-1.0, 1.0, X.shape),
        "normal": lambda: rng.standard_normal(X.shape),
    }[kind]
    noise = amplitude * np.ptp(X, axis=0) * draw()
    return replace(split_, train=replace(split_.train, X=X + noise))


def amplified(of: Table, n_rows: int) -> Rows:
    """Copy rows at random until there are so many; the first are those that there are."""
    rng = np.random.default_rng(0)
    copies = rng.integers(0, len(of.y), max(n_rows - len(of.y), 0))
    rows = np.concatenate([np.arange(len(of.y)), copies])[:n_rows]
    return Rows(of.X, of.y, of.n_classes).take(rows)


def double_moon(
    n_rows: int, *, radius: float = 10.0, width: float = 6.0, gap: float = -5.0
) -> Rows:
    """Draw points of two half rings, uniform in radius and angle, each reaching into the other.

    Parameters
    ----------
    n_rows : int
        Of both classes together.
    radius, width : float
        Of the middle of a ring, and of its band.
    gap : float
        How far the lower ring is moved down; negative ones move it up, into the upper.
    """
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    r = radius + width * rng.uniform(-0.5, 0.5, n_rows)
    angle = np.pi * rng.uniform(0.0, 1.0, n_rows)
    X = np.column_stack([r * np.cos(angle), r * np.sin(angle)])
    X[y == 1] = [radius, -gap] + X[y == 1] * [1.0, -1.0]
    return Rows(X, y, 2)
