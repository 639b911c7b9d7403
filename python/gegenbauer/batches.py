"""Rows that come in batches: slices of arrays, Parquet and CSV files, or whatever yields (X, y).

A source of batches knows how to begin again from any of them, with the same boundaries, and has a
fingerprint of those that came before, so that work which was interrupted goes on with the same
data or not at all. No more than a batch is in memory, and a batch never spans two files.

Everything that is wrong with a file is a :class:`StreamError` that begins with the rows and the
name of the file. Rows are counted from 0, within each file; a header is no row.
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import mmap
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gegenbauer._arrays import check_integer, require_plain
from gegenbauer._column_types import (
    OneText,
    are_numbers,
    no_classes,
    read_as,
    same_number,
    typed,
)
from gegenbauer._csv_text import CsvError, CsvText

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ArrayBatches", "Batch", "StreamError", "TableBatches", "as_batches"]

_BATCH_ROWS = 65536

# Numbers in a batch of a table with many columns, so that memory does not grow with them.
_BATCH_NUMBERS = 2_000_000

# Rows and numbers of a Parquet file that are decoded at once: few, for they are in memory beside
# the batch.
_DECODED_ROWS, _DECODED_NUMBERS = 16384, 500_000

# Rows of a batch, evenly spread, that tell it from another one.
_WITNESSES = 64

# Bytes of a column that are read from a Parquet file at once, and of the end of a file for its
# fingerprint: there, Parquet keeps the statistics of all columns.
_COLUMN_BUFFER = 1 << 16
_TAIL = 1 << 16

_ENDINGS = (".parquet", ".csv", ".tsv")

# What stands between columns, unless it is said
_SEPARATORS = {".csv": ",", ".tsv": "\t"}

_LISTED_ENDINGS = ".parquet, .csv or .tsv"

# Separators that a header is searched for when it seems to have been split at the wrong one.
_OTHER_SEPARATORS = (";", "\t", "|", ",")

_NUMBERS, _TRUTH, _TEXT, _NOTHING = "numbers", "true and false", "text", "no values"


class StreamError(ValueError):
    """Rows that cannot be used; the message begins with which they are, and of which file."""


class Batch(NamedTuple):
    """Some rows of a stream.

    Attributes
    ----------
    X : array-like of shape (n_rows, n_features)
        Inputs.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Targets.
    sample_weight : array-like of shape (n_rows,) or None
        Weights of the rows.
    where : str
        Which rows these are, for errors.
    """

    X: Any
    y: Any
    sample_weight: Any
    where: str


def _witness(X: Any, y: Any, sample_weight: Any) -> str:
    """Return a digest of some rows of a batch, and of their number."""
    n_rows = _length(X)
    parts: list[object] = [n_rows]
    for values in (X, y, sample_weight):
        if values is None or not n_rows:
            parts.append(None)
            continue
        if not hasattr(values, "shape"):
            require_plain(values, "a batch")  # before masks are lost
        array = values if hasattr(values, "shape") else np.asarray(values)
        at = np.unique(np.linspace(0, n_rows - 1, _WITNESSES).astype(np.intp))
        rows = array.iloc[at] if hasattr(array, "iloc") else array[at[at < len(array)]]
        parts += [str(getattr(array, "dtype", "")), np.asarray(rows).tolist()]
    return _digest(parts)


# ---- arrays --------------------------------------------------------------------------


class ArrayBatches:
    """Batches of arrays, memory maps or tables in memory: slices of their rows, without a copy.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Inputs: an array, a memory map (``numpy.load(..., mmap_mode="r")``), a DataFrame, or
        whatever else has a ``shape`` and gives rows for a slice.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Targets.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows.
    batch_rows : int, default=65536
        Rows of a batch; the last one may have fewer.

    Raises
    ------
    ValueError
        X is no matrix, there are no rows, or their numbers differ.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.batches import ArrayBatches
    >>> source = ArrayBatches(np.zeros((250, 3)), np.ones(250), batch_rows=100)
    >>> [(batch.where, batch.X.shape) for batch in source.start(1)]
    [('rows 100 to 199', (100, 3)), ('rows 200 to 249', (50, 3))]
    """

    def __init__(
        self, X: Any, y: Any, sample_weight: Any = None, *, batch_rows: int = _BATCH_ROWS
    ) -> None:
        self.batch_rows = check_integer(batch_rows, "batch_rows", minimum=1)
        arrays = {"X": X, "y": y, "sample_weight": sample_weight}
        for name, values in arrays.items():
            require_plain(values, name, wanted="numbers" if name != "y" else "numbers or labels")
        self._arrays = {
            name: values if hasattr(values, "shape") else np.asarray(values)
            for name, values in arrays.items()
            if values is not None
        }
        if "y" not in self._arrays:
            raise ValueError("y must hold the targets of the rows of X, got None")
        shape = self._arrays["X"].shape
        if len(shape) != 2:
            raise ValueError(
                f"X must be a matrix with one row a sample, got shape {shape}; a single input is "
                "X[:, np.newaxis]"
            )
        self.n_rows: int = int(shape[0])
        if self.n_rows == 0:
            raise ValueError(f"X must have at least one row, got shape {shape}")
        for name, values in self._arrays.items():
            if len(values.shape) == 0 or values.shape[0] != self.n_rows:
                raise ValueError(
                    f"{name} must have one entry for each of the {self.n_rows} rows of X, got "
                    f"shape {values.shape}"
                )

    def start(self, n_batches: int = 0) -> Iterator[Batch]:
        """Yield the batches behind the first ones.

        Parameters
        ----------
        n_batches : int, default=0
            How many to skip.

        Yields
        ------
        Batch
            The rows from ``n_batches * batch_rows`` on.
        """
        first = check_integer(n_batches, "n_batches", minimum=0) * self.batch_rows
        return self._from(first)

    def _from(self, first: int) -> Iterator[Batch]:
        for begin in range(first, self.n_rows, self.batch_rows):
            end = min(begin + self.batch_rows, self.n_rows)
            rows = {name: _rows(values, begin, end) for name, values in self._arrays.items()}
            yield Batch(rows["X"], rows["y"], rows.get("sample_weight"), _span(begin, end))
            for values in self._arrays.values():
                _release(values)

    def fingerprint(self, n_batches: int) -> str:
        """Return a digest of where the first batches come from.

        Parameters
        ----------
        n_batches : int
            How many.

        Returns
        -------
        str
            The same for arrays that are alike in some rows, evenly spread over these batches.
        """
        n_batches = check_integer(n_batches, "n_batches", minimum=0)
        n_rows = min(n_batches * self.batch_rows, self.n_rows)
        used = {name: _rows(values, 0, n_rows) for name, values in self._arrays.items()}
        witness = _witness(used["X"], used["y"], used.get("sample_weight")) if n_rows else ""
        return _digest(["arrays", self.batch_rows, tuple(self._arrays["X"].shape[1:]), witness])


def _rows(values: Any, begin: int, end: int) -> Any:
    return values.iloc[begin:end] if hasattr(values, "iloc") else values[begin:end]


def _release(values: Any) -> None:
    """Let the system take back the pages of a map of a file that can only be read.

    Else they count as memory of this process until the system is short of it. What is read again
    comes from the file again. Of any other memory it would be lost.
    """
    root = values
    while isinstance(root, np.ndarray):
        root = root.base
    if not isinstance(root, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    with memoryview(root) as view:
        read_only = view.readonly
    if read_only:
        root.madvise(mmap.MADV_DONTNEED)


# ---- anything that yields batches ----------------------------------------------------


class _IterableBatches:
    """Batches that somebody else makes: tuples (X, y) or (X, y, sample_weight)."""

    n_rows = None

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items
        # Of a generator, say, which cannot begin again, there is one reader for all.
        self._reader = _Reader(items) if iter(items) is items else None
        self._lengths: list[int | None] = []  # of the batches that were seen
        self._witnesses: list[str] = []

    def start(self, n_batches: int = 0) -> Iterator[Batch]:
        """Yield the batches behind the first ones, which are made and left aside."""
        n_batches = check_integer(n_batches, "n_batches", minimum=0)
        reader = self._skip(n_batches)
        return iter(lambda: self._next(reader), None)

    def fingerprint(self, n_batches: int) -> str:
        """Return a digest of the first batches: of some rows of each."""
        n_batches = check_integer(n_batches, "n_batches", minimum=0)
        if len(self._witnesses) < n_batches:
            self._skip(n_batches)
        return _digest(["iterable", self._witnesses[:n_batches]])

    def _skip(self, n_batches: int) -> _Reader:
        reader = self._reader or _Reader(self._items)
        if reader.n_taken > n_batches:
            raise StreamError(
                f"batch {n_batches} is gone: a generator or other iterator yields each batch once; "
                "pass a list, or an object whose __iter__ begins again"
            )
        while reader.n_taken < n_batches and self._next(reader) is not None:
            pass
        return reader

    def _next(self, reader: _Reader) -> Batch | None:
        number = reader.n_taken
        try:
            item = next(reader)
        except StopIteration:
            return None
        if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
            size = f" of {len(item)}" if isinstance(item, (tuple, list)) else ""
            raise TypeError(
                f"batch {number} must be a tuple (X, y) or (X, y, sample_weight), got "
                f"{type(item).__name__}{size}"
            )
        X, y, weight = (*item, None)[:3]
        self._lengths[number : number + 1] = [_length(X)]
        try:
            witness = _witness(X, y, weight)
        except (TypeError, ValueError, IndexError):  # that it is no batch others will say
            witness = ""
        self._witnesses[number : number + 1] = [witness]
        lengths = [n for n in self._lengths[: number + 1] if n is not None]
        where = f"batch {number}"
        if len(lengths) > number:
            where += f" ({_span(sum(lengths[:-1]), sum(lengths))})"
        return Batch(X, y, weight, where)


class _Reader:
    """An iterator that counts what was taken from it."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)
        self.n_taken = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        item = next(self._items)
        self.n_taken += 1
        return item


def _length(X: Any) -> int | None:
    shape = getattr(X, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return len(X) if hasattr(X, "__len__") else None


def as_batches(value: Any) -> ArrayBatches | TableBatches | _IterableBatches:
    """Return a source of batches as it is, and make one of any iterable of (X, y).

    Parameters
    ----------
    value : ArrayBatches, TableBatches or iterable
        A source, or something that yields tuples (X, y) or (X, y, sample_weight).

    Returns
    -------
    ArrayBatches, TableBatches or a source of the same kind
        It has ``start``, ``fingerprint`` and ``n_rows``.

    Raises
    ------
    TypeError
        The value is neither; the message says what to pass instead.

    Examples
    --------
    >>> import numpy as np
    >>> from gegenbauer.batches import as_batches
    >>> source = as_batches((np.zeros((5, 2)), np.ones(5)) for _ in range(3))
    >>> [batch.where for batch in source.start(1)]
    ['batch 1 (rows 5 to 9)', 'batch 2 (rows 10 to 14)']
    """
    if isinstance(value, (ArrayBatches, TableBatches, _IterableBatches)):
        return value
    advice = "pass ArrayBatches, TableBatches or an iterable of tuples (X, y)"
    if isinstance(value, (str, bytes, os.PathLike)) or _is_dataset(value):
        advice = "pass TableBatches(paths, target='name of a column') for files"
    elif isinstance(value, tuple) and not all(isinstance(item, tuple) for item in value):
        advice = "pass ArrayBatches(X, y) for arrays, or a list of such tuples for batches"
    elif hasattr(value, "to_pandas"):
        advice = "pass ArrayBatches(table.to_pandas()[inputs], ...) for a table in memory"
    elif hasattr(value, "iloc"):
        advice = "pass ArrayBatches(table[inputs], table[target]) for a table in memory"
    elif isinstance(value, np.ndarray):
        advice = "pass ArrayBatches(X, y), which takes memory maps, too"
    elif isinstance(value, Iterable) and not isinstance(value, (Mapping, set, frozenset)):
        return _IterableBatches(value)
    raise TypeError(f"batches must be a source of rows, got {type(value).__name__}: {advice}")


# ---- tables in files -----------------------------------------------------------------


class TableBatches:
    r"""Batches of Parquet or CSV files, which are read as far as they are needed.

    The columns of all files are looked at when the object is made, which reads no more than the
    ends of Parquet files and the headers of CSV files. The types of the columns of a CSV file are
    those of its first few megabytes, and its fields are those that Python's
    ``csv.reader(strict=True, skipinitialspace=True)`` reads, without blank lines. Columns that
    stand in the names of folders alone (``year=2026``) are not read, nor is what pandas wrote as an
    index. Memory does not grow with the rows: it is a few batches, some 3 MB for each column of
    Parquet files, whose reader holds a page of every one, and what the model needs.

    Parameters
    ----------
    paths : str, path, sequence of these, or pyarrow.dataset.Dataset
        A file; a folder, which is searched with all its folders for .parquet, .csv and .tsv files
        in alphabetical order, but for names that begin with "." or "_"; or several of these.
    target : str
        Column to learn.
    inputs : sequence of str or None, default=None
        Columns to learn from, in this order; None for all others.
    ignore : sequence of str, default=()
        Columns that are no inputs, where ``inputs`` is None.
    sample_weight : str or None, default=None
        Column with the weights of the rows.
    batch_rows : int or None, default=None
        Rows of a batch; the last one of each file may have fewer. None for 65536, or fewer where
        there are more than some 30 columns.
    separator : str or None, default=None
        What stands between the columns of a CSV file: one character of ASCII; None for a comma in
        .csv files and a tab in .tsv files.
    as_labels : bool or None, default=None
        False takes the target for real numbers, True for classes, which decimal numbers with a
        fraction are not; None for whatever it is. Of CSV files, texts that differ are different
        classes: a target of which two values are one whole number (007 and 7, +1 and 1; with True
        also 1 and 1.0) is text, unless it is False.

    Attributes
    ----------
    inputs : tuple of str
        Names of the inputs.
    n_rows : int or None
        Rows of all files; None as long as a CSV file has not been read to its end.
    files : tuple of str
        Names of the files, in the order in which they are read.
    format : {"parquet", "csv"}
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

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gegenbauer.batches import TableBatches
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in "ab":
    ...         _ = Path(folder, f"{part}.csv").write_text("u,v,y\n0,1,no\n2,3,yes\n4,5,no\n")
    ...     source = TableBatches(folder, "y", batch_rows=2)
    ...     for batch in source.start(1):
    ...         print(batch.where, batch.X["v"].tolist(), batch.y.tolist())
    row 2 of a.csv [5.0] ['no']
    rows 0 to 1 of b.csv [1.0, 3.0] ['no', 'yes']
    row 2 of b.csv [5.0] ['no']
    """

    def __init__(
        self,
        paths: Any,
        target: str,
        *,
        inputs: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        sample_weight: str | None = None,
        batch_rows: int | None = None,
        separator: str | None = None,
        as_labels: bool | None = None,
    ) -> None:
        _require_extra()
        if batch_rows is not None:
            batch_rows = check_integer(batch_rows, "batch_rows", minimum=1)
        names: dict[str, object] = {"target": target}
        if sample_weight is not None:
            names["sample_weight"] = sample_weight
        for name, column in names.items():
            if not isinstance(column, str):
                raise TypeError(f"{name} must be the name of a column, got {type(column).__name__}")
        if separator is not None and (
            len(separator) != 1 or separator in '"\r\n' or not separator.isascii()
        ):
            raise ValueError(f"separator must be one character of ASCII, got {separator!r}")
        for name, columns in (("inputs", inputs), ("ignore", ignore)):
            if isinstance(columns, str):
                raise TypeError(f"{name} must be a sequence of names, got a str: [{columns!r}]")
        self.target, self.sample_weight = target, sample_weight
        self._as_labels = as_labels
        self._files: list[_File] = [
            _ParquetFile(name, path)
            if ending == ".parquet"
            else _CsvFile(name, path, separator or _SEPARATORS[ending])
            for name, path, ending in _find_files(paths)
        ]
        if inputs is None and _is_dataset(paths):
            _require_plain_schema(paths, self._files[0])
        self.inputs = self._choose_inputs(inputs, list(ignore))
        self._used = [*dict.fromkeys([*self.inputs, target, *filter(None, [sample_weight])])]
        n_columns = len(self._used)
        self.batch_rows: int = batch_rows or min(_BATCH_ROWS, max(1, _BATCH_NUMBERS // n_columns))
        most = min(_DECODED_ROWS, max(1, _DECODED_NUMBERS // n_columns), self.batch_rows)
        for file in self._files:
            file.most = most
        for file in self._files[1:]:
            self._require_columns(file, all_known=inputs is None, ignore=ignore)
        self._settle_types()
        self._last = 0, ""  # number of batches that were read, and the digest of the last one

    # ---- columns ---------------------------------------------------------------------

    @property
    def n_rows(self) -> int | None:
        """Rows of all files; None as long as a CSV file has not been read to its end."""
        known = [file.n_rows for file in self._files if file.n_rows is not None]
        return sum(known) if len(known) == len(self._files) else None

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files, in the order in which they are read."""
        return tuple(file.name for file in self._files)

    @property
    def format(self) -> str:
        """Format of all files, "parquet" or "csv"."""
        return "csv" if isinstance(self._files[0], _CsvFile) else "parquet"

    def _choose_inputs(self, inputs: Sequence[str] | None, ignore: list[str]) -> tuple[str, ...]:
        """Return the names of the inputs, once the first file has all that was named."""
        first = self._files[0]
        special = [name for name in (self.target, self.sample_weight) if name is not None]
        for name in [*special, *ignore, *(inputs or ())]:
            first.require(name)
        if inputs is None:
            left_out = {*special, *ignore}
            chosen = tuple(name for name in first.columns if name not in left_out)
        else:
            chosen = tuple(inputs)
        if not chosen:
            raise ValueError(f"no column of {first.name} is left as an input; ignore fewer")
        counts = Counter([*chosen, *special])
        twice = [name for name, n in counts.items() if n > 1]
        if twice:
            raise ValueError(
                f"column {twice[0]!r} is used twice: a column is an input, the target or the "
                "weight, and an input once"
            )
        return chosen

    def _require_columns(self, file: _File, *, all_known: bool, ignore: Sequence[str]) -> None:
        first = self._files[0]
        for name in self._used:
            file.require(name, as_in=first.name)
        if all_known:
            left_out = set(ignore)
            for name in file.columns:
                if name not in first.columns and name not in left_out:
                    raise StreamError(
                        f"{first.name}: there is no column {name!r} as in {file.name}; name "
                        "it in ignore, or name the inputs"
                    )

    def _settle_types(self) -> None:
        """Compare the types of the columns of all files, and set those of the results."""
        files = [file for file in self._files if file.n_rows != 0]
        if not files:
            raise StreamError(
                f"{self._files[0].name}: no rows"
                + (f", nor in the {len(self._files) - 1} others" if len(self._files) > 1 else "")
            )
        files[0].look(self._used, self.target)
        numeric = {*self.inputs, *filter(None, [self.sample_weight])}
        for name in self._used:
            known = [(file, file.types[name]) for file in files if name in file.types]
            kinds = [_kind(type_) for _, type_ in known]
            if name in numeric:  # true and false are 1 and 0
                kinds = [_NUMBERS if kind == _TRUTH else kind for kind in kinds]
            for (file, _), kind in zip(known, kinds, strict=True):
                if kind == _NOTHING:
                    raise StreamError(
                        f"{file.name}: column {name!r} has no values; fill or ignore it"
                    )
                if kind != kinds[0]:
                    raise StreamError(
                        f"{file.name}: column {name!r} holds {kind}, but {kinds[0]} in "
                        f"{files[0].name}; give it one type in all files"
                    )
            if name in numeric and kinds[0] != _NUMBERS:
                raise StreamError(
                    f"{files[0].name}: column {name!r} holds {kinds[0]}"
                    f"{files[0].example(name)}, and an input must hold numbers; make it numbers "
                    "or ignore it"
                )
        known = [file.types[name] for file in files if file.types for name in self.inputs]
        single = all(str(type_) == "float" for type_ in known)
        self._dtype = np.dtype(np.float32 if single else np.float64)
        # What the columns of a CSV file are read as.
        self._types = {
            name: type_ if _kind(type_) == _TRUTH else _arrow_type(self._dtype)
            for name, type_ in files[0].types.items()
        }
        self._set_target(self._choose_target_dtype(files))

    def _choose_target_dtype(self, files: list[_File]) -> np.dtype[Any]:
        types = [file.types[self.target] for file in files if file.types]
        kind = _kind(types[0])
        if kind not in (_NUMBERS, _TRUTH, _TEXT):
            raise StreamError(
                f"{files[0].name}: column {self.target!r}, the target, holds {kind}; choose "
                "a column of text, numbers, or true and false"
            )
        if kind == _TEXT and self._as_labels is False:
            raise StreamError(
                f"{files[0].name}: column {self.target!r}, the target, holds text"
                f"{files[0].example(self.target)}, and regression needs numbers; a classifier "
                "takes text"
            )
        if self._as_labels is False:
            return np.dtype(np.float64)
        if kind == _TEXT:
            return np.dtype(object)
        if kind == _TRUTH:
            return np.dtype(bool)
        dtype = np.result_type(*(_number_dtype(type_) for type_ in types))
        told_apart = dtype.kind != "f" or self._as_labels
        if told_apart and any(self.target in file.ambiguous for file in files):
            return np.dtype(object)
        return dtype

    def _set_target(self, dtype: np.dtype[Any]) -> None:
        """Set the type of the target, and what it is read as from a CSV file."""
        self._target_dtype = dtype
        numbers = dtype.kind in "iu" or (dtype.kind == "f" and self._as_labels)
        texts = OneText() if numbers and self._as_labels is not False else None
        for file in self._files:
            file.classes = None if texts is None else (self.target, texts)
        if dtype.kind == "O" or _kind(self._types[self.target]) != _TRUTH:
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
            ``X`` is a DataFrame of float64, or of float32 if all inputs of all files are;
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
            first = skipped * self.batch_rows
            types = {name: self._types[name] for name in self._used}
            for pieces in _cut(file.pieces(types, first), self.batch_rows):
                batch = self._assemble(file, first, pieces)
                pieces.clear()  # free them before the batch is used
                first += len(batch.y)
                file.n_seen = max(file.n_seen, first)
                number += 1
                self._last = number, _witness(*batch[:3])
                yield batch
            assert file.n_rows is not None  # it has been read to its end
            skipped = max(0, skipped - self._count(file.n_rows))

    def _count(self, n_rows: int) -> int:
        """Return the number of batches of a file."""
        return -(-n_rows // self.batch_rows)

    def _assemble(self, file: _File, first: int, pieces: list[Any]) -> Batch:
        """Make a batch of pieces of a file, of which the first row is given."""
        import pandas as pd

        n_rows = sum(piece.num_rows for piece in pieces)
        # One array in the order of the columns, which the estimators read without a copy.
        X = np.empty((n_rows, len(self.inputs)), dtype=self._dtype, order="F")
        for place, name in enumerate(self.inputs):
            self._fill(X[:, place], name, file, first, pieces)
        weight = None
        if self.sample_weight is not None:
            weight = np.empty(n_rows)
            self._fill(weight, self.sample_weight, file, first, pieces)
        return Batch(
            pd.DataFrame(X, columns=list(self.inputs), copy=False),
            self._targets(file, first, pieces),
            weight,
            f"{_span(first, first + n_rows)} of {file.name}",
        )

    def _fill(
        self, out: NDArray[Any], name: str, file: _File, first: int, pieces: list[Any]
    ) -> None:
        """Write a column of numbers into an array."""
        begin = 0
        for piece in pieces:
            end = begin + piece.num_rows
            out[begin:end] = _plain(_present(piece, name, file, first + begin))
            begin = end
        finite = np.isfinite(out)
        if not finite.all():
            row = int(finite.argmin())
            _refuse(file, first + row, name, "no value" if np.isnan(out[row]) else "infinity")

    def _targets(self, file: _File, first: int, pieces: list[Any]) -> NDArray[Any]:
        name, dtype = self.target, self._target_dtype
        n_rows = sum(piece.num_rows for piece in pieces)
        y = np.empty(n_rows, dtype=dtype)
        if dtype.kind == "f":
            self._fill(y, name, file, first, pieces)
            fraction = no_classes(y) if self._as_labels else np.zeros(0, dtype=bool)
            if fraction.any():
                row = int(fraction.argmax())
                raise StreamError(
                    f"{_span(first + row)} of {file.name}: column {name!r}, the target, holds "
                    f"{y[row]:g}, which is no class; a regressor takes decimal numbers"
                )
            return y
        begin = 0
        for piece in pieces:
            end = begin + piece.num_rows
            values = _present(piece, name, file, first + begin)
            y[begin:end] = _text(values) if dtype.kind == "O" else _plain(values)
            begin = end
        return y

    def _target_pieces(self) -> Iterator[tuple[str, int, Any]]:
        """Yield the target alone: file, first row, and an array of Arrow.

        That of CSV files comes as text, whatever it was taken for.
        """
        import pyarrow as pa

        for file in self._files:
            first = 0
            for piece in file.pieces({self.target: pa.string()}, 0):
                yield file.name, first, _present(piece, self.target, file, first)
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
            "table", self.inputs, self.target, self.sample_weight, self.batch_rows,
            str(self._dtype), str(self._target_dtype),
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
        return _digest(parts)

    def _witness_of(self, n_batches: int) -> str:
        """Return the digest of the last of the first batches, which may have to be read again."""
        if self._last[0] != n_batches:
            batch = next(self._from(n_batches - 1), None)
            return "" if batch is None else _witness(*batch[:3])
        return self._last[1]


# ---- files ---------------------------------------------------------------------------


class _File:
    """A file with a table.

    Attributes
    ----------
    name : str
        As it is shown.
    columns : dict of str to None
        Names of all columns, in their order.
    types : dict
        Types of Arrow of the columns, as far as they are known.
    n_rows : int or None
        Number of rows, once it is known.
    n_seen : int
        Rows that have been read so far.
    ambiguous : set of str
        Columns of numbers of which some are written in several ways, as far as it is known.
    classes : tuple of str and OneText, or None
        A column of numbers that are classes, none of which may be.
    most : int
        Rows that are decoded at once, where that can be said.
    """

    most: int
    columns: dict[str, None]
    n_rows: int | None

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.types: dict[str, Any] = {}
        self.n_seen = 0
        self.ambiguous: set[str] = set()
        self.classes: tuple[str, OneText] | None = None
        self._examples: dict[str, str] = {}

    def require(self, column: str, *, as_in: str = "") -> None:
        """Refuse the name of a column that is not there."""
        if column in self.columns:
            return
        near = difflib.get_close_matches(column, self.columns, n=1)
        shown = ", ".join(repr(name) for name in itertools.islice(self.columns, 10))
        more = f" and {len(self.columns) - 10} more" if len(self.columns) > 10 else ""
        raise StreamError(
            f"{self.name}: there is no column {column!r}"
            + (f" as in {as_in}" if as_in else "")
            + (f"; did you mean {near[0]!r}?" if near else f"; it has {shown}{more}")
        )

    def mark(self) -> tuple[object, ...]:
        """Return what tells this file from one of other contents."""
        with self.path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL))
            return size, hashlib.blake2b(stream.read()).hexdigest()

    def look(self, columns: Sequence[str], target: str) -> None:
        """Look at the first rows for the types of columns, unless they are known."""

    def example(self, column: str) -> str:
        """Show a value of a column that was looked at, for an error."""
        value = self._examples.get(column)
        return "" if value is None else f", such as {value[:40]!r}"

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield the rows from one on as record batches of any size.

        Parameters
        ----------
        types : dict
            Types of Arrow that columns of these names are read as, unless the file has types.
        first : int
            The first row.
        """
        raise NotImplementedError

    def count(self) -> None:
        """Find out the number of rows."""

    def _set_columns(self, names: Sequence[str]) -> None:
        self.columns = dict.fromkeys(names)
        if len(self.columns) < len(names):
            twice = next(name for name, n in Counter(names).items() if n > 1)
            raise StreamError(
                f"{self.name}: there are several columns {twice!r}; give every column a "
                "name of its own"
            )

    @contextmanager
    def _reading(self, first: int | None = None) -> Iterator[None]:
        """Turn what Arrow or the system refuses into an error that names the file."""
        import pyarrow as pa

        try:
            yield
        except StreamError:
            raise
        except CsvError as fault:
            rows = "" if fault.row is None else f"{_span(fault.row)} of "
            raise StreamError(f"{rows}{self.name}: {fault}") from fault
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(error, first) from error

    def _read_on(self, pieces: Iterator[Any], start: int) -> Iterator[Any]:
        """Yield record batches as they come, of which the first begins with row `start`."""
        while True:
            with self._reading(start):
                piece = next(pieces, None)
            if piece is None:
                return
            start += piece.num_rows
            yield piece

    def _unreadable(self, error: Exception, first: int | None) -> StreamError:
        rows = "" if first is None else f"rows {first} on of "
        reason = (" ".join(str(error).split()) or type(error).__name__).partition(". ")[0]
        return StreamError(
            f"{rows}{self.name} cannot be read: {reason.rstrip('.')}; the file may be "
            "truncated, damaged or of another kind: write it anew"
        )


class _ParquetFile(_File):
    """A Parquet file, of which the end has been read."""

    n_rows: int

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name, path)
        self.n_rows = 0
        with self._reading(), self._open() as file:
            schema, metadata = file.schema_arrow, file.metadata
            self.n_rows = metadata.num_rows
            groups = range(metadata.num_row_groups)
            self._groups = [metadata.row_group(group).num_rows for group in groups]
        index = _index_columns(schema)
        self._set_columns([name for name in schema.names if name not in index])
        self.types = {field.name: field.type for field in schema}

    def _open(self) -> Any:
        import pyarrow.parquet as pq

        # Read ahead, and whole columns of a group of rows would be in memory.
        return pq.ParquetFile(
            str(self.path),
            pre_buffer=False,
            buffer_size=_COLUMN_BUFFER,
            page_checksum_verification=True,  # where there are any
        )

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield record batches from a row on; groups of rows before it are not read."""
        group, start = 0, 0
        while group < len(self._groups) and start + self._groups[group] <= first:
            start += self._groups[group]
            group += 1
        with self._reading(first):
            file = self._open()
        with file:
            batches = file.iter_batches(
                batch_size=self.most,
                row_groups=list(range(group, len(self._groups))),
                columns=list(types),
                use_threads=False,  # more memory, and not faster
            )
            for piece in self._read_on(batches, start):
                if start + piece.num_rows > first:
                    yield piece.slice(max(0, first - start))
                start += piece.num_rows
        if start != self.n_rows:
            raise StreamError(
                f"rows {start} on of {self.name} cannot be read: it ends there, and should have "
                f"{self.n_rows} rows; write it anew"
            )


class _CsvFile(_File):
    """A CSV file, of which the header has been read."""

    def __init__(self, name: str, path: Path, separator: str) -> None:
        super().__init__(name, path)
        self.n_rows = None
        with self._reading():
            self._text = CsvText(path, separator)
        if not self._text.has_rows:
            self.n_rows = 0
        header = self._text.header
        # As pandas calls columns without a name.
        self._set_columns([text or f"Unnamed: {place}" for place, text in enumerate(header)])
        other = next((c for c in _OTHER_SEPARATORS if c != separator and c in header[0]), None)
        if len(header) == 1 and other is not None:
            raise StreamError(
                f"{name}: the header is a single name, {header[0]!r}; give separator={other!r}"
            )

    def look(self, columns: Sequence[str], target: str) -> None:
        """Set the types of columns to those of the first few megabytes."""
        import pyarrow as pa

        piece = next(self._tables(columns), None)
        for name in columns:
            texts = None if piece is None else piece.column(name).drop_null()
            if texts is None or len(texts) == 0:
                self.types[name] = pa.float64()  # values may follow; that some lack, we say then
                continue
            self.types[name] = typed(texts).type
            if _kind(self.types[name]) == _TEXT:
                self._examples[name] = _first_foreign(texts)
            elif name == target and _kind(self.types[name]) == _NUMBERS and same_number(texts):
                self.ambiguous.add(name)

    def pieces(self, types: dict[str, Any], first: int) -> Iterator[Any]:
        """Yield record batches from a row on; at the end, the number of rows is known."""
        import pyarrow as pa

        if self.n_rows == 0:
            return
        start = 0
        for piece in self._tables(list(types)):
            if self.classes is not None and types.get(self.classes[0]) != pa.string():
                self._tell_apart(piece.column(list(types).index(self.classes[0])), *self.classes)
            if start + piece.num_rows > first:
                skipped = max(0, first - start)
                columns = [
                    self._column(piece.column(place).slice(skipped), name, type_, start + skipped)
                    for place, (name, type_) in enumerate(types.items())
                ]
                yield pa.RecordBatch.from_arrays(columns, list(types))
            start += piece.num_rows
        self.n_rows = start

    def _tell_apart(self, texts: Any, name: str, known: OneText) -> None:
        """Refuse classes that differ as text and would be one as numbers."""
        if not _all_numbers(texts):  # what is wrong with them is said where they are read
            return
        found = known.clash(texts)
        if found is not None:
            raise StreamError(
                f"{self.name}: column {name!r}, the target, holds {found[0]!r} and "
                f"{found[1]!r}, which are one number and would be one class; write them alike, or "
                "give as_labels=False for numbers that are no classes"
            )

    def _column(self, texts: Any, name: str, type_: Any, first: int) -> Any:
        """Return texts, of which the first row is given, as values of a type."""
        import pyarrow as pa

        try:
            return read_as(texts, type_)
        except pa.ArrowInvalid:
            row, text = _first_of_another_kind(texts, type_)
        wanted = _TRUTH if _kind(type_) == _TRUTH else _NUMBERS
        whole = pa.types.is_integer(type_)
        raise StreamError(
            f"{_span(first + row)} of {self.name}: column {name!r} holds {text[:40]!r}, but "
            f"{'whole ' * whole}{wanted} in rows before; give it one type in all rows"
            + (", or as_labels=False for decimal numbers" if whole else "")
        )

    def count(self) -> None:
        """Read the file to its end for its number of rows."""
        first = next(iter(self.columns))
        self.n_rows = sum(piece.num_rows for piece in self._tables([first]))

    def frame(self) -> Any:
        """Return all columns of all rows, each of the type that all of its values have."""
        import pandas as pd
        import pyarrow as pa

        pieces = list(self._tables(list(self.columns)))
        if not pieces:
            return pd.DataFrame({name: [] for name in self.columns})
        table = pa.Table.from_batches(pieces)
        del pieces
        columns, texts = {}, {}
        for place, name in enumerate(self.columns):
            values = typed(table.column(place))
            columns[name] = values.to_numpy()
            if _kind(values.type) == _NUMBERS and _may_be_classes(columns[name]):
                pair = same_number(table.column(place))
                if pair is not None:
                    texts[name] = table.column(place), pair
        frame = pd.DataFrame(columns)
        frame.attrs[TEXTS] = _Kept(texts)
        return frame

    def _tables(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._reading(0):
            yield from self._text.tables(list(self.columns), columns)


# Under which a table in memory has the texts of numbers that are written in several ways.
TEXTS = "gegenbauer.texts"


class _Kept:
    """Texts by column, (texts, two that are one number); the copies of a table share them."""

    def __init__(self, of: dict[str, tuple[Any, tuple[str, str]]]) -> None:
        self.of = of

    def __deepcopy__(self, memo: Any) -> Self:
        return self


# ---- columns of Arrow ----------------------------------------------------------------


def _kind(type_: Any) -> str:
    """Say in words what a column of a type of Arrow holds."""
    from pyarrow import types

    if types.is_dictionary(type_):
        type_ = type_.value_type
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return _NUMBERS
    if types.is_boolean(type_):
        return _TRUTH
    if str(type_) in ("string", "large_string", "string_view"):
        return _TEXT
    if types.is_temporal(type_):
        return "dates or times"
    return _NOTHING if types.is_null(type_) else f"values of type {type_}"


def _index_columns(schema: Any) -> list[Any]:
    """Return what pandas has as an index, such as numbers of rows, which is no column to it."""
    try:
        metadata = schema.pandas_metadata
    except ValueError:  # it is JSON, or should be
        return []
    columns = metadata.get("index_columns") if isinstance(metadata, dict) else None
    return columns if isinstance(columns, list) else []


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


def _may_be_classes(values: NDArray[Any]) -> bool:
    """Tell whether no number has a fraction."""
    return values.dtype.kind in "iu" or bool((np.isnan(values) | (values == np.rint(values))).all())


def _all_numbers(texts: Any) -> bool:
    from pyarrow import compute

    return compute.all(are_numbers(texts)).as_py() is not False


def _first_foreign(texts: Any) -> str:
    """Return the first of some strings, not all of them numbers, that is none."""
    place = are_numbers(texts).index(False).as_py()
    text: str = texts[place].as_py()
    return text


def _first_of_another_kind(texts: Any, type_: Any) -> tuple[int, str]:
    """Return place and text of the first string, which there is, that cannot be read as a type."""
    import pyarrow as pa

    begin, end = 0, len(texts)  # it is between them
    while end - begin > 1:
        middle = (begin + end) // 2
        try:
            read_as(texts.slice(begin, middle - begin), type_)
        except pa.ArrowInvalid:
            end = middle
        else:
            begin = middle
    return begin, texts[begin].as_py()


def _present(piece: Any, name: str, file: _File, first: int) -> Any:
    """Return a column of a record batch, in which no value may be missing."""
    column = piece.column(piece.schema.get_field_index(name))
    if column.null_count:
        row = int(column.is_null().to_numpy(zero_copy_only=False).argmax())
        _refuse(file, first + row, name, "no value")
    return column


def _refuse(file: _File, row: int, column: str, what: str) -> None:
    raise StreamError(
        f"{_span(row)} of {file.name}: column {column!r} holds {what}; repair or remove the row, "
        "or ignore the column"
    )


def _plain(column: Any) -> NDArray[Any]:
    """Return a column of numbers, or of true and false, as an array."""
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_decimal(column.type):
        column = compute.cast(column, "float64")
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


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


# ---- finding files -------------------------------------------------------------------


def _find_files(paths: Any) -> list[tuple[str, Path, str]]:
    """Return name to show, path and format (an ending) of all files."""
    if _is_dataset(paths):
        found = _files_of_dataset(paths)
    elif isinstance(paths, (str, os.PathLike)):
        found = list(_files_below(Path(paths), alone=True))
    elif isinstance(paths, Iterable):
        found = [file for path in paths for file in _files_below(Path(path), alone=False)]
    else:
        raise TypeError(
            "paths must be a file, a folder, a sequence of these or a pyarrow.dataset.Dataset, "
            f"got {type(paths).__name__}"
        )
    if not found:
        raise ValueError("paths is empty; give at least one .parquet, .csv or .tsv file")
    formats = {ending == ".parquet": name for name, _, ending in found}
    if len(formats) > 1:
        raise ValueError(
            f"files must be all Parquet or all CSV, got {formats[True]} and {formats[False]}; give "
            "those of one format"
        )
    seen: set[str] = set()
    for name, path, _ in found:
        real = os.path.realpath(path)
        if real in seen:
            raise ValueError(f"{name} is given twice, and its rows would count twice")
        seen.add(real)
    return found


def _files_below(path: Path, *, alone: bool) -> Iterator[tuple[str, Path, str]]:
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; check the path")
    if not path.is_dir():
        ending = path.suffix.lower()
        if ending not in _ENDINGS:
            raise ValueError(f"{path} must end in {_LISTED_ENDINGS}{packed(path)}")
        yield path.name if alone else str(path), path, ending
        return
    below = sorted((file.relative_to(path).as_posix(), file) for file in path.rglob("*"))
    tables = [
        (name, file)
        for name, file in below
        if file.suffix.lower() in _ENDINGS
        and not any(part[0] in "._" for part in name.split("/"))
        and file.is_file()
    ]
    if not tables:
        names = [name for name, file in below if packed(file)]
        more = f" but {names[0]}{packed(Path(names[0]))}" if names else ""
        raise ValueError(f"the folder {path} holds no {_LISTED_ENDINGS} files{more}")
    for name, file in tables:
        yield name if alone else str(path / name), file, file.suffix.lower()


def packed(path: Path) -> str:
    """Say what to do with a file that is compressed; nothing of others.

    Examples
    --------
    >>> packed(Path("t.csv.gz"))
    '; it is compressed: unpack it (gunzip t.csv.gz), or write it as Parquet, which is compressed'
    """
    how = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd", ".zip": "unzip"}
    command = how.get(path.suffix.lower())
    if command is None:
        return ""
    return (
        f"; it is compressed: unpack it ({command} {path.name}), or write it as Parquet, which is "
        "compressed"
    )


def _is_dataset(value: Any) -> bool:
    return type(value).__module__.startswith("pyarrow") and hasattr(value, "get_fragments")


def _files_of_dataset(dataset: Any) -> list[tuple[str, Path, str]]:
    format_ = type(getattr(dataset, "format", None)).__name__
    endings = {"ParquetFileFormat": ".parquet", "CsvFileFormat": ".csv"}
    local = getattr(getattr(dataset, "filesystem", None), "type_name", None) == "local"
    if format_ not in endings or not local:
        raise ValueError(
            "a dataset must be of Parquet or CSV files on this machine; of others, pass an "
            "iterable of tuples (X, y) made from dataset.to_batches()"
        )
    if getattr(dataset, "_scan_options", None):
        raise ValueError(
            "the filter of a dataset is not applied to batches of its files: pass an iterable of "
            "tuples (X, y) made from dataset.to_batches()"
        )
    files = [Path(file) for file in dataset.files]
    root = os.path.commonpath([file.parent for file in files]) if files else ""
    return [(file.relative_to(root).as_posix(), file, endings[format_]) for file in files]


def _require_plain_schema(dataset: Any, file: _File) -> None:
    """Refuse a dataset that has other columns than its files."""
    names = dataset.schema.names
    differ = sorted({*names} ^ {*file.columns})
    if differ and not {*differ} <= {*file.types} - {*file.columns}:  # but for an index of pandas
        raise ValueError(
            f"the schema of the dataset and the columns of its files differ in {differ[0]!r}: what "
            "is read are the columns of the files, without those of folders; name the inputs, or "
            "pass an iterable of tuples (X, y) made from dataset.to_batches()"
        )


# ---- small things --------------------------------------------------------------------


def _require_extra() -> None:
    try:
        import pandas as pd  # noqa: F401
        import pyarrow.parquet as pq  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"tables in files need {error.name or 'pyarrow and pandas'}: run pip install "
            "'gegenbauer[table]'"
        ) from error


def _span(begin: int, end: int | None = None) -> str:
    """Name the rows from `begin` to below `end`; a single one without it."""
    if end is None or end - begin == 1:
        return f"row {begin}"
    return f"rows {begin} to {end - 1}"


def _digest(parts: Sequence[object]) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()
