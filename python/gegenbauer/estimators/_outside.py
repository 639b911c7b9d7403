"""Samples that have what the fit did not see, gathered from blocks or batches for one report."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._validation import and_more, apart
from gegenbauer.errors import OutOfRangeWarning, stacklevel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gegenbauer.basis.scaling import InputScaling

__all__ = ["Outside"]

# Longest list of columns
_MAX_LISTED = 5


class Outside(NamedTuple):
    """How many samples are outside, of how many, and in which columns.

    Attributes
    ----------
    n_samples, n_outside : int
        All samples, and those that are outside.
    columns : dict of int to (int, int, float)
        By column, how many of them have what is outside there, the row of the first, and its value.
    """

    n_samples: int = 0
    n_outside: int = 0
    columns: dict[int, tuple[int, int, Any]] = {}  # noqa: RUF012  # it is never changed

    @classmethod
    def of(cls, X: NDArray[Any], box: InputScaling) -> Self:
        """Look at some samples, of shape (n_samples, n_features): which are outside of a box."""
        outside = box.outside(X, rounded=True)
        return cls.where(X, outside, lambda some: box.beyond(some, rounded=True))

    @classmethod
    def where(
        cls, X: NDArray[Any], outside: NDArray[np.bool_], beyond: Callable[[Any], NDArray[np.bool_]]
    ) -> Self:
        """Look at some samples.

        Parameters
        ----------
        X : ndarray, shape (n_samples, n_features)
            The samples.
        outside : ndarray of bool, shape (n_samples,)
            Which are outside.
        beyond : callable
            Returns which entries of these are.
        """
        places = np.flatnonzero(outside)
        if not places.size:
            return cls(len(X))
        found = beyond(X[places])
        columns = {}
        for t in np.flatnonzero(found.any(axis=0)).tolist():
            row = int(places[int(found[:, t].argmax())])
            columns[t] = int(np.count_nonzero(found[:, t])), row, X[row, t]
        return cls(len(X), places.size, columns)

    def joined(self, other: Outside) -> Outside:
        """Return what is outside of these samples and those that follow them."""
        columns = dict(self.columns)
        for t, (count, row, value) in other.columns.items():
            before, first, example = columns.get(t, (0, self.n_samples + row, value))
            columns[t] = before + count, first, example
        return Outside(self.n_samples + other.n_samples, self.n_outside + other.n_outside, columns)

    def listed(self, describe: Callable[[int, int, int, Any], Message]) -> Message:
        """List the columns, each as `describe` does by itself, its count, row and value."""
        parts = [describe(t, *found) for t, found in sorted(self.columns.items())[:_MAX_LISTED]]
        more = and_more(len(self.columns) - len(parts), "column")
        return Message("{}{}", Message.listed(parts), more)

    def warn_of_stream(
        self, n_outside: int, n_samples: int, box: InputScaling, name: Callable[[int], str]
    ) -> None:
        """Warn of all samples of a stream that are outside of a box, in which columns these are.

        Parameters
        ----------
        n_outside, n_samples : int
            How many samples lie outside, of how many; earlier runs may have seen more than these.
        box : InputScaling
            The box.
        name : callable
            Names a column.
        """

        def describe(t: int, count: int, _: int, first: Any) -> Message:
            value, low, high = apart(first, box.lower[t], box.upper[t])
            return Message(
                "{} in {} of them (first {}, the range is [{}, {}])",
                name(t), count, value, low, high,
            )  # fmt: skip

        found = Message(": {}", self.listed(describe)) if self.columns else ""
        warnings.warn(
            Message(
                "{} of {} samples lie outside of `bounds`{}. They are clipped to it",
                n_outside,
                n_samples,
                found,
                ways="`out_of_range='clip'` does so without a warning",
                joint="; ",
                end=".",
            ),
            OutOfRangeWarning,
            stacklevel=stacklevel(),
        )
