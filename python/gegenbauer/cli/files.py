"""Files that are read or written: whether they can be, before any long work."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gegenbauer.batches.columns import did_you_mean
from gegenbauer.batches.formats import ENDINGS, ending_of, listed_endings
from gegenbauer.batches.paths import packed
from gegenbauer.cli.messages import MachineError, UserError, printable, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "PLOT_ENDINGS",
    "STANDARD",
    "check_output",
    "require_ending",
    "require_file",
    "shown",
    "write_bytes",
    "writing",
]

PLOT_ENDINGS = (".svg", ".png", ".pdf")

PAGE_ENDINGS = (".html", ".htm")

STANDARD = "-"  # standard input or output


def require_file(path: Path, what: str, folder_advice: str = "") -> None:
    """Refuse a path that is no readable file.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        What it is.
    folder_advice : str, default=""
        What to give for a folder, if that is not the file itself.

    Raises
    ------
    UserError
        The path does not exist (similar names are suggested), is a folder or a pipe, or must not
        be read.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UserError(
                f"{shown(path)} is a folder; give {folder_advice or f'the {what} itself'}"
            )
        if stat.S_ISFIFO(mode):  # of which nothing is read twice
            standard = ", or - and pipe into it" if what == "table" else ""
            raise UserError(f"{shown(path)} is a pipe; give the {what} itself{standard}")
        with path.open("rb"):
            pass
    except FileNotFoundError:
        folder = path.parent
        if not folder.is_dir():
            raise UserError(
                f"the {what} {shown(path)} does not exist, nor does its folder; check the path"
            ) from None
        near = did_you_mean(path.name, (entry.name for entry in folder.iterdir()))
        advice = near or "check the path"
        raise UserError(f"the {what} {shown(path)} does not exist; {advice}") from None
    except OSError as error:
        raise UserError(
            f"the {what} {shown(path)} cannot be read: {error.strerror}; check its permissions"
        ) from error


def require_ending(path: Path) -> str:
    """Return the ending of a table to read; refuse any that is none."""
    ending = ending_of(path)
    if not ending:
        raise UserError(_other_ending(path, "the table", listed_endings()) + packed(path))
    return ending


def _other_ending(path: Path, what: str, endings: str) -> str:
    return (
        f"{what} {shown(path)} ends in {quoted(path.suffix or path.name)}; give a file that ends "
        f"in {endings}"
    )


def check_output(
    path: Path,
    what: Literal["table", "model", "plot", "checkpoint", "page"],
    *,
    sources: Iterable[Path],
) -> None:
    """Refuse, before any long work, a place where no file can be written.

    Parameters
    ----------
    path : Path
        The file to be.
    what : {"table", "model", "plot", "checkpoint", "page"}
        What it will be.
    sources : iterable of Path
        Files that are read, and must not be replaced.

    Raises
    ------
    UserError
        The ending is wrong, the folder is missing or must not be written to, or the path is a
        folder, a special file, write-protected or one of the sources.
    """
    option = {"plot": "--plot", "checkpoint": "--checkpoint"}.get(what, "--out")
    if str(path) == STANDARD:
        raise UserError(f"{option} - is standard output, where no {what} goes; name a file")
    if what == "table":
        if not ending_of(path):
            raise UserError(_other_ending(path, option, listed_endings()))
    elif what == "plot":
        if path.suffix.lower() not in PLOT_ENDINGS:
            raise UserError(_other_ending(path, option, ".svg, .png or .pdf"))
    elif what == "page":
        if path.suffix.lower() not in PAGE_ENDINGS:
            raise UserError(_other_ending(path, option, ".html or .htm"))
    else:
        for other, endings in (("table", ENDINGS), ("plot", PLOT_ENDINGS)):
            if path.name.lower().endswith(endings):
                raise UserError(
                    f"{option} {shown(path)} ends as a {other} does; give the {what} another "
                    "ending, such as .safetensors"
                )
    # A link stays, and what it points at is replaced.
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise UserError(
            f"the folder of {option} {shown(path)} does not exist; make it, or choose another place"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(
            f"the folder of {option} {shown(path)} must not be written to; choose another place"
        )
    if not path.exists():
        return
    if not path.is_file():
        raise UserError(f"{option} {shown(path)} is a folder or a device; give the name of a file")
    if any(path.samefile(source) for source in sources if source.exists()):
        raise UserError(f"{option} {shown(path)} is what is read; choose another name")
    if not os.access(path, os.W_OK):
        raise UserError(f"{option} {shown(path)} is write-protected; choose another name")


def write_bytes(data: bytes, path: Path) -> None:
    """Write a file that appears at once and whole.

    Raises
    ------
    UserError
        The system refuses to write the file; an old one is as it was.
    """
    # here, for it brings the estimators, and a shell completes words without them
    from gegenbauer.persistence.atomic import write_atomically

    with writing(path):
        write_atomically(Path(os.path.realpath(path)), data)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file that was requested, not the passing one, when the system refuses it."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"{shown(path)} cannot be written: {error.strerror or error}; make room or choose "
            "another place"
        ) from error


def shown(path: Path) -> str:
    """Return a path fit to be shown."""
    return printable(str(path), 200)
