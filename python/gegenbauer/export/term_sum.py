"""A finite sum of terms as tables of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.basis.spectrum import Spectrum
from gegenbauer.basis.univariate import gegenbauer_vander
from gegenbauer.export.recurrence import recurrence

if TYPE_CHECKING:
    from gegenbauer._typing import Doubles
    from gegenbauer.basis.levels import Levels
    from gegenbauer.ridge.expansions import TermExpansion

__all__ = ["Functions", "TermSum", "term_sum"]


@dataclass(frozen=True, eq=False)
class Functions:
    """The functions of an input: contrasts of its levels, then polynomials of degrees from 1 on.

    Attributes
    ----------
    contrasts : ndarray, shape (n_levels, n_contrasts)
        Values at the levels of a category; of a number, where it is given and where it is missing.
        A level that is not known has zeros.
    degree : int
        Number of polynomials.
    absent : ndarray, shape (degree,)
        Values of the polynomials where the number is missing.
    """

    contrasts: Doubles
    degree: int
    absent: Doubles

    @property
    def size(self) -> int:
        """Number of functions."""
        return int(self.contrasts.shape[1]) + self.degree


@dataclass(frozen=True, eq=False)
class TermSum:
    """A sum of products of functions of the inputs.

    Attributes
    ----------
    a, b : ndarray, shape (degree + 1,)
        The recurrence of all polynomials, see `recurrence`.
    functions : tuple of Functions
        Of each input, as many as occur.
    factors : tuple of tuple of (int, int)
        Of each term, which function of which input: (input, number from 0 on). None is the constant.
    coef : ndarray, shape (n_terms, n_outputs)
        Coefficients of the terms; not all of a term are 0.
    """  # noqa: E501

    a: Doubles
    b: Doubles
    functions: tuple[Functions, ...]
    factors: tuple[tuple[tuple[int, int], ...], ...]
    coef: Doubles

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.factors)

    @property
    def degree(self) -> int:
        """Largest degree of a polynomial."""
        return len(self.a) - 1

    @property
    def starts(self) -> list[int]:
        """Where the functions of each input begin in a list of all, behind the constant 1."""
        sizes = [1, *(each.size for each in self.functions)]
        return [int(each) for each in np.cumsum(sizes)[:-1]]

    @property
    def interaction(self) -> int:
        """Most inputs in a term."""
        return max((len(each) for each in self.factors), default=0)

    def places(self) -> list[list[int]]:
        """Return the factors of each term by their places in the list of all functions."""
        starts = self.starts
        return [[starts[t] + n for t, n in each] for each in self.factors]


def term_sum(expansion: TermExpansion, *, by_means: bool) -> TermSum:
    """Write a sum of terms as numbers; ``by_means``: missing numbers count as means over the box.

    Else, and where the number may be missing, their polynomials are 0.
    """
    basis, box = expansion.basis, expansion.scaling
    raw = basis.spectrum == Spectrum.paper(basis.lam)
    indices, coef = basis.indices, np.array(expansion.coef_2d, dtype=np.float64)
    if not raw:
        coef = coef * basis.spectrum.term_weights(indices)[:, np.newaxis]
    kept = coef.any(axis=1)
    indices, coef = indices[kept], coef[kept]
    levels = basis.spectrum.levels or (None,) * basis.n_features
    top = indices.max(axis=0, initial=0)
    functions = []
    for t, (one, n) in enumerate(zip(levels, top.tolist(), strict=True)):
        contrasts = _contrasts(one, n)
        category = one is not None and one.category
        degree = 0 if category else max(0, n - contrasts.shape[1])
        absent = np.zeros(degree)
        if by_means and one is None and degree:
            low, high = box.domain
            absent = _means(basis.lam, degree, raw, low, high, still=bool(box.is_constant[t]))
        functions.append(Functions(contrasts, degree, absent))
    a, b = recurrence(basis.lam, max((each.degree for each in functions), default=0), raw=raw)
    factors = tuple(
        tuple((int(t), int(row[t]) - 1) for t in np.flatnonzero(row)) for row in indices
    )
    return TermSum(a, b, tuple(functions), factors, coef)


def _contrasts(one: Levels | None, n: int) -> Doubles:
    """Return the contrasts among the first n functions of an input, (n_levels, n_contrasts)."""
    if one is None or n == 0:
        return np.zeros((0, 0))
    # those of a number come before its polynomials
    return one.contrasts(min(n, one.n_contrasts) if one.category else None)


def _means(lam: float, degree: int, raw: bool, low: float, high: float, *, still: bool) -> Doubles:
    """Return the means of polynomials of degrees from 1 on over a box, or values at a point."""
    kind = "raw" if raw else "orthonormal"
    if still:
        return np.asarray(gegenbauer_vander(0.0, degree, lam, normalization=kind)[1:])
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    z = low + (high - low) * 0.5 * (nodes + 1.0)
    return np.asarray(0.5 * weights @ gegenbauer_vander(z, degree, lam, normalization=kind)[:, 1:])
