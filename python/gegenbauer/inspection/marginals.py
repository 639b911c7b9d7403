"""Distributions of single inputs as nodes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gegenbauer.inspection._quadrature import gauss_rule

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = ["FIXED", "Marginal", "Measure", "of_levels"]


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
        missing = np.isnan(self.nodes)
        share = float(self.weights[missing].sum())
        if len(self.nodes) - np.count_nonzero(missing) <= n_nodes:
            return self
        given = self.weights[~missing]
        whole = float(given.sum())
        nodes, weights = gauss_rule(self.nodes[~missing], given / whole, n_nodes)
        weights = whole * weights
        if share == 0:
            return Marginal(nodes, weights)
        return Marginal(np.append(nodes, np.nan), np.append(weights, share))


# Of a constant input, which `InputScaling` maps to 0
FIXED = Marginal(np.zeros(1), np.ones(1))


def of_levels(shares: npt.ArrayLike) -> Marginal:
    """Return the marginal of a category by the shares of its levels, from the first on."""
    found = np.asarray(shares, dtype=np.float64)
    n = len(found)
    nodes = np.zeros(1) if n == 1 else 2.0 * np.arange(n) / (n - 1) - 1.0
    kept = found > 0
    return Marginal(nodes[kept], found[kept] / found[kept].sum())
