"""CSV files, a block of records at a time."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

from gegenbauer._messages import Message
from gegenbauer.batches._files import TableFile
from gegenbauer.batches.column_types import (
    NUMBERS,
    SHORT,
    TEXT,
    are_numbers,
    column_kind,
    read_all_as_doubles,
    read_as,
    same_number,
    typed,
    typed_all,
)
from gegenbauer.batches.columns import example_of, require_category
from gegenbauer.batches.csv_text import CsvText
from gegenbauer.batches.values import another_kind
from gegenbauer.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from gegenbauer.batches.column_types import OneText
    from gegenbauer.errors import Rows

__all__ = ["CsvFile"]

# Separators that a header is searched for when it seems to have been split at the wrong one.
_OTHER_SEPARATORS = (";", "\t", "|", ",")


class CsvFile(TableFile):
    """A CSV file, of which the header has been read."""

    def __init__(
        self,
        name: str,
        path: Path,
        separator: str,
        *,
        decimal: str = ".",
        missing: Sequence[str] = (),
    ) -> None:
        super().__init__(name, path)
        self.n_rows = None
        self._examples: dict[str, tuple[str, Rows]] = {}
        self._mostly_numbers: dict[str, StreamError] = {}
        with self._reading():
            self._text = CsvText(path, separator, decimal=decimal, missing=missing)
        if not self._text.has_rows:
            self.n_rows = 0
        header = self._text.header
        # As pandas calls columns without a name.
        self._set_columns([text or f"Unnamed: {place}" for place, text in enumerate(header)])
        others = (c for c in _OTHER_SEPARATORS if c not in (separator, decimal) and c in header[0])
        other = next(others, None)
        if len(header) == 1 and other is not None:
            raise StreamError(
                Message(
                    "the header is a single name, {!r}",
                    header[0],
                    ways=Message("give `separator={!r}`", other),
                    joint="; ",
                ),
                self.rows(),
            )

    def look(self, columns: Sequence[str], target: str) -> None:
        """Set the types of columns to those of the first few megabytes."""
        import pyarrow as pa

        piece = next(self._tables(columns), None)
        if piece is None:
            self.types |= dict.fromkeys(columns, pa.float64())
            return
        found = [column.drop_null() if column.null_count else column for column in piece.columns]
        for name, texts, numbers in zip(columns, found, read_all_as_doubles(found), strict=True):
            if len(texts) == 0:
                self.types[name] = (
                    pa.float64()
                )  # values may follow; that some lack is reported then
                self.without_values.add(name)
                continue
            if numbers is not None and name != target:  # of inputs, what kind of numbers is one
                self.types[name] = pa.float64()
                continue
            self.types[name] = typed(texts, numbers).type
            if column_kind(self.types[name]) == TEXT:
                column = piece.column(list(columns).index(name))
                self._examples[name] = example_of(column, self.rows(0))
                try:
                    require_category(name, column, self.rows(0))
                except StreamError as error:
                    self._mostly_numbers[name] = error
            elif name == target and column_kind(self.types[name]) == NUMBERS and same_number(texts):
                self.ambiguous.add(name)

    def example(self, column: str) -> tuple[str, Rows]:
        """Show a value of a column of text that was looked at, and its row, for an error."""
        return self._examples[column]

    def require_category(self, column: str) -> None:
        """Refuse text of which most is numbers, if that was seen already."""
        if column in self._mostly_numbers:
            raise self._mostly_numbers[column]

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield record batches from a row on; at the end, the number of rows is known."""
        import pyarrow as pa

        if self.n_rows == 0:
            return
        start = 0
        for piece in self._tables(list(types)):
            if self.classes is not None and types.get(self.classes[0]) != pa.string():
                self._distinguish(piece.column(list(types).index(self.classes[0])), *self.classes)
            if start + piece.num_rows > first:
                skipped = max(0, first - start)
                texts = [column.slice(skipped) for column in piece.columns]
                doubles = [pa.types.is_float64(type_) for type_ in types.values()]
                known = iter(read_all_as_doubles(list(compress(texts, doubles))))
                columns = []
                for text, is_double, (name, type_) in zip(
                    texts, doubles, types.items(), strict=True
                ):
                    values = next(known) if is_double else None
                    if values is None:
                        values = self._column(text, name, type_, start + skipped)
                    columns.append(values)
                yield pa.RecordBatch.from_arrays(columns, list(types))
            start += piece.num_rows
        self.n_rows = start

    def _distinguish(self, texts: Any, name: str, known: OneText) -> None:
        """Refuse classes that differ as text and would be one as numbers."""
        if not _all_numbers(texts):  # what is wrong with them is reported where they are read
            return
        found = known.clash(texts)
        if found is not None:
            raise StreamError(
                Message(
                    "column {!r}, the target, holds {!r} and {!r}, which are one number and would "
                    "be one class",
                    name,
                    found[0],
                    found[1],
                    ways=[
                        "write them alike",
                        "give `as_labels=False` for numbers that are no classes",
                    ],
                    joint="; ",
                ),
                self.rows(),
            )

    def _column(self, texts: Any, name: str, type_: Any, first: int) -> Any:
        """Return texts, of which the first row is given, as values of a type."""
        import pyarrow as pa

        try:
            return read_as(texts, type_)
        except pa.ArrowInvalid:
            row, text = _first_of_another_kind(texts, type_)
        where = self.rows(first + row, first + row)
        if name in self.without_values:
            raise StreamError(
                f"column {name!r} holds {text[:40]!r}, but had no value in its first rows, which "
                "show its type; begin with rows that have one, or leave the column out",
                where,
            )
        raise another_kind(name, text, type_, where)

    def count(self) -> None:
        """Read the file to its end for its number of rows."""
        first = next(iter(self.columns))
        self.n_rows = sum(piece.num_rows for piece in self._tables([first]))

    def pieces_as_found(self, column: str) -> Iterator[Any]:
        """Yield a column as record batches of its texts."""
        import pyarrow as pa

        return self.pieces({column: pa.string()}, 0)

    def read(self, as_text: Collection[str] = (), verbatim: Collection[str] = ()) -> dict[str, Any]:
        """Return all columns with all of their rows, each of the type that its values have.

        Parameters
        ----------
        as_text : collection of str
            Columns that stay text, whatever it stands for.
        verbatim : collection of str
            Columns of which, besides, no text is read as missing.

        Returns
        -------
        dict of str to ChunkedArray
        """
        import pyarrow as pa

        pieces = list(self._tables(list(self.columns), verbatim))
        if not pieces:
            return dict.fromkeys(self.columns, pa.chunked_array([], pa.float64()))
        table = pa.Table.from_batches(pieces)
        del pieces
        if table.num_rows < SHORT:  # their columns are read together, if each is in one piece
            table = table.combine_chunks().to_batches()[0]
        found = dict(zip(self.columns, table.columns, strict=True))
        others = [name for name in found if name not in as_text and name not in verbatim]
        found |= zip(others, typed_all([found[name] for name in others]), strict=True)
        return {
            name: column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
            for name, column in found.items()
        }

    def _tables(self, columns: Sequence[str], verbatim: Collection[str] = ()) -> Iterator[Any]:
        with self._reading(0):
            yield from self._text.tables(list(self.columns), columns, verbatim)


def _all_numbers(texts: Any) -> bool:
    from pyarrow import compute

    return compute.all(are_numbers(texts)).as_py() is not False


def _first_of_another_kind(texts: Any, type_: Any) -> tuple[int, str]:
    """Return place and text of the first string, which there is, that cannot be read as a type."""
    import pyarrow as pa

    begin, end = 0, len(texts)  # it is between them
    while end - begin > 1:
        middle = (begin + end) // 2
        try:
            read_as(texts.slice(begin, middle - begin), type_)
        except pa.ArrowInvalid:
            end = middle
        else:
            begin = middle
    return begin, texts[begin].as_py()
