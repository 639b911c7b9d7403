"""Tables in files: reading CSV and Parquet, and writing what was predicted."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import pyarrow as pa

from gegenbauer.batches.columns import choose_inputs, did_you_mean
from gegenbauer.batches.csv import CsvFile
from gegenbauer.batches.parquet import ParquetFile
from gegenbauer.batches.paths import packed
from gegenbauer.batches.tables import SEPARATORS
from gegenbauer.cli.messages import UserError, printable, quoted, refused
from gegenbauer.cli.output import interruptible
from gegenbauer.errors import Rows, StreamError
from gegenbauer.persistence.atomic import write_atomically

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import pandas as pd

__all__ = [
    "PLOT_ENDINGS",
    "Table",
    "check_output",
    "read_table",
    "require_ending",
    "require_file",
    "write_bytes",
    "write_table",
    "writing",
]

TABLE_ENDINGS = (".csv", ".parquet")  # of what is written

READ_ENDINGS = (".csv", ".tsv", ".parquet")

PLOT_ENDINGS = (".svg", ".png", ".pdf")

PAGE_ENDINGS = (".html", ".htm")


def require_file(path: Path, what: str) -> None:
    """Refuse a path that is no readable file.

    Raises
    ------
    UserError
        The path does not exist (similar names are suggested), is a folder or must not be read.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UserError(f"{_show(path)} is a folder; give the {what} itself")
        with path.open("rb"):
            pass
    except FileNotFoundError:
        folder = path.parent
        if not folder.is_dir():
            raise UserError(
                f"the {what} {_show(path)} does not exist, nor does its folder; check the path"
            ) from None
        near = did_you_mean(path.name, (entry.name for entry in folder.iterdir()))
        advice = near or "check the path"
        raise UserError(f"the {what} {_show(path)} does not exist; {advice}") from None
    except OSError as error:
        raise UserError(
            f"the {what} {_show(path)} cannot be read: {error.strerror}; check its permissions"
        ) from error


class Table(NamedTuple):
    """A table in memory.

    Attributes
    ----------
    name : str
        Name of its file, as it is shown.
    columns : dict of str to ChunkedArray
        The columns, in their order.
    text : str or None
        A column of a CSV file that is as it stands there, whatever it stands for.
    inputs : tuple of str
        The columns to learn from, if there is one to learn.
    """

    name: str
    columns: dict[str, pa.ChunkedArray]
    text: str | None
    inputs: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def row(self, number: int) -> Rows:
        """Name a row, counted from 0."""
        return Rows(self.name, number, number)


def read_table(
    path: Path,
    separator: str | None = None,
    *,
    target: str | None = None,
    ignored: Sequence[str] = (),
    as_text: Collection[str] = (),
) -> Table:
    """Read a table of one header and at least one row.

    Parameters
    ----------
    path : Path
        File whose name ends in .csv, .tsv or .parquet.
    separator : str or None, default=None
        What stands between the columns of a CSV file, one character; None for a comma in .csv
        files and a tab in .tsv files.
    target : str or None, default=None
        The column to learn, which stays text in a CSV file: `columns.read_target` distinguishes
        classes by it.
    ignored : sequence of str, default=()
        Columns that are no inputs.
    as_text : collection of str
        Columns that stay text in a CSV file, as categories of a model that are text.

    Returns
    -------
    Table
        Its columns have different names.

    Raises
    ------
    UserError
        The file is not there, is of another kind, is damaged or has no rows.
    """
    require_file(path, "table")
    ending = require_ending(path)
    try:
        table = interruptible(lambda: _read(path, ending, separator, target, ignored, as_text))
    except StreamError as error:
        raise refused(error) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(
            f"{_show(path)} cannot be read as a {ending} file: {_first_sentence(error)}; it "
            "may be truncated or of another kind: write it anew"
        ) from error
    if table.n_rows == 0:
        raise UserError(f"{table.name}: no rows; a table needs one row a sample")
    return table


def _read(
    path: Path,
    ending: str,
    separator: str | None,
    target: str | None,
    ignored: Sequence[str],
    as_text: Collection[str],
) -> Table:
    name, is_csv = printable(path.name, 200), ending != ".parquet"
    file = (
        CsvFile(name, path, separator or SEPARATORS[ending]) if is_csv else ParquetFile(name, path)
    )
    inputs: tuple[str, ...] = ()
    if target is not None:  # before all rows are read
        inputs = choose_inputs(file.columns, file.rows(), target=target, ignore=ignored)
    as_text = [*as_text, *([] if target is None else [target])]
    return Table(name, file.read(as_text=as_text), target if is_csv else None, inputs)


def _first_sentence(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text.partition(". ")[0].rstrip(".")


def require_ending(path: Path) -> str:
    """Return the ending of a table to read; refuse any that is none."""
    return _ending(path, "the table", READ_ENDINGS)


def _ending(path: Path, what: str, endings: tuple[str, ...] = TABLE_ENDINGS) -> str:
    ending = path.suffix.lower()
    if ending not in endings:
        raise UserError(
            f"{what} {_show(path)} ends in {quoted(path.suffix or path.name)}; give a file "
            f"that ends in {', '.join(endings[:-1])} or {endings[-1]}{packed(path)}"
        )
    return ending


# ---- output --------------------------------------------------------------------------


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
    if what == "table":
        _ending(path, option)
    elif what == "plot":
        _ending(path, option, PLOT_ENDINGS)
    elif what == "page":
        _ending(path, option, PAGE_ENDINGS)
    else:
        for other, endings in (("table", READ_ENDINGS), ("plot", PLOT_ENDINGS)):
            if path.suffix.lower() in endings:
                raise UserError(
                    f"{option} {_show(path)} ends as a {other} does; give the {what} another "
                    "ending, such as .safetensors"
                )
    # A link stays, and what it points at is replaced.
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise UserError(
            f"the folder of {option} {_show(path)} does not exist; make it, or choose another place"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(
            f"the folder of {option} {_show(path)} must not be written to; choose another place"
        )
    if not path.exists():
        return
    if not path.is_file():
        raise UserError(f"{option} {_show(path)} is a folder or a device; give the name of a file")
    if any(path.samefile(source) for source in sources if source.exists()):
        raise UserError(f"{option} {_show(path)} is what is read; choose another name")
    if not os.access(path, os.W_OK):
        raise UserError(f"{option} {_show(path)} is write-protected; choose another name")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table to a file that appears at once and whole.

    Parameters
    ----------
    table : DataFrame
        What to write; the index is left out.
    path : Path
        File whose name ends in .csv or .parquet; an old one is replaced.

    Raises
    ------
    UserError
        The system refuses to write the file; an old one is as it was.
    """
    if path.suffix.lower() == ".csv":
        data = table.to_csv(index=False).encode()
    else:
        data = table.to_parquet(None, engine="pyarrow", index=False)
    write_bytes(data, path)


def write_bytes(data: bytes, path: Path) -> None:
    """Write a file that appears at once and whole.

    Raises
    ------
    UserError
        The system refuses to write the file; an old one is as it was.
    """
    with writing(path):
        write_atomically(Path(os.path.realpath(path)), data)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file that was requested, not the passing one, when the system refuses it."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{_show(path)} cannot be written: {error.strerror or error}; make room or choose "
            "another place"
        ) from error


def _show(path: Path) -> str:
    return printable(str(path), 200)
