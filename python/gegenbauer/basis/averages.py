"""Means of terms over inputs of which nothing is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.basis.tensor_basis import TensorBasis

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

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
    indices = basis.indices
    terms = {k.tobytes(): place for place, k in enumerate(indices)}
    factors = np.ones(basis.n_terms)
    for t in inputs:
        degrees = indices[:, t].copy()
        factors *= _means(basis, scaling, t, int(degrees.max()))[degrees]
        indices[:, t] = 0
    return np.array([terms[k.tobytes()] for k in indices], dtype=np.intp), factors


def _means(basis: TensorBasis, scaling: InputScaling, t: int, degree: int) -> Doubles:
    """Return the means of the functions of an input up to a degree."""
    one = TensorBasis(1, degree=degree, lam=basis.lam, spectrum=basis.spectrum._of_input(t))
    if scaling.is_constant[t]:
        return np.asarray(one.evaluate([[0.0]])[0])
    low, high = scaling.domain
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    inputs = low + (high - low) * 0.5 * (nodes[:, np.newaxis] + 1.0)
    return np.asarray(0.5 * weights @ one.evaluate(inputs))
