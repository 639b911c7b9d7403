"""The bytes of a text file, which may be compressed by gzip."""

from __future__ import annotations

import gzip
import zlib
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["GZIP_MAGIC", "UNREADABLE", "ZIPPED", "beginning_of", "open_bytes"]

ZIPPED = ".gz"  # ends the name of a file that gzip has made

GZIP_MAGIC = b"\x1f\x8b"  # begins such a file

# What a file that is damaged or cannot be reached raises while it is read
UNREADABLE = (OSError, EOFError, zlib.error)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, as it was before gzip if its name ends in ``.gz``."""
    if path.suffix.lower() == ZIPPED:
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def beginning_of(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a file, as they were before gzip if its name ends so."""
    with open_bytes(path) as stream:
        return stream.read(n_bytes)
