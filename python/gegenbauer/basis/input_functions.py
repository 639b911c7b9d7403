"""The functions of single inputs that terms are products of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.basis.tensor_basis import TensorBasis

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from gegenbauer._typing import Doubles, Places
    from gegenbauer.basis.spectrum import Spectrum

__all__ = ["functions_of", "places_without"]


def functions_of(
    spectrum: Spectrum, lam: float, indices: npt.NDArray[np.int32], t: int, nodes: npt.ArrayLike
) -> Doubles:
    """Return the values of the functions of an input, with the weights of the spectrum.

    Parameters
    ----------
    spectrum : Spectrum
        Of all inputs.
    lam : float
        Parameter of the polynomials.
    indices : ndarray of int, shape (n_terms, n_features)
        Which function of each input the terms have.
    t : int
        The input.
    nodes : array_like, shape (n_nodes,)
        Where, in the domain of the polynomials; NaN where a number is missing.

    Returns
    -------
    ndarray, shape (n_nodes, n_functions)
        Of all functions up to the last one that a term has; the first is 1.

    Examples
    --------
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.basis.input_functions import functions_of
    >>> basis = TensorBasis(2, degree=1, lam=0.5)  # 1, x, y
    >>> functions_of(basis.spectrum, basis.lam, basis.indices, 0, [0.5])
    array([[1. , 0.5]])
    """
    last = int(indices[:, t].max(initial=0))
    one = TensorBasis(1, degree=last, lam=lam, spectrum=spectrum._of_input(t))
    return np.asarray(one.evaluate(np.reshape(nodes, (-1, 1))))


def places_without(indices: npt.NDArray[np.int32], inputs: Iterable[int]) -> list[Places]:
    """Return, for some inputs, where the term is that lacks one and is like each term elsewhere.

    Parameters
    ----------
    indices : ndarray of int, shape (n_terms, n_features)
        Of a downward closed set of terms, which holds these.
    inputs : iterable of int
        The inputs.

    Returns
    -------
    list of ndarray of int, shape (n_terms,)
        The place of the term itself where it lacks the input.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.basis.input_functions import places_without
    >>> places_without(np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), [1])[0].tolist()
    [0, 1, 0, 1]
    """
    top = int(indices.max(initial=0))
    # terms by a number for each: a sum of random ones for each function of each input
    numbers = np.random.default_rng(0).integers(
        2**63, size=(indices.shape[1], top + 1), dtype=np.uint64
    )
    numbers[:, 0] = 0
    keys = numbers[np.arange(indices.shape[1]), indices].sum(axis=1, dtype=np.uint64)
    order = np.argsort(keys)
    found = []
    for t in inputs:
        rows = np.flatnonzero(indices[:, t])
        wanted = keys[rows] - numbers[t, indices[rows, t]]
        places = np.arange(len(indices))
        places[rows] = order[np.searchsorted(keys, wanted, sorter=order)]
        expected = indices[rows]
        expected[:, t] = 0
        if not (indices[places[rows]] == expected).all():
            raise AssertionError("the terms of a basis are not downward closed")
        found.append(places)
    return found
