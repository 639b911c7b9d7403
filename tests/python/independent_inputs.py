"""Everything about a function of independent inputs by brute force: predictions on full grids.

Nothing here knows what the function is: a conditional mean is a weighted sum of its predictions at
all combinations of the values that each input may take, and all else follows from the conditional
means given each of the 2^m subsets of the inputs, by definition.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Subset = frozenset


def subsets(m: int) -> list[Subset]:
    """All subsets of the inputs, from the empty one on."""
    return [
        frozenset(one) for size in range(m + 1) for one in itertools.combinations(range(m), size)
    ]


def marginals_of_samples(X: np.ndarray, weight: np.ndarray | None = None) -> list[tuple]:
    """Distinct values of each column with their shares."""
    weight = np.ones(len(X)) if weight is None else weight
    found = []
    for column in X.T:
        values, places = np.unique(column, return_inverse=True)
        found.append((values, np.bincount(places, weight) / weight.sum()))
    return found


class Game:
    """The conditional means of a function at some samples, given each subset of the inputs.

    Parameters
    ----------
    predict
        Takes a list of columns, and gives (n,) or (n, n_outputs).
    marginals
        Of each input its values, as they are in a column, and their probabilities.
    columns
        The samples, one sequence an input.
    """

    def __init__(
        self,
        predict: Callable[[list], np.ndarray],
        marginals: Sequence[tuple[Any, np.ndarray]],
        columns: Sequence[Any],
    ) -> None:
        self.m, n = len(marginals), len(columns[0])
        # per input first all values, then that of the sample
        grids = [list(itertools.product(*(range(len(w) + 1) for _, w in marginals)))] * n
        flat: list[list] = [[] for _ in marginals]
        for i, grid in enumerate(grids):
            for t, places in enumerate(zip(*grid, strict=True)):
                pool = [*marginals[t][0], columns[t][i]]
                flat[t] += [pool[k] for k in places]
        f = np.asarray(predict(flat)).reshape(n, *(len(w) + 1 for _, w in marginals), -1)
        for t, (_, w) in enumerate(marginals):
            change = np.zeros((2, len(w) + 1))
            change[0, :-1], change[1, -1] = w, 1.0
            f = np.moveaxis(np.tensordot(f, change, axes=(t + 1, 1)), -1, t + 1)
        self.values = {
            u: f[(slice(None), *(int(t in u) for t in range(self.m)))] for u in subsets(self.m)
        }

    @property
    def mean(self) -> np.ndarray:
        """Of the function, (n_outputs,)."""
        return self.values[frozenset()][0]

    def shapley(self) -> np.ndarray:
        """Shapley values by their definition, (n_samples, n_features, n_outputs)."""
        found = []
        for t in range(self.m):
            total = 0.0
            for u in subsets(self.m):
                if t not in u:
                    a = len(u)
                    share = math.factorial(a) * math.factorial(self.m - a - 1)
                    total = total + share * (self.values[u | {t}] - self.values[u])
            found.append(total / math.factorial(self.m))
        return np.stack(found, axis=1)

    def part(self, u: Sequence[int]) -> np.ndarray:
        """Part of the functional ANOVA decomposition, (n_samples, n_outputs)."""
        return sum(
            (-1.0) ** (len(u) - size) * self.values[frozenset(v)]
            for size in range(len(u) + 1)
            for v in itertools.combinations(u, size)
        )


class VarianceParts:
    """Variances of a function by sets of inputs, from its values on the grid of all nodes."""

    def __init__(
        self,
        predict: Callable[[list], np.ndarray],
        marginals: Sequence[tuple[Any, np.ndarray]],
    ) -> None:
        self.m = m = len(marginals)
        grid = list(itertools.product(*(range(len(w)) for _, w in marginals)))
        flat = [
            [marginals[t][0][k] for k in places] for t, places in enumerate(zip(*grid, strict=True))
        ]
        f = np.asarray(predict(flat)).reshape(*(len(w) for _, w in marginals), -1)
        self.closed = {}
        whole = f
        for _, w in marginals:
            whole = np.tensordot(w, whole, axes=(0, 0))
        self.mean = whole
        for u in subsets(m):
            g = f - self.mean
            for t in reversed(range(m)):
                if t not in u:
                    g = np.tensordot(marginals[t][1], g, axes=(0, t))
            g = g**2
            for t in sorted(u):
                g = np.tensordot(marginals[t][1], g, axes=(0, 0))
            self.closed[u] = g
        self.variance = self.closed[frozenset(range(m))]

    def closed_share(self, u: Sequence[int]) -> np.ndarray:
        return self.closed[frozenset(u)] / self.variance

    def total_share(self, u: Sequence[int]) -> np.ndarray:
        return 1.0 - self.closed[frozenset(range(self.m)) - frozenset(u)] / self.variance

    def second(self) -> np.ndarray:
        """Shares of interactions of pairs, (n_outputs, m, m)."""
        found = np.zeros((self.variance.size, self.m, self.m))
        for i, j in itertools.permutations(range(self.m), 2):
            both = self.closed[frozenset({i, j})]
            single = self.closed[frozenset({i})] + self.closed[frozenset({j})]
            found[:, i, j] = (both - single) / self.variance
        return found

    def shapley_effects(self) -> np.ndarray:
        """Shapley values of the game of closed variances, (n_outputs, m)."""
        found = np.zeros((self.variance.size, self.m))
        for t in range(self.m):
            for u in subsets(self.m):
                if t not in u:
                    a = len(u)
                    share = math.factorial(a) * math.factorial(self.m - a - 1)
                    found[:, t] += share * (self.closed[u | {t}] - self.closed[u]) / self.variance
        return found / math.factorial(self.m)
