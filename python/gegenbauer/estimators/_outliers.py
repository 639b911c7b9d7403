"""Inputs of which nearly all samples fill a small part of the range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["find_bulk", "may_have_bulk"]

# An input has outliers if all samples but this share fill no larger part of its range ...
_BULKS = ((0.01, 0.01), (0.1, 0.001))

# ... or if all but so many, and no larger share, end in a gap so many times as wide as they lie
_MOST_APART, _SHARE_APART, _LEAST_GAP = 20, 0.01, 4.0

# ... or if many are one and the same value at an end, such as -999 for what is missing, and the
# others, no smaller share, fill no larger part of the range
_SHARE_CODED, _PART_CODED, _FEWEST_OTHERS = 0.5, 0.05, 3


# Entries that are looked at together
_MOST_ENTRIES = 100_000


def may_have_bulk(
    some: NDArray[Any], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which inputs are worth a look by `find_bulk`, of all at once: mostly none is.

    Half of the samples fill a fifth of the range at most wherever it finds something.

    Parameters
    ----------
    some : ndarray, shape (n_some, n_features)
        Some samples, 20 or more, each column sorted.
    lower, upper : ndarray, shape (n_features,)
        The ranges.
    """
    half, narrowest = -(-len(some) // 2), np.empty(some.shape[1])
    step = max(1, _MOST_ENTRIES // len(some))
    for first in range(0, some.shape[1], step):
        part = some[:, first : first + step].astype(np.float64)
        widths = 0.5 * part[half - 1 :] - 0.5 * part[: len(part) - half + 1]
        narrowest[first : first + step] = widths.min(axis=0)
    with np.errstate(over="ignore"):
        too_wide = (1.0 + _LEAST_GAP) * narrowest > 0.5 * upper - 0.5 * lower
    return np.asarray(~too_wide)


def find_bulk(
    column: NDArray[Any], some: NDArray[np.float64], lower: float, upper: float
) -> tuple[float, float, float] | None:
    """Return the share of nearly all samples of an input, and their range, if it has outliers.

    That is if they fill a tiny part of the range, or a small one beyond which there is nothing but
    a wide gap before the outliers; a tail that thins out needs more to be one. A value at an end
    may occur many times. Samples that are nearly all equal have none: they differ from the others.

    Parameters
    ----------
    column : ndarray, shape (n_samples,)
        All samples.
    some : ndarray, shape (n_some,)
        Some of them, sorted.
    lower, upper : float
        The range.
    """
    half = 0.5 * upper - 0.5 * lower  # a range may be beyond float64, its half is not

    def narrowest(values: NDArray[np.float64], left: int) -> tuple[float, float]:
        at = int((0.5 * values[left - 1 :] - 0.5 * values[: values.size - left + 1]).argmin())
        return float(values[at]), float(values[at + left - 1])

    for share, part in _BULKS:
        left = some.size - max(1, int(share * some.size))
        low, high = narrowest(some, left)
        if 0 < 0.5 * high - 0.5 * low < part * half:
            return left / some.size, low, high
    coded = _without_codes(column, some, half)
    if coded is not None:
        return coded
    # no gap is so wide where the usual samples fill more than its counterpart
    left = some.size - max(1, int(_SHARE_APART * some.size))
    low, high = narrowest(some, left)
    if (1.0 + _LEAST_GAP) * (0.5 * high - 0.5 * low) > half:
        return None
    most = min(_MOST_APART, max(1, int(_SHARE_APART * column.size)))
    last = column.size - most - 1
    low_ends = 0.5 * np.sort(np.partition(column, most)[: most + 1]).astype(np.float64)
    high_ends = 0.5 * np.sort(np.partition(column, last)[last:]).astype(np.float64)
    for n_low in range(most + 1):
        for n_high in range(most + 1 - n_low):
            low, high = low_ends[n_low], high_ends[most - n_high]
            gaps = []
            if n_low:
                gaps.append(low - low_ends[n_low - 1])
            if n_high:
                gaps.append(high_ends[most - n_high + 1] - high)
            if gaps and high > low and min(gaps) / _LEAST_GAP >= high - low:
                share = 1.0 - (n_low + n_high) / column.size
                return share, float(2.0 * low), float(2.0 * high)
    return None


def _without_codes(
    column: NDArray[Any], some: NDArray[np.float64], half: float
) -> tuple[float, float, float] | None:
    """Return the share and range of what lies between the ends, if these are codes; see above."""
    above = int(some.searchsorted(some[0], "right"))  # where the lowest value ends
    below = int(some.searchsorted(some[-1], "left"))  # and the highest one begins
    for ends in ((0,), (-1,), (0, -1)):
        first, end = above if 0 in ends else 0, below if -1 in ends else some.size
        if end - first < max(1, _SHARE_CODED * some.size):
            continue
        some_low, some_high = some[first], some[end - 1]
        if not 0.5 * some_high - 0.5 * some_low < _PART_CODED * half:
            continue  # nor do all of them, which are costly to look at
        coded = [(column.min(), column.max())[end] for end in ends]
        kept = column[~np.isin(column, coded)]
        if np.unique(kept).size < _FEWEST_OTHERS:
            continue
        low, high = float(kept.min()), float(kept.max())
        apart = _LEAST_GAP * (0.5 * high - 0.5 * low)
        gaps = [0.5 * low - 0.5 * float(column.min()), 0.5 * float(column.max()) - 0.5 * high]
        if any(gaps[end] < apart for end in ends):
            continue
        if 0 < 0.5 * high - 0.5 * low < _PART_CODED * half:
            return kept.size / column.size, low, high
    return None
