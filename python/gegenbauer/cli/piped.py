"""Standard input in the place of a table."""

from __future__ import annotations

import shutil
import sys
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gegenbauer.batches._bytes import ZIPPED
from gegenbauer.batches.formats import ending_by_bytes
from gegenbauer.cli.files import STANDARD
from gegenbauer.cli.messages import DataError, MachineError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["at_hand"]

_BOM = b"\xef\xbb\xbf"

# Bytes by which a format is recognised, and that are copied at once
_HEAD, _BLOCK = 1 << 12, 1 << 20


@contextmanager
def at_hand(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield paths of tables, of which "-" is a file with what comes by standard input.

    Every reading of a table looks at its beginning first and then reads on from there, and some
    read it several times, so that the input has to be in a file: a temporary one, which is removed.
    Memory does not grow with it.

    Raises
    ------
    UserError
        Standard input is one of several tables.
    DataError
        Nothing comes.
    """
    if not any(str(path) == STANDARD for path in paths):
        yield list(paths)
        return
    if len(paths) > 1:
        raise UserError("- is standard input and stands alone; give it without other tables")
    with tempfile.TemporaryDirectory(prefix="gegenbauer-") as folder:
        yield [_copied(Path(folder))]


def _copied(folder: Path) -> Path:
    source = sys.stdin.buffer
    head = source.read(_HEAD)
    if not head:
        raise DataError("standard input is empty; pipe a table into it, as in cat table.csv | ...")
    path = folder / f"standard-input{_ending_of(head)}"
    try:
        with path.open("wb") as copy:
            copy.write(head)
            shutil.copyfileobj(source, copy, _BLOCK)
    except OSError as error:
        raise MachineError(
            f"standard input cannot be kept in a temporary file: {error.strerror or error}; make "
            "room there, or set TMPDIR to another folder"
        ) from error
    return path


def _ending_of(head: bytes) -> str:
    """Return the ending of the format of data that begin so; what is no other format is CSV."""
    ending = ending_by_bytes(head)
    if ending == ZIPPED:
        return f"{_ending_of_text(_unpacked(head))}{ZIPPED}"
    return ending or _ending_of_text(head)


def _ending_of_text(head: bytes) -> str:
    text = head.removeprefix(_BOM).lstrip()
    if text.startswith(b"[") and text[1:].lstrip().startswith(b"{"):
        return ".jsonl"  # nearly, and its reader reports what it is
    return ".jsonl" if text.startswith(b"{") else ".csv"


def _unpacked(head: bytes) -> bytes:
    """Return the beginning of what gzip has packed; "" if it is damaged."""
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, _HEAD)
    except zlib.error:
        return b""
