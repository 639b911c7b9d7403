"""Sums of kernels as sums of products of univariate functions, one product for each centre.

With the mean M_t and the varying part h_t = K_t - M_t of each factor under the distribution of its
input, the product of all factors is the sum over sets u of inputs of the product of h_t over u and
of M_t over all others. A weight of y to the power of its size for each set gives the product of
M_t + y h_t, of which Shapley values and effects are integrals over y in [0, 1]: polynomials in y,
for which a Gauss rule of half as many nodes as inputs is exact. Nothing is ever divided by a
factor.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from gegenbauer._validation import check_threads
from gegenbauer.basis.kernels import SpectrumKernel, input_kernel
from gegenbauer.ridge.mean_expansion import MeanExpansion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gegenbauer._typing import Doubles
    from gegenbauer.inspection.marginals import Marginal, Measure
    from gegenbauer.ridge.expansions import KernelExpansion

__all__ = ["KernelProducts", "equal_shares", "products_without_one"]

# Values of a factor that are held at once, few enough for a cache
_MOST_VALUES = 2**15


def equal_shares(n_inputs: int) -> tuple[Doubles, Doubles]:
    """Return nodes and weights for means over y in [0, 1] of products of `n_inputs` - 1 lines."""
    nodes, weights = np.polynomial.legendre.leggauss(max(1, (n_inputs + 1) // 2))
    return 0.5 * (nodes + 1.0), 0.5 * weights


def products_without_one(factors: Sequence[Doubles] | Doubles) -> Doubles:
    """Return the product of all factors but one, for each of them, without a division."""
    n = len(factors)
    found = np.empty((n, *factors[0].shape))
    found[-1] = 1.0
    for t in range(n - 2, -1, -1):
        np.multiply(found[t + 1], factors[t + 1], out=found[t])
    before = np.array(factors[0])
    for t in range(1, n):
        found[t] *= before
        before *= factors[t]
    return found


class KernelProducts:
    """A sum of kernels at centres under a distribution of each input.

    Parameters
    ----------
    function : KernelExpansion or MeanExpansion
        The function; of a mean, the centres of all parts count.
    marginals : sequence of Marginal
        The distributions of the inputs.
    n_threads : int or None
        Of the evaluation of kernels.
    """

    def __init__(
        self,
        function: KernelExpansion | MeanExpansion,
        marginals: Sequence[Measure],
        n_threads: int | None = None,
    ) -> None:
        parts = function.parts if isinstance(function, MeanExpansion) else (function,)
        self.scaling = function.scaling
        self.n_outputs = function.n_outputs
        self.coef: Doubles = np.vstack([part.coef_2d for part in parts]) / len(parts)
        self.intercept: Doubles = np.zeros(self.n_outputs)
        for part in parts:
            if part.intercept is not None:
                self.intercept = self.intercept + part.intercept / len(parts)
        self._n_threads = check_threads(n_threads)  # once: the processors are looked up in files
        # models of streams, of which there are no nodes, have finite sets of terms
        self.marginals = cast("Sequence[Marginal]", marginals)
        self._kernels: list[list[tuple[SpectrumKernel, Doubles]]] = []
        centres = [part.scaling.transform(part.centres).clip(-1.0, 1.0) for part in parts]
        varying = np.zeros(self.scaling.n_features, dtype=bool)
        for t in range(self.scaling.n_features):
            own = []
            for part, z in zip(parts, centres, strict=True):
                assert isinstance(part.kernel, SpectrumKernel)  # estimators have no other
                own.append((input_kernel(part.kernel, t), z[:, t : t + 1]))
                varying[t] |= bool(part.kernel.spectrum.interactions(varying.size)[t].any())
            self._kernels.append(own)
        self.inputs: list[int] = np.flatnonzero(varying).tolist()
        self.n_products = len(self.coef)

    def factor(self, t: int, nodes: Doubles) -> Doubles:
        """Return the factors of an input in all products, (n_nodes, n_products).

        Nodes are scaled, NaN where a number is missing.
        """
        column = np.ascontiguousarray(nodes)[:, np.newaxis]
        found = [kernel(column, z, n_threads=self._n_threads) for kernel, z in self._kernels[t]]
        return found[0] if len(found) == 1 else np.hstack(found)

    @cached_property
    def means(self) -> list[Doubles]:
        """The mean of the factors of each varying input, (n_products,) each."""
        found = []
        for t in self.inputs:
            one, total = self.marginals[t], np.zeros(self.n_products)
            for block in self._parts(len(one.nodes)):
                total += one.weights[block] @ self.factor(t, one.nodes[block])
            found.append(total)
        return found

    @cached_property
    def mean(self) -> Doubles:
        """The mean of the function, (n_outputs,)."""
        return np.asarray(self._all(self.means) @ self.coef + self.intercept)

    def _all(self, factors: Sequence[Doubles]) -> Doubles:
        found = np.ones(self.n_products)
        for one in factors:
            found = found * one
        return found

    def _parts(self, n: int) -> Iterator[slice]:
        """Yield parts of n samples or nodes that have few enough factors."""
        step = max(1, _MOST_VALUES // self.n_products)
        for first in range(0, n, step):
            yield slice(first, first + step)

    def blocks(self, Z: Doubles) -> Iterator[tuple[slice, list[Doubles]]]:
        """Yield blocks of scaled samples and the factors of all varying inputs there."""
        for block in self._parts(len(Z)):
            yield block, [self.factor(t, Z[block, t]) for t in self.inputs]

    def shapley(self, Z: Doubles) -> Doubles:
        """Return the Shapley values at scaled samples, (n_samples, n_features, n_outputs)."""
        found = np.zeros((len(Z), self.scaling.n_features, self.n_outputs))
        if not self.inputs:
            return found
        levels, shares = equal_shares(len(self.inputs))
        for block, factors in self.blocks(Z):
            varying = [factor - mean for factor, mean in zip(factors, self.means, strict=True)]
            total = [np.zeros_like(varying[0]) for _ in varying]
            for y, share in zip(levels.tolist(), shares.tolist(), strict=True):
                mixed = [mean + y * part for mean, part in zip(self.means, varying, strict=True)]
                for one, product in zip(total, products_without_one(mixed), strict=True):
                    one += share * product
            for t, one, part in zip(self.inputs, total, varying, strict=True):
                found[block, t] = (one * part) @ self.coef
        return found

    def _rest(self, known: set[int]) -> Doubles:
        """Return the coefficients times the means of all inputs but some, (n_products, K)."""
        pairs = zip(self.inputs, self.means, strict=True)
        return self._all([mean for t, mean in pairs if t not in known])[:, np.newaxis] * self.coef

    def conditional_mean(self, Z: Doubles, inputs: Sequence[int]) -> Doubles:
        """Return the mean given some inputs of scaled samples, (n_samples, n_outputs)."""
        return self._given(Z, inputs, self._rest({*inputs}))

    def over_samples(self, Z: Doubles, inputs: Sequence[int], samples: Doubles) -> Doubles:
        """Return the same with the mean over scaled samples, jointly, in the place of all means."""
        total = np.zeros(self.n_products)
        known = {*inputs}
        for _, factors in self.blocks(samples):
            product = np.ones((len(factors[0]) if factors else 1, self.n_products))
            for t, factor in zip(self.inputs, factors, strict=True):
                if t not in known:
                    product *= factor
            total += product.sum(axis=0)
        return self._given(Z, inputs, (total / len(samples))[:, np.newaxis] * self.coef)

    def _given(self, Z: Doubles, inputs: Sequence[int], coef: Doubles) -> Doubles:
        found = np.empty((len(Z), self.n_outputs))
        given = [t for t in self.inputs if t in {*inputs}]
        for block in self._parts(len(Z)):
            product = np.ones((len(Z[block]), self.n_products))
            for t in given:
                product *= self.factor(t, Z[block, t])
            found[block] = product @ coef
        return found + self.intercept

    def components(self, Z: Doubles, sets: Sequence[Sequence[int]]) -> Doubles:
        """Return the parts of sets of inputs at scaled samples, and the sum of those of all sets.

        (n_samples, n_sets + 1, n_outputs).
        """
        found = np.zeros((len(Z), len(sets) + 1, self.n_outputs))
        place = {t: k for k, t in enumerate(self.inputs)}
        own = [(k, one) for k, one in enumerate(sets) if all(t in place for t in one)]
        coefs = [self._rest({*one}) for _, one in own]
        for block, factors in self.blocks(Z):
            varying = [factor - mean for factor, mean in zip(factors, self.means, strict=True)]
            for (k, one), coef in zip(own, coefs, strict=True):
                product = varying[place[one[0]]]
                for t in one[1:]:
                    product = product * varying[place[t]]
                found[block, k] = product @ coef
            found[block, -1] = self._all(factors) @ self.coef
        found[:, -1] -= self.mean - self.intercept
        return found
