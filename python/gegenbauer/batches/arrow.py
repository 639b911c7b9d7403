"""Files of Arrow's format, which Feather is too, a record batch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gegenbauer.batches._typed_file import TypedFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

__all__ = ["ArrowFile"]


class ArrowFile(TypedFile):
    """An Arrow file, of which the schema and the number of rows have been read."""

    n_rows: int

    def __init__(self, name: str, path: Path, missing: Sequence[str] = ()) -> None:
        super().__init__(name, path, missing)
        with self._reading(), self._source() as source:
            schema = self._open(source).schema
            first = self._open(source, [0] if schema.names else [])
            # of the first column alone, for a batch that is compressed is unpacked
            batches = [first.get_batch(place) for place in range(first.num_record_batches)]
            self._sizes = [batch.num_rows for batch in batches]
        self.n_rows = sum(self._sizes)
        self._set_schema(schema)
        self._places = {column: place for place, column in enumerate(schema.names)}

    def _source(self) -> Any:
        import pyarrow as pa

        return pa.OSFile(str(self.path))

    def _open(self, source: Any, places: Sequence[int] = ()) -> Any:
        import pyarrow as pa

        options = pa.ipc.IpcReadOptions(included_fields=list(places), use_threads=False)
        return pa.ipc.open_file(source, options=options)

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield record batches from a row on; batches of the file before it are not read."""
        start = 0
        with self._source() as source:
            with self._reading(first):
                file = self._open(source, sorted(self._places[name] for name in types))
            for place, n_rows in enumerate(self._sizes):
                if start + n_rows > first:
                    with self._reading(start):
                        batch = file.get_batch(place)
                        batch.validate(full=True)  # before its offsets are followed
                    yield from self._cut(self._cleared(batch.select([*types])), start, first)
                start += n_rows

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
