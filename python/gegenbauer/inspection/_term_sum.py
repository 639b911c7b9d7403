"""Sums of products of univariate functions, by numbers of these functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from gegenbauer.basis.input_functions import functions_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["TermSum"]


@dataclass(frozen=True, eq=False)
class TermSum:
    """A sum of products of functions of single inputs, the first of which is 1.

    Attributes
    ----------
    indices : ndarray of int, shape (n_terms, n_features)
        Numbers of the functions; the set is downward closed.
    coef : ndarray, shape (n_terms, n_outputs)
        Coefficients of the products.
    functions : callable
        Of an input and scaled nodes: the values of its functions, (n_nodes, n_functions).
    """

    indices: npt.NDArray[np.int32]
    coef: Doubles
    functions: Callable[[int, Doubles], Doubles]

    @classmethod
    def of(cls, basis: TensorBasis, coef: Doubles) -> Self:
        """Return the sum of the terms of a basis."""
        indices = basis.indices
        return cls(
            indices,
            coef,
            lambda t, nodes: functions_of(basis.spectrum, basis.lam, indices, t, nodes),
        )

    def evaluate(self, Z: Doubles) -> Doubles:
        """Return the values at scaled samples, (n_samples, n_outputs)."""
        product = np.ones((len(Z), len(self.indices)))
        for t in np.flatnonzero(self.indices.any(axis=0)).tolist():
            product *= self.functions(t, Z[:, t])[:, self.indices[:, t]]
        return np.asarray(product @ self.coef)
