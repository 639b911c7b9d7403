"""Formats of tables: which the endings of names stand for, and how a file is opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gegenbauer._messages import Message
from gegenbauer.batches._bytes import GZIP_MAGIC, UNREADABLE, ZIPPED, beginning_of
from gegenbauer.batches.arrow import ArrowFile
from gegenbauer.batches.csv import CsvFile
from gegenbauer.batches.json_lines import JsonLinesFile
from gegenbauer.batches.parquet import ParquetFile
from gegenbauer.errors import Rows, StreamError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gegenbauer.batches._files import TableFile

__all__ = [
    "ENDINGS",
    "FORMATS",
    "Dialect",
    "ending_by_bytes",
    "ending_of",
    "format_of",
    "listed_endings",
    "open_file",
]

# What the endings of names stand for
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".parquet": "parquet",
}

# How files begin that are no text, and the endings that they should have
_MAGIC = {
    b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrows", GZIP_MAGIC: ZIPPED,
}  # fmt: skip

# Excel's files are archives of zip, and older ones have a format of their own
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")

_MOST_MAGIC = 6  # bytes

# How formats are called
_WORDS = {"csv": "CSV", "jsonl": "JSON lines", "arrow": "Arrow", "parquet": "Parquet"}

_TEXTS = ("csv", "jsonl")  # which gzip makes smaller

# All endings of tables that are read
ENDINGS = (*FORMATS, *(f"{one}{ZIPPED}" for one, name in FORMATS.items() if name in _TEXTS))


def listed_endings(joint: str = "or") -> str:
    """List the endings of tables.

    Examples
    --------
    >>> listed_endings()
    '.csv, .tsv, .jsonl, .ndjson (with .gz or without), .feather, .arrow, .arrows or .parquet'
    """
    texts = [one for one, name in FORMATS.items() if name in _TEXTS]
    *others, last = [one for one in FORMATS if one not in texts]
    return f"{', '.join(texts)} (with {ZIPPED} or without), {', '.join(others)} {joint} {last}"


def ending_of(path: Path) -> str:
    """Return the ending of a table's name, in small letters; "" if it is of no format.

    Examples
    --------
    >>> from pathlib import Path
    >>> ending_of(Path("t.CSV.gz")), ending_of(Path("t.parquet.gz"))
    ('.csv.gz', '')
    """
    ending = path.suffix.lower()
    if ending == ZIPPED:
        ending = path.with_suffix("").suffix.lower() + ending
    return ending if ending in ENDINGS else ""


def format_of(ending: str) -> str:
    """Return the format that an ending stands for: "csv", "jsonl", "arrow" or "parquet"."""
    return FORMATS[ending.removesuffix(ZIPPED)]


def ending_by_bytes(head: bytes) -> str:
    """Return the ending of a file that is no text, by how it begins; "" if it may be text.

    Examples
    --------
    >>> ending_by_bytes(b"PAR1..."), ending_by_bytes(b"a,b")
    ('.parquet', '')
    """
    return next((ending for magic, ending in _MAGIC.items() if head.startswith(magic)), "")


@dataclass(frozen=True)
class Dialect:
    """How tables are written in their files.

    Attributes
    ----------
    separator : str or None
        What stands between the columns of a CSV file; None for what its ending stands for.
    decimal : {".", ","} or None
        What stands before the fraction of a number in a CSV file; None for a point.
    missing : sequence of str
        Values that are read as missing, beside those that always are.

    Raises
    ------
    ValueError, TypeError
        One of them is no such thing.
    """

    separator: str | None = None
    decimal: str | None = None
    missing: Sequence[str] = ()

    def __post_init__(self) -> None:
        one = self.separator
        if one is not None and (len(one) != 1 or one in '"\r\n' or not one.isascii()):
            raise ValueError(Message("`separator` must be one character of ASCII, got {!r}", one))
        if self.decimal not in (None, ".", ","):
            raise ValueError(Message("`decimal` must be '.' or ',', got {!r}", self.decimal))
        if one is not None and one == self.decimal:
            raise ValueError(
                Message("`separator` and `decimal` are both {!r}, and one must be another", one)
            )
        if isinstance(self.missing, str):
            raise TypeError(
                Message(
                    "`missing_values` must be a sequence of texts, got a str: [{!r}]", self.missing
                )
            )
        if not isinstance(self.missing, Iterable):
            raise TypeError(
                Message(
                    "`missing_values` must be a sequence of texts, got {}",
                    type(self.missing).__name__,
                )
            )
        values: Sequence[object] = self.missing
        others = [value for value in values if not isinstance(value, str)]
        if others:
            raise TypeError(
                Message(
                    "`missing_values` must be texts as they stand in a file, got {!r}: give {!r}",
                    others[0],
                    str(others[0]),
                )
            )

    def meaning(self) -> list[object]:
        """Return what distinguishes values that are read from those of the default, if anything."""
        found = [("decimal", self.decimal)] if self.decimal == "," else []
        return [*found, *(("missing", value) for value in sorted(self.missing))]

    def separator_of(self, ending: str) -> str:
        """Return what stands between the columns of a CSV file of an ending."""
        if self.separator is not None:
            return self.separator
        if ending.startswith(".tsv"):
            return "\t"
        return ";" if self.decimal == "," else ","


def open_file(name: str, path: Path, ending: str, dialect: Dialect) -> TableFile:
    """Open a table.

    Parameters
    ----------
    name : str
        As it is shown.
    path : Path
        The file.
    ending : str
        That of its name, as `ending_of` returns it.
    dialect : Dialect
        How it is written.

    Raises
    ------
    StreamError
        Its beginning cannot be read.
    ValueError
        The dialect is of CSV files, and this is none.
    """
    format_ = format_of(ending)
    if format_ in _TEXTS:
        _require_text(name, path)
    if format_ == "csv":
        return CsvFile(
            name, path, dialect.separator_of(ending), decimal=dialect.decimal or ".",
            missing=dialect.missing,
        )  # fmt: skip
    for parameter in ("separator", "decimal"):
        if getattr(dialect, parameter) is not None:
            raise ValueError(
                Message(
                    "`{}` is for CSV files, and {} holds {}: leave it out",
                    parameter, name, _WORDS[format_],
                )
            )  # fmt: skip
    kinds = {"jsonl": JsonLinesFile, "arrow": ArrowFile, "parquet": ParquetFile}
    return kinds[format_](name, path, dialect.missing)


def _require_text(name: str, path: Path) -> None:
    """Refuse what is no text by what it is, before it is searched for bytes that are none.

    Raises
    ------
    StreamError
        The file, or what gzip has packed in it, is of another format.
    """
    try:
        head = beginning_of(path, _MOST_MAGIC)
    except UNREADABLE:
        return  # the reader has the words for it
    ending = ending_by_bytes(head)
    if ending == ZIPPED:
        reason = f"the file is compressed by gzip; let its name end in {ZIPPED}, or unpack it"
    elif ending:
        unpack = "unpack it and " if path.suffix.lower() == ZIPPED else ""
        reason = (
            f"the file holds {_WORDS[FORMATS[ending]]}, not text; {unpack}let its name end in "
            f"{ending}"
        )
    elif head.startswith(_WORKBOOKS):
        reason = "the file is a workbook or an archive, not text; save the table as CSV in UTF-8"
    else:
        return
    raise StreamError(reason, Rows(name))
