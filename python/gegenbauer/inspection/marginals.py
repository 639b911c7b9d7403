"""Distributions of single inputs as nodes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gegenbauer.inspection._quadrature import recurrence_between, rule_between

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["FIXED", "Condensed", "Marginal", "Measure", "of_levels", "worked_out"]


class Measure(Protocol):
    """A distribution of one input, known by means of products of two functions of it."""

    def weighted(self, functions: Callable[[Doubles], Doubles]) -> Doubles:
        """Return R with R'R the means of products of functions, (n, n_functions)."""


@dataclass(frozen=True, eq=False)
class Marginal:
    """A distribution of one input: means of functions of it are weighted sums of their values.

    Attributes
    ----------
    nodes : ndarray, shape (n_nodes,)
        Scaled, as the functions of the model take them: in the domain of the polynomials, with the
        policy for values out of range applied. NaN where a number is missing.
    weights : ndarray, shape (n_nodes,)
        Positive, with a sum of one.
    """

    nodes: Doubles
    weights: Doubles

    def weighted(self, functions: Callable[[Doubles], Doubles]) -> Doubles:
        """Return the values of functions at the nodes, times the roots of the weights."""
        return np.sqrt(self.weights)[:, np.newaxis] * functions(self.nodes)

    def condensed(self, n_nodes: int) -> Marginal:
        """Return the Gauss rule of so many nodes; what is missing has its own."""
        found = self.to_condense(n_nodes)
        return found if isinstance(found, Marginal) else found.marginal

    def to_condense(self, n_nodes: int) -> Marginal | Condensed:
        """Return the same, its rule to be worked out at the first use."""
        nodes, weights, share = self.nodes, self.weights, 0.0
        missing = np.isnan(nodes)
        n_missing = int(np.count_nonzero(missing))
        if len(nodes) - n_missing <= n_nodes:
            return self
        if n_missing:
            share = float(weights[missing].sum())
            nodes, weights = nodes[~missing], weights[~missing]
        whole = float(weights.sum())
        low, high = float(nodes.min()), float(nodes.max())
        recurrence = recurrence_between(nodes, weights / whole, n_nodes, low, high)
        return Condensed(recurrence, low, high, whole, share)


@dataclass(frozen=True, eq=False)
class Condensed:
    """A marginal whose Gauss rule is worked out at the first use: many fits are never explained.

    Attributes
    ----------
    recurrence : ndarray, shape (n_nodes, 2)
        Of the numbers, as `recurrence_between` returns it.
    low, high : float
        The least and the largest of them.
    whole, share : float
        Their weight, and that of what is missing.
    """

    recurrence: Doubles
    low: float
    high: float
    whole: float
    share: float

    @cached_property
    def marginal(self) -> Marginal:
        """The marginal of the nodes of the rule."""
        nodes, weights = rule_between(self.recurrence, self.low, self.high)
        weights = self.whole * weights
        if self.share == 0:
            return Marginal(nodes, weights)
        return Marginal(np.append(nodes, np.nan), np.append(weights, self.share))


def worked_out(kept: Sequence[Marginal | Condensed]) -> tuple[Marginal, ...]:
    """Return marginals, those that are condensed by their rules."""
    return tuple(one if isinstance(one, Marginal) else one.marginal for one in kept)


# Of a constant input, which `InputScaling` maps to 0
FIXED = Marginal(np.zeros(1), np.ones(1))


def of_levels(shares: npt.ArrayLike) -> Marginal:
    """Return the marginal of a category by the shares of its levels, from the first on."""
    found = np.asarray(shares, dtype=np.float64)
    n = len(found)
    nodes = np.zeros(1) if n == 1 else 2.0 * np.arange(n) / (n - 1) - 1.0
    kept = found > 0
    return Marginal(nodes[kept], found[kept] / found[kept].sum())
