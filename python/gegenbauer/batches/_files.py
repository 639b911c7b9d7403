"""A file of a table: its columns, their kinds, and the reading of its record batches."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gegenbauer.batches._bytes import UNREADABLE
from gegenbauer.batches.csv_error import CsvError
from gegenbauer.errors import Rows, StreamError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from gegenbauer.batches.column_types import OneText

__all__ = ["TableFile"]

_TAIL = 1 << 16


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
    without_values : set of str
        Columns without a value in the rows that were looked at.
    ambiguous : set of str
        Columns of numbers of which some are written in several ways, as far as it is known.
    classes : tuple of str and OneText, or None
        A column of numbers that are classes, none of which may be.
    most : int
        Rows that are decoded at once, where that can be set.
    """

    most: int
    columns: dict[str, None]
    n_rows: int | None

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.types: dict[str, Any] = {}
        self.n_seen = 0
        self.without_values: set[str] = set()
        self.ambiguous: set[str] = set()
        self.classes: tuple[str, OneText] | None = None

    def rows(self, first: int | None = None, last: int | None = None) -> Rows:
        """Name rows of this file, or the file as a whole."""
        return Rows(self.name, first, last)

    def mark(self) -> tuple[object, ...]:
        """Return what distinguishes this file from one of other contents."""
        with self.path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL))
            return size, hashlib.blake2b(stream.read()).hexdigest()

    def look(self, columns: Sequence[str], target: str) -> None:
        """Look at the first rows for the types of columns, unless they are known."""

    def example(self, column: str) -> tuple[str, Rows]:
        """Show a value of a column that holds no numbers, and its row, for an error."""
        raise NotImplementedError

    def require_category(self, column: str) -> None:
        """Refuse text of which most is numbers, if that was seen already."""

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

    def pieces_as_found(self, column: str) -> Iterator[Any]:
        """Yield a column as record batches of what stands in the file, whatever it stands for."""
        raise NotImplementedError

    def read(self, as_text: Collection[str] = (), verbatim: Collection[str] = ()) -> dict[str, Any]:
        """Return all columns, as chunked arrays of Arrow, with all of their rows.

        Parameters
        ----------
        as_text : collection of str
            Columns that stay text where they are text, whatever it stands for.
        verbatim : collection of str
            Columns of which no value is read as missing either, as of names of rows.
        """
        raise NotImplementedError

    def count(self) -> None:
        """Find out the number of rows."""

    def _set_columns(self, names: Sequence[str]) -> None:
        self.columns = dict.fromkeys(names)
        if len(self.columns) < len(names):
            twice = next(name for name, n in Counter(names).items() if n > 1)
            raise StreamError(
                f"there are several columns {twice!r}; give every column a name of its own",
                self.rows(),
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
            last = None if fault.to_the_end else fault.row
            raise StreamError(fault.args[0], self.rows(fault.row, last)) from fault
        except (pa.ArrowException, UnicodeDecodeError, *UNREADABLE) as error:
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
        reason = (" ".join(str(error).split()) or type(error).__name__).partition(". ")[0]
        return StreamError(
            f"cannot be read: {reason.rstrip('.')}; the file may be truncated, damaged or of "
            "another kind: write it anew",
            self.rows(first),
        )
