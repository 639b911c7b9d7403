"""The kernel of all terms with levels as a sum of terms: polynomials and contrasts of levels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.basis.levels import Levels
from gegenbauer.basis.spectrum import PowerDecay, Spectrum
from gegenbauer.basis.tensor_basis import TensorBasis
from gegenbauer.basis.univariate import gegenbauer_vander

if TYPE_CHECKING:
    import numpy.typing as npt

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.kernels import SpectrumKernel

__all__ = ["contrasts", "expand_with_levels", "separate_levels"]

# Levels of which all contrasts are found; of more, so many of the largest
_MOST_LEVELS, _LARGEST = 1000, 500

# Values of terms that are held at once
_BLOCK = 2**23


def contrasts(shares: tuple[float, ...]) -> tuple[Doubles, Doubles]:
    r"""Return the eigenfunctions of the kernel of levels, orthonormal under their shares.

    Of :math:`\kappa = \sum_n \mu_n \phi_n \phi_n`, whose functions have a mean of zero.

    Parameters
    ----------
    shares : tuple of float
        Of the levels.

    Returns
    -------
    values : ndarray, shape (n_levels, n_contrasts)
        The functions.
    mu : ndarray, shape (n_contrasts,)
        Descending. Beyond a thousand levels, the largest 500.
    """
    n = len(shares) if len(shares) <= _MOST_LEVELS else _LARGEST
    one = Levels(shares)
    values = one.contrasts(min(n, one.n_contrasts))
    mu = np.asarray(one.shares) @ values**2
    kept = mu > 0  # the others are 0 at all levels that have a share
    return values[:, kept] / np.sqrt(mu[kept]), mu[kept]


def separate_levels(
    basis: TensorBasis, coef: Doubles
) -> tuple[npt.NDArray[np.int32], Doubles, npt.NDArray[np.bool_]]:
    """Write a sum of terms by orthonormal functions, where all numbers are given.

    Parameters
    ----------
    basis : TensorBasis
        Of a spectrum with levels.
    coef : ndarray, shape (n_terms, n_outputs)
        Of its terms.

    Returns
    -------
    indices, weights, category
        As `expand_with_levels` returns them, of as many terms as are different then. Contrasts are
        orthonormal under the shares of the levels.
    """
    levels, indices = basis.spectrum.levels, basis.indices
    assert levels is not None
    weights = basis.spectrum.term_weights(indices)
    category = np.array([one is not None and one.category for one in levels])
    for t, one in enumerate(levels):
        if one is None:
            continue
        at, n = indices[:, t].copy(), one.n_contrasts
        values = one.contrasts(min(n, int(at.max())))
        if one.category:
            sizes = np.sqrt(np.asarray(one.shares) @ values**2)
            weights *= np.concatenate([[1.0], sizes])[at]
        else:  # the contrast is a constant
            weights[(at > 0) & (at <= n)] *= values[0, 0] if values.size else 1.0
            indices[:, t] = np.maximum(at - n, 0)
    found, place = np.unique(indices, axis=0, return_inverse=True)
    total = np.zeros((len(found), coef.shape[1]))
    np.add.at(total, place.reshape(-1), weights[:, np.newaxis] * coef)
    return found, total, category


def expand_with_levels(
    kernel: SpectrumKernel,
    Z: npt.NDArray[Any],
    coef: Doubles,
    n_terms: int,
    most: int,
) -> tuple[npt.NDArray[np.int32], Doubles, npt.NDArray[np.bool_]]:
    """Return the terms of largest weight of ``kernel(., Z) @ coef``, where numbers are given.

    Parameters
    ----------
    kernel : SpectrumKernel
        Of a spectrum with levels.
    Z : ndarray, shape (n_centres, n_features)
        In the domain of the polynomials.
    coef : ndarray, shape (n_centres, n_outputs)
        Of the kernels.
    n_terms : int
        How many terms.
    most : int
        Largest degree of a number.

    Returns
    -------
    indices : ndarray of int, shape (n_terms, n_features)
        Degrees of the orthonormal polynomials of numbers, and numbers of contrasts, from 1, of
        categories.
    weights : ndarray, shape (n_terms, n_outputs)
        Of the products of these functions.
    category : ndarray of bool, shape (n_features,)
        Which inputs have contrasts.
    """
    spectrum, m = kernel.spectrum, kernel.n_features
    levels = spectrum.levels
    assert levels is not None
    q = spectrum.interactions(m)
    category = np.array([one is not None and one.category for one in levels])
    found = {t: contrasts(one.shares) for t, one in enumerate(levels) if one and category[t]}
    flat = np.array(
        [q[t].sum() * found[t][1].max(initial=0.0) if t in found else 0.0 for t in range(m)]
    )
    parts = [
        replace(part, interaction=np.where(category, 0.0, q[:, j]).tolist())
        for j, part in enumerate(spectrum.components)
    ]
    basis = TensorBasis(
        m,
        n_terms=n_terms,
        degree=[found[t][1].size if t in found else most for t in range(m)],
        lam=kernel.lam,
        index_set="largest_weight",
        spectrum=Spectrum([*parts, PowerDecay(flat.tolist(), 0.0)]),
    )
    indices = basis.indices
    top = indices.max(axis=0)
    squares = spectrum.squared_weights(m, int(top[~category].max(initial=0)))
    weights = np.zeros((basis.n_terms, coef.shape[1]))
    step = max(1, _BLOCK // basis.n_terms)
    for first in range(0, len(Z), step):
        z = Z[first : first + step]
        G = np.ones((len(z), basis.n_terms))
        for t, one in enumerate(levels):
            if t in found:
                table = _of_category(z[:, t], *found[t], float(q[t].sum()))
            else:
                table = _of_number(z[:, t], int(top[t]), kernel.lam, squares[t])
            varies = indices[:, t] > 0
            G[:, varies] *= table[:, indices[varies, t]]
            if one is not None and not one.category:
                G[:, ~varies] *= _of_given(z[:, t], one, float(q[t].sum()))[:, np.newaxis]
        weights += G.T @ coef[first : first + step]
    return indices, weights, category


def _of_number(z: Doubles, degree: int, lam: float, squares: Doubles) -> Doubles:
    """Return v(n) phi_n(z) for all degrees, 0 where z is missing, (n_centres, degree + 1)."""
    missing = np.isnan(z)
    inside = np.where(missing, 0.0, z).clip(-1.0, 1.0)
    table = gegenbauer_vander(inside, degree, lam, normalization="orthonormal")
    table = table * squares[: degree + 1]
    table[missing, 1:] = 0.0
    return np.asarray(table)


def _of_category(z: Doubles, values: Doubles, mu: Doubles, q: float) -> Doubles:
    """Return q mu_n phi_n of the levels, 0 where they are not known, after a column of ones."""
    known = ~np.isnan(z)
    place = np.rint((z[known] + 1.0) / 2.0 * (len(values) - 1)).astype(np.intp)
    table = np.zeros((z.size, mu.size + 1))
    table[:, 0] = 1.0
    table[known, 1:] = q * mu * values[place]
    return table


def _of_given(z: Doubles, one: Levels, q: float) -> Doubles:
    """Return 1 + q kappa(given, l) for the levels l of a number, given or missing."""
    given, missing = one.shares
    spread = 2.0 * given * missing
    if spread == 0:
        return np.ones(z.size)
    same = 2.0 * missing**2 / spread  # 1 - 2 p + sum p^2, of p + p' = 1
    return 1.0 + q * np.where(np.isnan(z), -1.0, same)
