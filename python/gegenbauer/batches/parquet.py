"""Parquet files, a row group at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer.batches._files import TableFile
from gegenbauer.batches.column_types import NOTHING, column_kind
from gegenbauer.batches.columns import example_of
from gegenbauer.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from gegenbauer.errors import Rows

__all__ = ["ParquetFile"]

# Bytes of a column that are read from a Parquet file at once, and of the end of a file for its
# fingerprint: there, Parquet keeps the statistics of all columns.
_COLUMN_BUFFER = 1 << 16


class ParquetFile(TableFile):
    """A Parquet file, of which the end has been read."""

    n_rows: int

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name, path)
        self.n_rows = 0
        with self._reading(), self._open() as file:
            schema, metadata = file.schema_arrow, file.metadata
            self.n_rows = metadata.num_rows
            groups = range(metadata.num_row_groups)
            self._groups = [metadata.row_group(group).num_rows for group in groups]
        index = _index_columns(schema)
        self._set_columns([name for name in schema.names if name not in index])
        self.types = {field.name: field.type for field in schema}
        nothing = [name for name, type_ in self.types.items() if column_kind(type_) == NOTHING]
        self.without_values = {*nothing}

    def _open(self) -> Any:
        import pyarrow.parquet as pq

        # Read ahead, and whole columns of a group of rows would be in memory.
        return pq.ParquetFile(
            str(self.path),
            pre_buffer=False,
            buffer_size=_COLUMN_BUFFER,
            page_checksum_verification=True,  # where there are any
        )

    def example(self, column: str) -> tuple[str, Rows]:
        """Show a value of a column that holds no numbers, and its row, for an error."""
        start, found = 0, ("", self.rows())
        for piece in self.pieces({column: self.types[column]}, 0):
            found = example_of(piece.column(0), self.rows(start))
            if found[0]:
                break
            start += piece.num_rows
        return found

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield record batches from a row on; groups of rows before it are not read."""
        group, start = 0, 0
        while group < len(self._groups) and start + self._groups[group] <= first:
            start += self._groups[group]
            group += 1
        with self._reading(first):
            file = self._open()
        with file:
            batches = file.iter_batches(
                batch_size=self.most,
                row_groups=list(range(group, len(self._groups))),
                columns=list(types),
                use_threads=False,  # more memory, and not faster
            )
            for piece in self._read_on(batches, start):
                if start + piece.num_rows > first:
                    yield piece.slice(max(0, first - start))
                start += piece.num_rows
        if start != self.n_rows:
            raise StreamError(
                f"cannot be read: the file ends there, and should have {self.n_rows} rows; write "
                "it anew",
                self.rows(start),
            )

    def read(self, as_text: Collection[str] = ()) -> dict[str, Any]:  # noqa: ARG002  # has types
        """Return all columns, as chunked arrays of Arrow, with all of their rows."""
        import pyarrow.parquet as pq

        with (
            self._reading(),
            pq.ParquetFile(str(self.path), page_checksum_verification=True) as file,
        ):
            table = file.read()
        return {name: table.column(name) for name in self.columns}


def _index_columns(schema: Any) -> list[Any]:
    """Return what pandas has as an index, such as numbers of rows, which is no column to it."""
    try:
        metadata = schema.pandas_metadata
    except ValueError:  # it is JSON, or should be
        return []
    columns = metadata.get("index_columns") if isinstance(metadata, dict) else None
    return columns if isinstance(columns, list) else []
