"""Means of terms over inputs of which nothing is known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.basis.input_functions import functions_of, places_without

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["averaged_terms"]


def averaged_terms(
    basis: TensorBasis, scaling: InputScaling, inputs: Iterable[int]
) -> tuple[npt.NDArray[np.intp], Doubles]:
    """Write the means of all terms over some inputs, uniform over their box, as terms again.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    scaling : InputScaling
        Of the box; an input that is constant is where it is mapped to.
    inputs : iterable of int
        Numbers that are never missing: inputs without levels.

    Returns
    -------
    places : ndarray of int, shape (n_terms,)
        For each term, the one that lacks these inputs and is like it elsewhere.
    factors : ndarray, shape (n_terms,)
        The mean of a term is so many times that other one.

    Examples
    --------
    >>> from gegenbauer import InputScaling, TensorBasis
    >>> from gegenbauer.basis.averages import averaged_terms
    >>> basis = TensorBasis(2, degree=1, lam=0.5)  # 1, x, y
    >>> places, factors = averaged_terms(basis, InputScaling([0, 0], [1, 1]), [1])
    >>> places.tolist(), factors.tolist()
    ([0, 1, 0], [1.0, 1.0, 0.5])
    """
    indices, gone = basis.indices, [*inputs]
    places, factors = np.arange(basis.n_terms), np.ones(basis.n_terms)
    for t, without in zip(gone, places_without(indices, gone), strict=True):
        factors *= _means(basis, scaling, t)[indices[:, t]]
        places = without[places]
    return places, factors


def _means(basis: TensorBasis, scaling: InputScaling, t: int) -> Doubles:
    """Return the means of the functions of an input."""
    functions = partial(functions_of, basis.spectrum, basis.lam, basis.indices, t)
    if scaling.is_constant[t]:
        return np.asarray(functions([0.0])[0])
    low, high = scaling.domain
    nodes, weights = np.polynomial.legendre.leggauss(int(basis.indices[:, t].max()) // 2 + 1)
    return np.asarray(0.5 * weights @ functions(low + (high - low) * 0.5 * (nodes + 1.0)))
