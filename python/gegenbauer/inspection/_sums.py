"""Marginals of the samples of a stream, of which nothing is left but sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["MarginalOfSums", "marginals_of_sums", "root_of"]


@dataclass(frozen=True, eq=False)
class MarginalOfSums:
    """A distribution of one input, by the means of products of the functions of a basis.

    Nodes could stand for it, but no sums determine those that polynomials of a high degree need: a
    Gauss rule found from them may be off by more than all digits.

    Attributes
    ----------
    root : ndarray, shape (n_functions, n_functions)
        R with R'R the means of products of two functions of the input, the first of which is 1.
    """

    root: Doubles

    def weighted(self, functions: Callable[[Doubles], Doubles]) -> Doubles:  # noqa: ARG002
        """Return R, for the functions of the basis."""
        return self.root


def marginals_of_sums(basis: TensorBasis, gram: Doubles) -> tuple[MarginalOfSums, ...]:
    """Return the marginals of samples by the Gram matrix of their features.

    The terms of one input alone have sums of products of its functions.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    gram : ndarray, shape (n_terms, n_terms)
        G'DG of the samples; its lower triangle counts.

    Returns
    -------
    tuple of MarginalOfSums
        Means of products of two functions of an input are those over the samples.
    """
    indices, found = basis.indices, []
    single = np.flatnonzero((indices > 0).sum(axis=1) <= 1)
    for t in range(basis.n_features):
        rows = single[~np.delete(indices[single], t, axis=1).any(axis=1)]
        rows = rows[np.argsort(indices[rows, t])]
        rows_first = np.maximum.outer(rows, rows), np.minimum.outer(rows, rows)
        found.append(MarginalOfSums(root_of(gram[rows_first] / gram[rows[0], rows[0]])))
    return tuple(found)


def root_of(means: Doubles) -> Doubles:
    """Return R with R'R a matrix that may have no full rank."""
    unit = np.sqrt(means.diagonal())
    unit = np.where(unit > 0, unit, 1.0)
    sizes, directions = np.linalg.eigh(means / np.multiply.outer(unit, unit))
    return np.asarray(np.sqrt(sizes.clip(0.0))[:, np.newaxis] * directions.T * unit)
