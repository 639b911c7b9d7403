"""Samples of batches that lie outside of a box that is given, counted for one warning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gegenbauer._validation import apart
from gegenbauer.errors import OutOfRangeWarning, stacklevel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gegenbauer.basis.scaling import InputScaling

__all__ = ["Outside"]


class Outside(NamedTuple):
    """Columns whose values lie outside of a box: how many do, and the first that does.

    Attributes
    ----------
    columns : dict of int to (int, float)
        By column.
    """

    columns: dict[int, tuple[int, float]]

    @classmethod
    def of(cls, X: NDArray[Any], box: InputScaling) -> Self:
        """Look at some samples, of shape (n_samples, n_features)."""
        places = np.flatnonzero(box.outside(X))
        beyond = box.beyond(X[places])
        found = {}
        for t in np.flatnonzero(beyond.any(axis=0)).tolist():
            first = places[int(beyond[:, t].argmax())]
            found[t] = int(np.count_nonzero(beyond[:, t])), float(X[first, t])
        return cls(found)

    def joined(self, other: Outside) -> Outside:
        """Return what is outside of those and these samples."""
        found = dict(self.columns)
        for t, (count, value) in other.columns.items():
            before, first = found.get(t, (0, value))
            found[t] = before + count, first
        return Outside(found)

    def warn(
        self,
        n_outside: int,
        n_samples: int,
        box: InputScaling,
        name: Callable[[int], str],
        most: int,
    ) -> None:
        """Warn of all of them.

        Parameters
        ----------
        n_outside, n_samples : int
            How many samples lie outside, of how many.
        box : InputScaling
            The box.
        name : callable
            Names a column.
        most : int
            How many columns to list.
        """
        parts = []
        for t, (count, first) in sorted(self.columns.items())[:most]:
            value, low, high = apart(first, box.lower[t], box.upper[t])
            parts.append(
                f"{name(t)} in {count} of them (first {value}, the range is [{low}, {high}])"
            )
        more = len(self.columns) - most
        also = f" and {more} more columns" if more > 0 else ""
        found = f": {', '.join(parts)}{also}" if parts else ""
        warnings.warn(
            f"{n_outside} of {n_samples} samples lie outside of `bounds`{found}. They are clipped "
            "to it; `out_of_range='clip'` does so without a warning.",
            OutOfRangeWarning,
            stacklevel=stacklevel(),
        )
