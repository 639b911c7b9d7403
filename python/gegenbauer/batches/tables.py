"""Batches from files of tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gegenbauer._messages import Message
from gegenbauer._renamed import FormerNames, refuse_old_names
from gegenbauer._validation import check_flag, check_integer
from gegenbauer.batches.arrays import BATCH_SIZE, Batch, digest_of, witness_of
from gegenbauer.batches.column_types import (
    NOTHING,
    NUMBERS,
    SHORT,
    TEXT,
    TRUTH,
    OneText,
    as_floats,
    column_kind,
    decoded,
    no_classes,
)
from gegenbauer.batches.columns import (
    choose_inputs,
    require_category,
    require_column,
    require_numbers,
)
from gegenbauer.batches.formats import Dialect, format_of, open_file
from gegenbauer.batches.paths import find_files, is_dataset
from gegenbauer.batches.survey import require_learnable
from gegenbauer.batches.values import (
    NO_VALUE,
    ValueFault,
    find_fault,
    require_weight_kind,
    require_weights,
)
from gegenbauer.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gegenbauer.batches._files import TableFile
    from gegenbauer.errors import Rows

__all__ = ["TableBatches"]

# Numbers in a batch of a table with many columns, so that memory does not grow with them.
_BATCH_NUMBERS = 2_000_000

# Rows and numbers of a Parquet file that are decoded at once: few, for they are in memory beside
# the batch.
_DECODED_ROWS, _DECODED_NUMBERS = 16384, 500_000

# What text may be taken for
_TAKE_CATEGORIES = [Message("take text for categories by `mixed=True`")]


class TableBatches(FormerNames):
    r"""Batches of files of tables, which are read as far as they are needed.

    These are CSV, JSON lines (one object a row), Parquet and Arrow, which Feather is too; text may
    be compressed by gzip. The columns of all files are looked at when the object is made, which
    reads no more than the ends of Parquet files, the headers of CSV files, the first few megabytes
    of JSON lines and one column of Arrow files. The types of the columns of a CSV file are
    those of its first few megabytes, and its fields are those that Python's
    ``csv.reader(strict=True, skipinitialspace=True)`` reads, without blank lines. A key that a line
    of JSON lacks is a value that is missing; lists and objects are no values. Columns that
    stand in the names of folders alone (``year=2026``) are not read, nor is what pandas wrote as an
    index. Memory does not grow with the rows: it is a few batches, some 3 MB for each column of
    Parquet files, whose reader holds a page of every one, a record batch of an Arrow file, and what
    the model needs.

    Parameters
    ----------
    paths : str, path, sequence of these, or pyarrow.dataset.Dataset
        A file; a folder, which is searched with all its folders for files that end in .csv, .tsv,
        .jsonl or .ndjson (with .gz or without), .feather, .arrow, .arrows or .parquet
        in alphabetical order, but for names that begin with "." or "_"; or several of these.
    target : str
        Column to learn.
    inputs : sequence of str or None, default=None
        Columns to learn from, in this order; None for all others.
    ignore : sequence of str, default=()
        Columns that are no inputs, where ``inputs`` is None.
    sample_weight : str or None, default=None
        Column with the weights of the rows.
    batch_size : int or None, default=None
        Rows of a batch; the last one of each file may have fewer. None for 65536, or fewer where
        there are more than some 30 columns.
    separator : str or None, default=None
        What stands between the columns of a CSV file: one character of ASCII; None for a tab in
        .tsv files, and in others for a comma, or a semicolon where ``decimal`` is a comma.
    decimal : {".", ","} or None, default=None
        What stands before the fraction of a number in a CSV file; None for a point.
    missing_values : sequence of str, default=()
        Values that are read as missing, such as ``["-999", "?"]``: of text files as they stand
        there, of numbers that have a type those that are as large. An empty field of a CSV file, NA
        and the like are missing anyway.
    id_columns : sequence of str, default=()
        Columns that identify rows, and are no inputs where ``inputs`` is None.
    as_labels : bool or None, default=None
        False takes the target for real numbers, True for classes, which decimal numbers with a
        fraction are not; None for whatever it is. Of CSV files, texts that differ are different
        classes: a target of which two values are one whole number (007 and 7, +1 and 1; with True
        also 1 and 1.0) is text, unless it is False.
    mixed : bool, default=False
        Whether inputs may be categories, columns of text or of true and false, and values of
        inputs missing. Text that is mostly numbers in a batch is refused. A
        column without any value in one file is of the type that it has in others. False takes true
        and false as 1 and 0, and refuses text and what is missing.

    Attributes
    ----------
    inputs : tuple of str
        Names of the inputs.
    n_rows : int or None
        Rows of all files; None as long as one of text has not been read to its end.
    files : tuple of str
        Names of the files, in the order in which they are read.
    format : {"parquet", "arrow", "csv", "jsonl"}
        Of all files.

    Raises
    ------
    StreamError
        A file cannot be read, a column is missing, of different types in different files, or of
        a type that cannot be used; or there are no rows.
    FileNotFoundError
        There is no such file.
    ValueError
        A folder holds no tables, files are of different formats, or one is given twice.
    ImportError
        The extra ``table`` is not installed.

    See Also
    --------
    ArrayBatches : Batches of arrays and memory maps.
    Checkpoint : Go on after an interrupt.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gegenbauer.batches import TableBatches
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in "ab":
    ...         _ = Path(folder, f"{part}.csv").write_text("u,v,y\n0,1,no\n2,3,yes\n4,5,no\n")
    ...     source = TableBatches(folder, "y", batch_size=2)
    ...     for batch in source.start(1):
    ...         print(batch.where, batch.X["v"].tolist(), batch.y.tolist())
    row 2 of a.csv [5.0] ['no']
    rows 0 to 1 of b.csv [1.0, 3.0] ['no', 'yes']
    row 2 of b.csv [5.0] ['no']
    """

    @refuse_old_names
    def __init__(
        self,
        paths: Any,
        target: str,
        *,
        inputs: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        sample_weight: str | None = None,
        batch_size: int | None = None,
        separator: str | None = None,
        decimal: str | None = None,
        missing_values: Sequence[str] = (),
        id_columns: Sequence[str] = (),
        as_labels: bool | None = None,
        mixed: bool = False,
    ) -> None:
        _require_extra()
        if batch_size is not None:
            batch_size = check_integer(batch_size, "batch_size", minimum=1)
        names: dict[str, object] = {"target": target}
        if sample_weight is not None:
            names["sample_weight"] = sample_weight
        for name, column in names.items():
            if not isinstance(column, str):
                raise TypeError(
                    Message(
                        "`{}` must be the name of a column, got {}", name, type(column).__name__
                    )
                )
        self._dialect = dialect = Dialect(separator, decimal, missing_values)
        for name, columns in (("inputs", inputs), ("ignore", ignore), ("id_columns", id_columns)):
            if isinstance(columns, str):
                raise TypeError(
                    Message("`{}` must be a sequence of names, got a str: [{!r}]", name, columns)
                )
            if columns is not None and not isinstance(columns, Iterable):
                raise TypeError(
                    Message(
                        "`{}` must be a sequence of names, got {}", name, type(columns).__name__
                    )
                )
        self.target, self.sample_weight = target, sample_weight
        self._weights = [] if sample_weight is None else [sample_weight]
        self._as_labels = as_labels
        self._mixed = check_flag(mixed, "mixed")
        found = find_files(paths)
        self.format: str = format_of(found[0][2])
        self._files: list[TableFile] = [open_file(*file, dialect) for file in found]
        if inputs is None and is_dataset(paths):
            _require_plain_schema(paths, self._files[0])
        self.inputs = choose_inputs(
            self._files[0].columns, self._files[0].rows(), target=target, inputs=inputs,
            ignore=list(ignore), sample_weight=sample_weight, id_columns=list(id_columns),
        )  # fmt: skip
        self._used = [*dict.fromkeys([*self.inputs, target, *self._weights])]
        n_columns = len(self._used)
        self.batch_size: int = batch_size or min(BATCH_SIZE, max(1, _BATCH_NUMBERS // n_columns))
        most = min(_DECODED_ROWS, max(1, _DECODED_NUMBERS // n_columns), self.batch_size)
        for file in self._files:
            file.most = most
        for file in self._files[1:]:
            self._require_columns(file, all_known=inputs is None, ignore=[*ignore, *id_columns])
        self._settle_types()
        self._last = 0, ""  # number of batches that were read, and the digest of the last one

    # ---- columns ---------------------------------------------------------------------

    @property
    def n_rows(self) -> int | None:
        """Rows of all files; None as long as one of text has not been read to its end."""
        known = [file.n_rows for file in self._files if file.n_rows is not None]
        return sum(known) if len(known) == len(self._files) else None

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files, in the order in which they are read."""
        return tuple(file.name for file in self._files)

    def _require_columns(self, file: TableFile, *, all_known: bool, ignore: Sequence[str]) -> None:
        first = self._files[0]
        for name in self._used:
            require_column(name, file.columns, file.rows(), as_in=first.name)
        if all_known:
            left_out = set(ignore)
            for name in file.columns:
                if name not in first.columns and name not in left_out:
                    raise StreamError(
                        Message(
                            "there is no column {!r} as in {}",
                            name,
                            file.name,
                            ways=["name it in `ignore`", "name the `inputs`"],
                            joint="; ",
                        ),
                        first.rows(),
                    )

    def _settle_types(self) -> None:
        """Compare the types of the columns of all files, and set those of the results."""
        files = [file for file in self._files if file.n_rows != 0]
        if not files:
            raise StreamError(
                "no rows"
                + (f", nor in the {len(self._files) - 1} others" if len(self._files) > 1 else "")
                + "; a table needs one row a sample",
                self._files[0].rows(),
            )
        files[0].look(self._used, self.target)
        if self._mixed:
            self._settle_empty(files)
        kinds = {name: column_kind(files[0].types[name]) for name in self.inputs}
        self._categories = {
            name for name, kind in kinds.items() if self._mixed and kind in (TEXT, TRUTH)
        }
        for name in self.inputs:
            if name in self._categories:
                files[0].require_category(name)
        numbers = [name for name in self.inputs if name not in self._categories]
        require_numbers(
            {name: kinds[name] for name in numbers}, files[0].rows(), files[0].example,
            text=_TAKE_CATEGORIES,
        )  # fmt: skip
        if self.sample_weight is not None:
            kind = column_kind(files[0].types[self.sample_weight])
            require_weight_kind(self.sample_weight, kind, files[0].rows(), files[0].example)
        numeric = {*numbers, *self._weights}
        sound = set()  # of thousands of columns, nearly all are of the same types
        for name in self._used:
            types = tuple(file.types.get(name) for file in files)
            role = name in numeric, name == self.target
            if (types, role) not in sound:
                self._require_one_kind(name, files, numeric=name in numeric)
                sound.add((types, role))
        known = {file.types[name] for file in files for name in numbers if name in file.types}
        single = all(str(type_) == "float" for type_ in known)
        self._dtype = np.dtype(np.float32 if single else np.float64)
        # What the columns of a CSV file are read as.
        number = _arrow_type(self._dtype)
        self._types = {
            name: type_
            if column_kind(type_) == TRUTH
            else _arrow_type(np.dtype(object))
            if name in self._categories
            else number
            for name, type_ in files[0].types.items()
        }
        self._set_target(self._choose_target_dtype(files))

    def _settle_empty(self, files: list[TableFile]) -> None:
        """Let inputs without a value in some files be of the type that they have in others.

        Without any they are numbers, all of them missing.
        """
        import pyarrow as pa

        missing = [name for name in self.inputs if name in files[0].without_values]
        for file in files[1:]:
            unseen = [name for name in missing if name not in file.types]
            if unseen and file.n_rows != 0:
                file.look(unseen, self.target)
            missing = [name for name in missing if name in file.without_values]
        for name in self.inputs:
            empty = [file for file in files if name in file.without_values]
            others = [file for file in files if name in file.types and file not in empty]
            for file in empty:
                file.types[name] = others[0].types[name] if others else pa.float64()
            if empty and others and column_kind(others[0].types[name]) == TEXT:
                others[0].require_category(name)

    def _require_one_kind(self, name: str, files: list[TableFile], *, numeric: bool) -> None:
        """Refuse a column without values, or that holds different things in different files."""
        known = [file for file in files if name in file.types]
        kinds = [column_kind(file.types[name]) for file in known]
        if numeric:  # true and false are 1 and 0
            kinds = [NUMBERS if kind == TRUTH else kind for kind in kinds]
        for file, kind in zip(known, kinds, strict=True):
            if name == self.target:
                require_learnable(name, kind, file.rows())
            if kind == NOTHING:
                require_numbers({name: kind}, file.rows(), file.example)
            if kind != kinds[0]:
                raise StreamError(
                    f"column {name!r} holds {kind}, but {kinds[0]} in {files[0].name}; give "
                    "it one type in all files",
                    file.rows(),
                )
        if numeric and kinds[0] != NUMBERS:
            require_numbers({name: kinds[0]}, files[0].rows(), files[0].example)

    def require_real_target(self) -> None:
        """Refuse a target that is text, which no regression takes.

        Raises
        ------
        StreamError
            It is.
        """
        if self._target_dtype.kind == "O":
            raise self._no_number_in(next(file for file in self._files if file.n_rows != 0))

    def _no_number_in(self, file: TableFile) -> StreamError:
        """Return the error that the target of a file is text."""
        example, where = file.example(self.target)
        return StreamError(
            f"column {self.target!r}, the target, holds text{example}, and regression needs "
            "numbers; a classifier takes text",
            where,
        )

    def _choose_target_dtype(self, files: list[TableFile]) -> np.dtype[Any]:
        types = [file.types[self.target] for file in files if self.target in file.types]
        kind = column_kind(types[0])
        if kind == TEXT and self._as_labels is False:
            raise self._no_number_in(files[0])
        if self._as_labels is False:
            return np.dtype(np.float64)
        if kind == TEXT:
            return np.dtype(object)
        if kind == TRUTH:
            return np.dtype(bool)
        dtype = np.result_type(*(_number_dtype(type_) for type_ in types))
        is_distinct = dtype.kind != "f" or self._as_labels
        if is_distinct and any(self.target in file.ambiguous for file in files):
            return np.dtype(object)
        return dtype

    def _set_target(self, dtype: np.dtype[Any]) -> None:
        """Set the type of the target, and what it is read as from a CSV file."""
        self._target_dtype = dtype
        numbers = dtype.kind in "iu" or (dtype.kind == "f" and self._as_labels)
        texts = OneText() if numbers and self._as_labels is not False else None
        for file in self._files:
            file.classes = None if texts is None else (self.target, texts)
        if dtype.kind == "O" or column_kind(self._types[self.target]) != TRUTH:
            self._types[self.target] = _arrow_type(dtype)

    # ---- rows ------------------------------------------------------------------------

    def start(self, n_batches: int = 0) -> Iterator[Batch]:
        """Yield the batches behind the first ones.

        Parquet files and groups of rows that hold none of them are not read, nor are CSV files
        that this object has read before.

        Parameters
        ----------
        n_batches : int, default=0
            How many to skip.

        Yields
        ------
        Batch
            ``X`` is a DataFrame of float64, or of float32 if all inputs of all files are, and of
            objects in columns of categories;
            ``y`` is an array of int64, float64, bool or, for text, object.

        Raises
        ------
        StreamError
            A file cannot be read, or a column lacks a value or holds one of another type.
        """
        return self._from(check_integer(n_batches, "n_batches", minimum=0))

    def _from(self, n_batches: int) -> Iterator[Batch]:
        skipped, number = n_batches, n_batches
        for file in self._files:
            if file.n_rows is not None and self._count(file.n_rows) <= skipped:
                skipped -= self._count(file.n_rows)
                continue
            first = skipped * self.batch_size
            types = {name: self._types[name] for name in self._used}
            for pieces in _cut(file.pieces(types, first), self.batch_size):
                batch = self._assemble(file, first, pieces)
                pieces.clear()  # free them before the batch is used
                first += len(batch.y)
                file.n_seen = max(file.n_seen, first)
                number += 1
                self._last = number, witness_of(*batch[:3])
                yield batch
            assert file.n_rows is not None  # it has been read to its end
            skipped = max(0, skipped - self._count(file.n_rows))

    def _count(self, n_rows: int) -> int:
        """Return the number of batches of a file."""
        return -(-n_rows // self.batch_size)

    def _assemble(self, file: TableFile, first: int, pieces: list[Any]) -> Batch:
        """Make a batch of pieces of a file, of which the first row is given."""
        import pandas as pd

        n_rows = sum(piece.num_rows for piece in pieces)
        # One array in the order of the columns, which the estimators read without a copy.
        numbers = [name for name in self.inputs if name not in self._categories]
        X = np.empty((n_rows, len(numbers)), dtype=self._dtype, order="F")
        if not self._fill_short(X, numbers, pieces):
            for place, name in enumerate(numbers):
                self._fill(X[:, place], name, file, first, pieces)
        table = pd.DataFrame(X, columns=numbers, copy=False)
        for place, name in enumerate(self.inputs):
            if name in self._categories:
                levels = self._levels(name, file, first, pieces)
                table.insert(place, name, pd.Series(levels, dtype=object))
        weight = None
        if self.sample_weight is not None:
            weight = np.empty(n_rows)
            self._fill(weight, self.sample_weight, file, first, pieces)
            require_weights(weight, self.sample_weight, file.rows(first))
        return Batch(
            table,
            self._targets(file, first, pieces),
            weight,
            file.rows(first, first + n_rows - 1),
        )

    def _levels(
        self, name: str, file: TableFile, first: int, pieces: list[Any]
    ) -> NDArray[np.object_]:
        """Return a column of a category, None where a value is missing."""
        import pyarrow as pa

        columns = [decoded(piece.column(piece.schema.get_field_index(name))) for piece in pieces]
        columns = [
            column.cast(self._types[name]) if pa.types.is_null(column.type) else column
            for column in columns
        ]
        column = pa.chunked_array(columns)
        if column_kind(column.type) == TEXT:
            require_category(name, column, file.rows(first, first + len(column) - 1))
        found = np.empty(len(column), dtype=object)
        found[:] = column.to_pylist()
        return found

    def _fill_short(self, X: NDArray[Any], numbers: list[str], pieces: list[Any]) -> bool:
        """Write inputs of pieces of few rows at once; return whether all went well."""
        import pyarrow as pa

        wanted = _arrow_type(self._dtype)
        begin = 0
        for piece in pieces:
            end = begin + piece.num_rows
            named = dict(zip(piece.schema.names, piece.columns, strict=True))
            columns = [named[name] for name in numbers]
            if not columns:
                return True
            if piece.num_rows >= SHORT or any(column.type != wanted for column in columns):
                return False
            values = pa.concat_arrays(columns).to_numpy(zero_copy_only=False)
            X[begin:end] = values.reshape(len(columns), -1).T
            begin = end
        return not (np.isinf(X).any() if self._mixed else not np.isfinite(X).all())

    def _fill(
        self, out: NDArray[Any], name: str, file: TableFile, first: int, pieces: list[Any]
    ) -> None:
        """Write a column of numbers into an array."""
        begin = 0
        for piece in pieces:
            end = begin + piece.num_rows
            out[begin:end] = as_floats(piece.column(piece.schema.get_field_index(name)))
            begin = end
        may_lack = self._mixed and name in self.inputs
        fault = find_fault(np.where(np.isnan(out), 0.0, out) if may_lack else out)
        if fault is not None:
            n_rows = file.n_rows if first == 0 and file.n_rows == len(out) else None
            raise fault.error(name, file.rows(first), n_rows, is_input=name in self.inputs)

    def _targets(self, file: TableFile, first: int, pieces: list[Any]) -> NDArray[Any]:
        name, dtype = self.target, self._target_dtype
        n_rows = sum(piece.num_rows for piece in pieces)
        y = np.empty(n_rows, dtype=dtype)
        if dtype.kind == "f":
            self._fill(y, name, file, first, pieces)
            fraction = no_classes(y) if self._as_labels else np.zeros(0, dtype=bool)
            if fraction.any():
                row = int(fraction.argmax())
                raise StreamError(
                    f"column {name!r}, the target, holds {y[row]:g}, which is no class; a "
                    "regressor takes decimal numbers",
                    file.rows(first + row, first + row),
                )
            return y
        begin = 0
        for piece in pieces:
            end = begin + piece.num_rows
            values = piece.column(piece.schema.get_field_index(name))
            if values.null_count:
                absent = values.is_null().to_numpy(zero_copy_only=False)
                fault = ValueFault(NO_VALUE, int(absent.argmax()), values.null_count)
                raise fault.error(name, file.rows(first + begin), None, is_input=False)
            y[begin:end] = (
                _text(values)
                if dtype.kind == "O"
                else decoded(values).to_numpy(zero_copy_only=False)
            )
            begin = end
        return y

    def _target_pieces(self) -> Iterator[tuple[Any, Rows]]:
        """Yield the target alone: an array of Arrow, and which rows these are.

        That of CSV files comes as text, whatever it was taken for, and values may be missing.
        """
        for file in self._files:
            first = 0
            for piece in file.pieces_as_found(self.target):
                column = piece.column(piece.schema.get_field_index(self.target))
                yield column, file.rows(first, first + piece.num_rows - 1)
                first += piece.num_rows

    def fingerprint(self, n_batches: int) -> str:
        """Return a digest of where the first batches come from.

        Parameters
        ----------
        n_batches : int
            How many.

        Returns
        -------
        str
            The same for the same options, for files of the same names, sizes and last bytes as
            those that were read, and for a last batch of the same rows. What follows it, in its
            file or others, may change.
        """
        left = check_integer(n_batches, "n_batches", minimum=0)
        parts: list[object] = [
            "table", self.inputs, self.target, self.sample_weight, self.batch_size,
            str(self._dtype), str(self._target_dtype), *sorted(self._categories),
            *self._dialect.meaning(),
        ]  # fmt: skip
        for file in self._files:
            if left <= 0:
                break
            if file.n_rows is None and self._count(file.n_seen) < left:
                file.count()
            n_own = self._count(file.n_seen if file.n_rows is None else file.n_rows)
            if n_own < left:  # the last batch is in another file
                parts += [file.name, *file.mark()]
            elif left > 0:
                parts += [file.name, left, self._witness_of(n_batches)]
            left -= n_own
        return digest_of(parts)

    def _witness_of(self, n_batches: int) -> str:
        """Return the digest of the last of the first batches, which may have to be read again."""
        if self._last[0] != n_batches:
            batch = next(self._from(n_batches - 1), None)
            return "" if batch is None else witness_of(*batch[:3])
        return self._last[1]


def _arrow_type(dtype: np.dtype[Any]) -> Any:
    import pyarrow as pa

    return pa.string() if dtype.kind == "O" else pa.from_numpy_dtype(dtype)


def _number_dtype(type_: Any) -> np.dtype[Any]:
    """Return int64, uint64 or float64, whichever holds all numbers of a type of Arrow."""
    from pyarrow import types

    type_ = type_.value_type if types.is_dictionary(type_) else type_
    if types.is_uint64(type_):
        return np.dtype(np.uint64)
    return np.dtype(np.int64 if types.is_integer(type_) else np.float64)


def _text(column: Any) -> NDArray[Any]:
    """Return a column of text as an array of str, of which equal ones are one object."""
    from pyarrow import types

    if not types.is_dictionary(column.type):
        column = column.dictionary_encode()
    words: NDArray[Any] = column.dictionary.to_numpy(zero_copy_only=False)
    codes: NDArray[Any] = column.indices.to_numpy(zero_copy_only=False)
    labels: NDArray[Any] = words.astype(object)[codes]
    return labels


def _cut(pieces: Iterator[Any], n_rows: int) -> Iterator[list[Any]]:
    """Cut a sequence of record batches into lists of so many rows; the last has the rest."""
    held: list[Any] = []
    wanted = n_rows
    for piece in pieces:
        begin = 0
        while begin < piece.num_rows:
            held.append(piece.slice(begin, wanted))
            begin += held[-1].num_rows
            wanted -= held[-1].num_rows
            if wanted == 0:
                yield held
                held, wanted = [], n_rows
    if held:
        yield held


def _require_plain_schema(dataset: Any, file: TableFile) -> None:
    """Refuse a dataset that has other columns than its files."""
    names = dataset.schema.names
    differ = sorted({*names} ^ {*file.columns})
    if differ and not {*differ} <= {*file.types} - {*file.columns}:  # but for an index of pandas
        raise ValueError(
            Message(
                "the schema of the dataset and the columns of its files differ in {!r}: what is "
                "read are the columns of the files, without those of folders",
                differ[0],
                ways=[
                    "name the `inputs`",
                    "pass an iterable of tuples (X, y) made from dataset.to_batches()",
                ],
                joint="; ",
            )
        )


def _require_extra() -> None:
    try:
        import pandas as pd  # noqa: F401
        import pyarrow.parquet as pq  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"tables in files need {error.name or 'pyarrow and pandas'}: run pip install "
            "'gegenbauer[table]'"
        ) from error
