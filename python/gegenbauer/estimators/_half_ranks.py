"""Half ranks: inputs that are spread more evenly, where their samples lie unevenly in the box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles

__all__ = ["half_ranks"]

# Points that a map has at most, and the closest two may be, as shares of the range
_MOST_POINTS, _CLOSEST = 256, 1e-6

# A map that moves no sample by more is no other input
_LEAST_MOVE = 0.05


def half_ranks(
    column: NDArray[np.float64], weight: Doubles | None, lower: float, upper: float
) -> tuple[Doubles, Doubles] | None:
    r"""Return the map of an input to the mean of its place in the box and its rank.

    The share u of the range goes to :math:`(u + r(u)) / 2`, with the rank r as a share of the
    samples, equal ones in the middle of theirs, and stretched to the range of the samples; linear
    between at most 256 of them, and the identity beyond them.

    Parameters
    ----------
    column : ndarray, shape (n_samples,)
        Values; NaN is missing.
    weight : ndarray, shape (n_samples,), optional
        How many samples each counts as.
    lower, upper : float
        The box, beyond which values are clipped; ``lower < upper``.

    Returns
    -------
    shares, values : ndarray, shape (n_points,)
        As `InputScaling` takes them. None where no sample moves by more than a twentieth of the
        range, as those of a uniform distribution do not.
    """
    given = ~np.isnan(column)
    half = 0.5 * upper - 0.5 * lower
    shares = ((0.5 * column[given] - 0.5 * lower) / half).clip(0.0, 1.0)
    points, place = np.unique(shares, return_inverse=True)
    if points.size < 3:
        return None
    counted = np.bincount(place, None if weight is None else weight[given])
    ranks = (np.cumsum(counted) - 0.5 * counted) / counted.sum()
    ranks = (ranks - ranks[0]) / (ranks[-1] - ranks[0])
    first, last = points[0], points[-1]
    values = 0.5 * points + 0.5 * (first + (last - first) * ranks)
    if not np.abs(values - points).max() > _LEAST_MOVE:
        return None
    # of many points, those at which the ranks are evenly spread
    _, chosen = np.unique(np.floor(ranks * (_MOST_POINTS - 3)), return_index=True)
    kept = [int(chosen[0])]
    for at in [*chosen[1:].tolist(), points.size - 1]:
        if points[at] > points[kept[-1]] + _CLOSEST:
            kept.append(at)
    inner = [at for at in kept if _CLOSEST < points[at] < 1.0 - _CLOSEST]
    return (
        np.concatenate([[0.0], points[inner], [1.0]]),
        np.concatenate([[0.0], values[inner], [1.0]]),
    )
