"""CSV files, a block of records at a time."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gegenbauer.batches._files import NUMBERS, TEXT, TRUTH, TableFile, column_kind
from gegenbauer.batches.arrays import span_of
from gegenbauer.batches.column_types import (
    are_numbers,
    read_all_as_doubles,
    read_as,
    same_number,
    typed,
)
from gegenbauer.batches.csv_text import CsvText
from gegenbauer.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from gegenbauer.batches.column_types import OneText

__all__ = ["TEXTS", "CsvFile"]

# Separators that a header is searched for when it seems to have been split at the wrong one.
_OTHER_SEPARATORS = (";", "\t", "|", ",")


class CsvFile(TableFile):
    """A CSV file, of which the header has been read."""

    def __init__(self, name: str, path: Path, separator: str) -> None:
        super().__init__(name, path)
        self.n_rows = None
        with self._reading():
            self._text = CsvText(path, separator)
        if not self._text.has_rows:
            self.n_rows = 0
        header = self._text.header
        # As pandas calls columns without a name.
        self._set_columns([text or f"Unnamed: {place}" for place, text in enumerate(header)])
        other = next((c for c in _OTHER_SEPARATORS if c != separator and c in header[0]), None)
        if len(header) == 1 and other is not None:
            raise StreamError(
                f"{name}: the header is a single name, {header[0]!r}; give `separator={other!r}`"
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
                self.types[name] = pa.float64()  # values may follow; that some lack, we say then
                continue
            self.types[name] = typed(texts, numbers).type
            if column_kind(self.types[name]) == TEXT:
                self._examples[name] = _first_foreign(texts)
            elif name == target and column_kind(self.types[name]) == NUMBERS and same_number(texts):
                self.ambiguous.add(name)

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
        if not _all_numbers(texts):  # what is wrong with them is said where they are read
            return
        found = known.clash(texts)
        if found is not None:
            raise StreamError(
                f"{self.name}: column {name!r}, the target, holds {found[0]!r} and "
                f"{found[1]!r}, which are one number and would be one class; write them alike, or "
                "give `as_labels=False` for numbers that are no classes"
            )

    def _column(self, texts: Any, name: str, type_: Any, first: int) -> Any:
        """Return texts, of which the first row is given, as values of a type."""
        import pyarrow as pa

        try:
            return read_as(texts, type_)
        except pa.ArrowInvalid:
            row, text = _first_of_another_kind(texts, type_)
        wanted = TRUTH if column_kind(type_) == TRUTH else NUMBERS
        whole = pa.types.is_integer(type_)
        raise StreamError(
            f"{span_of(first + row)} of {self.name}: column {name!r} holds {text[:40]!r}, but "
            f"{'whole ' * whole}{wanted} in rows before; give it one type in all rows"
            + (", or `as_labels=False` for decimal numbers" if whole else "")
        )

    def count(self) -> None:
        """Read the file to its end for its number of rows."""
        first = next(iter(self.columns))
        self.n_rows = sum(piece.num_rows for piece in self._tables([first]))

    def frame(self) -> Any:
        """Return all columns of all rows, each of the type that all of its values have."""
        import pandas as pd
        import pyarrow as pa

        pieces = list(self._tables(list(self.columns)))
        if not pieces:
            return pd.DataFrame({name: [] for name in self.columns})
        table = pa.Table.from_batches(pieces)
        del pieces
        columns, texts = {}, {}
        for place, name in enumerate(self.columns):
            values = typed(table.column(place))
            columns[name] = values.to_numpy()
            if column_kind(values.type) == NUMBERS and _may_be_classes(columns[name]):
                pair = same_number(table.column(place))
                if pair is not None:
                    texts[name] = table.column(place), pair
        frame = pd.DataFrame(columns)
        frame.attrs[TEXTS] = _Kept(texts)
        return frame

    def _tables(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._reading(0):
            yield from self._text.tables(list(self.columns), columns)


# Under which a table in memory has the texts of numbers that are written in several ways.
TEXTS = "gegenbauer.texts"


class _Kept:
    """Texts by column, (texts, two that are one number); the copies of a table share them."""

    def __init__(self, of: dict[str, tuple[Any, tuple[str, str]]]) -> None:
        self.of = of

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def _may_be_classes(values: NDArray[Any]) -> bool:
    """Return whether no number has a fraction."""
    return values.dtype.kind in "iu" or bool((np.isnan(values) | (values == np.rint(values))).all())


def _all_numbers(texts: Any) -> bool:
    from pyarrow import compute

    return compute.all(are_numbers(texts)).as_py() is not False


def _first_foreign(texts: Any) -> str:
    """Return the first of some strings, not all of them numbers, that is none."""
    place = are_numbers(texts).index(False).as_py()
    text: str = texts[place].as_py()
    return text


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
