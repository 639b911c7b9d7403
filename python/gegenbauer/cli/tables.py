"""Tables in files: reading them as a whole, and writing what was predicted."""

from __future__ import annotations

import gzip
import io
import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from gegenbauer.batches.columns import choose_inputs, require_column
from gegenbauer.batches.formats import Dialect, ending_of, format_of, open_file
from gegenbauer.cli.files import require_ending, require_file, shown, write_bytes
from gegenbauer.cli.messages import DataError, printable, refused
from gegenbauer.cli.output import interruptible
from gegenbauer.errors import Rows, StreamError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import pandas as pd

__all__ = ["AS_CSV", "Parts", "Table", "read_table", "write_table"]

AS_CSV = Dialect()


class Parts(NamedTuple):
    """Which columns of a table have a part of their own.

    Attributes
    ----------
    target : str or None
        The column to learn.
    ignored : sequence of str
        Columns that are no inputs.
    ids : sequence of str
        Columns that identify rows, and are no inputs.
    weight : str or None
        Column with the weights of the rows.
    """

    target: str | None = None
    ignored: Sequence[str] = ()
    ids: Sequence[str] = ()
    weight: str | None = None


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
    dialect: Dialect = AS_CSV,
    parts: Parts = Parts(),  # noqa: B008  # a tuple
    *,
    as_text: Collection[str] = (),
) -> Table:
    """Read a table of at least one row.

    Parameters
    ----------
    path : Path
        File of one of the formats of `batches.formats`.
    dialect : Dialect
        How it is written.
    parts : Parts
        Columns of a part. The target stays text in a CSV file: `columns.read_target` distinguishes
        classes by it. Those that identify rows stay what they are, whatever they stand for.
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
    streams = "" if parts.target is None else "--stream to learn the tables in it"
    require_file(path, "table", streams)
    ending = require_ending(path)
    try:
        table = interruptible(lambda: _read(path, ending, dialect, parts, as_text))
    except StreamError as error:
        raise refused(error) from error
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{shown(path)} cannot be read as a {ending} file: {_first_sentence(error)}; it "
            "may be truncated or of another kind: write it anew"
        ) from error
    except ValueError as error:  # an option that is not of this format
        raise refused(error) from error
    if table.n_rows == 0:
        raise DataError(f"{table.name}: no rows; a table needs one row a sample")
    return table


def _read(
    path: Path, ending: str, dialect: Dialect, parts: Parts, as_text: Collection[str]
) -> Table:
    name = printable(path.name, 200)
    file = open_file(name, path, ending, dialect)
    inputs: tuple[str, ...] = ()
    if parts.target is not None:  # before all rows are read
        inputs = choose_inputs(
            file.columns, file.rows(), target=parts.target, ignore=parts.ignored,
            sample_weight=parts.weight, id_columns=parts.ids,
        )  # fmt: skip
    for column in parts.ids:
        require_column(column, file.columns, file.rows(), parameter="id_columns")
    texts = [*as_text, *([] if parts.target is None else [parts.target])]
    columns = file.read(texts, parts.ids)
    is_text = parts.target is not None and format_of(ending) == "csv"
    return Table(name, columns, parts.target if is_text else None, inputs)


def _first_sentence(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text.partition(". ")[0].rstrip(".")


# ---- output --------------------------------------------------------------------------


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table to a file that appears at once and whole.

    Parameters
    ----------
    table : DataFrame
        What to write; the index is left out.
    path : Path
        File of a format that is read, by its ending; an old one is replaced.

    Raises
    ------
    UserError
        The system refuses to write the file; an old one is as it was.
    """
    ending = ending_of(path)
    data = _written(table, ending)
    write_bytes(gzip.compress(data, mtime=0) if ending.endswith(".gz") else data, path)


def _written(table: pd.DataFrame, ending: str) -> bytes:
    from pyarrow import feather

    format_ = format_of(ending)
    if format_ == "csv":
        separator = "\t" if ending.startswith(".tsv") else ","
        return table.to_csv(index=False, sep=separator).encode()
    if format_ == "jsonl":
        rows = table.to_dict("records")
        return "".join(f"{_as_json(row)}\n" for row in rows).encode()
    if format_ == "parquet":
        return bytes(table.to_parquet(None, engine="pyarrow", index=False))
    sink, arrow = io.BytesIO(), pa.Table.from_pandas(table, preserve_index=False)
    if ending == ".arrows":
        with pa.ipc.new_stream(sink, arrow.schema) as stream:
            stream.write_table(arrow)
    else:
        feather.write_feather(arrow, sink)
    return sink.getvalue()


def _as_json(row: dict[Any, Any]) -> str:
    """Write a row in JSON, which has no number that is not finite."""
    values = {
        str(name): None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
    return json.dumps(values, ensure_ascii=False, default=str)
