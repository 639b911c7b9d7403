"""Files whose columns have types of their own: Parquet, Arrow and, by its values, JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer.batches._columns_of import with_columns
from gegenbauer.batches._files import TableFile
from gegenbauer.batches.column_types import NOTHING, NUMBERS, TEXT, column_kind, decoded
from gegenbauer.batches.columns import example_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from gegenbauer.errors import Rows

__all__ = ["TypedFile"]


class TypedFile(TableFile):
    """A file that knows the types of its columns.

    Parameters
    ----------
    name : str
        As it is shown.
    path : Path
        The file.
    missing : sequence of str
        Values that are read as missing: of text, and of numbers those that are as large.
    """

    def __init__(self, name: str, path: Path, missing: Sequence[str] = ()) -> None:
        super().__init__(name, path)
        self._missing = missing
        self._numbers = [number for number in map(_number, missing) if number is not None]

    def _set_schema(self, schema: Any) -> None:
        """Set the columns and their types; what pandas has as an index is no column to it."""
        index = _index_columns(schema)
        self._set_columns([name for name in schema.names if name not in index])
        self.types = {field.name: field.type for field in schema}
        nothing = [name for name, type_ in self.types.items() if column_kind(type_) == NOTHING]
        self.without_values = {*nothing}

    def example(self, column: str) -> tuple[str, Rows]:
        """Show a value of a column that holds no numbers, and its row, for an error."""
        start, found = 0, ("", self.rows())
        for piece in self.pieces({column: self.types[column]}, 0):
            found = example_of(piece.column(0), self.rows(start))
            if found[0]:
                break
            start += piece.num_rows
        return found

    def pieces_as_found(self, column: str) -> Iterator[Any]:
        """Yield a column as record batches of the types that stand in the file."""
        return self.pieces({column: self.types[column]}, 0)

    def _cleared(self, table: Any, verbatim: Collection[str] = ()) -> Any:
        """Return a table or a record batch without the values that are read as missing."""
        if not self._missing:
            return table
        named = zip(table.schema.names, table.columns, strict=True)
        return with_columns(
            table,
            {name: self._without_missing(one) for name, one in named if name not in verbatim},
        )

    def _without_missing(self, column: Any) -> Any:
        import pyarrow as pa
        from pyarrow import compute

        column = decoded(column)
        kind = column_kind(column.type)
        if kind == TEXT:
            absent = compute.is_in(column, value_set=pa.array(self._missing, column.type))
        elif kind == NUMBERS and self._numbers:
            numbers = compute.cast(column, pa.float64(), safe=False)
            absent = compute.is_in(numbers, value_set=pa.array(self._numbers, pa.float64()))
        else:
            return column
        return compute.if_else(absent, pa.scalar(None, column.type), column)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _index_columns(schema: Any) -> list[Any]:
    """Return what pandas has as an index, such as numbers of rows, which is no column to it."""
    try:
        metadata = schema.pandas_metadata
    except ValueError:  # it is JSON, or should be
        return []
    columns = metadata.get("index_columns") if isinstance(metadata, dict) else None
    return columns if isinstance(columns, list) else []
