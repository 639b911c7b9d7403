"""CSV files as text: pieces that end where records end, and columns of strings made of them.

A file means what Python's ``csv.reader(strict=True, skipinitialspace=True)`` reads in it, without
the lines that are blank. Arrow's parser splits fields as that one does, but it keeps blanks before
them, which may hide a quote, takes a quote that is never closed and text behind a closing one, and
may lose a line feed in quotes where two of its blocks meet. So it gets pieces of whole records,
without those blanks, of which all quotes are known to be sound.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gegenbauer._messages import Message
from gegenbauer.batches._bytes import open_bytes
from gegenbauer.batches._columns_of import with_columns
from gegenbauer.batches.csv_cells import is_wide, split_columns
from gegenbauer.batches.csv_decimal import with_points
from gegenbauer.batches.csv_error import CsvError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from gegenbauer._typing import Places

__all__ = ["CsvError", "CsvText"]

# Bytes that are read at once; so many headers of a wide table, for which each piece is work.
_BLOCK = 1 << 22

_HEADERS_A_BLOCK = 64

# No record is longer. Else one quote that is not closed would take a whole file into memory.
_MAX_RECORD = 1 << 26

# As in pandas.read_csv.
_MISSING = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
]  # fmt: skip

_BOM = b"\xef\xbb\xbf"

_LINE_ENDS = b"\r\n"

_BLANK, _QUOTE = b' "'


class _FlawError(Exception):
    """What is wrong at a place of some data that begin with a record."""

    def __init__(self, data: bytes, at: int, reason: str) -> None:
        super().__init__(reason)
        self.data, self.at, self.reason = data, at, reason


class _Quoted(NamedTuple):
    """Where fields in quotes begin and, behind their last quote, end; one may still be open."""

    begin: Places
    end: Places
    open_at: int | None

    def around(self, at: Places) -> Places:
        """Return in which of these fields each place is; -1 for none."""
        field = np.searchsorted(self.begin, at, side="right") - 1
        end = np.append(self.end, np.iinfo(np.intp).max)  # of one that is open
        return np.where((field >= 0) & (at < end[field]), field, -1)


class CsvText:
    """The text of a CSV file, of which the header has been read.

    Parameters
    ----------
    path : Path
        The file.
    separator : str
        What stands between fields: one character of ASCII.
    decimal : {".", ","}
        What stands before the fraction of a number. Commas there become points.
    missing : sequence of str
        Fields without a value, beside those that always are.

    Attributes
    ----------
    header : list of str
        Names of the columns as they stand there.
    has_rows : bool
        Whether anything follows.

    Raises
    ------
    CsvError
        The file is empty, or its beginning is no CSV in UTF-8.
    """

    def __init__(
        self, path: Path, separator: str, *, decimal: str = ".", missing: Sequence[str] = ()
    ) -> None:
        self._path, self._separator, self._decimal = path, separator, decimal
        self._missing = [*_MISSING, *missing]
        own = separator.encode()
        self._is_end = np.zeros(256, dtype=bool)  # of a field
        self._is_end[list(own + _LINE_ENDS)] = True
        # A field in quotes begins behind the end of another one, or of nothing.
        own = re.escape(own)
        quoted = rb'(?<![^%b\r\n]) *("[^"]*(?:""[^"]*)*("?))' % own
        self._quoted_field = re.compile(quoted)
        self._record = re.compile(rb'(?:%b|[^"%b\r\n]+|%b|")+' % (quoted, own, own))
        self._padding = [end + b" " for end in (separator.encode(), b"\n", b"\r")]
        self._block = _BLOCK

        pieces, n_rows = self._pieces(), None
        try:
            first = next(pieces, None)
            if first is None:
                raise CsvError(None, "the file is empty; it needs a header")
            self.header, rest = self._split_header(first)
            n_rows = 0
            self.has_rows = bool(rest) or next(pieces, None) is not None
        except _FlawError as flaw:
            raise self._located(flaw, n_rows) from None
        self._block = max(_BLOCK, min(_HEADERS_A_BLOCK * (len(first) - len(rest)), _MAX_RECORD))

    def tables(
        self, names: Sequence[str], wanted: Sequence[str], verbatim: Collection[str] = ()
    ) -> Iterator[Any]:
        """Yield the rows as columns of strings.

        Parameters
        ----------
        names : sequence of str
            Names of all columns, of which no two are equal.
        wanted : sequence of str
            Those to yield.
        verbatim : collection of str
            Those of them whose texts stay as they are, even where they would be missing.

        Yields
        ------
        RecordBatch
            At least one row; values that are missing are null.

        Raises
        ------
        CsvError
            The text is not UTF-8, its quotes are unsound, or a row has more or fewer fields than
            the header.
        """
        n_rows = None  # of those before; the header comes first
        kept = [name for name in wanted if name in verbatim]
        try:
            for piece in self._pieces():
                data = self._split_header(piece)[1] if n_rows is None else piece
                n_rows = n_rows or 0
                if not data:
                    continue
                for batch in self._batches(data, names, wanted, self._missing, n_rows):
                    table = batch
                    if self._decimal != ".":
                        table = with_points(table, kept, n_rows)
                    if kept:
                        own = self._batches(data, names, kept, [], n_rows)
                        texts = next(iter(own))
                        table = with_columns(table, dict(zip(kept, texts.columns, strict=True)))
                    n_rows += table.num_rows
                    yield table
        except _FlawError as flaw:
            raise self._located(flaw, n_rows) from None

    def _batches(
        self,
        data: bytes,
        names: Sequence[str],
        wanted: Sequence[str],
        missing: Sequence[str],
        n_rows: int,
    ) -> Iterator[Any]:
        """Yield whole records behind so many rows as columns of strings, in one batch."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        if is_wide(data, len(names)):
            place_of = {name: place for place, name in enumerate(names)}
            places, own = [place_of[name] for name in wanted], self._separator.encode()
            columns = split_columns(data, len(names), places, own, missing)
            if columns is not None:
                yield pa.RecordBatch.from_arrays(columns, list(wanted))
                return
        refused: list[Any] = []  # rows of more or fewer fields, of which the first is an error

        def refuse(row: Any) -> str:
            refused.append(row)
            return "error"

        parse = arrow_csv.ParseOptions(
            delimiter=self._separator, newlines_in_values=True, invalid_row_handler=refuse
        )
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.string()),
            include_columns=list(wanted),
            null_values=list(missing),
            strings_can_be_null=bool(missing),
        )
        read = arrow_csv.ReadOptions(
            use_threads=False,  # with threads, errors do not know the row
            block_size=len(data) + 1,  # all of them
            column_names=list(names),
        )
        try:
            table = arrow_csv.read_csv(pa.BufferReader(data), read, parse, convert)
        except pa.ArrowInvalid as error:
            raise self._explained(error, n_rows, refused) from error
        yield from table.combine_chunks().to_batches()

    def _split_header(self, piece: bytes) -> tuple[list[str], bytes]:
        """Return the names in the first record, and what follows it."""
        found = self._record.match(piece)
        assert found is not None  # a piece begins with a record
        try:
            header = next(csv.reader([found[0].decode()], delimiter=self._separator, strict=True))
        except csv.Error as error:
            raise CsvError(None, f"the header cannot be read: {error}") from error
        return header, piece[found.end() :].lstrip(_LINE_ENDS)

    def _located(self, flaw: _FlawError, n_rows: int | None) -> CsvError:
        """Find in which row something is, of which the data come behind so many rows."""
        before = self._record.finditer(flaw.data, 0, flaw.at + 1)
        place = sum(bool(record[0].strip(b" ")) for record in before) - 1
        row = place - 1 if n_rows is None else n_rows + place
        return CsvError(row if row >= 0 else None, flaw.reason)

    def _explained(self, error: Exception, n_rows: int, refused: list[Any]) -> CsvError:
        """Name the row of what Arrow refuses, behind so many rows."""
        if not refused:
            text = " ".join(str(error).split())
            return CsvError(n_rows, f"cannot be read: {text}", to_the_end=True)
        row = refused[0]
        return CsvError(
            n_rows + row.number - 1,
            Message(
                "expected {} columns, got {}",
                row.expected_columns,
                row.actual_columns,
                ways=[
                    "repair that line",
                    Message("give `separator` if it is not {!r}", self._separator),
                ],
                joint="; ",
            ),
        )

    # ---- pieces ----------------------------------------------------------------------

    def _pieces(self) -> Iterator[bytes]:
        """Yield the file in pieces of whole records, one at least, without blanks before fields."""
        with open_bytes(self._path) as stream:
            rest = stream.read(len(_BOM)).removeprefix(_BOM)
            more = True
            while more:
                # twice as much each time, so that a long record is not searched too often
                new = stream.read(max(self._block, len(rest)))
                more = bool(new)
                data = (rest + new).lstrip(_LINE_ENDS)
                quoted = self._quoted(data)
                end = self._last_end(data, quoted) if more else len(data)
                if not more and quoted.open_at is not None:
                    raise _FlawError(
                        data, quoted.open_at, "a quote is opened and never closed; close it, or "
                        "double it if it belongs to the text",
                    )  # fmt: skip
                if end == 0 and len(data) > _MAX_RECORD:
                    raise _FlawError(
                        data, quoted.open_at or 0, f"no end of the row within {_MAX_RECORD >> 20} "
                        "MB; close its quotes",
                    )  # fmt: skip
                rest = data[end:]
                piece = self._without_blanks(_utf8(data[:end]), quoted).lstrip(_LINE_ENDS)
                if piece:
                    yield piece

    def _quoted(self, data: bytes) -> _Quoted:
        """Find the fields in quotes of data that begin with a record.

        In most files quotes stand about whole fields, or double: they open and close by turns, and
        that is seen of all at once. Where a quote stands within a field without quotes, where it
        is text, the fields are gone through one by one.
        """
        array = np.frombuffer(data, dtype=np.uint8)
        at = np.flatnonzero(array == _QUOTE) if b'"' in data else np.zeros(0, dtype=np.intp)
        if at.size == 0:
            return _Quoted(at, at, None)
        begin, last = at[0::2], at[1::2]
        sound_begin = self._is_end[array[begin - 1]]
        sound_begin[0] |= begin[0] == 0
        sound_end = self._is_end[array[np.minimum(last + 1, array.size - 1)]]
        sound_end[last + 1 == array.size] = True
        padded = ~sound_begin & (array[begin - 1] == _BLANK)
        if padded.any():
            solid = np.append(-1, np.flatnonzero(array != _BLANK))
            before = solid[np.searchsorted(solid, begin[padded]) - 1]
            sound_begin[padded] = (before < 0) | self._is_end[array[before]]
        if not (sound_begin.all() and sound_end.all()):
            doubled = begin[1:] == last[: begin.size - 1] + 1
            inner_begin, inner_end = np.append(False, doubled), np.zeros(last.size, dtype=bool)
            inner_end[: doubled.size] = doubled
            sound = (sound_begin | inner_begin).all() and (sound_end | inner_end).all()
            begin, last = begin[~inner_begin], last[~inner_end]
        else:
            sound = True
        if sound:
            return _Quoted(begin, last + 1, int(begin[-1]) if begin.size > last.size else None)

        fields = [(*found.span(1), found[2]) for found in self._quoted_field.finditer(data)]
        for first, stop, closing in fields:
            if closing and stop < len(data) and not self._is_end[data[stop]]:
                raise _FlawError(
                    data, first, "text follows a field in quotes; close the quotes of the field, "
                    "or double those that belong to its text",
                )  # fmt: skip
        is_open = bool(fields) and not fields[-1][2]
        begin = np.array([first for first, _, _ in fields], dtype=np.intp)
        end = np.array([stop for _, stop, closing in fields if closing], dtype=np.intp)
        return _Quoted(begin, end, fields[-1][0] if is_open else None)

    def _last_end(self, data: bytes, quoted: _Quoted) -> int:
        """Return where the last record ends that is known to be whole; 0 if there is none."""
        # A carriage return at the very end may be half of a line's end.
        limit = len(data) - data.endswith(b"\r") if quoted.open_at is None else quoted.open_at
        while True:
            feed = data.rfind(b"\n", 0, limit)
            last = max(feed, data.rfind(b"\r", feed + 1, limit))
            if last < 0:
                return 0
            field = int(quoted.around(np.array([last]))[0])
            if field < 0:
                return last + 1
            limit = int(quoted.begin[field])

    def _without_blanks(self, data: bytes, quoted: _Quoted) -> bytes:
        """Take away the blanks with which fields begin."""
        if b" " not in data:  # which is found out much faster
            return data
        if not data.startswith(b" ") and not any(blank in data for blank in self._padding):
            return data
        array = np.frombuffer(data, dtype=np.uint8)
        change = np.diff((array == _BLANK).astype(np.int8), prepend=0, append=0)
        first, stop = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
        at_field = (first == 0) | self._is_end[array[first - 1]]
        if self._is_end[_BLANK]:  # the first of several is a separator, unless a line begins there
            first, at_field = np.where(at_field, first, first + 1), at_field | True
        drop = at_field & (quoted.around(first) < 0)
        marks = np.zeros(array.size + 1, dtype=np.int8)
        marks[first[drop]] += 1
        marks[stop[drop]] -= 1
        left: bytes = array[np.cumsum(marks[:-1], dtype=np.int8) == 0].tobytes()
        return left


def _utf8(data: bytes) -> bytes:
    """Refuse data that are no text."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise _FlawError(
                data, error.start, f"this is not UTF-8 text (it holds the byte "
                f"{data[error.start]:#04x}); save the file as CSV in UTF-8",
            ) from None  # fmt: skip
    return data
