"""Parquet files, a row group at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer.batches._typed_file import TypedFile
from gegenbauer.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

__all__ = ["ParquetFile"]

# Bytes of a column that are read from a Parquet file at once, and of the end of a file for its
# fingerprint: there, Parquet keeps the statistics of all columns.
_COLUMN_BUFFER = 1 << 16


class ParquetFile(TypedFile):
    """A Parquet file, of which the end has been read."""

    n_rows: int

    def __init__(self, name: str, path: Path, missing: Sequence[str] = ()) -> None:
        super().__init__(name, path, missing)
        self.n_rows = 0
        with self._reading(), self._open() as file:
            schema, metadata = file.schema_arrow, file.metadata
            self.n_rows = metadata.num_rows
            groups = range(metadata.num_row_groups)
            self._groups = [metadata.row_group(group).num_rows for group in groups]
        self._set_schema(schema)

    def _open(self) -> Any:
        import pyarrow.parquet as pq

        # Read ahead, and whole columns of a group of rows would be in memory.
        return pq.ParquetFile(
            str(self.path),
            pre_buffer=False,
            buffer_size=_COLUMN_BUFFER,
            page_checksum_verification=True,  # where there are any
        )

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
                    yield self._cleared(piece.slice(max(0, first - start)))
                start += piece.num_rows
        if start != self.n_rows:
            raise StreamError(
                f"cannot be read: the file ends there, and should have {self.n_rows} rows; write "
                "it anew",
                self.rows(start),
            )

    def read(
        self,
        as_text: Collection[str] = (),  # noqa: ARG002  # has types
        verbatim: Collection[str] = (),
    ) -> dict[str, Any]:
        """Return all columns, as chunked arrays of Arrow, with all of their rows."""
        import pyarrow.parquet as pq

        with (
            self._reading(),
            pq.ParquetFile(str(self.path), page_checksum_verification=True) as file,
        ):
            table = self._cleared(file.read(), verbatim)
        return {name: table.column(name) for name in self.columns}
