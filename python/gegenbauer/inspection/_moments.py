"""Gauss rules of distributions that are known by their moments alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb
from numbers import Rational
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer.inspection._quadrature import rule_of_recurrence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gegenbauer._typing import Doubles

__all__ = ["moment_rule"]

# What the mean of a Chebyshev polynomial may be off by: moments lose some digits with each degree
_TOLERANCE = 1e-9

_EPS = float(np.finfo(np.float64).eps)

# Share of the mean square below which a further node is nothing but rounding of the moments
_RESOLUTION = 1e-12


def moment_rule(
    moments: Sequence[float | Rational], slope: float, offset: float
) -> tuple[Doubles, Doubles] | None:
    """Return the Gauss rule of z = slope x + offset, whose z lie in [-1, 1] or not far beyond.

    The recurrence of the orthogonal polynomials is found by Chebyshev's algorithm, in rational
    numbers: it would lose as many digits again as the moments have lost by their rounding.

    Parameters
    ----------
    moments : sequence of float or rational numbers
        E[x], E[x^2], ..., an odd number of them: of 2 n - 1 there are n nodes at most. Rational
        numbers, which `fractions.Fraction` is, are exact.
    slope, offset : float
        Of the scaling.

    Returns
    -------
    nodes, weights : ndarray, or None
        Ascending; None if the moments have too few digits, or are those of no distribution.
    """
    raw = [Fraction(1), *(Fraction(one) for one in moments)]
    a, b = Fraction(slope), Fraction(offset)
    scaled = [
        [comb(k, j) * a**j * b ** (k - j) * raw[j] for j in range(k + 1)] for k in range(len(raw))
    ]
    powers = [sum(parts, Fraction(0)) for parts in scaled]
    unit = [0.0, *(0.0 if isinstance(one, Rational) else _EPS for one in moments)]
    rounding = [
        sum(lost * abs(float(part)) for lost, part in zip(unit, parts, strict=False))
        for parts in scaled
    ]
    n = len(raw) // 2
    nodes, weights = rule_of_recurrence(*_recurrence(powers, n))
    found: Doubles = weights @ np.polynomial.chebyshev.chebvander(nodes, 2 * n - 2)
    for degree, mean in enumerate(found.tolist()):
        coefs = np.polynomial.chebyshev.cheb2poly([0.0] * degree + [1.0]).tolist()
        exact = float(sum(Fraction(c) * power for c, power in zip(coefs, powers, strict=False)))
        lost = sum(abs(c) * part for c, part in zip(coefs, rounding, strict=False))
        if not max(lost, abs(mean - exact)) <= _TOLERANCE * max(1.0, abs(exact)):
            return None
    return nodes, weights


def _recurrence(powers: Sequence[Fraction], n: int) -> tuple[list[float], list[float]]:
    """Return the diagonals of the Jacobi matrix of at most n nodes."""
    # products of one orthogonal polynomial, and of the one before it, with all powers
    before, now = [Fraction(0)] * len(powers), [*powers]
    alpha, beta = powers[1], Fraction(0)
    diagonal, beside = [float(alpha)], []
    for k in range(1, n):
        after = [
            ahead - alpha * here - beta * past
            for (here, ahead), past in zip(pairwise(now), before, strict=False)
        ]
        beta = after[k] / now[k - 1]
        if beta <= _RESOLUTION * powers[2]:
            break
        alpha = after[k + 1] / after[k] - now[k] / now[k - 1]
        diagonal.append(float(alpha))
        beside.append(float(beta) ** 0.5)
        before, now = now, after
    return diagonal, beside
