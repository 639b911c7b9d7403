"""Scores of the rows that ``fit --stream`` holds out, which come in batches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.cli.lines import accuracy_line, errors_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer.cli.output import Line

__all__ = ["ErrorSums", "RightCount"]


@dataclass
class RightCount:
    """Counts predictions of classes that are right."""

    weighted: bool
    n: int = 0
    n_right: int = 0
    weight: float = 0.0
    weight_right: float = 0.0
    left: Counter[Any] = field(default_factory=Counter)  # rows by class, of those not held out
    out: Counter[Any] = field(default_factory=Counter)  # weights by class

    def add(self, y: NDArray[Any], predicted: NDArray[Any], weight: NDArray[Any]) -> None:
        """Count some rows that are held out."""
        right = (predicted == y) & (weight > 0)
        self.n += int(np.count_nonzero(weight))
        self.n_right += int(np.count_nonzero(right))
        self.weight += float(weight.sum())
        self.weight_right += float(weight[right].sum())
        labels, places = np.unique(y, return_inverse=True)
        sums = np.bincount(places, weight)
        self.out.update(dict(zip(labels.tolist(), sums.tolist(), strict=True)))

    def see(self, y: NDArray[Any]) -> None:
        """Count classes of rows that are not held out."""
        self.left.update(_counts(y))

    def line(self) -> Line:
        """Return the line of the report."""
        frequent = max(sorted(self.left), key=self.left.__getitem__)
        return accuracy_line(
            self.n_right, self.n, frequent, self.out[frequent] / self.weight,
            weighted=self.weight_right / self.weight if self.weighted else None,
        )  # fmt: skip


@dataclass
class ErrorSums:
    """Sums the squares of errors, and of differences from the mean."""

    penalized: bool  # the constant term
    weighted: bool
    n: int = 0
    weight: float = 0.0
    mean: float = 0.0
    spread: float = 0.0
    squares: float = 0.0

    def add(self, y: NDArray[Any], predicted: NDArray[Any], weight: NDArray[Any]) -> None:
        """Count some rows that are held out."""
        self.n += int(np.count_nonzero(weight))
        new = float(weight.sum())
        if new == 0:
            return
        mean = float(weight @ y / new)
        step = mean - self.mean
        total = self.weight + new
        # the spreads of both parts about their own means, and that of the means
        self.spread += float(weight @ (y - mean) ** 2) + step**2 * self.weight * new / total
        self.mean += step * new / total
        self.squares += float(weight @ (y - predicted) ** 2)
        self.weight = total

    def see(self, y: NDArray[Any]) -> None:
        """Do nothing: the errors are of the rows held out alone."""

    def line(self) -> Line:
        """Return the line of the report."""
        # without any spread as scikit-learn has it
        r2 = 1.0 - self.squares / self.spread if self.spread else float(self.squares == 0)
        rmse, std = np.sqrt(self.squares / self.weight), np.sqrt(self.spread / self.weight)
        return errors_line(
            r2, float(rmse), self.n, self.mean, float(std), penalized=self.penalized,
            weighted=self.weighted,
        )  # fmt: skip


def _counts(y: NDArray[Any]) -> dict[Any, int]:
    labels, counts = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))
