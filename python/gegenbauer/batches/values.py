"""What is wrong with values of columns: missing, infinite, of another kind, or below zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._messages import Message, Ways
from gegenbauer.batches.column_types import NOTHING, NUMBERS, TRUTH, column_kind
from gegenbauer.errors import Rows, StreamError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "INFINITY",
    "MOST_CHARACTERS",
    "NO_VALUE",
    "ValueFault",
    "another_kind",
    "find_fault",
    "leave_out",
    "require_weight_kind",
    "require_weights",
]

NO_VALUE, INFINITY = "no value (blank, NA, None or the like)", "infinity"

_MOST_NAMED = 5  # columns to leave out

MOST_CHARACTERS = 40  # of a value


class ValueFault(NamedTuple):
    """Values of a column of numbers that are none: which sort, the first row, and how many."""

    what: str
    row: int
    n: int

    def error(self, name: str, where: Rows, n_rows: int | None, *, is_input: bool) -> StreamError:
        """Return what to raise.

        Parameters
        ----------
        name : str
            The column.
        where : Rows
            Rows of which these are some.
        n_rows : int or None
            Of the table, if all of them were looked at.
        is_input : bool
            Whether it can be left out.
        """
        several = self.n > 1 and n_rows is not None
        rows = f", in {self.n} rows of {n_rows}" if several else ""
        return StreamError(
            Message(
                "column {!r} holds {}{}",
                name,
                self.what,
                rows,
                ways=[
                    "repair or remove these rows" if several else "repair or remove the row",
                    *([leave_out([name])] if is_input else []),
                ],
                joint="; ",
            ),
            where.row(self.row),
        )


def find_fault(values: NDArray[np.floating[Any]]) -> ValueFault | None:
    """Return what is wrong with numbers of a column, of which NaN is no value; None for nothing."""
    if np.isfinite(values).all():
        return None
    missing = np.isnan(values)
    found = missing if missing.any() else np.isinf(values)
    return ValueFault(
        NO_VALUE if missing.any() else INFINITY, int(found.argmax()), int(np.count_nonzero(found))
    )


def another_kind(name: str, value: object, type_: Any, where: Rows) -> StreamError:
    """Return the error of a value that is not of the type of the rows before.

    Parameters
    ----------
    name : str
        The column.
    value : object
        As it is shown.
    type_ : DataType
        The type of Arrow.
    where : Rows
        The row.
    """
    from pyarrow import types

    whole = types.is_integer(type_)
    shown = value[:MOST_CHARACTERS] if isinstance(value, str) else value
    return StreamError(
        Message(
            "column {!r} holds {!r}, but {}{} in rows before",
            name,
            shown,
            "whole " * whole,
            column_kind(type_),
            ways=Ways(
                "give it",
                "one type in all rows",
                *(["`as_labels=False` for decimal numbers"] if whole else []),
                last=", or ",
            ),
            joint="; ",
        ),
        where,
    )


def require_weight_kind(
    name: str, kind: str, where: Rows, example: Callable[[str], tuple[str, Rows]]
) -> None:
    """Refuse a column of weights that holds no numbers.

    Parameters
    ----------
    name, kind : str
        The column, and what it holds, as `column_kind` names it.
    where : Rows
        The table.
    example : callable
        Gives a value that is no number, as `example_of` shows it, and its row.
    """
    if kind in (NUMBERS, TRUTH):
        return
    shown, row = ("", where) if kind == NOTHING else example(name)
    raise StreamError(
        Message("column {!r} holds {}{}, and `sample_weight` needs numbers", name, kind, shown), row
    )


def require_weights(weights: NDArray[np.float64], name: str, where: Rows) -> None:
    """Refuse weights below zero.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Finite numbers.
    name : str
        The column.
    where : Rows
        Its rows.
    """
    below = weights < 0
    if below.any():
        row = int(below.argmax())
        raise StreamError(
            Message(
                "column {!r} holds {:g}, and `sample_weight` must not be below 0; repair the row, "
                "or give 0 for rows that do not count",
                name,
                weights[row],
            ),
            where.row(row),
        )


def leave_out(names: list[str]) -> Message:
    """Return the way out of columns that are left out."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    what = "the column" if len(names) == 1 else "these columns"
    return Message("leave {} out by `ignore={!r}`{}", what, names[:_MOST_NAMED], more)
