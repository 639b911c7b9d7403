"""The box of the inputs of a search: what its samples fill, within fences and with a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer.estimators._fences import find_fences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gegenbauer._typing import Doubles
    from gegenbauer.basis.scaling import InputScaling

__all__ = ["with_fences", "with_margin"]


def with_fences(
    whole: InputScaling, X: NDArray[Any], weight: Doubles | None, categories: Sequence[int]
) -> InputScaling:
    """Return a box with fences where the range is far wider than nearly all samples.

    Parameters
    ----------
    whole : InputScaling
        The range of all samples, which is returned where no input needs a fence.
    X, weight
        Distinct samples, and how much each counts.
    categories : sequence of int
        Columns that hold codes of levels, which have no fences.
    """
    lower, upper = whole.lower.copy(), whole.upper.copy()
    for t in np.flatnonzero(~whole.is_constant).tolist():
        if t not in categories:
            lower[t], upper[t] = find_fences(X[:, t], weight)
    if (lower == whole.lower).all() and (upper == whole.upper).all():
        return whole
    return whole.replace(lower=lower, upper=upper)


def with_margin(tight: InputScaling, margin: float) -> InputScaling:
    """Return a box that is wider on either side by a share of its width, as far as float64 goes."""
    if margin == 0:
        return tight
    room = margin * tight.upper - margin * tight.lower
    largest = np.finfo(np.float64).max
    return tight.replace(
        lower=np.maximum(tight.lower, room - largest) - room,
        upper=np.minimum(tight.upper, largest - room) + room,
    )
