"""Files of JSON lines: one object a row, whose values have types."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from gegenbauer.batches._bytes import open_bytes
from gegenbauer.batches._columns_of import with_columns
from gegenbauer.batches._typed_file import TypedFile
from gegenbauer.batches.column_types import NOTHING, NUMBERS, column_kind
from gegenbauer.batches.values import another_kind
from gegenbauer.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

__all__ = ["JsonLinesFile"]

# Bytes that are read at once, and the longest line
_BLOCK, _MAX_LINE = 1 << 22, 1 << 26

_BOM = b"\xef\xbb\xbf"

_WORDS = {
    "number": "a number", "string": "text", "boolean": "true or false", "array": "a list",
    "object": "an object", "null": "null",
}  # fmt: skip

_ONE_OBJECT = 'each line must hold one object, such as {"x": 1.5, "y": 2}'


# How lines begin that hold something else
_FIRST = {
    b"[": "a list", b"null": "null", b'"': "text", b"t": "true or false", b"f": "true or false",
    **dict.fromkeys([b"%d" % digit for digit in range(10)], "a number"), b"-": "a number",
}  # fmt: skip

# What may be a null behind an object, or stand in a text
_NULL = re.compile(rb"\}\s*n")


class JsonLinesFile(TypedFile):
    """A file of JSON lines, of which the first few megabytes have been read.

    The columns are the keys of these, in the order in which they first stand there. A key that a
    row lacks is a value that is missing. Texts stay text, whatever they stand for.
    """

    def __init__(self, name: str, path: Path, missing: Sequence[str] = ()) -> None:
        super().__init__(name, path, missing)
        self.n_rows = None
        first = next(self._tables(), None)
        if first is None:
            raise StreamError(f"the file is empty; {_ONE_OBJECT}", self.rows())
        self._set_schema(first.schema)

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield record batches from a row on, of these types; then the number of rows is known."""
        import pyarrow as pa

        start = 0
        for table in self._tables():
            if start + table.num_rows > first:
                skipped = max(0, first - start)
                columns = [
                    self._typed(self._column(table, name), name, type_, start).slice(skipped)
                    for name, type_ in types.items()
                ]
                yield pa.RecordBatch.from_arrays(columns, [*types])
            start += table.num_rows
        self.n_rows = start

    def pieces_as_found(self, column: str) -> Iterator[Any]:
        """Yield a column as record batches of the types that stand in the file."""
        import pyarrow as pa

        for table in self._tables():
            found = self._column(table, column)
            if column_kind(found.type) == NOTHING:
                found = found.cast(self.types[column])
            self._require_alike(found, column, self.types[column], 0)
            yield pa.RecordBatch.from_arrays([found], [column])

    def count(self) -> None:
        """Read the file to its end for its number of rows."""
        self.n_rows = sum(table.num_rows for table in self._tables())

    def read(
        self,
        as_text: Collection[str] = (),  # noqa: ARG002  # has types
        verbatim: Collection[str] = (),
    ) -> dict[str, Any]:
        """Return all columns, as chunked arrays of Arrow, with all of their rows."""
        import pyarrow as pa

        tables = list(self._tables(verbatim))
        found = {}
        for name in self.columns:
            pieces = [self._column(table, name) for table in tables]
            kinds = {str(piece.type): piece.type for piece in pieces}
            numbers = [t for t in kinds.values() if column_kind(t) == NUMBERS]
            others = [t for t in kinds.values() if column_kind(t) != NOTHING]
            if name in verbatim and pa.string() in others and numbers:
                pieces = [self._as_text(piece) for piece in pieces]
                numbers, others = [], [pa.string()]
            type_ = pa.float64() if len(numbers) > 1 else [*others, pa.null()][0]
            start = 0
            for place, piece in enumerate(pieces):
                pieces[place] = self._typed(piece, name, type_, start)
                start += len(piece)
            found[name] = pa.chunked_array(pieces, type_)
        return found

    # ---- columns of a piece ------------------------------------------------------------

    def _column(self, table: Any, name: str) -> Any:
        """Return a column of a piece in one array; nulls where no row has the key."""
        import pyarrow as pa

        if name not in table.schema.names:
            return pa.nulls(table.num_rows)
        column = table.column(name)
        chunks = column.chunks
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)

    def _typed(self, column: Any, name: str, type_: Any, start: int) -> Any:
        """Return values of a piece that begins with a row as those of a type, if they are such."""
        from pyarrow import compute, types

        if column.type == type_ or column_kind(column.type) == NOTHING:
            return column.cast(type_)
        self._require_alike(column, name, type_, start)
        if types.is_integer(type_) and types.is_floating(column.type):
            fraction = compute.not_equal(column, compute.floor(column))
            row = compute.index(fraction, True).as_py()
            if row >= 0:
                raise another_kind(name, column[row].as_py(), type_, self.rows(start).row(row))
        return compute.cast(column, type_, safe=False)

    def _require_alike(self, column: Any, name: str, type_: Any, start: int) -> None:
        """Refuse values of another kind than that of a type."""
        from pyarrow import types

        kind, wanted = column_kind(column.type), column_kind(type_)
        nested = types.is_nested(column.type) and column.type != type_
        if kind != wanted or nested:
            row = column.is_valid().index(True).as_py()
            raise another_kind(
                name, column[row].as_py(), type_, self.rows(start + row, start + row)
            )

    # ---- pieces --------------------------------------------------------------------------

    def _tables(self, verbatim: Collection[str] = ()) -> Iterator[Any]:
        """Yield tables of whole lines, of the types that their values have."""
        start = 0
        with self._reading():
            for data in self._lines():
                table = self._parse(data, start)
                if self._known:
                    self._require_known(table, start)
                start += table.num_rows
                yield self._cleared(self._as_written(table, data, verbatim), verbatim)

    def _as_written(self, table: Any, data: bytes, verbatim: Collection[str]) -> Any:
        """Return a table in which numbers that double precision may change are text.

        Those are all with a fraction, and whole ones beyond 64 bits.
        """
        import pyarrow as pa

        names = [
            name
            for name in table.schema.names
            if name in verbatim and pa.types.is_floating(table.schema.field(name).type)
        ]
        if not names:
            return table
        rows = [
            json.loads(line, parse_int=str, parse_float=str)
            for line in data.split(b"\n")
            if line.strip()
        ]
        texts = {name: pa.array([row.get(name) for row in rows], pa.string()) for name in names}
        return with_columns(table, texts)

    def _as_text(self, column: Any) -> Any:
        import pyarrow as pa

        return column.cast(pa.string()) if pa.types.is_integer(column.type) else column

    @property
    def _known(self) -> bool:
        return hasattr(self, "columns")

    def _require_known(self, table: Any, start: int) -> None:
        """Refuse keys that stand in no row of the first piece."""
        new = [name for name in table.schema.names if name not in self.columns]
        if new:
            row = table.column(new[0]).is_valid().index(True).as_py()
            raise StreamError(
                f"a row has the key {new[0]!r}, which none of the first rows has; begin the file "
                "with a row that has all keys, with null where there is no value",
                self.rows(start).row(max(row, 0)),
            )

    def _lines(self) -> Iterator[bytes]:
        """Yield the file in pieces of whole lines, each of which has an end."""
        with open_bytes(self.path) as stream:
            rest = stream.read(len(_BOM)).removeprefix(_BOM)
            more = True
            while more:
                new = stream.read(max(_BLOCK, len(rest)))
                more = bool(new)
                data = rest + new
                end = data.rfind(b"\n") + 1 if more else len(data)
                if end == 0 and len(data) > _MAX_LINE:
                    raise StreamError(
                        f"no end of a line within {_MAX_LINE >> 20} MB; {_ONE_OBJECT}", self.rows()
                    )
                rest = data[end:]
                piece = data[:end]
                if piece.strip():
                    # Arrow counts the rows of a last line without an end anew
                    yield piece if piece.endswith(b"\n") else piece + b"\n"

    def _parse(self, data: bytes, start: int) -> Any:
        """Return whole lines, of which the first row is given, as a table."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        self._require_utf8(data, start)
        self._require_objects(data, start)
        read = arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1)
        texts: dict[str, Any] = {}
        while True:
            options = arrow_json.ParseOptions(explicit_schema=pa.schema(texts))
            try:
                table = arrow_json.read_json(pa.BufferReader(data), read, options)
            except pa.ArrowInvalid as error:
                raise self._explained(error, start) from error
            # Arrow takes some texts for times; they are to stay what they are
            times = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
            if not times:
                break
            if not texts:
                order = table.schema.names
            texts |= dict.fromkeys(times, pa.string())
        if table.num_rows != data.count(b"\n"):
            n_lines = sum(1 for line in data.split(b"\n") if line.strip())
            if table.num_rows != n_lines:
                raise StreamError(f"objects are not one a line; {_ONE_OBJECT}", self.rows(start))
        return table.select(order) if texts else table

    def _require_objects(self, data: bytes, start: int) -> None:
        """Refuse lines that do not begin with an object, or have null behind one.

        A null in the place of an object ends the process in Arrow's parser.
        """
        n_lines = data.count(b"\n")
        sound = data.count(b"\n{") + data.startswith(b"{") == n_lines
        if sound and _NULL.search(data) is None:
            return
        lines = (line.strip() for line in data.split(b"\n"))
        for row, line in enumerate((line for line in lines if line), start):
            if line.startswith(b"{") and (_NULL.search(line) is None or _is_json(line)):
                continue
            found = next((what for begin, what in _FIRST.items() if line.startswith(begin)), "")
            reason = f"the line holds {found}" if found else "this is no JSON"
            raise StreamError(f"{reason}; {_ONE_OBJECT}", self.rows(row, row))

    def _require_utf8(self, data: bytes, start: int) -> None:
        if data.isascii():
            return
        try:
            data.decode()
        except UnicodeDecodeError as error:
            row = start + sum(1 for line in data[: error.start].split(b"\n")[:-1] if line.strip())
            raise StreamError(
                f"this is not UTF-8 text (it holds the byte {data[error.start]:#04x}); save the "
                "file in UTF-8",
                self.rows(row, row),
            ) from None

    def _explained(self, error: Exception, start: int) -> StreamError:
        """Put in our words what Arrow refuses, in a piece that begins with a row."""
        text = " ".join(str(error).split()).removeprefix("JSON parse error: ")
        place = re.search(r" in row (\d+)$", text)
        row = None if place is None else start + int(place[1])
        where = self.rows(start) if row is None else self.rows(row, row)
        text = text if place is None else text[: place.start()].rstrip(".")
        changed = re.fullmatch(r"Column\(/?(.*)\) changed from (\w+) to (\w+)", text)
        twice = re.fullmatch(r"Column\(/(.*)\) was specified twice", text)
        if changed is not None and changed[1]:
            before, found = (_WORDS.get(word, word) for word in changed.group(2, 3))
            reason = (
                f"column {changed[1]!r} holds {found}, but {before} in rows before; give it one "
                "type in all rows"
            )
        elif changed is not None:
            reason = f"the line holds {_WORDS.get(changed[3], changed[3])}; {_ONE_OBJECT}"
        elif twice is not None:
            reason = f"the key {twice[1]!r} stands twice; give every value a key of its own"
        else:
            reason = f"this is no JSON ({text.rstrip('.')}); {_ONE_OBJECT}"
        return StreamError(reason, where)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
