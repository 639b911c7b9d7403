"""A file of a table: its columns, their kinds, and the reading of its record batches."""

from __future__ import annotations

import difflib
import functools
import hashlib
import itertools
import os
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gegenbauer.batches.arrays import span_of
from gegenbauer.batches.csv_text import CsvError
from gegenbauer.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gegenbauer.batches.column_types import OneText

__all__ = ["NOTHING", "NUMBERS", "TEXT", "TRUTH", "TableFile", "column_kind"]

_TAIL = 1 << 16

NUMBERS, TRUTH, TEXT, NOTHING = "numbers", "true and false", "text", "no values"


class TableFile:
    """A file with a table.

    Attributes
    ----------
    name : str
        As it is shown.
    columns : dict of str to None
        Names of all columns, in their order.
    types : dict
        Types of Arrow of the columns, as far as they are known.
    n_rows : int or None
        Number of rows, once it is known.
    n_seen : int
        Rows that have been read so far.
    ambiguous : set of str
        Columns of numbers of which some are written in several ways, as far as it is known.
    classes : tuple of str and OneText, or None
        A column of numbers that are classes, none of which may be.
    most : int
        Rows that are decoded at once, where that can be said.
    """

    most: int
    columns: dict[str, None]
    n_rows: int | None

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.types: dict[str, Any] = {}
        self.n_seen = 0
        self.ambiguous: set[str] = set()
        self.classes: tuple[str, OneText] | None = None
        self._examples: dict[str, str] = {}

    def require(self, column: str, *, as_in: str = "") -> None:
        """Refuse the name of a column that is not there."""
        if column in self.columns:
            return
        near = difflib.get_close_matches(column, self.columns, n=1)
        shown = ", ".join(repr(name) for name in itertools.islice(self.columns, 10))
        more = f" and {len(self.columns) - 10} more" if len(self.columns) > 10 else ""
        raise StreamError(
            f"{self.name}: there is no column {column!r}"
            + (f" as in {as_in}" if as_in else "")
            + (f"; did you mean {near[0]!r}?" if near else f"; it has {shown}{more}")
        )

    def mark(self) -> tuple[object, ...]:
        """Return what distinguishes this file from one of other contents."""
        with self.path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL))
            return size, hashlib.blake2b(stream.read()).hexdigest()

    def look(self, columns: Sequence[str], target: str) -> None:
        """Look at the first rows for the types of columns, unless they are known."""

    def example(self, column: str) -> str:
        """Show a value of a column that was looked at, for an error."""
        value = self._examples.get(column)
        return "" if value is None else f", such as {value[:40]!r}"

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield the rows from one on as record batches of any size.

        Parameters
        ----------
        types : dict
            Types of Arrow that columns of these names are read as, unless the file has types.
        first : int
            The first row.
        """
        raise NotImplementedError

    def count(self) -> None:
        """Find out the number of rows."""

    def _set_columns(self, names: Sequence[str]) -> None:
        self.columns = dict.fromkeys(names)
        if len(self.columns) < len(names):
            twice = next(name for name, n in Counter(names).items() if n > 1)
            raise StreamError(
                f"{self.name}: there are several columns {twice!r}; give every column a "
                "name of its own"
            )

    @contextmanager
    def _reading(self, first: int | None = None) -> Iterator[None]:
        """Turn what Arrow or the system refuses into an error that names the file."""
        import pyarrow as pa

        try:
            yield
        except StreamError:
            raise
        except CsvError as fault:
            rows = "" if fault.row is None else f"{span_of(fault.row)} of "
            raise StreamError(f"{rows}{self.name}: {fault}") from fault
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(error, first) from error

    def _read_on(self, pieces: Iterator[Any], start: int) -> Iterator[Any]:
        """Yield record batches as they come, of which the first begins with row `start`."""
        while True:
            with self._reading(start):
                piece = next(pieces, None)
            if piece is None:
                return
            start += piece.num_rows
            yield piece

    def _unreadable(self, error: Exception, first: int | None) -> StreamError:
        rows = "" if first is None else f"rows {first} on of "
        reason = (" ".join(str(error).split()) or type(error).__name__).partition(". ")[0]
        return StreamError(
            f"{rows}{self.name} cannot be read: {reason.rstrip('.')}; the file may be "
            "truncated, damaged or of another kind: write it anew"
        )


@functools.lru_cache(maxsize=256)  # a wide table looks up each of its columns, several times
def column_kind(type_: Any) -> str:
    """Say in words what a column of a type of Arrow holds."""
    from pyarrow import types

    if types.is_dictionary(type_):
        type_ = type_.value_type
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return NUMBERS
    if types.is_boolean(type_):
        return TRUTH
    if str(type_) in ("string", "large_string", "string_view"):
        return TEXT
    if types.is_temporal(type_):
        return "dates or times"
    return NOTHING if types.is_null(type_) else f"values of type {type_}"
