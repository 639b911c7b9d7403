"""Sums of terms as sums of centred products: each part of such a sum is a sum of the same terms.

A term is a product of functions of single inputs. Written as its mean and what varies, each of
these functions makes of a term those that lack some of its inputs, which a downward closed set
holds as well. So whatever is linear in the parts of the functional ANOVA decomposition - a part, a
conditional mean, a Shapley value - has coefficients of the terms that the model has already, and
is evaluated as fast as the model.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.basis.input_functions import functions_of, places_without

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.tensor_basis import TensorBasis
    from gegenbauer.inspection.marginals import Measure

__all__ = ["CentredTerms"]


class CentredTerms:
    """The terms of a basis under a distribution of each input.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    marginals : sequence of Measure
        The distributions of the inputs.
    """

    def __init__(self, basis: TensorBasis, marginals: Sequence[Measure]) -> None:
        self.basis = basis
        self.indices = basis.indices
        self.marginals = marginals
        self._inputs = np.flatnonzero(self.indices.any(axis=0)).tolist()

    @cached_property
    def active(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Which inputs each term has, (n_terms, n_features)."""
        return np.asarray(self.indices > 0)

    @cached_property
    def n_inputs(self) -> Places:
        """How many inputs each term has, (n_terms,)."""
        return np.asarray(self.active.sum(axis=1))

    @cached_property
    def _means(self) -> list[Doubles]:
        """Return the mean of the function of each input in each term, 1 where it has none."""
        found = []
        for t in self._inputs:
            functions = partial(functions_of, self.basis.spectrum, self.basis.lam, self.indices, t)
            weighted = self.marginals[t].weighted(functions)
            found.append((weighted[:, 0] @ weighted)[self.indices[:, t]])  # the first one is 1
        return found

    @cached_property
    def _without(self) -> list[Places]:
        """For each input, where the terms are that lack it and are like each term elsewhere."""
        return places_without(self.indices, self._inputs)

    def centre(self, coef: Doubles) -> Doubles:
        """Return coefficients of the products of centred functions that are the same sum.

        Parameters
        ----------
        coef : ndarray, shape (n_terms, n_outputs)
            Of the terms.
        """
        return self._moved(coef, 1.0)

    def uncentre(self, coef: Doubles) -> Doubles:
        """Return coefficients of the terms that are the same sum as centred products."""
        return self._moved(coef, -1.0)

    def _moved(self, coef: Doubles, sign: float) -> Doubles:
        found = np.array(coef)
        for t, means, without in zip(self._inputs, self._means, self._without, strict=True):
            rows = self.active[:, t]
            np.add.at(found, without[rows], sign * means[rows, np.newaxis] * found[rows])
        return found

    def over_samples(self, coef: Doubles, means: Doubles, inputs: Iterable[int]) -> Doubles:
        """Return the coefficients of the mean over some inputs of samples, jointly.

        Parameters
        ----------
        coef : ndarray, shape (n_terms, n_outputs)
            Of the terms.
        means : ndarray, shape (n_terms,)
            Of the terms in the samples.
        inputs : iterable of int
            Those that are averaged over.
        """
        gone = {*inputs}
        kept = gathered = np.arange(len(coef))
        for t, without in zip(self._inputs, self._without, strict=True):
            if t in gone:
                kept = without[kept]
            else:
                gathered = without[gathered]
        found = np.zeros_like(coef)
        np.add.at(found, kept, means[gathered, np.newaxis] * coef)
        return found

    def averaged(self, coef: Doubles, inputs: Iterable[int]) -> Doubles:
        """Return the coefficients of the mean over some inputs, (n_terms, n_outputs)."""
        found = np.array(coef)
        gone = {*inputs}
        for t, means, without in zip(self._inputs, self._means, self._without, strict=True):
            if t in gone:
                rows = self.active[:, t]
                np.add.at(found, without[rows], means[rows, np.newaxis] * found[rows])
                found[rows] = 0.0
        return found
