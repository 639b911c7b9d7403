r"""Derivatives of sums of terms, which are sums of the same terms.

Gegenbauer polynomials of any scale satisfy

.. math:: p_n' = \sigma_n p_{n-1} + \tau_n p_{n-2}'

(raw ones with :math:`\sigma_n = 2 (n - 1 + \lambda)` and :math:`\tau_n = 1`), and every
`TensorBasis` holds with a term those of lower degrees in any input. So derivatives of a sum of its
terms are sums of its terms, too. Contrasts of levels are constant where they have a derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.basis.spectrum import Spectrum

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.tensor_basis import TensorBasis

__all__ = ["derivative_coefficients"]


def derivative_coefficients(basis: TensorBasis, coef: Doubles) -> Iterator[Doubles]:
    """Differentiate a sum of terms by its scaled inputs.

    Parameters
    ----------
    basis : TensorBasis
        The terms.
    coef : ndarray, shape (n_terms, n_outputs)
        Their coefficients.

    Yields
    ------
    ndarray, shape (n_terms, n_outputs)
        Coefficients of the derivative by one input after the other, of samples in which that is
        given; 0 by a category.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer import TensorBasis
    >>> from gegenbauer.basis.derivatives import derivative_coefficients
    >>> basis = TensorBasis(1, degree=3, lam=0.5)
    >>> cubic = np.array([[0.0], [0.0], [0.0], [1.0]])  # of which the derivative is 5 C_2 + 1
    >>> next(derivative_coefficients(basis, cubic)).ravel().tolist()
    [1.0, 0.0, 5.0, 0.0]
    """
    table = basis.indices
    n_degrees = int(table.max()) + 1
    sigma, tau = _recurrence(basis, n_degrees)
    before, behind = _number_beginnings(table), _number_beginnings(table[:, ::-1])[::-1]
    levels = basis.spectrum.levels or (None,) * basis.n_features
    for t, one in enumerate(levels):
        if one is not None and one.category:
            yield np.zeros_like(coef)
            continue
        n_contrasts = 0 if one is None else one.n_contrasts
        # terms that differ in this input alone stand together, by their functions from 0 on
        order = np.lexsort((table[:, t], behind[t], before[t]))
        degrees = table[order, t] - n_contrasts
        sums = coef[order]
        for degree in range(n_degrees - 1, 2, -1):
            at = np.flatnonzero(degrees == degree)
            sums[at - 2] += tau[t, degree] * sums[at]
        at = np.flatnonzero(degrees > 0)
        lower = np.where(degrees[at] > 1, at - 1, at - 1 - n_contrasts)
        found = np.zeros_like(sums)
        found[order[lower]] = sigma[t, degrees[at], np.newaxis] * sums[at]
        yield found


def _recurrence(basis: TensorBasis, n_degrees: int) -> tuple[Doubles, Doubles]:
    """Return sigma and tau of each input and degree, (n_features, n_degrees); 0 where unused."""
    lam, shape = basis.lam, (basis.n_features, n_degrees)
    n = np.arange(1.0, n_degrees)
    sigma, tau = np.zeros(shape), np.zeros(shape)
    if basis.spectrum == Spectrum.paper(lam):
        sigma[:, 1:], tau[:, 3:] = 2.0 * (n - 1.0 + lam), 1.0
        if lam == 0.0:  # of the limit 2 x of C_1 / lam
            sigma[:, 1:2] = 2.0
        return sigma, tau
    # the norm of degree n is so many times that of degree n + 1, for n = 1, 2, ...
    falls = np.sqrt((n[1:] + lam) * n[1:] / ((n[:-1] + lam) * (n[:-1] + 2.0 * lam)))
    sigma[:, 1:2] = np.sqrt(2.0 * (1.0 + lam))
    sigma[:, 2:], tau[:, 3:] = 2.0 * (n[:-1] + lam) * falls, falls[1:] * falls[:-1]
    weights = np.sqrt(basis.spectrum.squared_weights(*shape[:1], n_degrees - 1))
    for factors, step in ((sigma, 1), (tau, 2)):
        lower = np.where(weights > 0, weights, np.inf)  # those of higher degrees are 0, too
        factors[:, step:] *= weights[:, step:] / lower[:, :-step]
    return sigma, tau


def _number_beginnings(table: npt.NDArray[np.int32]) -> list[npt.NDArray[np.intp]]:
    """Return numbers of the different beginnings of rows, before each of the columns."""
    numbers = [np.zeros(len(table), dtype=np.intp)]
    for column in table.T[:-1].astype(np.intp):
        longer = numbers[-1] * (int(column.max()) + 1) + column
        numbers.append(np.unique(longer, return_inverse=True)[1].reshape(-1))
    return numbers
