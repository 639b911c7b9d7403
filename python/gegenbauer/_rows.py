"""Rows that an error or a warning is about: a part of its message, and a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Rows", "row"]


class Rows(str):
    """Which rows something is about, in words: those of a file, or of a batch.

    Parameters
    ----------
    source : str
        Name of the file; "" where there is but one source.
    first, last : int or None, default=None
        The rows, counted from 0 without a header. None for both means the source as a whole, and
        for the last one all rows from the first on.
    places : sequence of int or None, default=None
        Which of these are meant, counted from the first; None for all of them.

    See Also
    --------
    StreamError : An error about such rows.

    Examples
    --------
    >>> from gegenbauer.errors import Rows
    >>> Rows("t.csv", 3, 3), Rows("", 3, 5), Rows("t.csv", 3), Rows("t.csv")
    ('row 3 of t.csv', 'rows 3 to 5', 'rows 3 on of t.csv', 't.csv')
    >>> Rows("t.csv", 3, 3).counted_from(1)
    'row 4 of t.csv'
    >>> Rows("t.csv", 3, 8).row(2), Rows("t.csv", 3, 8, [0, 4, 5]).row(2)
    ('row 5 of t.csv', 'row 8 of t.csv')
    """

    __slots__ = ("first", "last", "places", "source")

    source: str
    first: int | None
    last: int | None
    places: Sequence[int] | None

    def __new__(
        cls,
        source: str,
        first: int | None = None,
        last: int | None = None,
        places: Sequence[int] | None = None,
    ) -> Self:
        """Write the words."""
        if first is None:
            text = source
        else:
            one, more = f"row {first}", f"rows {first} {'on' if last is None else f'to {last}'}"
            text = (one if first == last else more) + (f" of {source}" if source else "")
        rows = super().__new__(cls, text)
        rows.source, rows.first, rows.last, rows.places = source, first, last, places
        return rows

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return what another process makes the same rows of."""
        return self.source, self.first, self.last, self.places

    def row(self, number: int) -> Rows:
        """Return one of these rows, of which the first has the number 0."""
        row = (self.first or 0) + (number if self.places is None else int(self.places[number]))
        return Rows(self.source, row, row)

    def counted_from(self, start: int) -> Rows:
        """Return the same rows in words, where the first row has the number `start`."""
        if self.first is None:
            return self
        last = None if self.last is None else self.last + start
        return Rows(self.source, self.first + start, last, self.places)


def row(number: int) -> Rows:
    """Return a single row of what a caller gave, in whose words it is counted from 0.

    Examples
    --------
    >>> row(3)
    'row 3'
    """
    return Rows("", number, number)
