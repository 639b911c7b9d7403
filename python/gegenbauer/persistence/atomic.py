"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gegenbauer._messages import Message
from gegenbauer._validation import setting

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["as_path", "write_atomically"]

if sys.platform != "win32":
    import fcntl

_BINARY: Final[int] = getattr(os, "O_BINARY", 0)


def as_path(path: Any, name: str = "path") -> Path:
    """Return the name of a file as a path; refuse what is none."""
    try:
        return Path(os.fspath(path))
    except TypeError:
        raise TypeError(
            Message(
                "{} must be the name of a file, a str or a path; got {}",
                setting(name),
                type(path).__name__,
            )
        ) from None


def write_atomically(
    path: Path, data: bytes, check: Callable[[Path, bytes], None] = lambda *_: None
) -> None:
    """Write a file under a passing name beside ``path``, check it, then give it that name."""
    _remove_leftovers(path)
    passing, descriptor = _open_passing(path)
    try:
        with os.fdopen(descriptor, "wb") as file:  # open, and so locked, until it has its name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            check(passing, data)
            if path.exists():
                shutil.copymode(path, passing)
            if sys.platform == "win32":  # where a file that is open cannot be renamed
                file.close()
            passing.replace(path)
    except BaseException:
        passing.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _passing_prefix(path: Path) -> str:
    # no name may have more than 255 bytes
    return f".{os.fsencode(path.name)[:64].decode(errors='ignore')}."


def _open_passing(path: Path) -> tuple[Path, int]:
    """Make and lock a new file beside ``path``."""
    while True:
        passing = path.with_name(f"{_passing_prefix(path)}{secrets.token_hex(8)}.tmp")
        # Not tempfile: its files are for the owner alone, and would stay so after the renaming.
        descriptor = os.open(passing, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o666)
        if sys.platform == "win32":
            return passing, descriptor
        with contextlib.suppress(OSError):  # not all file systems have locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink > 0:
            return passing, descriptor
        os.close(descriptor)  # removed as a leftover before it was locked


def _remove_leftovers(path: Path) -> None:
    """Remove passing files of this name that nobody holds: those of processes that were killed."""
    if sys.platform == "win32":
        return
    name = re.compile(re.escape(_passing_prefix(path)) + r"[0-9a-f]{16}\.tmp")
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for leftover in [Path(entry.path) for entry in entries if name.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):  # it is held, or somebody else's
                descriptor = os.open(leftover, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    leftover.unlink()
                finally:
                    os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can do that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some file systems cannot; the file itself is safe
        pass
    finally:
        os.close(descriptor)
