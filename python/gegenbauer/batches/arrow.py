"""Files of Arrow's formats, which Feather is too, a record batch at a time."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from gegenbauer.batches._bytes import beginning_of
from gegenbauer.batches._typed_file import TypedFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

__all__ = ["ArrowFile"]

_FILE = b"ARROW1"  # begins what has its record batches listed at its end; a stream has no end


class ArrowFile(TypedFile):
    """An Arrow file or stream, of which the schema and the number of rows have been read.

    Which of the two it is, its first bytes show. Batches of a stream have no places to go to: those
    before the one that is wanted are passed over.
    """

    n_rows: int

    def __init__(self, name: str, path: Path, missing: Sequence[str] = ()) -> None:
        super().__init__(name, path, missing)
        with self._reading():
            self._is_file = beginning_of(path, len(_FILE)) == _FILE
            with self._source() as source:
                schema = self._open(source).schema
            with self._source() as source:
                # of the first column alone, for a batch that is compressed is unpacked
                first = self._open(source, [0] if schema.names else [])
                self._sizes = [batch.num_rows for batch in self._batches(first)]
        self.n_rows = sum(self._sizes)
        self._set_schema(schema)
        self._places = {column: place for place, column in enumerate(schema.names)}

    def _source(self) -> Any:
        import pyarrow as pa

        return pa.OSFile(str(self.path))

    def _open(self, source: Any, places: Sequence[int] = ()) -> Any:
        import pyarrow as pa

        options = pa.ipc.IpcReadOptions(included_fields=list(places), use_threads=False)
        open_ = pa.ipc.open_file if self._is_file else pa.ipc.open_stream
        return open_(source, options=options)

    def _batches(self, reader: Any, first: int = 0) -> Iterator[Any]:
        """Yield record batches from one on."""
        if self._is_file:
            yield from (
                reader.get_batch(place) for place in range(first, reader.num_record_batches)
            )
        else:
            yield from islice(reader, first, None)

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield record batches from a row on; batches of the file before it are not read."""
        ends = [*accumulate(self._sizes)]
        place = bisect_right(ends, first)  # of the batch with that row
        start = ends[place - 1] if place else 0
        with self._source() as source:
            with self._reading(first):
                reader = self._open(source, sorted(self._places[name] for name in types))
            batches = self._batches(reader, place)
            for end in ends[place:]:
                with self._reading(start):
                    batch = next(batches)
                    batch.validate(full=True)  # before its offsets are followed
                yield from self._cut(self._cleared(batch.select([*types])), start, first)
                start = end

    def _cut(self, batch: Any, start: int, first: int) -> Iterator[Any]:
        for begin in range(max(0, first - start), batch.num_rows, self.most):
            yield batch.slice(begin, self.most)

    def read(
        self,
        as_text: Collection[str] = (),  # noqa: ARG002  # has types
        verbatim: Collection[str] = (),
    ) -> dict[str, Any]:
        """Return all columns, as chunked arrays of Arrow, with all of their rows."""
        with self._reading(), self._source() as source:
            table = self._open(source).read_all()
            table.validate(full=True)
        table = self._cleared(table, verbatim)
        return {name: table.column(name) for name in self.columns}
