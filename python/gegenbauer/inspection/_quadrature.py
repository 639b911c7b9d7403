"""Nodes and weights that stand for a distribution of one number."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gegenbauer._dispatch import core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from gegenbauer._typing import Doubles

__all__ = [
    "chebyshev_rule",
    "gauss_rule",
    "legendre_rule",
    "quantile_rule",
    "recurrence_between",
    "rule_between",
    "rule_of_recurrence",
]

# Nodes of one interval of probabilities, and how often intervals are halved at most: the means of
# high powers are made of values whose probability is next to nothing
_NODES, _MOST_HALVINGS = 20, 1000

# Parts of an interval that are looked at together for a crossing
_SECTIONS = 256

# Intervals of probabilities that a rule may have
_MOST_INTERVALS = 4096

# What two rules may differ by in the mean of a polynomial of size one
_TOLERANCE = 1e-14

# Relative spread below which a measure has no further node
_RESOLUTION = 1e-13


@lru_cache(maxsize=16)  # a rule of a thousand nodes takes as long as all else together
def legendre_rule(n_nodes: int) -> tuple[Doubles, Doubles]:
    """Return nodes in [-1, 1] and weights of the uniform distribution, which sum to one.

    Means of polynomials are exact to degree ``2 n_nodes - 1``.
    """
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return _frozen(nodes, 0.5 * weights)


@lru_cache(maxsize=16)
def chebyshev_rule(n_nodes: int) -> tuple[Doubles, Doubles]:
    """Return the same for the density 1 / (pi sqrt(1 - u^2))."""
    nodes = np.cos((np.arange(n_nodes) + 0.5) * np.pi / n_nodes)
    return _frozen(nodes, np.full(n_nodes, 1.0 / n_nodes))


def _frozen(nodes: Doubles, weights: Doubles) -> tuple[Doubles, Doubles]:
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def rule_of_recurrence(diagonal: npt.ArrayLike, beside: npt.ArrayLike) -> tuple[Doubles, Doubles]:
    """Return the Gauss rule of orthonormal polynomials, by their recurrence (Golub and Welsch).

    Nodes, ascending, and weights, with a sum of one, are the eigenvalues of its Jacobi matrix and
    squares of the first components of the eigenvectors.
    """
    jacobi = np.diag(diagonal)
    n = len(jacobi)
    jacobi.flat[n :: n + 1] = beside  # of which the lower triangle is read
    nodes, vectors = np.linalg.eigh(jacobi)
    shares = vectors[0] ** 2
    return np.asarray(nodes), np.asarray(shares / shares.sum())


def gauss_rule(nodes: Doubles, weights: Doubles, n_nodes: int) -> tuple[Doubles, Doubles]:
    """Return the Gauss rule of a discrete distribution.

    Means of polynomials up to degree ``2 n_nodes - 1`` are the same under both. The three-term
    recurrence is found by Stieltjes' procedure.

    Parameters
    ----------
    nodes, weights : ndarray, shape (n,)
        The distribution; weights are positive, with a sum of one.
    n_nodes : int
        Of the rule, which has fewer if the distribution has no more.

    Returns
    -------
    nodes, weights : ndarray
        Ascending; the distribution itself if it has no more nodes.
    """
    if len(nodes) <= n_nodes:
        order = np.argsort(nodes, kind="stable")
        return nodes[order], weights[order]
    low, high = float(nodes.min()), float(nodes.max())
    return rule_between(recurrence_between(nodes, weights, n_nodes, low, high), low, high)


def recurrence_between(
    nodes: Doubles, weights: Doubles, n_nodes: int, low: float, high: float
) -> Doubles:
    """Return the recurrence of the orthonormal polynomials of a distribution from low to high.

    Returns
    -------
    ndarray, shape (n_nodes, 2)
        Of the distribution on [-1, 1]: the diagonal of the Jacobi matrix, and the entries beside
        it, from which `rule_between` makes the Gauss rule. There are fewer if the distribution has
        no more nodes.
    """
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    x = (nodes - middle) / half if half > 0 else np.zeros_like(nodes)
    return core.orthonormal_recurrence(x, np.ascontiguousarray(weights), n_nodes, _RESOLUTION)


def rule_between(recurrence: Doubles, low: float, high: float) -> tuple[Doubles, Doubles]:
    """Return the Gauss rule of a distribution from low to high, by what is above."""
    values, shares = rule_of_recurrence(recurrence[:, 0], recurrence[:-1, 1])
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    return np.asarray((middle + half * values).clip(low, high)), shares


def _crossings(quantiles: Callable[[Doubles], Doubles], faces: Sequence[float]) -> list[float]:
    """Return the probabilities below 1/2 at which monotone quantiles cross some values.

    Each call of the quantiles of `scipy.stats` takes as long as some thousand of them, so that many
    are evaluated at once: one of each power of two, then some evenly spread between neighbours.
    """
    found = []
    octaves = 0.5 ** np.arange(1022.0, 0.0, -1.0)
    offsets = np.linspace(0.0, 1.0, _SECTIONS + 1)
    first = quantiles(octaves)
    for face in faces:
        p, above = octaves, first >= face
        while above[0] != above[-1]:
            k = int(np.argmax(above != above[0]))
            low, high = float(p[k - 1]), float(p[k])
            if high - low <= 4.0 * np.finfo(np.float64).eps * high:
                found.append(high)
                break
            p = low + (high - low) * offsets
            before = bool(above[0])
            above = quantiles(p) >= face
            above[0], above[-1] = before, not before  # rounding moves no end
    return found


def quantile_rule(
    lower: Callable[[Doubles], Doubles],
    upper: Callable[[Doubles], Doubles],
    scale: Callable[[Doubles], Doubles],
    degree: int,
    faces: Sequence[float] = (),
) -> tuple[Doubles, Doubles] | None:
    """Return nodes and weights of a distribution that is known by its quantiles.

    A mean is the integral of ``g(Q(p))`` over probabilities p, by Gauss' rule on intervals that are
    halved, towards 0 and 1 and wherever Q or the scaling has a kink, until means of polynomials do
    not move.

    Parameters
    ----------
    lower, upper : callable
        Q(p) and Q(1 - p), for p in (0, 1/2).
    scale : callable
        Maps quantiles to the domain of the polynomials, [-1, 1] inside of the box.
    degree : int
        Of the polynomials whose means must have converged, to 1e-13 of the mean of their size.
    faces : sequence of float
        Quantiles where the scaling begins or ends to clip: intervals meet there.

    Returns
    -------
    nodes, weights : ndarray, or None
        Scaled; weights sum to one. None if means do not converge: they do not exist.
    """
    abscissae, shares = legendre_rule(_NODES)
    offsets = 0.5 * (abscissae + 1.0)
    # of each interval: which half of the probabilities, its beginning there, and its width
    waiting = []
    for side, quantiles in enumerate((lower, upper)):
        ends = [0.0, *sorted(_crossings(quantiles, faces)), 0.5]
        waiting += [(side, a, b - a) for a, b in itertools.pairwise(ends) if b > a]
    sides, begins, widths = (np.array(part) for part in zip(*waiting, strict=True))

    def evaluated() -> tuple[Doubles, Doubles]:
        """Return the nodes of all intervals, and the means of the polynomials that they give."""
        p = begins[:, np.newaxis] + widths[:, np.newaxis] * offsets
        found = np.empty_like(p)
        for side, quantiles in enumerate((lower, upper)):
            own = sides == side
            if own.any():
                found[own] = scale(quantiles(p[own].ravel())).reshape(-1, _NODES)
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.polynomial.chebyshev.chebvander(found, degree)
            return found, widths[:, np.newaxis] * (shares @ values)

    means = evaluated()[1]
    size = np.zeros(degree + 1)
    rules: list[tuple[Doubles, Doubles]] = []
    n_settled = 0
    for _ in range(_MOST_HALVINGS):
        sides, begins, widths = np.repeat(sides, 2), np.repeat(begins, 2), np.repeat(widths / 2, 2)
        begins[1::2] += widths[1::2]
        nodes, halves = evaluated()
        size = np.maximum(size, np.abs(halves.sum(axis=0)))
        with np.errstate(invalid="ignore"):
            moved = np.abs(halves[::2] + halves[1::2] - means)
        settled = np.repeat((moved <= _TOLERANCE * np.maximum(1.0, size)).all(axis=1), 2)
        rules.append((nodes[settled].ravel(), np.outer(widths[settled], shares).ravel()))
        n_settled += int(np.count_nonzero(settled))
        sides, begins, widths, means = (
            one[~settled] for one in (sides, begins, widths, halves)
        )  # fmt: skip
        crowded = n_settled + widths.size > _MOST_INTERVALS
        if not widths.size or crowded or not np.isfinite(size).all():
            break
    if widths.size:
        return None
    nodes, weights = (np.concatenate(side) for side in zip(*rules, strict=True))
    if not np.isfinite(nodes).all():
        return None
    return nodes, weights / weights.sum()
