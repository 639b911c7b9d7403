"""Fences of the box: where few values far from all others would set the range of an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles

__all__ = ["find_fences"]

# The samples in the middle, and how many times as far from the median as they lie the fences are
_MIDDLE, _TIMES = 0.99, 3.0

# Samples, and different values, from which on an input has fences
_FEWEST, _FEW_VALUES = 50, 32


def find_fences(column: NDArray[np.float64], weight: Doubles | None) -> tuple[float, float]:
    r"""Return the ends of the box of an input: its range, or nearer fences if that is far wider.

    On either side, the fence is three times as far from the median as the quantile of 0.99 (0.01),
    beyond which one in a hundred samples lies: 7 standard deviations of normal values, beyond which
    none of them lies, as 0.04 per cent of lognormal ones do. Values beyond it are clipped to it.
    Inputs of which nearly all samples are the same have none, nor have those of few values, as
    counts and codes have, and of fewer than fifty samples, as designs are.

    Parameters
    ----------
    column : ndarray, shape (n_samples,)
        Values; NaN is missing. At least one is not.
    weight : ndarray, shape (n_samples,), optional
        How many samples each counts as.

    Returns
    -------
    lower, upper : float
    """
    given = ~np.isnan(column)
    values = column[given].astype(np.float64)
    order = np.argsort(values, kind="stable")
    values = values[order]
    range_ = float(values[0]), float(values[-1])
    if values.size < _FEWEST or np.count_nonzero(values[1:] != values[:-1]) < _FEW_VALUES:
        return range_
    counted = np.ones(values.size) if weight is None else weight[given][order]
    upto = np.cumsum(counted)
    last = upto[-1] - 1.0

    def at(position: float) -> float:
        """Return the value of the sample that so many are before, of those that weights count."""
        place = int(np.searchsorted(upto, position, side="right"))
        return float(values[min(place, values.size - 1)])

    # an outlier is never the quantile itself, however few the samples are
    middle, high = at(0.5 * last), at(np.floor(_MIDDLE * last))
    low = at(np.ceil((1.0 - _MIDDLE) * last))
    lower, upper = range_
    with np.errstate(over="ignore"):
        fences = middle - _TIMES * (middle - low), middle + _TIMES * (high - middle)
    if low < middle:
        lower = max(lower, fences[0])
    if high > middle:
        upper = min(upper, fences[1])
    return lower, upper
