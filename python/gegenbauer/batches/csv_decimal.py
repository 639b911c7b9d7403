"""Numbers of CSV files that have a comma before their fraction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer._messages import Message
from gegenbauer.batches._columns_of import with_columns
from gegenbauer.batches.column_types import are_numbers
from gegenbauer.batches.csv_error import CsvError

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["with_points"]

_COMMA = r"(?i)^\s*[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:e[+-]?[0-9]+)?\s*$"

# A fraction behind a point, or thousands parted by points
_POINT = (
    r"(?i)^\s*[+-]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
    r"|[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]*)?)\s*$"
)


def with_points(batch: Any, verbatim: Collection[str], n_rows: int) -> Any:
    """Return columns of strings in which numbers have a point where they had a comma.

    Parameters
    ----------
    batch : RecordBatch of strings
        Fields as they stand in the file.
    verbatim : collection of str
        Columns that stay as they are.
    n_rows : int
        Number of rows before.

    Raises
    ------
    CsvError
        A column that is no text has numbers with a point, which could be any of 1.5 and 1500.
    """
    from pyarrow import compute

    found = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in verbatim:
            continue
        pointed = compute.match_substring_regex(column, pattern=_POINT)
        n_pointed = compute.sum(pointed).as_py() or 0
        comma = compute.match_substring_regex(column, pattern=_COMMA)
        if n_pointed:
            numbers = compute.or_(compute.or_(comma, pointed), are_numbers(column))
            n_texts = len(column) - column.null_count - compute.sum(numbers).as_py()
            if n_pointed > n_texts:
                row = pointed.index(True).as_py()
                raise CsvError(
                    n_rows + row,
                    Message(
                        "column {!r} holds {!r}, which has a point beside `decimal=','`; write "
                        "numbers with a comma before the fraction, and nothing between thousands",
                        name,
                        column[row].as_py(),
                    ),
                )
        if compute.any(comma).as_py():
            points = compute.replace_substring(column, pattern=",", replacement=".")
            found[name] = compute.if_else(comma, points, column)
    return with_columns(batch, found)
